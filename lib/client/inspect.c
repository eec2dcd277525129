/* SPDX-License-Identifier: BSD-3-Clause */
/* inspect - calls that look at locks and take none: every lock of a client, one lock's description, peek and
 * force_release. */
#include "client/client.h"
#include "client/handles.h"
#include "lock/inquiry.h"
#include "lock/lease.h"
#include "lock/lock.h"
#include "wire/peek.h"

static struct hilock_client *client_of(const struct hilock_lock *lock)
{
    return (struct hilock_client *)(void *)lock->terms->cell->core;
}

static void describe(const struct hilock_lock *lock, struct hilock_lock_info *ret_info)
{
    const struct hl_core *core = lock->terms->cell->core;
    uint64_t now_us = core ? hl_now_us(&core->host) : 0;
    struct hl_look look;
    *ret_info = (struct hilock_lock_info){.size = sizeof *ret_info,
                                          .name = lock->name->bytes,
                                          .name_length = lock->name->length,
                                          .kind = lock->terms->kind->kind,
                                          .user = lock->user};
    if (!core)
        return;
    look = lock->ops->look(lock, now_us);
    ret_info->state = look.state;
    ret_info->remaining_ms = hl_lease_span_ms(look.left_us);
    ret_info->age_ms = look.state == HILOCK_STATE_IDLE ? 0 : hl_lease_span_ms(now_us - look.since_us);
    ret_info->hold_count = look.count;
    ret_info->fencing_token = look.token;
}

void hilock_lock_describe(const hilock_lock *lock, struct hilock_lock_info *ret_info)
{
    struct hilock_lock_info info = {.name = ""};
    size_t size = ret_info ? ret_info->size : 0;
    if (size < sizeof size)
        return;
    if (lock && hl_cell_admit(lock->terms->cell) == HILOCK_OK)
        describe(lock, &info);
    info.size = size;
    memcpy(ret_info, &info, size < sizeof info ? size : sizeof info);
}

struct visit { hilock_visit_fn *visit; void *user; };

static void visit_one(const struct hilock_lock *lock, void *arg)
{
    const struct visit *visit = arg;
    struct hilock_lock_info info;
    describe(lock, &info);
    visit->visit(&info, visit->user);
}

void hilock_client_each_lock(const hilock_client *client, hilock_visit_fn *visit, void *user)
{
    struct visit each = {visit, user};
    if (client && visit && hl_client_admit(client) == HILOCK_OK)
        hl_handles_visit(&client->core, visit_one, &each);
}

/* HILOCK_OK: this handle may be used for an inquiry. */
static hilock_status admit_inquiry(const struct hilock_lock *lock)
{
    hilock_status status = lock ? hl_cell_admit(lock->terms->cell) : HILOCK_INVALID;
    if (status != HILOCK_OK || !lock->terms->cell->core)
        return status == HILOCK_OK ? HILOCK_CLOSED : status;
    if (lock->terms->cell->core->is_closing)
        return hl_client_refuse(client_of(lock), HILOCK_CLOSED,
                                "the client is closing: no new inquiries; open another client for them");
    return HILOCK_OK;
}

static hilock_status refused(const struct hilock_lock *lock, hilock_status status)
{
    if (status == HILOCK_UNSUPPORTED)
        return hl_client_refuse(client_of(lock), status,
                                "a multi has no single holder: make a handle for one of its names");
    return status == HILOCK_OK ? status : hl_client_refuse(client_of(lock), status, "out of memory for an inquiry");
}

hilock_status hilock_peek(hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit_inquiry(lock);
    if (status != HILOCK_OK)
        return status;
    if (!on_result)
        return hl_client_refuse(client_of(lock), HILOCK_INVALID, "on_result is NULL: a peek is answered by it");
    return refused(lock, lock->ops->peek(lock->terms->cell->core, lock, on_result, user));
}

static hilock_status check_holder(struct hilock_client *client, const char *holder)
{
    size_t length = strnlen(holder, HL_INQUIRY_HOLDER_MAX + 1);
    if (length == 0 || length > HL_INQUIRY_HOLDER_MAX)
        return hl_client_refuse(client, HILOCK_INVALID,
                                "bad holder of %s bytes: give it as peek named it, 1..%d, or NULL for any holder",
                                length ? "too many" : "0", HL_INQUIRY_HOLDER_MAX);
    if (!hl_peek_is_holder(holder, length))
        return hl_client_refuse(
            client, HILOCK_INVALID,
            "bad holder \"%s\": a field of every lock's hash, and no holder; give it as peek named it", holder);
    return HILOCK_OK;
}

hilock_status hilock_force_release(hilock_lock *lock, const char *holder, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit_inquiry(lock);
    if (status == HILOCK_OK && holder)
        status = check_holder(client_of(lock), holder);
    if (status != HILOCK_OK)
        return status;
    return refused(lock, lock->ops->force(lock->terms->cell->core, lock, holder, on_result, user));
}
