/* SPDX-License-Identifier: BSD-3-Clause */
/* options - see options.h. Options of a kind or deployment that this version does not have are refused as
 * UNSUPPORTED. */
#include "client/options.h"
#include "wire/holder.h"
#include "wire/queued.h"

#include <hilock/version.h>
#include <string.h>

enum { LEASE_MIN_MS = 100, LEASE_MAX_MS = 86400000, SPAN_MAX_MS = 0x7fffffff };
enum { POLL_MS = 50, REPLICAS_MAX = 64, REPLICAS_MS = 1000, TLS_NAME_MAX = 253 };

/* A program built for an older header has fewer members, and gets the defaults; one built for a newer header must leave
 * unknown members at zero. */
static hilock_status read_sized(void *to, size_t known, const void *from, const char *macro, struct hl_text *why)
{
    const unsigned char *bytes = from;
    size_t size;
    memcpy(&size, from, sizeof size);
    if (size < sizeof size)
        return hl_text_refuse(why, HILOCK_INVALID, "options.size is %zu: use %s(...), or set it to sizeof options",
                              size, macro);
    for (size_t i = known; i < size; i++)
        if (bytes[i])
            return hl_text_refuse(why, HILOCK_INVALID,
                                  "options has unknown members set beyond byte %zu: this is hilock %s, the program was "
                                  "built for a newer one", known, HILOCK_VERSION);
    memset(to, 0, known);
    memcpy(to, from, size < known ? size : known);
    return HILOCK_OK;
}

hilock_status hl_options_check_span(uint32_t span_ms, const char *name, struct hl_text *why)
{
    if (span_ms <= SPAN_MAX_MS)
        return HILOCK_OK;
    return hl_text_refuse(why, HILOCK_INVALID, "%s %u: a negative number by mistake? at most %d", name, span_ms,
                          SPAN_MAX_MS);
}

/* An option whose zero is a default, with its bounds. */
struct span { const char *name; uint32_t *value, normal, least, most; };

static hilock_status settle_spans(const struct span *spans, size_t count, struct hl_text *why)
{
    for (const struct span *span = spans; span < spans + count; span++) {
        if (hl_options_check_span(*span->value, span->name, why) != HILOCK_OK)
            return HILOCK_INVALID;
        if (*span->value == 0)
            *span->value = span->normal;
        if (*span->value < span->least || *span->value > span->most)
            return hl_text_refuse(why, HILOCK_INVALID, "bad %s %u: must be %u..%u, or 0 for %u", span->name,
                                  *span->value, span->least, span->most, span->normal);
    }
    return HILOCK_OK;
}

hilock_status hl_options_check_lease(uint32_t lease_ms, uint32_t restart_guard_ms, const char *whose,
                                     struct hl_text *why)
{
    if (lease_ms < LEASE_MIN_MS || lease_ms > LEASE_MAX_MS)
        return hl_text_refuse(why, HILOCK_INVALID, "bad lease_ms %u: must be %d..%d, or 0 for the %s", lease_ms,
                              LEASE_MIN_MS, LEASE_MAX_MS, whose);
    if (restart_guard_ms && lease_ms > restart_guard_ms)
        return hl_text_refuse(why, HILOCK_INVALID,
            "lease_ms %u is longer than restart_guard_ms %u: a restarted store could grant the lock to others too "
            "early; raise the guard or lower the lease", lease_ms, restart_guard_ms);
    return HILOCK_OK;
}

static hilock_status check_client(const struct hilock_client_options *options, struct hl_text *why)
{
    const struct hilock_allocator *allocator = options->allocator;
    const char *tls_name = options->tls_server_name;
    uint32_t guard_ms = options->restart_guard_ms;
    if (guard_ms != HILOCK_GUARD_OFF && hl_options_check_span(guard_ms, "restart_guard_ms", why) != HILOCK_OK) {
        hl_text_add(why, ", or HILOCK_GUARD_OFF");
        return HILOCK_INVALID;
    }
    if (guard_ms && guard_ms < LEASE_MIN_MS)
        return hl_text_refuse(why, HILOCK_INVALID,
            "bad restart_guard_ms %u: at least the longest lease, so %d or more; 0 or HILOCK_GUARD_OFF for no guard",
            guard_ms, LEASE_MIN_MS);
    if (allocator && (!allocator->allocate || !allocator->reallocate || !allocator->release))
        return hl_text_refuse(why, HILOCK_INVALID,
                      "allocator lacks a function: give allocate, reallocate and release, or none");
    if (options->log_level > HILOCK_LOG_DEBUG)
        return hl_text_refuse(why, HILOCK_INVALID,
            "bad log_level %d: must be HILOCK_LOG_ERROR..HILOCK_LOG_DEBUG, or 0 for WARN", (int)options->log_level);
    if (strlen(options->name_prefix) >= HILOCK_NAME_MAX)
        return hl_text_refuse(why, HILOCK_INVALID,
                              "name_prefix is too long: with a name it must stay within 1024 bytes");
    if (options->label && !hl_holder_is_label(options->label))
        return hl_text_refuse(why, HILOCK_INVALID,
                              "bad label \"%s\": 1..%d letters, digits or _.-+@/=, (it stands in the holder)",
                              hl_text_quote(options->label, strlen(options->label)).bytes, HL_LABEL_MAX);
    if (options->tls_key_file && !options->tls_cert_file)
        return hl_text_refuse(why, HILOCK_INVALID,
                      "tls_key_file is set, but tls_cert_file is not: a key needs its certificate");
    if (tls_name && (!*tls_name || strlen(tls_name) > TLS_NAME_MAX))
        return hl_text_refuse(why, HILOCK_INVALID,
                      "bad tls_server_name: must be the name or address in the server's certificate, 1..253 letters");
    return hl_options_check_lease(options->lease_ms, guard_ms, "default", why);
}

hilock_status hl_options_read_client(struct hilock_client_options *to, const struct hilock_client_options *from,
                                     struct hl_text *why)
{
    static const struct hilock_client_options none = {.size = sizeof none};
    hilock_status status = read_sized(to, sizeof *to, from ? from : &none, "HILOCK_CLIENT_OPTIONS", why);
    const struct span spans[] = {
        {"connect_timeout_ms", &to->connect_timeout_ms, 5000, 1, SPAN_MAX_MS},
        {"command_timeout_ms", &to->command_timeout_ms, 3000, 10, LEASE_MAX_MS},
        {"retry_max_ms", &to->retry_max_ms, 2000, 1, SPAN_MAX_MS},
        {"keepalive_ms", &to->keepalive_ms, 15000, 100, SPAN_MAX_MS},
        {"lease_ms", &to->lease_ms, 30000, LEASE_MIN_MS, LEASE_MAX_MS},
        {"waiters_max", &to->waiters_max, 65536, 1, SPAN_MAX_MS},
        {"queue_max", &to->queue_max, HL_QUEUE_MAX, 1, 1000000},
        {"inflight_max", &to->inflight_max, 16384, 1, 1 << 20},
        {"turns_max", &to->turns_max, 16, 1, 256},
        {"token_ttl_ms", &to->token_ttl_ms, 600000, 1000, LEASE_MAX_MS},
        {"stall_report_ms", &to->stall_report_ms, 1000, 1, SPAN_MAX_MS},
    };
    if (status == HILOCK_OK)
        status = settle_spans(spans, sizeof spans / sizeof *spans, why);
    if (status != HILOCK_OK)
        return status;
    if (to->name_waiters_max == 0 || to->name_waiters_max > to->waiters_max)
        to->name_waiters_max = to->waiters_max;
    if (!to->name_prefix)
        to->name_prefix = "";
    if (!to->log_level)
        to->log_level = HILOCK_LOG_WARN;
    if (!to->on_log)
        to->on_log = hilock_log_stderr;
    else if (to->on_log == hilock_log_nothing)
        to->on_log = NULL; /* no line is made */
    return check_client(to, why);
}

/* Called when the defaults are filled in, but for that of replica_timeout_ms. */
static hilock_status settle_lengths(struct hilock_lock_options *options, uint32_t restart_guard_ms, struct hl_text *why)
{
    uint32_t lease_ms = options->lease_ms;
    hilock_status status = hl_options_check_lease(lease_ms, restart_guard_ms, "client's", why);
    if (status != HILOCK_OK)
        return status;
    if (options->hold_max_ms && options->hold_max_ms < lease_ms)
        return hl_text_refuse(why, HILOCK_INVALID,
                              "hold_max_ms %u is less than lease_ms %u: lower the lease or raise the limit",
                              options->hold_max_ms, lease_ms);
    if (options->min_validity_ms > lease_ms - lease_ms / 100 - 7)
        return hl_text_refuse(why, HILOCK_INVALID,
            "min_validity_ms %u is more than a lease_ms of %u can give: no grant would ever be good enough",
            options->min_validity_ms, lease_ms);
    if (options->replicas > REPLICAS_MAX)
        return hl_text_refuse(why, HILOCK_INVALID, "bad replicas %u: must be 1..%d, or 0 for no confirmation",
                              options->replicas, REPLICAS_MAX);
    if (options->replica_timeout_ms && !options->replicas)
        return hl_text_refuse(why, HILOCK_INVALID,
            "replica_timeout_ms is %u, but replicas is 0: no replica would be waited for", options->replica_timeout_ms);
    /* a WAIT as long as the lease would confirm a hold that has expired */
    if (options->replica_timeout_ms > lease_ms)
        return hl_text_refuse(why, HILOCK_INVALID,
            "replica_timeout_ms %u is longer than lease_ms %u: the grant would be over before it is confirmed",
            options->replica_timeout_ms, lease_ms);
    if (options->replicas && !options->replica_timeout_ms)
        options->replica_timeout_ms = lease_ms / 2 < REPLICAS_MS ? lease_ms / 2 : REPLICAS_MS;
    return HILOCK_OK;
}

hilock_status hl_options_read_lock(struct hilock_lock_options *to, const struct hilock_lock_options *from,
                                   const struct hilock_client_options *client, struct hl_text *why)
{
    const struct span spans[] = {
        {"hold_max_ms", &to->hold_max_ms, 0, 0, SPAN_MAX_MS},
        {"lease_ms", &to->lease_ms, client->lease_ms, 0, SPAN_MAX_MS}, /* its bounds: settle_lengths */
        {"min_validity_ms", &to->min_validity_ms, 0, 0, SPAN_MAX_MS},
        {"wait_report_ms", &to->wait_report_ms, 0, 0, SPAN_MAX_MS},
        {"poll_min_ms", &to->poll_min_ms, POLL_MS, 0, SPAN_MAX_MS},
        {"poll_jitter_ms", &to->poll_jitter_ms, POLL_MS, 0, SPAN_MAX_MS},
    };
    if (!from)
        return hl_text_refuse(why, HILOCK_INVALID,
            "options is NULL: on_lost at least must be given, use HILOCK_LOCK_OPTIONS(.on_lost = ...)");
    hilock_status status = read_sized(to, sizeof *to, from, "HILOCK_LOCK_OPTIONS", why);
    if (status != HILOCK_OK)
        return status;
    if (!to->on_lost)
        return hl_text_refuse(why, HILOCK_INVALID,
            "on_lost is NULL: a hold can end without you; give a function, or hilock_lost_ignored if you check "
            "hilock_lock_remaining_ms() before every write");
    if (to->kind > HILOCK_SIMPLE || to->renew > HILOCK_RENEW_NEVER || to->wake > HILOCK_WAKE_POLL)
        return hl_text_refuse(why, HILOCK_INVALID, "bad kind %d, renew %d or wake %d: use the names of the header",
                              (int)to->kind, (int)to->renew, (int)to->wake);
    if (to->reentrant != 0 && to->reentrant != 1)
        return hl_text_refuse(why, HILOCK_INVALID, "bad reentrant %d: must be 0 or 1", to->reentrant);
    if (to->hold_max_ms == HILOCK_FOREVER)
        to->hold_max_ms = 0;
    if (to->kind == HILOCK_SIMPLE) /* no program publishes its release */
        to->wake = HILOCK_WAKE_POLL;
    status = settle_spans(spans, sizeof spans / sizeof *spans, why);
    return status == HILOCK_OK ? settle_lengths(to, client->restart_guard_ms, why) : status;
}
