/* SPDX-License-Identifier: BSD-3-Clause */
/* reentry - see reentry.h. */
#include "lock/reentry.h"

#include "base/contract.h"
#include "base/plant.h"
#include "lock/callback.h"
#include "lock/entry.h"
#include "lock/lease.h"
#include "lock/lock.h"

static void report(struct hl_core *core, struct hl_notice *notice);

static void forget(struct hl_core *core, struct hl_notice *notice)
{
    hl_entry_free(core, (struct hl_entry *)(void *)notice);
}

hilock_status hl_reentry_begin(struct hl_core *core, struct hilock_lock *lock, struct hl_desk *desk,
                               hilock_result_fn *on_result, void *user)
{
    static const struct hl_notice_ops ops = {report, forget};
    const struct hl_look look = lock->ops->look(lock, hl_now_us(&core->host));
    struct hl_entry *entry = desk ? hl_memory_new(&core->host.memory, sizeof *entry) : NULL;
    if (!entry)
        return HILOCK_NO_MEMORY;
    entry->notice.ops = &ops;
    entry->notice.epoch = lock->epoch;
    entry->desk = desk;
    entry->lock = lock;
    lock->refs++;
    entry->tenure = look.tenure;
    entry->on_entered = on_result;
    entry->entered_user = user;
    entry->entered_us = hl_now_us(&core->host);
    TAILQ_INSERT_TAIL(&desk->entries, entry, entry);
    desk->count++;
    entry->entered_count = 1 + desk->count;
    hl_trace(&core->host, HL_ACQUIRE_BEGUN, &(struct hl_fact){.lock = lock, .name = lock->name->bytes});
    hl_notice_post(core, &entry->notice, REPORT_ENTERED);
    return HILOCK_OK;
}

/* Frees it, unless it has more to report. */
static void reported(struct hl_core *core, struct hl_entry *entry)
{
    if (entry->is_leaving)
        hl_entry_unlink(entry);
    if (!entry->desk && !entry->notice.pending)
        hl_entry_free(core, entry);
}

/* One count less: takes that of the oldest entry: if any entry has its answer, the oldest has. NULL: only the hold's
 * own is left. */
static struct hl_entry *uncount(struct hl_desk *desk)
{
    struct hl_entry *entry = TAILQ_FIRST(&desk->entries);
    if (!entry)
        return NULL;
    hl_entry_unlink(entry);
    if (entry->notice.pending & REPORT_ENTERED) {
        entry->desk = desk;
        entry->is_leaving = 1;
        TAILQ_INSERT_TAIL(&desk->leaving, entry, entry);
    }
    return entry;
}

void hl_reentry_leave(struct hl_core *core, struct hl_desk *desk, hilock_result_fn *on_result, void *user)
{
    struct hl_entry *entry = uncount(desk);
    HL_REQUIRE(entry); /* hilock_release asks for the count first */
    entry->on_left = on_result;
    entry->left_user = user;
    entry->left_us = hl_now_us(&core->host);
    entry->left_count = 1 + desk->count;
    if (on_result)
        hl_notice_post(core, &entry->notice, REPORT_LEFT);
    else if (!entry->desk)
        hl_entry_free(core, entry);
}

/* A failed acquire no longer counts. If a release already took its count, that release takes another one. */
static void withdraw(struct hl_core *core, struct hl_entry *entry)
{
    struct hl_desk *desk = entry->desk;
    struct hilock_lock *lock = entry->lock;
    int was_leaving = entry->is_leaving;
    struct hl_entry *other;
    hl_entry_unlink(entry);
    entry->is_leaving = 0;
    if (!was_leaving || !desk)
        return;
    other = uncount(desk);
    if (!other)
        lock->ops->release(core, lock, NULL, NULL);
    else if (!other->desk)
        hl_entry_free(core, other);
}

static struct hl_entry *unanswered(struct hl_entry *entry)
{
    return entry && entry->notice.pending & REPORT_ENTERED && !entry->is_cancelled ? entry : NULL;
}

int hl_reentry_cancel(struct hl_core *core, struct hl_desk *desk)
{
    struct hl_entry *entry = unanswered(TAILQ_LAST(&desk->entries, hl_entries));
    if (!entry)
        entry = unanswered(TAILQ_LAST(&desk->leaving, hl_entries));
    if (!entry)
        return 0;
    entry->is_cancelled = 1;
    withdraw(core, entry);
    return 1;
}

/* The hold that it entered is still held. */
static int is_in(const struct hl_core *core, const struct hl_entry *entry)
{
    const struct hl_look look = entry->lock->ops->look(entry->lock, hl_now_us(&core->host));
    return look.state == HILOCK_STATE_HELD && look.left_us && look.tenure == entry->tenure;
}

/* As it is reported; an entry whose answer is not OK no longer counts. */
static hilock_status verdict(struct hl_core *core, struct hl_entry *entry)
{
    if (entry->is_cancelled)
        return HILOCK_CANCELLED;
    if (!is_in(core, entry) && !HL_PLANTED(REENTRY_UNCHECKED))
        return HILOCK_LOST;
    if (!core->is_closing)
        return HILOCK_OK;
    withdraw(core, entry);
    return HILOCK_CLOSED;
}

/* A dropped entry reports nothing, like a dropped wait. */
static void trace_entry(struct hl_core *core, const struct hl_entry *entry, hilock_status status)
{
    status = hl_callback_is_off(entry->lock, &entry->notice) ? HILOCK_CANCELLED : status;
    hl_trace(&core->host, status == HILOCK_OK ? HL_ACQUIRE_REENTERED : HL_ACQUIRE_ENDED,
             &(struct hl_fact){.lock = entry->lock, .name = entry->lock->name->bytes, .status = status,
                               .waited_us = hl_now_us(&core->host) - entry->entered_us});
}

/* Answers an entry's acquire, or the release that took its count. */
static void report(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_entry *entry = (struct hl_entry *)(void *)notice;
    int has_entered = hl_notice_take(core, &entry->notice) == REPORT_ENTERED;
    struct hilock_lock *lock = entry->lock;
    hilock_result_fn *on_result = hl_callback_is_off(lock, &entry->notice) ? NULL : has_entered ? entry->on_entered
        : entry->on_left;
    void *user = has_entered ? entry->entered_user : entry->left_user;
    struct hilock_result result =
        {.status = has_entered ? verdict(core, entry) : HILOCK_OK,
         .operation = has_entered ? HILOCK_OP_ACQUIRE : HILOCK_OP_RELEASE,
         .waited_ms = hl_lease_span_ms(hl_now_us(&core->host) - (has_entered ? entry->entered_us : entry->left_us))};
    uint32_t count = has_entered ? entry->entered_count : entry->left_count;
    int stands = is_in(core, entry);
    if (has_entered)
        trace_entry(core, entry, result.status);
    lock->refs++;
    reported(core, entry);
    if (on_result) {
        result.hold_count = stands && result.status == HILOCK_OK ? count : 0;
        result.detail = result.status == HILOCK_LOST ? "the hold had ended before this re-entry was answered"
            : hilock_status_text(result.status);
        hl_callback_result(lock, on_result, result, user);
    }
    hl_lock_unref(lock);
}
