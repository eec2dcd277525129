/* SPDX-License-Identifier: BSD-3-Clause */
/* handle - the public calls on a lock: who may call, whether the arguments are good, and then the lock machine's word for it. */
#include "base/plant.h"
#include "base/quote.h"
#include "client/client.h"
#include "client/options.h"
#include "client/stats.h"
#include "lock/acquire.h"
#include "lock/arrival.h"
#include "lock/belief.h"
#include "lock/extend.h"
#include "lock/gate.h"
#include "lock/grants.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/lock.h"
#include "lock/multi.h"
#include "lock/reentry.h"
#include "lock/teardown.h"
#include "lock/terms.h"
#include "lock/turn.h"
#include "lock/watchdog.h"

static struct hilock_client *client_of(const struct hilock_lock *lock) { return (struct hilock_client *)(void *)lock->terms->cell->core; }

/* HILOCK_OK: the handle and its client may be used. */
static hilock_status admit(const struct hilock_lock *lock)
{
    hilock_status status = lock ? hl_cell_admit(lock->terms->cell) : HILOCK_INVALID;
    return status == HILOCK_OK && !lock->terms->cell->core ? HILOCK_CLOSED : status;
}

static int may_read(const struct hilock_lock *lock) { return lock && hl_cell_admit(lock->terms->cell) == HILOCK_OK; }

/* ---- create, free ---- */

static int are_alike(const struct hl_terms *terms, const struct hilock_lock_options *options)
{
    return terms && terms->kind->kind == options->kind && terms->on_lost == options->on_lost && terms->on_event == options->on_event &&
           terms->lease_ms == options->lease_ms && terms->hold_max_ms == options->hold_max_ms && terms->min_validity_ms == options->min_validity_ms &&
           terms->wait_report_ms == options->wait_report_ms && terms->is_renewed == (options->renew == HILOCK_RENEW_AUTO) &&
           terms->is_reentrant == (options->reentrant != 0) && terms->is_polling == (options->wake == HILOCK_WAKE_POLL) &&
           terms->poll_min_ms == options->poll_min_ms && terms->poll_jitter_ms == options->poll_jitter_ms &&
           terms->replicas == options->replicas && terms->replica_timeout_ms == options->replica_timeout_ms;
}

static const struct hl_kind *kind_of(const struct hilock_lock_options *options)
{
    switch (options->kind) {
    case HILOCK_MUTEX: return &hl_queued_mutex;
    case HILOCK_FAIR: return &hl_queued_fair;
    case HILOCK_SIMPLE: return &hl_simple_kind;
    }
    return NULL; /* options.c refuses any other */
}

static void fill_terms(struct hl_terms *terms, struct hilock_client *client, const struct hilock_lock_options *options)
{
    *terms = (struct hl_terms){.refs = 1, .cell = client->core.cell, .kind = kind_of(options), .on_lost = options->on_lost, .on_event = options->on_event,
                               .lease_ms = options->lease_ms, .hold_max_ms = options->hold_max_ms, .min_validity_ms = options->min_validity_ms,
                               .wait_report_ms = options->wait_report_ms, .is_renewed = options->renew == HILOCK_RENEW_AUTO,
                               .is_reentrant = options->reentrant != 0, .is_polling = options->wake == HILOCK_WAKE_POLL,
                               .poll_min_ms = options->poll_min_ms, .poll_jitter_ms = options->poll_jitter_ms,
                               .replicas = (uint8_t)options->replicas, .replica_timeout_ms = options->replica_timeout_ms};
    terms->cell->refs++;
}

static struct hl_terms *terms_of(struct hilock_client *client, const struct hilock_lock_options *options)
{
    struct hl_terms *terms = client->terms;
    if (are_alike(terms, options)) {
        terms->refs++;
        return terms;
    }
    terms = hl_memory_new(&client->core.host.memory, sizeof *terms);
    if (!terms)
        return NULL;
    fill_terms(terms, client, options);
    terms->refs++;
    if (client->terms)
        hl_terms_unref(client->terms);
    client->terms = terms;
    return terms;
}

/* The terms of a multi know its names, so that nothing else shares them. */
static struct hl_terms *multi_terms(struct hilock_client *client, const struct hilock_lock_options *options, struct hl_name *const *names, unsigned count)
{
    struct hl_terms *terms = hl_memory_new(&client->core.host.memory, sizeof *terms);
    if (!terms)
        return NULL;
    fill_terms(terms, client, options);
    terms->multi = hl_names_new(&client->core.host.memory, names, count);
    if (terms->multi) {
        for (unsigned i = 0; i < count; i++)
            names[i]->refs++;
        return terms;
    }
    terms->cell->refs--;
    hl_memory_free(&client->core.host.memory, terms);
    return NULL;
}

static struct hilock_lock *lock_new(struct hilock_client *client, struct hl_name *const *names, unsigned count, const struct hilock_lock_options *options)
{
    struct hl_core *core = &client->core;
    struct hilock_lock *lock = hl_memory_new(&core->host.memory, sizeof *lock);
    if (!lock)
        return NULL;
    lock->refs = 1;
    lock->user = options->user;
    lock->terms = count > 1 ? multi_terms(client, options, names, count) : terms_of(client, options);
    if (lock->terms) {
        lock->name = names[0];
        lock->name->refs++;
        return lock;
    }
    hl_memory_free(&core->host.memory, lock);
    return NULL;
}

static hilock_status check_name(struct hilock_client *client, const char *name, size_t length)
{
    if (length == 0 || length > HILOCK_NAME_MAX - client->prefix_length)
        return hl_client_refuse(client, HILOCK_BAD_NAME, "bad name of %zu bytes: must be 1..%u with the prefix", length ? client->prefix_length + length : 0, HILOCK_NAME_MAX);
    (void)name;
    return HILOCK_OK;
}

static hilock_status check_keys(struct hilock_client *client, const char *name, size_t length)
{
    if (hl_key_is_reserved(name, length))
        return hl_client_refuse(client, HILOCK_BAD_NAME, "bad name \"%s\": \"hilock:\" and \"redisson_lock\" begin the keys that locks keep beside their names; "
                         "begin it otherwise", hl_quote(name, length).bytes);
    if (hl_key_has_good_braces(name, length))
        return HILOCK_OK;
    return hl_client_refuse(client, HILOCK_BAD_NAME, "bad name \"%s\": no braces at all, or the first '{' opens a non-empty {...}; else its keys fall into "
                     "different hash slots", hl_quote(name, length).bytes);
}

/* A waiter would begin it too, but then its first sleep would wait for the connection. Clients whose handles all poll have none. */
static void warm_subscription(struct hl_core *core, const struct hl_name *name)
{
    for (unsigned i = 0; i < hl_route_members(core->route); i++)
        hl_subscription_start(&hl_route_member(core->route, name->bytes, name->length, i)->subscription);
}

static hilock_status read_options(struct hilock_client *client, struct hilock_lock_options *to, const struct hilock_lock_options *given)
{
    struct hl_text why;
    hilock_status status = hl_options_read_lock(to, given, client->lease_ms, &why);
    if (status == HILOCK_OK && hl_options_void_guard(to->lease_ms, client->restart_guard_ms, &why))
        status = HILOCK_INVALID;
    if (status == HILOCK_OK && client->core.route->masters && to->kind == HILOCK_FAIR)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, "kind FAIR on a quorum: n masters have no common queue; use MUTEX or SIMPLE");
    if (status == HILOCK_OK && client->core.route->masters && to->replicas)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, "replicas on a quorum: its masters vote instead of replicas; leave it 0");
    return status == HILOCK_OK ? status : hl_client_refuse(client, status, "%s", why.bytes);
}

/* With the client's prefix; referenced. */
static hilock_status read_name(struct hilock_client *client, struct hl_name **ret_name, const char *name, size_t length)
{
    char full[HILOCK_NAME_MAX];
    hilock_status status = check_name(client, name, length);
    if (status != HILOCK_OK)
        return status;
    memcpy(full, client->prefix, client->prefix_length);
    memcpy(full + client->prefix_length, name, length);
    length += client->prefix_length;
    status = check_keys(client, full, length);
    if (status != HILOCK_OK)
        return status;
    *ret_name = hl_name_ref(&client->core, full, length);
    return *ret_name ? HILOCK_OK : hl_client_refuse(client, HILOCK_NO_MEMORY, "out of memory for a lock");
}

static hilock_status make(hilock_lock **ret_lock, struct hilock_client *client, struct hl_name *const *names, unsigned count,
                          const struct hilock_lock_options *options)
{
    *ret_lock = lock_new(client, names, count, options);
    if (!*ret_lock)
        return hl_client_refuse(client, HILOCK_NO_MEMORY, "out of memory for a lock");
    client->core.locks++;
    for (unsigned i = 0; options->wake == HILOCK_WAKE_SUBSCRIBE && i < count; i++)
        warm_subscription(&client->core, names[i]);
    if (options->kind == HILOCK_FAIR)
        hl_grants_warm(&client->core, *ret_lock);
    return HILOCK_OK;
}

static hilock_status create(hilock_lock **ret_lock, struct hilock_client *client, const char *text, const struct hilock_lock_options *given)
{
    struct hilock_lock_options options;
    struct hl_name *name;
    hilock_status status = read_options(client, &options, given);
    if (status == HILOCK_OK)
        status = read_name(client, &name, text, options.name_length ? options.name_length : strlen(text));
    if (status != HILOCK_OK)
        return status;
    status = make(ret_lock, client, &name, 1, &options);
    hl_name_unref(&client->core, &client->core.host.memory, name);
    return status;
}

enum { MULTI_MAX = 64 };

/* A name given twice is the same object. */
static hilock_status check_twice(struct hilock_client *client, struct hl_name *const *names, unsigned count)
{
    for (unsigned i = 0; i + 1 < count; i++)
        if (names[i] == names[count - 1])
            return hl_client_refuse(client, HILOCK_INVALID, "bad names: \"%s\" is given twice, as number %u and number %u; give each name once",
                             hl_quote(names[i]->bytes, names[i]->length).bytes, i + 1, count);
    return HILOCK_OK;
}

static hilock_status check_multi(struct hilock_client *client, const char *const *names, const struct hilock_lock_options *options)
{
    unsigned count = 0;
    while (count <= MULTI_MAX && names[count])
        count++;
    if (count < 2 || count > MULTI_MAX)
        return hl_client_refuse(client, HILOCK_INVALID, "bad names: %s%u given, must be 2..%d and end with NULL; for one name use hilock_lock_create",
                         count > MULTI_MAX ? "at least " : "", count, MULTI_MAX);
    if (client->core.route->masters)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, "a multi on a quorum: each of its names would need votes of its own; take one name for all of it");
    if (options->kind == HILOCK_FAIR)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, "kind FAIR of several names: a multi is MUTEX or SIMPLE");
    if (options->reentrant)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, "a multi is not reentrant: leave reentrant 0");
    if (options->name_length)
        return hl_client_refuse(client, HILOCK_INVALID, "bad name_length %zu: the names of a multi end with a zero byte, leave it 0", options->name_length);
    return HILOCK_OK;
}

static hilock_status create_multi(hilock_lock **ret_lock, struct hilock_client *client, const char *const *texts, const struct hilock_lock_options *given)
{
    struct hilock_lock_options options;
    struct hl_name *names[MULTI_MAX];
    unsigned count = 0;
    hilock_status status = read_options(client, &options, given);
    if (status == HILOCK_OK)
        status = check_multi(client, texts, &options);
    for (unsigned i = 0; status == HILOCK_OK && texts[i]; i++) {
        status = read_name(client, &names[i], texts[i], strlen(texts[i]));
        if (status == HILOCK_OK)
            status = check_twice(client, names, ++count);
    }
    if (status == HILOCK_OK)
        status = make(ret_lock, client, names, count, &options);
    while (count)
        hl_name_unref(&client->core, &client->core.host.memory, names[--count]);
    return status;
}

hilock_status hilock_multi_create(hilock_lock **ret_lock, hilock_client *client, const char *const *names, const struct hilock_lock_options *options)
{
    hilock_status status = client ? hl_client_admit(client) : HILOCK_INVALID;
    if (status != HILOCK_OK)
        return status;
    if (!ret_lock || !names)
        return hl_client_refuse(client, HILOCK_INVALID, ret_lock ? "names is NULL: give 2..64 names and a NULL" : "ret_lock is NULL: give a place for the lock");
    if (client->core.is_closing)
        return hl_client_refuse(client, HILOCK_CLOSED, "the client is closing: no new locks; open another client for them");
    return create_multi(ret_lock, client, names, options);
}

hilock_status hilock_lock_create(hilock_lock **ret_lock, hilock_client *client, const char *name, const struct hilock_lock_options *options)
{
    hilock_status status = client ? hl_client_admit(client) : HILOCK_INVALID;
    if (status != HILOCK_OK)
        return status;
    if (!ret_lock || !name)
        return hl_client_refuse(client, HILOCK_INVALID, ret_lock ? "name is NULL: give the lock's name" : "ret_lock is NULL: give a place for the lock");
    if (client->core.is_closing)
        return hl_client_refuse(client, HILOCK_CLOSED, "the client is closing: no new locks; open another client for them");
    return create(ret_lock, client, name, options);
}

/* In a forked child only memory is given back: nothing is sent, and nobody else's turn comes. */
void hilock_lock_free(hilock_lock *lock)
{
    hilock_status status = lock ? admit(lock) : HILOCK_INVALID;
    if (status != HILOCK_OK && status != HILOCK_CLOSED && status != HILOCK_FORKED)
        return;
    if (lock->terms->cell->core && status == HILOCK_FORKED)
        hl_teardown_lock(lock->terms->cell->core, lock);
    else if (lock->terms->cell->core) {
        hl_turn_silence(lock->terms->cell->core, lock);
        lock->terms->cell->core->locks--;
    }
    hl_lock_unref(lock);
}

void hilock_lock_drop(hilock_lock *lock)
{
    if (lock && admit(lock) == HILOCK_OK)
        hl_turn_silence(lock->terms->cell->core, lock);
}

/* ---- acquire, release, extend, cancel ---- */

static struct hl_quoted quoted_name(const struct hilock_lock *lock) { return hl_quote(lock->name->bytes, lock->name->length); }

static int may_reenter(const struct hilock_lock *lock) { return lock->hold && lock->terms->is_reentrant; }

static hilock_status check_use(struct hilock_client *client, const struct hilock_lock *lock)
{
    if (hl_lock_state(lock) == HILOCK_IDLE)
        return HILOCK_OK;
    if (!lock->terms->is_reentrant)
        return hl_client_refuse(client, HILOCK_IN_USE, "handle of \"%s\" already %s: make one handle per would-be holder, or set reentrant", quoted_name(lock).bytes,
                         lock->acquire ? "waits" : "holds");
    if (lock->acquire)
        return hl_client_refuse(client, HILOCK_IN_USE, "handle of \"%s\" already waits: it can be entered again once it holds", quoted_name(lock).bytes);
    if (hl_hold_entries(lock->hold) == UINT32_MAX)
        return hl_client_refuse(client, HILOCK_IN_USE, "handle of \"%s\" was entered %u times: is a release missing?", quoted_name(lock).bytes, UINT32_MAX);
    return HILOCK_OK;
}

static hilock_status check_acquire(struct hilock_client *client, const struct hilock_lock *lock, uint32_t wait_ms, hilock_result_fn *on_result)
{
    const struct hl_core *core = &client->core;
    struct hl_text why;
    hilock_status status;
    if (!on_result)
        return hl_client_refuse(client, HILOCK_INVALID, "on_result is NULL: an acquire is answered by it");
    if (wait_ms != HILOCK_FOREVER && hl_options_span_is_bad(wait_ms, "wait_ms", &why))
        return hl_client_refuse(client, HILOCK_INVALID, "%s, or HILOCK_FOREVER", why.bytes);
    if (core->is_closing)
        return hl_client_refuse(client, HILOCK_CLOSED, "the client is closing: no new acquires; open another client for them");
    status = check_use(client, lock);
    if (status != HILOCK_OK || may_reenter(lock))
        return status;
    if (core->waiting + core->unheld >= core->limits.waiters_max)
        return hl_client_refuse(client, HILOCK_TOO_MANY_WAITERS, "%u acquires already wait%s (waiters_max): shed load or raise it",
                         core->waiting + core->unheld, core->unheld ? ", or have ended and are still to be released at the store" : "");
    if (hl_gate_waiting(lock->name) >= core->limits.name_waiters_max)
        return hl_client_refuse(client, HILOCK_TOO_MANY_WAITERS, "%u acquires of \"%s\" already wait (name_waiters_max): shed load or raise it",
                         hl_gate_waiting(lock->name), quoted_name(lock).bytes);
    return HILOCK_OK;
}

static hilock_status begin_acquire(struct hl_core *core, struct hilock_lock *lock, uint32_t wait_ms, hilock_result_fn *on_result, void *user)
{
    return may_reenter(lock) ? hl_reentry_begin(core, lock, on_result, user) : hl_arrival_begin(core, lock, wait_ms, on_result, user);
}

hilock_status hilock_acquire(hilock_lock *lock, uint32_t wait_ms, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    struct hilock_client *client;
    if (status != HILOCK_OK)
        return status;
    client = client_of(lock);
    status = check_acquire(client, lock, wait_ms, on_result);
    if (status == HILOCK_OK && begin_acquire(&client->core, lock, wait_ms, on_result, user) != HILOCK_OK)
        status = hl_client_refuse(client, HILOCK_NO_MEMORY, "out of memory for an acquire");
    if (status == HILOCK_OK)
        return status;
    client->stats.refused++;
    client->stats.refused_by[hl_stats_index(status)]++;
    return status;
}

static hilock_status check_held(const struct hilock_lock *lock)
{
    if (lock->hold)
        return HILOCK_OK;
    return hl_client_refuse(client_of(lock), HILOCK_NOT_HELD, "handle of \"%s\" does not hold: never acquired, released before, or lost", quoted_name(lock).bytes);
}

/* A hold that is lost, though nobody has been told yet, is over for all counts. */
static int has_more_counts(const struct hilock_lock *lock)
{
    return hl_hold_entries(lock->hold) > 1 && !HL_PLANTED(REENTRY_ENDS_EARLY) && lock->hold->state == HOLD_HELD && !hl_belief_has_ended(lock->hold);
}

hilock_status hilock_release(hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    if (status == HILOCK_OK)
        status = check_held(lock);
    if (status != HILOCK_OK)
        return status;
    if (has_more_counts(lock))
        hl_reentry_leave(&client_of(lock)->core, lock, on_result, user);
    else
        hl_turn_release(&client_of(lock)->core, lock, on_result, user);
    return HILOCK_OK;
}

static hilock_status check_extend(struct hilock_client *client, uint32_t lease_ms, hilock_result_fn *on_result)
{
    struct hl_text why;
    if (!on_result)
        return hl_client_refuse(client, HILOCK_INVALID, "on_result is NULL: an extend is answered by it");
    if (hl_options_span_is_bad(lease_ms, "lease_ms", &why))
        return hl_client_refuse(client, HILOCK_INVALID, "%s", why.bytes);
    if (lease_ms && (lease_ms < HL_LEASE_MIN_MS || lease_ms > HL_LEASE_MAX_MS))
        return hl_client_refuse(client, HILOCK_INVALID, "bad lease_ms %u: must be %d..%d, or 0 for the lock's", lease_ms, HL_LEASE_MIN_MS, HL_LEASE_MAX_MS);
    if (hl_options_void_guard(lease_ms, client->restart_guard_ms, &why))
        return hl_client_refuse(client, HILOCK_INVALID, "%s", why.bytes);
    return HILOCK_OK;
}

hilock_status hilock_extend(hilock_lock *lock, uint32_t lease_ms, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    if (status == HILOCK_OK)
        status = check_extend(client_of(lock), lease_ms, on_result);
    if (status == HILOCK_OK)
        status = check_held(lock);
    if (status != HILOCK_OK)
        return status;
    if (hl_extend_begin(&client_of(lock)->core, lock, lease_ms ? lease_ms : lock->terms->lease_ms, on_result, user) != HILOCK_OK)
        return hl_client_refuse(client_of(lock), HILOCK_NO_MEMORY, "out of memory for an extend");
    if (lock->hold->state == HOLD_HELD)
        hl_watchdog_ask(lock->hold);
    return HILOCK_OK;
}

hilock_status hilock_cancel(hilock_lock *lock)
{
    hilock_status status = admit(lock);
    if (status != HILOCK_OK)
        return status;
    if (!lock->acquire && hl_reentry_cancel(&client_of(lock)->core, lock))
        return HILOCK_OK;
    if (!lock->acquire)
        return hl_client_refuse(client_of(lock), HILOCK_NOT_PENDING, "handle of \"%s\" does not wait: hilock_lock_drop is for any state", quoted_name(lock).bytes);
    if (lock->acquire->state == ACQUIRE_DECIDED)
        hl_acquire_overrule(lock->acquire, HILOCK_CANCELLED);
    else
        hl_acquire_decide(lock->acquire, HILOCK_CANCELLED);
    return HILOCK_OK;
}

/* ---- getters ---- */

uint32_t hilock_lock_remaining_ms(const hilock_lock *lock)
{
    if (!may_read(lock) || !lock->terms->cell->core)
        return 0;
    return hl_lease_span_ms(hl_lock_left_us(lock, hl_now_us(&lock->terms->cell->core->host)));
}

uint64_t hilock_lock_token(const hilock_lock *lock) { return may_read(lock) && lock->hold ? hl_hold_token(lock->hold) : 0; }

uint64_t hilock_multi_token(const hilock_lock *lock, size_t index)
{
    if (!may_read(lock) || !lock->hold || !lock->terms->multi || index >= lock->hold->parts_count)
        return 0;
    return lock->hold->parts[index].token;
}

hilock_state hilock_lock_state(const hilock_lock *lock) { return may_read(lock) ? hl_lock_state(lock) : HILOCK_IDLE; }

const char *hilock_lock_name(const hilock_lock *lock) { return may_read(lock) ? lock->name->bytes : ""; }

void *hilock_lock_user(const hilock_lock *lock) { return may_read(lock) ? lock->user : NULL; }

void hilock_lost_ignored(const struct hilock_event *event, void *user) { (void)event, (void)user; }
