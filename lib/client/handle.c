/* SPDX-License-Identifier: BSD-3-Clause */
/* handle - the public calls on a lock, and on a validity. A call on a lock checks the caller and the arguments, and
 * then calls the lock machine. A call on a validity may come from any thread, and touches no client and no lock. */
#include "base/container.h"
#include "client/client.h"
#include "client/options.h"
#include "client/words.h"
#include "core/lease.h"
#include "core/lock.h"
#include "hold/hold.h"
#include "hold/validity.h"
#include "lock/inquiry.h"
#include "lock/line.h"
#include "lock/reentry.h"

static struct hilock_client *client_of(const struct hilock_lock *lock)
{
    return HL_CONTAINER(hl_lock_core(lock), struct hilock_client, core);
}

/* Returns HILOCK_OK when the handle and its client may be used. */
static hilock_status admit(const struct hilock_lock *lock)
{
    hilock_status status = lock ? hl_cell_admit(lock->terms->cell) : HILOCK_INVALID;
    return status == HILOCK_OK && !hl_lock_core(lock) ? HILOCK_CLOSED : status;
}

static int admit_read(const struct hilock_lock *lock)
{
    return lock && hl_cell_admit(lock->terms->cell) == HILOCK_OK;
}

static hilock_state state_of(const struct hilock_lock *lock) { return lock->ops->snapshot(lock).state; }

static hilock_status refuse_unheld(const struct hilock_lock *lock)
{
    return hl_client_refuse(client_of(lock), HILOCK_NOT_HELD,
                            hl_words_not_held(hl_name_quoted(lock->name).bytes).bytes);
}

static hilock_status check_callback(const struct hilock_lock *lock, hilock_result_fn *on_result, const char *call)
{
    return on_result ? HILOCK_OK
                     : hl_client_refuse(client_of(lock), HILOCK_INVALID, hl_words_no_callback(call).bytes);
}

/* Returns the status with which the lock machine answered a call, and keeps the reason if that is a refusal. */
static hilock_status accepted(const struct hilock_lock *lock, hilock_status status, const char *call)
{
    if (status == HILOCK_NO_MEMORY)
        return hl_client_refuse(client_of(lock), status, hl_words_no_memory_for(call).bytes);
    if (status == HILOCK_UNSUPPORTED)
        return hl_client_refuse(client_of(lock), status, hl_words_no_single_holder);
    return status;
}

/* In a forked child this only gives memory back: nothing is sent, and no other handle gets the lock. */
void hilock_lock_free(hilock_lock *lock)
{
    hilock_status status = admit(lock);
    if (status == HILOCK_OK) {
        lock->ops->silence(hl_lock_core(lock), lock);
        client_of(lock)->handles--;
    } else if (status == HILOCK_FORKED && hl_lock_core(lock))
        lock->ops->teardown(hl_lock_core(lock), lock);
    if (status == HILOCK_OK || status == HILOCK_CLOSED || status == HILOCK_FORKED)
        hl_lock_unref(lock);
}

void hilock_lock_drop(hilock_lock *lock)
{
    if (admit(lock) == HILOCK_OK)
        lock->ops->silence(hl_lock_core(lock), lock);
}

/* A reentrant handle that holds may be acquired again. An idle handle must find room among those that wait. */
static hilock_status check_state(struct hilock_client *client, const struct hilock_lock *lock)
{
    const struct hl_core *core = &client->core;
    const struct hl_snapshot now = lock->ops->snapshot(lock);
    int is_waiting = now.state == HILOCK_STATE_WAITING;
    if (now.state != HILOCK_STATE_IDLE && !lock->terms->is_reentrant)
        return hl_client_refuse(client, HILOCK_IN_USE,
                                hl_words_in_use(hl_name_quoted(lock->name).bytes, is_waiting).bytes);
    if (is_waiting)
        return hl_client_refuse(client, HILOCK_IN_USE,
                                hl_words_reentry_while_waiting(hl_name_quoted(lock->name).bytes).bytes);
    if (now.state == HILOCK_STATE_HELD)
        return now.count < UINT32_MAX
                   ? HILOCK_OK
                   : hl_client_refuse(client, HILOCK_IN_USE,
                                      hl_words_too_many_entries(hl_name_quoted(lock->name).bytes).bytes);
    if (core->waiting + core->holds->undoing >= core->limits.waiters_max)
        return hl_client_refuse(client, HILOCK_TOO_MANY_WAITERS,
                                hl_words_too_many_waiters(core->waiting + core->holds->undoing,
                                                          core->holds->undoing).bytes);
    if (hl_line_waiting(lock->name) >= core->limits.name_waiters_max)
        return hl_client_refuse(client, HILOCK_TOO_MANY_WAITERS,
                                hl_words_too_many_waiters_of(hl_name_quoted(lock->name).bytes,
                                                             hl_line_waiting(lock->name)).bytes);
    return HILOCK_OK;
}

/* A try is answered within command_timeout_ms, even if the server is away. */
static hilock_status begin(struct hl_core *core, struct hilock_lock *lock, uint32_t wait_ms,
                           hilock_result_fn *on_result, void *user)
{
    int is_try = wait_ms == HILOCK_TRY;
    uint64_t limit_us = (uint64_t)(is_try ? core->limits.command_timeout_ms : wait_ms) * 1000;
    if (state_of(lock) == HILOCK_STATE_HELD)
        return hl_reentry_begin(core, lock, on_result, user);
    return lock->ops->acquire(core, lock, is_try, wait_ms == HILOCK_FOREVER ? UINT64_MAX : limit_us, on_result, user);
}

hilock_status hilock_acquire(hilock_lock *lock, uint32_t wait_ms, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    struct hl_text why;
    if (status != HILOCK_OK)
        return status;
    struct hilock_client *client = client_of(lock);
    status = check_callback(lock, on_result, "hilock_acquire");
    if (status == HILOCK_OK && wait_ms != HILOCK_FOREVER &&
        hl_options_check_span(wait_ms, "wait_ms", "HILOCK_FOREVER", &why) != HILOCK_OK)
        status = hl_client_refuse(client, HILOCK_INVALID, why.bytes);
    if (status == HILOCK_OK)
        status = hl_client_admit_new(client, "acquires");
    if (status == HILOCK_OK)
        status = check_state(client, lock);
    if (status == HILOCK_OK)
        status = accepted(lock, begin(&client->core, lock, wait_ms, on_result, user), "an acquire");
    if (status != HILOCK_OK) {
        hl_stats_count(&client->stats.refused, 1);
        hl_stats_count(&client->stats.refused_by[-status], 1);
    }
    return status;
}

hilock_status hilock_release(hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    if (status != HILOCK_OK)
        return status;
    if (hl_lock_count(lock) > 1 && hl_reentry_leave(hl_lock_core(lock), lock, on_result, user))
        return HILOCK_OK;
    status = lock->ops->release(hl_lock_core(lock), lock, on_result, user);
    return status == HILOCK_OK ? HILOCK_OK : refuse_unheld(lock);
}

hilock_status hilock_extend(hilock_lock *lock, uint32_t lease_ms, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    struct hl_text why;
    if (status == HILOCK_OK)
        status = check_callback(lock, on_result, "hilock_extend");
    if (status != HILOCK_OK)
        return status;
    struct hilock_client *client = client_of(lock);
    status = hl_options_check_span(lease_ms, "lease_ms", NULL, &why);
    if (status == HILOCK_OK && lease_ms)
        status = hl_options_check_lease(lease_ms, client->options.restart_guard_ms, "lock's", &why);
    if (status != HILOCK_OK)
        return hl_client_refuse(client, status, why.bytes);
    if (state_of(lock) != HILOCK_STATE_HELD)
        return refuse_unheld(lock);
    lease_ms = lease_ms ? lease_ms : lock->terms->lease_ms;
    return accepted(lock, lock->ops->extend(&client->core, lock, lease_ms, on_result, user), "an extend");
}

static hilock_status check_downgrade(const struct hilock_lock *lock)
{
    struct hilock_client *client = client_of(lock);
    const struct hl_snapshot now = lock->ops->snapshot(lock);
    if (!lock->ops->downgrade || lock->terms->kind->queueing == HL_QUEUES_NOT)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, hl_words_cannot_share);
    if (now.state != HILOCK_STATE_HELD)
        return refuse_unheld(lock);
    if (!hl_holds_alone(lock->hold->terms))
        return hl_client_refuse(client, HILOCK_UNSUPPORTED,
                                hl_words_shares_already(hl_name_quoted(lock->name).bytes).bytes);
    if (now.count > 1)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED,
                                hl_words_downgrade_reentered(hl_name_quoted(lock->name).bytes, now.count).bytes);
    return HILOCK_OK;
}

hilock_status hilock_downgrade(hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    if (status == HILOCK_OK)
        status = check_callback(lock, on_result, "hilock_downgrade");
    if (status == HILOCK_OK)
        status = check_downgrade(lock);
    if (status != HILOCK_OK)
        return status;
    return accepted(lock, lock->ops->downgrade(hl_lock_core(lock), lock, on_result, user), "a downgrade");
}

hilock_status hilock_cancel(hilock_lock *lock)
{
    hilock_status status = admit(lock);
    if (status != HILOCK_OK)
        return status;
    if (lock->ops->cancel(hl_lock_core(lock), lock) || hl_reentry_cancel(hl_lock_core(lock), lock))
        return HILOCK_OK;
    return hl_client_refuse(client_of(lock), HILOCK_NOT_PENDING,
                            hl_words_not_waiting(hl_name_quoted(lock->name).bytes).bytes);
}

hilock_status hilock_peek(hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    if (status == HILOCK_OK)
        status = hl_client_admit_new(client_of(lock), "inquiries");
    if (status == HILOCK_OK)
        status = check_callback(lock, on_result, "hilock_peek");
    if (status == HILOCK_OK)
        status = accepted(lock, lock->ops->inquire(hl_lock_core(lock), lock, HILOCK_OP_PEEK, NULL, on_result, user),
                          "an inquiry");
    return status;
}

hilock_status hilock_holders(hilock_lock *lock, hilock_holder_fn *on_holder, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    if (status == HILOCK_OK)
        status = hl_client_admit_new(client_of(lock), "inquiries");
    if (status == HILOCK_OK)
        status = check_callback(lock, on_result, "hilock_holders");
    if (status == HILOCK_OK && !on_holder)
        status = hl_client_refuse(client_of(lock), HILOCK_INVALID, hl_words_no_on_holder);
    if (status == HILOCK_OK && !lock->ops->list)
        status = hl_client_refuse(client_of(lock), HILOCK_UNSUPPORTED, hl_words_cannot_list);
    if (status == HILOCK_OK)
        status = accepted(lock, lock->ops->list(hl_lock_core(lock), lock, on_holder, on_result, user), "an inquiry");
    return status;
}

hilock_status hilock_force_release(hilock_lock *lock, const char *holder, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit(lock);
    if (status == HILOCK_OK)
        status = hl_client_admit_new(client_of(lock), "inquiries");
    if (status != HILOCK_OK)
        return status;
    size_t length = holder ? strnlen(holder, HL_INQUIRY_HOLDER_MAX + 1) : 0;
    if (holder && length == 0)
        return hl_client_refuse(client_of(lock), HILOCK_INVALID, hl_words_bad_holder_empty);
    if (length > HL_INQUIRY_HOLDER_MAX)
        return hl_client_refuse(client_of(lock), HILOCK_INVALID, hl_words_long_holder(HL_INQUIRY_HOLDER_MAX).bytes);
    if (holder && strcmp(holder, "mode") == 0)
        return hl_client_refuse(client_of(lock), HILOCK_INVALID, hl_words_holder_is_field(holder).bytes);
    struct hl_core *core = hl_lock_core(lock);
    return accepted(lock, lock->ops->inquire(core, lock, HILOCK_OP_FORCE_RELEASE, holder, on_result, user),
                    "an inquiry");
}

uint64_t hilock_lock_token(const hilock_lock *lock) { return admit_read(lock) ? lock->ops->snapshot(lock).token : 0; }

uint64_t hilock_multi_token(const hilock_lock *lock, size_t index)
{
    return admit_read(lock) && lock->ops->token ? lock->ops->token(lock, index) : 0;
}

hilock_state hilock_lock_state(const hilock_lock *lock)
{
    return admit_read(lock) ? state_of(lock) : HILOCK_STATE_IDLE;
}

const char *hilock_lock_name(const hilock_lock *lock) { return admit_read(lock) ? lock->name->bytes : ""; }

void *hilock_lock_user(const hilock_lock *lock) { return admit_read(lock) ? lock->user : NULL; }

void hilock_lost_ignored(const struct hilock_event *event, void *user) { (void)event, (void)user; }

static struct hilock_lock_info describe(const struct hilock_lock *lock)
{
    const struct hl_snapshot now = lock->ops->snapshot(lock);
    uint64_t now_us = now.state == HILOCK_STATE_IDLE ? now.since_us : hl_now_us(&hl_lock_core(lock)->host);
    return (struct hilock_lock_info){.size = sizeof(struct hilock_lock_info),
                                     .name = lock->name->bytes,
                                     .name_length = lock->name->length,
                                     .kind = lock->terms->kind->kind,
                                     .user = lock->user,
                                     .state = now.state,
                                     .remaining_ms = hl_lease_span_ms(hl_left_us(now.ends_us, now_us)),
                                     .age_ms = hl_lease_span_ms(now_us - now.since_us),
                                     .hold_count = now.count,
                                     .fencing_token = now.token};
}

uint32_t hilock_lock_remaining_ms(const hilock_lock *lock)
{
    return admit_read(lock) ? describe(lock).remaining_ms : 0;
}

void hilock_lock_describe(const hilock_lock *lock, struct hilock_lock_info *ret_info)
{
    struct hilock_lock_info info = admit_read(lock) ? describe(lock) : (struct hilock_lock_info){.name = ""};
    size_t size = ret_info ? ret_info->size : 0;
    if (size < sizeof size)
        return;
    info.size = size;
    memcpy(ret_info, &info, size < sizeof info ? size : sizeof info);
}

void hilock_client_each_lock(const hilock_client *client, hilock_visit_fn *visit, void *user)
{
    const struct hilock_lock *lock;
    if (!client || !visit || hl_cell_admit(client->core.cell) != HILOCK_OK)
        return;
    TAILQ_FOREACH(lock, &client->core.handles, entry) {
        const struct hilock_lock_info info = describe(lock);
        if (info.state != HILOCK_STATE_IDLE)
            visit(&info, user);
    }
}

hilock_status hilock_lock_validity(hilock_lock *lock, hilock_validity **ret_validity)
{
    hilock_status status = admit(lock);
    if (status != HILOCK_OK)
        return status;
    if (!ret_validity)
        return hl_client_refuse(client_of(lock), HILOCK_INVALID, hl_words_no_validity_place);
    if (lock->ops->snapshot(lock).ends_us <= hl_now_us(&hl_lock_core(lock)->host))
        return refuse_unheld(lock);
    *ret_validity = hl_validity_of(lock);
    return accepted(lock, *ret_validity ? HILOCK_OK : HILOCK_NO_MEMORY, "a validity");
}

uint32_t hilock_validity_remaining_ms(const hilock_validity *validity)
{
    return validity ? hl_lease_span_ms(hl_validity_left_us(validity)) : 0;
}

hilock_validity *hilock_validity_ref(hilock_validity *validity)
{
    if (validity)
        hl_validity_ref(validity);
    return validity;
}

void hilock_validity_unref(hilock_validity *validity)
{
    if (validity)
        hl_validity_unref(validity);
}
