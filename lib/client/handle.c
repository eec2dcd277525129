/* SPDX-License-Identifier: BSD-3-Clause */
/* handle - the public calls on a lock: they check the caller and the arguments, then call the lock machine. */
#include "base/plant.h"
#include "base/quote.h"
#include "client/client.h"
#include "client/options.h"
#include "client/stats.h"
#include "lock/gate.h"
#include "lock/lease.h"
#include "lock/lock.h"

static struct hilock_client *client_of(const struct hilock_lock *lock)
{
    return (struct hilock_client *)(void *)lock->terms->cell->core;
}

/* HILOCK_OK: the handle and its client may be used. */
static hilock_status admit(const struct hilock_lock *lock)
{
    hilock_status status = lock ? hl_cell_admit(lock->terms->cell) : HILOCK_INVALID;
    return status == HILOCK_OK && !lock->terms->cell->core ? HILOCK_CLOSED : status;
}

static int may_read(const struct hilock_lock *lock) { return lock && hl_cell_admit(lock->terms->cell) == HILOCK_OK; }

/* ---- free, drop ---- */

/* In a forked child only memory is given back: nothing is sent, and no other handle gets a turn. */
void hilock_lock_free(hilock_lock *lock)
{
    hilock_status status = lock ? admit(lock) : HILOCK_INVALID;
    if (status != HILOCK_OK && status != HILOCK_CLOSED && status != HILOCK_FORKED)
        return;
    if (lock->terms->cell->core && status == HILOCK_FORKED)
        lock->ops->teardown(lock->terms->cell->core, lock);
    else if (lock->terms->cell->core) {
        lock->ops->silence(lock->terms->cell->core, lock);
        lock->terms->cell->core->locks--;
    }
    hl_lock_unref(lock);
}

void hilock_lock_drop(hilock_lock *lock)
{
    if (lock && admit(lock) == HILOCK_OK)
        lock->ops->silence(lock->terms->cell->core, lock);
}

/* ---- acquire, release, extend, cancel ---- */

static struct hl_quoted quoted_name(const struct hilock_lock *lock)
{
    return hl_quote(lock->name->bytes, lock->name->length);
}

static struct hl_look look(const struct hilock_lock *lock)
{
    const struct hl_core *core = lock->terms->cell->core;
    return lock->ops->look(lock, core ? hl_now_us(&core->host) : 0);
}

static hilock_status check_use(struct hilock_client *client, const struct hilock_lock *lock)
{
    const struct hl_look now = look(lock);
    if (now.state == HILOCK_STATE_IDLE)
        return HILOCK_OK;
    if (!lock->terms->is_reentrant)
        return hl_client_refuse(client, HILOCK_IN_USE,
                                "handle of \"%s\" already %s: make one handle per would-be holder, or set reentrant",
                                quoted_name(lock).bytes, now.state == HILOCK_STATE_WAITING ? "waits" : "holds");
    if (now.state == HILOCK_STATE_WAITING)
        return hl_client_refuse(client, HILOCK_IN_USE,
                                "handle of \"%s\" already waits: it can be entered again once it holds",
                                quoted_name(lock).bytes);
    if (now.count == UINT32_MAX)
        return hl_client_refuse(client, HILOCK_IN_USE, "handle of \"%s\" was entered %u times: is a release missing?",
                                quoted_name(lock).bytes, UINT32_MAX);
    return HILOCK_OK;
}

static hilock_status check_acquire(struct hilock_client *client, const struct hilock_lock *lock, uint32_t wait_ms,
                                   hilock_result_fn *on_result)
{
    const struct hl_core *core = &client->core;
    struct hl_text why;
    hilock_status status;
    if (!on_result)
        return hl_client_refuse(client, HILOCK_INVALID, "on_result is NULL: an acquire is answered by it");
    if (wait_ms != HILOCK_FOREVER && hl_options_span_is_bad(wait_ms, "wait_ms", &why))
        return hl_client_refuse(client, HILOCK_INVALID, "%s, or HILOCK_FOREVER", why.bytes);
    if (core->is_closing)
        return hl_client_refuse(client, HILOCK_CLOSED,
                                "the client is closing: no new acquires; open another client for them");
    status = check_use(client, lock);
    if (status != HILOCK_OK || look(lock).state == HILOCK_STATE_HELD)
        return status;
    if (core->waiting + core->unheld >= core->limits.waiters_max)
        return hl_client_refuse(client, HILOCK_TOO_MANY_WAITERS,
                                "%u acquires already wait%s (waiters_max): shed load or raise it",
                                core->waiting + core->unheld,
                                core->unheld ? ", or have ended and are still to be released at the store" : "");
    if (hl_gate_waiting(lock->name) >= core->limits.name_waiters_max)
        return hl_client_refuse(client, HILOCK_TOO_MANY_WAITERS,
                                "%u acquires of \"%s\" already wait (name_waiters_max): shed load or raise it",
                                hl_gate_waiting(lock->name), quoted_name(lock).bytes);
    return HILOCK_OK;
}

hilock_status hilock_acquire(hilock_lock *lock, uint32_t wait_ms, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    struct hilock_client *client;
    if (status != HILOCK_OK)
        return status;
    client = client_of(lock);
    status = check_acquire(client, lock, wait_ms, on_result);
    if (status == HILOCK_OK && lock->ops->acquire(&client->core, lock, wait_ms, on_result, user) != HILOCK_OK)
        status = hl_client_refuse(client, HILOCK_NO_MEMORY, "out of memory for an acquire");
    if (status == HILOCK_OK)
        return status;
    client->stats.refused++;
    client->stats.refused_by[hl_stats_index(status)]++;
    return status;
}

static hilock_status check_held(const struct hilock_lock *lock)
{
    if (look(lock).state == HILOCK_STATE_HELD)
        return HILOCK_OK;
    return hl_client_refuse(client_of(lock), HILOCK_NOT_HELD,
                            "handle of \"%s\" does not hold: never acquired, released before, or lost",
                            quoted_name(lock).bytes);
}

hilock_status hilock_release(hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    if (status == HILOCK_OK)
        status = check_held(lock);
    if (status != HILOCK_OK)
        return status;
    lock->ops->release(&client_of(lock)->core, lock, on_result, user);
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
        return hl_client_refuse(client, HILOCK_INVALID, "bad lease_ms %u: must be %d..%d, or 0 for the lock's",
                                lease_ms, HL_LEASE_MIN_MS, HL_LEASE_MAX_MS);
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
    if (lock->ops->extend(&client_of(lock)->core, lock, lease_ms ? lease_ms : lock->terms->lease_ms, on_result, user) !=
        HILOCK_OK)
        return hl_client_refuse(client_of(lock), HILOCK_NO_MEMORY, "out of memory for an extend");
    return HILOCK_OK;
}

hilock_status hilock_cancel(hilock_lock *lock)
{
    hilock_status status = admit(lock);
    if (status != HILOCK_OK)
        return status;
    if (!lock->ops->cancel(&client_of(lock)->core, lock))
        return hl_client_refuse(client_of(lock), HILOCK_NOT_PENDING,
                                "handle of \"%s\" does not wait: hilock_lock_drop is for any state",
                                quoted_name(lock).bytes);
    return HILOCK_OK;
}

/* ---- getters ---- */

uint32_t hilock_lock_remaining_ms(const hilock_lock *lock)
{
    if (!may_read(lock) || !lock->terms->cell->core)
        return 0;
    return hl_lease_span_ms(look(lock).left_us);
}

uint64_t hilock_lock_token(const hilock_lock *lock) { return may_read(lock) ? look(lock).token : 0; }

uint64_t hilock_multi_token(const hilock_lock *lock, size_t index)
{
    return may_read(lock) ? lock->ops->token(lock, index) : 0;
}

hilock_state hilock_lock_state(const hilock_lock *lock)
{
    return may_read(lock) ? look(lock).state : HILOCK_STATE_IDLE;
}

const char *hilock_lock_name(const hilock_lock *lock) { return may_read(lock) ? lock->name->bytes : ""; }

void *hilock_lock_user(const hilock_lock *lock) { return may_read(lock) ? lock->user : NULL; }

void hilock_lost_ignored(const struct hilock_event *event, void *user) { (void)event, (void)user; }
