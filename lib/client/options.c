/* SPDX-License-Identifier: BSD-3-Clause */
/* options - see options.h. */
#include "client/options.h"

#include "client/words.h"
#include "core/terms.h"
#include "wire/holder.h"
#include "wire/keys.h"
#include "wire/queued.h"

#include <hilock/version.h>
#include <string.h>

enum { LEASE_MIN_MS = 100, LEASE_MAX_MS = 86400000, SPAN_MAX_MS = 0x7fffffff };
enum { POLL_MS = 50, REPLICAS_MAX = 64, REPLICAS_MS = 1000, TLS_NAME_MAX = 253 };

/* Copies an options struct of another version of the header. A program that was built for an older header has fewer
 * members, and gets defaults for the rest. One that was built for a newer header must leave at zero what this version
 * does not know. */
static hilock_status read_sized(void *to, size_t known, const void *from, const char *macro, struct hl_text *why)
{
    const unsigned char *bytes = from;
    size_t size;
    memcpy(&size, from, sizeof size);
    if (size < sizeof size)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_size(size, macro).bytes);
    for (size_t i = known; i < size; i++)
        if (bytes[i])
            return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_unknown_members(known, HILOCK_VERSION).bytes);
    memset(to, 0, known);
    memcpy(to, from, size < known ? size : known);
    return HILOCK_OK;
}

hilock_status hl_options_check_span(uint32_t span_ms, const char *name, const char *also, struct hl_text *why)
{
    if (span_ms <= SPAN_MAX_MS)
        return HILOCK_OK;
    return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_span(name, span_ms, SPAN_MAX_MS, also).bytes);
}

/* An option of which 0 stands for the default `normal`, with its bounds. */
struct span { const char *name; uint32_t *value, normal, least, most; };

static hilock_status settle_spans(const struct span *spans, size_t count, struct hl_text *why)
{
    for (const struct span *span = spans; span < spans + count; span++) {
        if (hl_options_check_span(*span->value, span->name, NULL, why) != HILOCK_OK)
            return HILOCK_INVALID;
        if (*span->value == 0)
            *span->value = span->normal;
        if (*span->value < span->least || *span->value > span->most)
            return hl_text_refuse(why, HILOCK_INVALID, "%s",
                hl_words_bad_value(span->name, *span->value, span->least, span->most, span->normal).bytes);
    }
    return HILOCK_OK;
}

hilock_status hl_options_check_lease(uint32_t lease_ms, uint32_t restart_guard_ms, const char *whose,
                                     struct hl_text *why)
{
    if (lease_ms < LEASE_MIN_MS || lease_ms > LEASE_MAX_MS)
        return hl_text_refuse(why, HILOCK_INVALID, "%s",
                              hl_words_bad_lease(lease_ms, LEASE_MIN_MS, LEASE_MAX_MS, whose).bytes);
    if (restart_guard_ms && lease_ms > restart_guard_ms)
        return hl_text_refuse(why, HILOCK_INVALID, "%s",
                              hl_words_lease_beyond_guard(lease_ms, restart_guard_ms).bytes);
    return HILOCK_OK;
}

/* Returns 1 if a name that begins with this prefix can be a good one. The name may close a brace that the prefix
 * opens. */
static int can_begin_name(const char *prefix)
{
    char name[HILOCK_NAME_MAX + 2];
    size_t length = strlen(prefix);
    memcpy(name, prefix, length);
    memcpy(name + length, "x}", 2);
    return !hl_key_is_reserved(prefix, length) &&
           (hl_key_has_good_braces(name, length + 1) || hl_key_has_good_braces(name, length + 2));
}

static hilock_status check_client(const struct hilock_client_options *options, struct hl_text *why)
{
    const struct hilock_allocator *allocator = options->allocator;
    const char *tls_name = options->tls_server_name;
    uint32_t guard_ms = options->restart_guard_ms;
    if (guard_ms != HILOCK_GUARD_OFF &&
        hl_options_check_span(guard_ms, "restart_guard_ms", "HILOCK_GUARD_OFF", why) != HILOCK_OK)
        return HILOCK_INVALID;
    if (guard_ms && guard_ms < LEASE_MIN_MS)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_guard(guard_ms, LEASE_MIN_MS).bytes);
    if (allocator && (!allocator->allocate || !allocator->reallocate || !allocator->release))
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_allocator);
    if (options->log_level > HILOCK_LOG_DEBUG)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_log_level((int)options->log_level).bytes);
    if (strlen(options->name_prefix) >= HILOCK_NAME_MAX)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_long_prefix);
    if (!can_begin_name(options->name_prefix)) {
        const struct hl_quoted prefix = hl_text_quote(options->name_prefix, strlen(options->name_prefix));
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_prefix(prefix.bytes).bytes);
    }
    if (options->label && !hl_holder_is_label(options->label)) {
        const struct hl_quoted label = hl_text_quote(options->label, strlen(options->label));
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_label(label.bytes, HL_LABEL_MAX).bytes);
    }
    if (options->tls_key_file && !options->tls_cert_file)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_key_without_certificate);
    if (tls_name && (!*tls_name || strlen(tls_name) > TLS_NAME_MAX))
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_tls_name);
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
        to->on_log = NULL; /* so that the lines are not even made */
    return check_client(to, why);
}

/* Checks the lengths of time against each other, and fills in the default of replica_timeout_ms. All other defaults
 * must be filled in. */
static hilock_status settle_lengths(struct hilock_lock_options *options, uint32_t restart_guard_ms, struct hl_text *why)
{
    uint32_t lease_ms = options->lease_ms;
    hilock_status status = hl_options_check_lease(lease_ms, restart_guard_ms, "client's", why);
    if (status != HILOCK_OK)
        return status;
    if (options->hold_max_ms && options->hold_max_ms < lease_ms)
        return hl_text_refuse(why, HILOCK_INVALID, "%s",
                              hl_words_hold_max_below_lease(options->hold_max_ms, lease_ms).bytes);
    if (options->min_validity_ms > lease_ms - lease_ms / 100 - 7)
        return hl_text_refuse(why, HILOCK_INVALID, "%s",
                              hl_words_min_validity_beyond_lease(options->min_validity_ms, lease_ms).bytes);
    if (options->share_local_ms > lease_ms / 3)
        return hl_text_refuse(why, HILOCK_INVALID, "%s",
                              hl_words_share_local_beyond_lease(options->share_local_ms, lease_ms).bytes);
    if (options->replicas > REPLICAS_MAX)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_replicas(options->replicas, REPLICAS_MAX).bytes);
    if (options->replica_timeout_ms && !options->replicas)
        return hl_text_refuse(why, HILOCK_INVALID, "%s",
                              hl_words_replica_timeout_alone(options->replica_timeout_ms).bytes);
    /* a WAIT as long as the lease would confirm a hold that has expired */
    if (options->replica_timeout_ms > lease_ms)
        return hl_text_refuse(why, HILOCK_INVALID, "%s",
                              hl_words_replica_timeout_beyond_lease(options->replica_timeout_ms, lease_ms).bytes);
    if (options->replicas && !options->replica_timeout_ms)
        options->replica_timeout_ms = lease_ms / 2 < REPLICAS_MS ? lease_ms / 2 : REPLICAS_MS;
    return HILOCK_OK;
}

hilock_status hl_options_read_lock(struct hilock_lock_options *to, const struct hilock_lock_options *from,
                                   const struct hilock_client_options *client, struct hl_text *why)
{
    const struct span spans[] = {
        {"hold_max_ms", &to->hold_max_ms, 0, 0, SPAN_MAX_MS},
        {"lease_ms", &to->lease_ms, client->lease_ms, 0, SPAN_MAX_MS}, /* settle_lengths() checks its bounds */
        {"min_validity_ms", &to->min_validity_ms, 0, 0, SPAN_MAX_MS},
        {"wait_report_ms", &to->wait_report_ms, 0, 0, SPAN_MAX_MS},
        {"share_local_ms", &to->share_local_ms, 0, 0, SPAN_MAX_MS},
        {"poll_min_ms", &to->poll_min_ms, POLL_MS, 0, SPAN_MAX_MS},
        {"poll_jitter_ms", &to->poll_jitter_ms, POLL_MS, 0, SPAN_MAX_MS},
    };
    if (!from)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_no_options);
    hilock_status status = read_sized(to, sizeof *to, from, "HILOCK_LOCK_OPTIONS", why);
    if (status != HILOCK_OK)
        return status;
    if (!to->on_lost)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_no_on_lost);
    if (to->kind > HILOCK_SIMPLE || to->renew > HILOCK_RENEW_NEVER || to->wake > HILOCK_WAKE_POLL)
        return hl_text_refuse(why, HILOCK_INVALID, "%s",
                              hl_words_bad_choices((int)to->kind, (int)to->renew, (int)to->wake).bytes);
    if (to->reentrant != 0 && to->reentrant != 1)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_reentrant(to->reentrant).bytes);
    if (to->holders_max == HILOCK_ANY_NUMBER)
        to->holders_max = HL_HOLDERS_ANY;
    if (to->holders_max == 0)
        to->holders_max = 1;
    if (to->holders_max > HL_HOLDERS_ANY)
        return hl_text_refuse(why, HILOCK_INVALID, "%s",
                              hl_words_bad_holders_max(to->holders_max, HL_HOLDERS_ANY).bytes);
    if (to->holders_max > 1 && to->kind == HILOCK_SIMPLE)
        return hl_text_refuse(why, HILOCK_UNSUPPORTED, "%s", hl_words_share_simple);
    if (to->share_local_ms && to->holders_max != HL_HOLDERS_ANY)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_share_local_alone(to->share_local_ms).bytes);
    if (to->hold_max_ms == HILOCK_FOREVER)
        to->hold_max_ms = 0;
    if (to->kind == HILOCK_SIMPLE) /* no program publishes the release of such a lock, so waiters must poll */
        to->wake = HILOCK_WAKE_POLL;
    status = settle_spans(spans, sizeof spans / sizeof *spans, why);
    return status == HILOCK_OK ? settle_lengths(to, client->restart_guard_ms, why) : status;
}
