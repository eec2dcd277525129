/* SPDX-License-Identifier: BSD-3-Clause */
/* gather - see gather.h. The one answer is OK if enough members answer OK, and LOST if so many answer LOST that the
 * others are too few. A release and an extend are answered as soon as one of these is certain. A question is answered
 * when all members have answered, because its answer shows how many agree. An UNKNOWN release of the group is settled
 * when the releases of all its members are. */
#include "group/gather.h"

#include "core/call.h"
#include "core/lease.h"
#include "group/member.h"
#include "group/words.h"
#include "lock/inner.h"
#include "lock/inquiry.h"
#include "lock/machine.h"

struct hl_gather *hl_gather_new(const struct hl_group *group)
{
    return hl_memory_new(hl_group_memory(group), sizeof(struct hl_gather) + group->count * sizeof(struct hl_vote));
}

static void begin(struct hl_gather *gather, struct hl_group *group, hilock_operation operation,
                  hilock_result_fn *on_result, void *user)
{
    *gather = (struct hl_gather){.group = group, .operation = operation, .on_result = on_result, .user = user,
                                 .begun_us = hl_group_now_us(group), .epoch = group->lock->epoch,
                                 .tenure = group->tenure};
    TAILQ_INSERT_TAIL(&group->gathers, gather, entry);
    group->lock->refs++;
}

/* Frees the gather, unless an answer or a settlement of a member is still to come. */
static void end(struct hl_gather *gather)
{
    struct hilock_lock *lock = gather->group->lock;
    if (gather->open || gather->unsettled)
        return;
    while (gather->voted)
        hl_memory_free(&lock->terms->cell->memory, gather->votes[--gather->voted].words);
    TAILQ_REMOVE(&gather->group->gathers, gather, entry);
    hl_memory_free(&lock->terms->cell->memory, gather->named);
    hl_memory_free(&lock->terms->cell->memory, gather);
    hl_lock_unref(lock);
}

void hl_gather_forget(struct hl_group *group)
{
    struct hl_gather *gather;
    while ((gather = TAILQ_FIRST(&group->gathers)) != NULL) {
        gather->open = gather->unsettled = 0;
        end(gather);
    }
}

/* ---- the answer ---- */

static uint32_t age_ms(const struct hl_gather *gather)
{
    return hl_lease_span_ms(hl_group_now_us(gather->group) - gather->begun_us);
}

static int is_question(const struct hl_gather *gather)
{
    return gather->operation == HILOCK_OP_PEEK || gather->operation == HILOCK_OP_FORCE_RELEASE;
}

static unsigned count(const struct hl_gather *gather, hilock_status status)
{
    unsigned found = 0;
    for (unsigned i = 0; i < gather->voted; i++)
        found += gather->votes[i].status == status;
    return found;
}

static int may_have_happened(const struct hl_gather *gather)
{
    int was_ended = gather->operation == HILOCK_OP_FORCE_RELEASE && count(gather, HILOCK_OK);
    return gather->operation == HILOCK_OP_RELEASE || was_ended || count(gather, HILOCK_UNKNOWN);
}

/* Makes the one status from the members' answers:
 * OK: enough members answered OK. For an extend, enough members must now also be held until the new deadline: one that
 * confirmed may have been lost since, and one that was got back since was never asked.
 * LOST: the members that did not answer LOST are too few. For an extend of a quorum only once the hold has ended: while
 * it lasts, lost votes are no loss of the hold, and a loss of the hold is reported by itself.
 * UNKNOWN: the call may have had an effect. An extend that some members confirmed or lost has this status, too, because
 * what is known to be left of the hold counts.
 * Another extend gets the first fault of a member. Everything else is UNREACHABLE. */
static hilock_status verdict(const struct hl_gather *gather)
{
    const struct hl_group *group = gather->group;
    int is_extend = gather->operation == HILOCK_OP_EXTEND;
    int is_enough = count(gather, HILOCK_OK) >= group->needed;
    int has_ended = !hl_group_is_held(group) || group->tenure != gather->tenure;
    int is_vote = is_extend && hl_lock_is_voted(group->lock) && !has_ended;
    unsigned reached = 0;
    for (unsigned i = 0; i < group->count; i++)
        reached += hl_inner_deadline_us(group->members[i].lock) >= gather->until_us;
    if (is_enough && (!is_extend || reached >= group->needed))
        return HILOCK_OK;
    if (count(gather, HILOCK_LOST) > group->count - group->needed && !is_vote)
        return HILOCK_LOST;
    if (may_have_happened(gather))
        return HILOCK_UNKNOWN;
    if (is_extend && (is_enough || count(gather, HILOCK_LOST)))
        return HILOCK_UNKNOWN;
    for (unsigned i = 0; is_extend && i < gather->voted; i++)
        if (gather->votes[i].status != HILOCK_OK)
            return gather->votes[i].status;
    return HILOCK_UNREACHABLE;
}

/* Adds the operation, the attempts and the time to the result, and reports it. The caller must keep a reference to the
 * handle: this may free the gather, and in the callback the user may abandon the client. */
static void answer(struct hl_gather *gather, struct hilock_result result)
{
    struct hilock_lock *lock = gather->group->lock;
    const struct hl_gather own = *gather;
    struct hl_fact fact = {.name = lock->name->bytes, .status = result.status, .detail = result.detail,
                           .count = gather->operation == HILOCK_OP_FORCE_RELEASE};
    result.operation = gather->operation;
    result.attempts = gather->attempts;
    result.waited_ms = age_ms(gather);
    gather->state = result.status == HILOCK_UNKNOWN ? GATHER_UNKNOWN : GATHER_ANSWERED;
    if (is_question(gather))
        hl_terms_trace(lock->terms, HL_INQUIRY_ENDED, &fact);
    else if (gather->operation == HILOCK_OP_RELEASE)
        hl_terms_trace(lock->terms, HL_RELEASE_ANSWERED, &fact);
    end(gather);
    if (own.on_result && lock->epoch == own.epoch)
        hl_notice_give_result(lock, own.on_result, result, own.user);
}

/* Takes the words of the answer that most members agree on out of the gather, because answer() may free the gather
 * before the user has read them. The caller frees them. NULL: no member has answered so, or its answer has no words */
static struct hl_result_words *take_words(struct hl_gather *gather, hilock_status status, uint32_t *ret_agreed)
{
    struct hl_vote *one = hl_vote_most_agreed(gather->votes, gather->voted, status, ret_agreed);
    struct hl_result_words *words = one ? one->words : NULL;
    if (one)
        one->words = NULL;
    return words;
}

static void answer_question(struct hl_gather *gather, hilock_status status)
{
    const struct hl_group *group = gather->group;
    struct hilock_result result = {.status = status};
    hilock_status named = count(gather, status) ? status : HILOCK_OK;
    struct hl_result_words *words = take_words(gather, named, &result.votes);
    struct hl_text silence;
    if (gather->operation == HILOCK_OP_FORCE_RELEASE)
        result.votes = count(gather, HILOCK_OK);
    hl_view_set_words(words, &result);
    if (status != HILOCK_OK && status != HILOCK_LOST) {
        silence = hl_words_question_silence(group->needed, group->count, age_ms(gather), may_have_happened(gather));
        result.detail = silence.bytes;
    }
    answer(gather, result);
    hl_memory_free(hl_group_memory(group), words);
}

/* The sentence of an extend is that of a member with the same status: the latest answer may be another one. A release
 * is decided by the latest answer. */
static void answer_call(struct hl_gather *gather, hilock_status status, const struct hilock_result *latest)
{
    const struct hl_group *group = gather->group;
    int is_extend = gather->operation == HILOCK_OP_EXTEND;
    struct hilock_result result = {.status = status, .detail = latest->detail};
    uint32_t agreed;
    struct hl_result_words *words = take_words(gather, status, &agreed);
    if (hl_lock_is_voted(group->lock))
        result.votes = is_extend ? hl_members_votes(group) : count(gather, HILOCK_OK);
    if (words)
        result.detail = words->detail;
    else if (is_extend && status == HILOCK_UNKNOWN)
        result.detail = hl_words_half_extended;
    else if (is_extend || status == HILOCK_OK)
        result.detail = hilock_status_text(status);
    answer(gather, result);
    hl_memory_free(hl_group_memory(group), words);
}

/* ---- the members' answers ---- */

static void keep(struct hl_gather *gather, hilock_status status, struct hl_result_words *words)
{
    gather->votes[gather->voted++] = (struct hl_vote){hl_vote_state_of(status), status, words};
}

static void on_answered(const struct hilock_result *result, void *user)
{
    struct hl_gather *gather = user;
    struct hilock_lock *lock = gather->group->lock;
    struct hl_core *core = hl_group_core(gather->group);
    hilock_status status = result->status;
    int is_release = gather->operation == HILOCK_OP_RELEASE, has_words, is_decided;
    gather->attempts = is_release ? gather->attempts || result->attempts : gather->attempts + result->attempts;
    /* A forced release of a named holder peeks first, because that holder may have another id at each master. */
    int is_first_look = gather->operation != HILOCK_OP_PEEK && result->operation == HILOCK_OP_PEEK;
    if (is_first_look && status == HILOCK_OK) {
        status = HILOCK_LOST; /* unless the named holder is found there */
        if (hl_vote_is_of_same_holder(gather->named, result->holder))
            status = hl_inquiry_begin(core, result->lock, HILOCK_OP_FORCE_RELEASE, result->holder, on_answered, gather);
        if (status == HILOCK_OK)
            return;
    }
    has_words = is_question(gather) || (!is_release && status != HILOCK_OK);
    keep(gather, status, has_words ? hl_view_copy_words(&core->host.memory, result) : NULL);
    gather->open--;
    gather->unsettled += is_release && status == HILOCK_UNKNOWN;
    lock->refs++;
    status = verdict(gather);
    is_decided = !gather->open || (!is_question(gather) && (status == HILOCK_OK || status == HILOCK_LOST));
    if (gather->state != GATHER_OPEN || !is_decided)
        end(gather);
    else if (is_question(gather))
        answer_question(gather, status);
    else
        answer_call(gather, status, result);
    hl_lock_unref(lock);
}

void hl_gather_release(struct hl_group *group, hilock_result_fn *on_result, void *user)
{
    struct hl_gather *gather = group->end;
    group->end = NULL;
    begin(gather, group, HILOCK_OP_RELEASE, on_result, user);
    for (unsigned i = 0; i < group->count; i++) {
        struct hilock_lock *member = group->members[i].lock;
        if (hl_inner_is_asking(member))
            hl_member_return(&group->members[i]);
        if (hl_inner_has_hold(member)) {
            gather->open++;
            hl_inner_release(member, on_answered, gather);
        } else
            keep(gather, HILOCK_LOST, NULL);
    }
}

/* Counts the settlement for the oldest release with an unsettled member, because the releases of one member are settled
 * roughly in the order in which they began. */
void hl_gather_settled(struct hl_group *group)
{
    struct hilock_lock *lock = group->lock;
    struct hilock_event event = {.kind = HILOCK_EVENT_RELEASE_SETTLED, .detail = hl_words_settled};
    struct hl_fact fact = {.name = lock->name->bytes, .detail = hl_words_settled};
    struct hl_gather *gather;
    TAILQ_FOREACH(gather, &group->gathers, entry)
        if (gather->unsettled)
            break;
    if (!gather || --gather->unsettled)
        return;
    int is_news = gather->state == GATHER_UNKNOWN && gather->epoch == lock->epoch;
    event.waited_ms = age_ms(gather);
    lock->refs++;
    end(gather);
    if (is_news) {
        hl_terms_trace(lock->terms, HL_RELEASE_SETTLED, &fact);
        hl_notice_give_event(hl_group_core(group), lock, lock->terms->on_event, &event);
    }
    hl_lock_unref(lock);
}

hilock_status hl_gather_extend(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                               hilock_result_fn *on_result, void *user)
{
    struct hl_group *group = hl_group_of(lock);
    struct hl_gather *gather = hl_gather_new(group);
    if (!gather)
        return HILOCK_NO_MEMORY;
    begin(gather, group, HILOCK_OP_EXTEND, on_result, user);
    gather->until_us = hl_lease_deadline_us(gather->begun_us, (uint64_t)lease_ms * 1000);
    for (unsigned i = 0; i < group->count; i++)
        if (hl_inner_has_hold(group->members[i].lock) &&
            hl_machine_ops.extend(core, group->members[i].lock, lease_ms, on_answered, gather) == HILOCK_OK)
            gather->open++;
    if (gather->open >= group->needed)
        return HILOCK_OK;
    gather->state = GATHER_ANSWERED; /* so that the answers to the extends that have begun are not reported */
    end(gather);
    return HILOCK_NO_MEMORY;
}

int hl_gather_answer_lost(struct hl_group *group, const char *detail)
{
    struct hl_gather *gather;
    TAILQ_FOREACH(gather, &group->gathers, entry)
        if (gather->operation == HILOCK_OP_EXTEND && gather->state == GATHER_OPEN && gather->tenure == group->tenure) {
            answer(gather, (struct hilock_result){.status = HILOCK_LOST, .detail = detail});
            return 1;
        }
    return 0;
}

static int is_up(const struct hl_member *member) { return hl_member_node(member)->is_up; }

/* Asks each master an operator's question. A master for which there is no memory is not asked, and counts as silent. */
hilock_status hl_gather_inquire(struct hl_core *core, struct hilock_lock *lock, hilock_operation operation,
                                const char *holder, hilock_result_fn *on_result, void *user)
{
    struct hl_group *group = hl_group_of(lock);
    hilock_operation first = holder ? HILOCK_OP_PEEK : operation; /* a named holder is looked up first */
    struct hl_gather *gather = hl_lock_is_voted(group->lock) ? hl_gather_new(group) : NULL;
    if (!gather)
        return hl_lock_is_voted(group->lock) ? HILOCK_NO_MEMORY : HILOCK_UNSUPPORTED;
    begin(gather, group, operation, on_result, user);
    gather->named = holder ? hl_memory_copy(hl_group_memory(group), holder, strlen(holder)) : NULL;
    int is_each = hl_members_count(group, is_up) < group->needed; /* too few are up, so those away are asked, too */
    for (unsigned i = 0; i < group->count && (!holder || gather->named); i++) {
        struct hilock_lock *member = group->members[i].lock;
        if (is_each || is_up(&group->members[i]))
            gather->open += hl_inquiry_begin(core, member, first, NULL, on_answered, gather) == HILOCK_OK;
    }
    if (gather->open)
        return HILOCK_OK;
    end(gather);
    return HILOCK_NO_MEMORY;
}
