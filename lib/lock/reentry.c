/* SPDX-License-Identifier: BSD-3-Clause */
/* reentry - see reentry.h. */
#include "lock/reentry.h"

#include "base/container.h"
#include "core/call.h"
#include "core/words.h"

enum hl_entry_state {
    ENTRY_ENTERS,    /* an acquire without an answer: it stands in extras->entering */
    ENTRY_CANCELLED, /* an acquire that was cancelled */
    ENTRY_OUTLIVES,  /* an acquire whose hold ended before its answer */
    ENTRY_LEAVES     /* memory for the answer to a release; until that release comes it stands in
                        extras->release_calls */
};

struct hl_entry {
    struct hl_call call;
    TAILQ_ENTRY(hl_entry) entry; /* links the entry into the extras of its handle */
    enum hl_entry_state state;
    uint64_t tenure;             /* the tenure that the acquire enters, or the release leaves */
    uint32_t count;              /* the count of the handle after this acquire or release */
};

/* Returns 1 if the handle still has the tenure of this entry. */
static int is_in(const struct hl_core *core, const struct hl_entry *entry)
{
    const struct hl_snapshot now = entry->call.lock->ops->snapshot(entry->call.lock);
    return now.state == HILOCK_STATE_HELD && now.ends_us > hl_now_us(&core->host) && now.tenure == entry->tenure;
}

/* Takes one count, and returns the memory for the answer to its release. NULL: only the count of the hold itself is
 * left. */
static struct hl_entry *uncount(struct hilock_lock *lock)
{
    struct hl_entry *leave = lock->extras ? TAILQ_FIRST(&lock->extras->release_calls) : NULL;
    if (!leave)
        return NULL;
    TAILQ_REMOVE(&lock->extras->release_calls, leave, entry);
    lock->extras->count--;
    return leave;
}

/* An acquire has failed before its hold ended: it no longer counts. If a release has taken the count of this acquire
 * already, another count is taken instead; if there is none, the hold is released. */
static void withdraw(struct hl_core *core, struct hl_entry *entry, enum hl_entry_state state)
{
    struct hl_entry *leave = uncount(entry->call.lock);
    TAILQ_REMOVE(&entry->call.lock->extras->entering, entry, entry);
    entry->state = state;
    if (leave)
        hl_call_free(core, &leave->call);
    else
        entry->call.lock->ops->release(core, entry->call.lock, NULL, NULL);
}

/* Decides the answer to a re-entry when it is reported. A re-entry that is not answered OK no longer counts. */
static hilock_status verdict(struct hl_core *core, struct hl_entry *entry)
{
    if (entry->state == ENTRY_CANCELLED)
        return HILOCK_CANCELLED;
    if (entry->state == ENTRY_OUTLIVES || !is_in(core, entry))
        return HILOCK_LOST;
    if (core->phase == PHASE_OPEN)
        return HILOCK_OK;
    withdraw(core, entry, ENTRY_OUTLIVES);
    return HILOCK_CLOSED;
}

static void forget(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_entry *entry = HL_CONTAINER(notice, struct hl_entry, call.notice);
    if (entry->state == ENTRY_ENTERS)
        TAILQ_REMOVE(&entry->call.lock->extras->entering, entry, entry);
    hl_call_free(core, &entry->call);
}

static void report(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_entry *entry = HL_CONTAINER(notice, struct hl_entry, call.notice);
    const struct hilock_lock *lock = entry->call.lock;
    int is_acquire = entry->state != ENTRY_LEAVES;
    hilock_status status = is_acquire ? verdict(core, entry) : HILOCK_OK;
    /* The user of a handle that was dropped is told nothing; the trace has the re-entry as cancelled, like a wait. */
    hilock_status traced = hl_notice_is_silenced(lock, notice) ? HILOCK_CANCELLED : status;
    struct hilock_result result =
        {.status = status, .operation = is_acquire ? HILOCK_OP_ACQUIRE : HILOCK_OP_RELEASE};
    if (is_acquire)
        hl_trace(&core->host, traced == HILOCK_OK ? HL_ACQUIRE_REENTERED : HL_ACQUIRE_ENDED,
                 &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .status = traced,
                                   .waited_us = hl_now_us(&core->host) - entry->call.begun_us});
    result.hold_count = status == HILOCK_OK && is_in(core, entry) ? entry->count : 0;
    result.detail = status == HILOCK_LOST ? hl_words_reentry_lost : hilock_status_text(status);
    hl_call_answer(core, &entry->call, result);
}

hilock_status hl_reentry_begin(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result,
                               void *user)
{
    static const struct hl_notice_ops ops = {report, forget};
    struct hl_extras *extras = hl_lock_extras(lock);
    struct hl_entry *entry = extras ? hl_call_new(core, sizeof *entry, &ops, NULL, lock, on_result, user) : NULL;
    struct hl_entry *leave = entry ? hl_call_new(core, sizeof *leave, &ops, NULL, lock, NULL, NULL) : NULL;
    if (entry && !leave)
        hl_call_free(core, &entry->call);
    if (!leave)
        return HILOCK_NO_MEMORY;
    entry->tenure = leave->tenure = lock->ops->snapshot(lock).tenure;
    entry->state = ENTRY_ENTERS;
    leave->state = ENTRY_LEAVES;
    TAILQ_INSERT_TAIL(&extras->entering, entry, entry);
    TAILQ_INSERT_TAIL(&extras->release_calls, leave, entry);
    extras->count++;
    entry->count = hl_lock_count(lock);
    hl_trace(&core->host, HL_ACQUIRE_BEGUN, &(struct hl_fact){.lock = lock, .name = lock->name->bytes});
    hl_notice_post(core, &entry->call.notice, 1);
    return HILOCK_OK;
}

/* A hold that is lost is over for all counts, even before on_lost has run. */
int hl_reentry_leave(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    uint64_t now_us = hl_notices_check(core);
    struct hl_entry *leave = lock->ops->snapshot(lock).ends_us > now_us ? uncount(lock) : NULL;
    if (!leave)
        return 0;
    leave->call.on_result = on_result;
    leave->call.user = user;
    leave->call.begun_us = hl_now_us(&core->host);
    leave->count = hl_lock_count(lock);
    if (on_result)
        hl_notice_post(core, &leave->call.notice, 1);
    else
        hl_call_free(core, &leave->call);
    return 1;
}

int hl_reentry_cancel(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_entry *entry = lock->extras ? TAILQ_LAST(&lock->extras->entering, hl_entries) : NULL;
    if (!entry)
        return 0;
    withdraw(core, entry, ENTRY_CANCELLED);
    return 1;
}

void hl_reentry_end(struct hl_core *core, struct hilock_lock *lock)
{
    struct hl_entry *entry;
    while (lock->extras && (entry = TAILQ_FIRST(&lock->extras->entering)) != NULL) {
        TAILQ_REMOVE(&lock->extras->entering, entry, entry);
        entry->state = ENTRY_OUTLIVES;
    }
    while ((entry = uncount(lock)) != NULL)
        hl_call_free(core, &entry->call);
}
