/* SPDX-License-Identifier: BSD-3-Clause */
/* operator - what looks at locks rather than takes part: every lock of a client, one lock's description, peek and
 * force_release. */
#include "client/client.h"
#include "lock/hold.h"
#include "lock/inquiry.h"
#include "lock/lease.h"
#include "lock/lock.h"
#include "lock/reentry.h"
#include "lock/walk.h"
#include "wire/peek.h"

static struct hilock_client *client_of(const struct hilock_lock *lock) { return (struct hilock_client *)(void *)lock->terms->cell->core; }

static void describe(const struct hilock_lock *lock, struct hilock_lock_info *ret_info)
{
    const struct hl_core *core = lock->terms->cell->core;
    uint64_t now_us = core ? hl_now_us(&core->host) : 0;
    *ret_info = (struct hilock_lock_info){.size = sizeof *ret_info, .name = lock->name->bytes, .name_length = lock->name->length,
                                          .kind = lock->terms->kind->kind, .user = lock->user};
    if (!core)
        return;
    ret_info->state = hl_lock_state(lock);
    ret_info->remaining_ms = hl_lease_span_ms(hl_lock_left_us(lock, now_us));
    if (ret_info->state == HILOCK_WAITING)
        ret_info->age_ms = hl_lease_span_ms(now_us - lock->acquire->begun_us);
    if (ret_info->state != HILOCK_HELD)
        return;
    ret_info->age_ms = hl_lease_span_ms(now_us - lock->hold->since_us);
    ret_info->hold_count = hl_hold_entries(lock->hold);
    ret_info->fencing_token = hl_hold_token(lock->hold);
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
        hl_walk_locks(&client->core, visit_one, &each);
}

/* HILOCK_OK: an inquiry may be made through this handle. */
static hilock_status admit_inquiry(const struct hilock_lock *lock)
{
    hilock_status status = lock ? hl_cell_admit(lock->terms->cell) : HILOCK_INVALID;
    if (status != HILOCK_OK || !lock->terms->cell->core)
        return status == HILOCK_OK ? HILOCK_CLOSED : status;
    if (lock->terms->cell->core->is_closing)
        return hl_client_refuse(client_of(lock), HILOCK_CLOSED, "the client is closing: no new inquiries; open another client for them");
    if (lock->terms->multi)
        return hl_client_refuse(client_of(lock), HILOCK_UNSUPPORTED, "a multi has no one holder: make a handle of the one name to look at");
    return HILOCK_OK;
}

static hilock_status out_of_memory(const struct hilock_lock *lock, hilock_status status)
{
    return status == HILOCK_OK ? status : hl_client_refuse(client_of(lock), status, "out of memory for an inquiry");
}

hilock_status hilock_peek(hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit_inquiry(lock);
    if (status != HILOCK_OK)
        return status;
    if (!on_result)
        return hl_client_refuse(client_of(lock), HILOCK_INVALID, "on_result is NULL: a peek is answered by it");
    return out_of_memory(lock, hl_inquiry_peek(lock->terms->cell->core, lock, on_result, user));
}

static hilock_status check_holder(struct hilock_client *client, const char *holder)
{
    size_t length = strnlen(holder, HL_INQUIRY_HOLDER_MAX + 1);
    if (length == 0 || length > HL_INQUIRY_HOLDER_MAX)
        return hl_client_refuse(client, HILOCK_INVALID, "bad holder of %s bytes: give it as peek named it, 1..%d, or NULL for whoever holds",
                         length ? "too many" : "0", HL_INQUIRY_HOLDER_MAX);
    if (!hl_peek_is_holder(holder, length))
        return hl_client_refuse(client, HILOCK_INVALID, "bad holder \"%s\": a field of every lock's hash, and no holder; give it as peek named it", holder);
    return HILOCK_OK;
}

hilock_status hilock_force_release(hilock_lock *lock, const char *holder, hilock_result_fn *on_result, void *user)
{
    hilock_status status = admit_inquiry(lock);
    if (status == HILOCK_OK && holder)
        status = check_holder(client_of(lock), holder);
    if (status != HILOCK_OK)
        return status;
    return out_of_memory(lock, hl_inquiry_force(lock->terms->cell->core, lock, holder, on_result, user));
}
