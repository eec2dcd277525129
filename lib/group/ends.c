/* SPDX-License-Identifier: BSD-3-Clause */
/* ends - see ends.h. The answer is OK as soon as enough members were released, LOST as soon as too many were lost for
 * that, and UNKNOWN if all have answered without either. An UNKNOWN end is settled when all its unknown members are. */
#include "group/ends.h"

#include "group/members.h"
#include "lock/callback.h"
#include "lock/lease.h"
#include "lock/terms.h"
#include "lock/turn.h"

struct hl_group_end {
    TAILQ_ENTRY(hl_group_end) entry;
    struct hl_group *group;
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us;
    uint32_t epoch;
    unsigned open, released, lost, unsettled; /* members: without an answer, and with which answer */
    unsigned attempts;
    int is_answered, was_unknown;
};

int hl_ends_prepare(struct hl_group *group)
{
    if (!group->end)
        group->end = hl_memory_new(&hl_group_core(group)->host.memory, sizeof *group->end);
    return group->end ? 0 : -1;
}

/* The caller keeps a reference to the handle. */
static void free_if_over(struct hl_group_end *end)
{
    struct hilock_lock *lock = end->group->lock;
    if (end->open || end->unsettled)
        return;
    TAILQ_REMOVE(&end->group->ends, end, entry);
    hl_memory_free(&lock->terms->cell->memory, end);
    hl_lock_unref(lock);
}

/* In the callback the user may abandon the client, which frees this end. */
static void answer(struct hl_group_end *end, hilock_status status, const char *detail)
{
    struct hilock_lock *lock = end->group->lock;
    const struct hl_group_end own = *end;
    struct hilock_result result =
        {.status = status, .operation = HILOCK_OP_RELEASE, .attempts = end->attempts,
         .detail = status == HILOCK_OK ? hilock_status_text(status) : detail,
         .votes = end->group->ways->is_voted ? end->released : 0,
         .waited_ms = hl_lease_span_ms(hl_now_us(&hl_group_core(end->group)->host) - end->begun_us)};
    end->is_answered = 1;
    end->was_unknown = status == HILOCK_UNKNOWN;
    free_if_over(end);
    hl_terms_trace(lock->terms, HL_RELEASE_ANSWERED, &(struct hl_fact){.name = lock->name->bytes, .status = status});
    if (own.on_result && lock->epoch == own.epoch)
        hl_callback_result(lock, own.on_result, result, own.user);
}

static void weigh(struct hl_group_end *end, const char *detail)
{
    const struct hl_group *group = end->group;
    if (!end->is_answered && end->released >= group->needed)
        answer(end, HILOCK_OK, "");
    else if (!end->is_answered && end->lost > group->count - group->needed)
        answer(end, HILOCK_LOST, detail);
    else if (!end->is_answered && !end->open)
        answer(end, HILOCK_UNKNOWN, detail);
    else
        free_if_over(end);
}

static void on_released(const struct hilock_result *result, void *user)
{
    struct hl_group_end *end = user;
    struct hilock_lock *lock = end->group->lock;
    lock->refs++;
    end->open--;
    end->released += result->status == HILOCK_OK;
    end->lost += result->status == HILOCK_LOST;
    end->unsettled += result->status == HILOCK_UNKNOWN;
    end->attempts |= result->attempts != 0;
    weigh(end, result->detail);
    hl_lock_unref(lock);
}

void hl_ends_begin(struct hl_group *group, hilock_result_fn *on_result, void *user)
{
    struct hl_core *core = hl_group_core(group);
    struct hl_group_end *end = group->end;
    group->end = NULL;
    *end =
        (struct hl_group_end){.group = group, .on_result = on_result, .user = user, .begun_us = hl_now_us(&core->host),
                              .epoch = group->lock->epoch};
    TAILQ_INSERT_TAIL(&group->ends, end, entry);
    group->lock->refs++;
    for (unsigned i = 0; i < group->count; i++) {
        struct hilock_lock *member = group->members[i].lock;
        if (member->acquire)
            hl_member_return(&group->members[i]);
        end->open += member->hold != NULL;
        end->lost += member->hold == NULL;
    }
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].lock->hold)
            hl_turn_release(core, group->members[i].lock, on_released, end);
}

/* The oldest with an unsettled member: a member's releases are settled roughly in the order they began. */
void hl_ends_settled(struct hl_group *group)
{
    struct hilock_lock *lock = group->lock;
    struct hl_core *core = hl_group_core(group);
    struct hilock_event event =
        {.kind = HILOCK_EVENT_RELEASE_SETTLED,
         .detail = "every release of this handle is confirmed, or its lease has run out"};
    struct hl_group_end *end;
    int is_news;
    TAILQ_FOREACH(end, &group->ends, entry)
        if (end->unsettled)
            break;
    if (!end || --end->unsettled)
        return;
    is_news = end->was_unknown && end->epoch == lock->epoch;
    event.waited_ms = hl_lease_span_ms(hl_now_us(&core->host) - end->begun_us);
    lock->refs++;
    free_if_over(end);
    if (is_news) {
        hl_terms_trace(lock->terms, HL_RELEASE_SETTLED,
                       &(struct hl_fact){.name = lock->name->bytes, .detail = event.detail});
        hl_callback_event(core, lock, lock->terms->on_event, &event);
    }
    hl_lock_unref(lock);
}

void hl_ends_forget(struct hl_group *group)
{
    struct hl_group_end *end;
    while ((end = TAILQ_FIRST(&group->ends)) != NULL) {
        end->open = end->unsettled = 0;
        free_if_over(end);
    }
}
