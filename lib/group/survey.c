/* SPDX-License-Identifier: BSD-3-Clause */
/* survey - see survey.h. */
#include "group/survey.h"

#include "base/text.h"
#include "group/verdict.h"
#include "lock/callback.h"
#include "lock/inquiry.h"
#include "lock/lease.h"
#include "lock/name.h"

struct told { /* of one master */
    hilock_status status;
    uint32_t remaining_ms;
    char holder[HL_INQUIRY_HOLDER_MAX + 1];
    struct hl_text detail;
};

struct hl_survey {
    TAILQ_ENTRY(hl_survey) entry; /* in the group's */
    struct hl_group *group;
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us;
    uint32_t epoch, attempts;
    unsigned open, count;         /* masters without an answer; with one */
    int is_forcing, was_sent;
    char *named;                  /* whose hold must end; NULL: any holder's */
    struct told told[];
};

static struct hl_survey *survey_new(struct hl_core *core, struct hl_group *group, hilock_result_fn *on_result,
                                    void *user)
{
    struct hl_survey *survey =
        hl_memory_new(&core->host.memory, sizeof *survey + group->count * sizeof survey->told[0]);
    if (!survey)
        return NULL;
    survey->group = group;
    survey->on_result = on_result;
    survey->user = user;
    survey->begun_us = hl_now_us(&core->host);
    survey->epoch = group->lock->epoch;
    TAILQ_INSERT_TAIL(&group->surveys, survey, entry);
    group->lock->refs++;
    return survey;
}

static void survey_free(struct hl_survey *survey)
{
    struct hilock_lock *lock = survey->group->lock;
    TAILQ_REMOVE(&survey->group->surveys, survey, entry);
    hl_memory_free(&lock->terms->cell->memory, survey->named);
    hl_memory_free(&lock->terms->cell->memory, survey);
    hl_lock_unref(lock);
}

void hl_surveys_forget(struct hl_group *group)
{
    while (!TAILQ_EMPTY(&group->surveys))
        survey_free(TAILQ_FIRST(&group->surveys));
}

/* ---- the answer ---- */

static unsigned count(const struct hl_survey *survey, hilock_status status, const char *holder)
{
    unsigned found = 0;
    for (unsigned i = 0; i < survey->count; i++)
        found += survey->told[i].status == status && (!holder || hl_verdict_is_one(survey->told[i].holder, holder));
    return found;
}

/* Of the masters with that answer, one that agrees with most of them. */
static const struct told *speaker(const struct hl_survey *survey, hilock_status status)
{
    const struct told *found = NULL;
    for (unsigned i = 0; i < survey->count; i++) {
        const struct told *told = &survey->told[i];
        if (told->status == status &&
            (!found || count(survey, status, told->holder) > count(survey, status, found->holder)))
            found = told;
    }
    return found;
}

static hilock_status verdict(const struct hl_survey *survey)
{
    const struct hl_group *group = survey->group;
    if (count(survey, HILOCK_OK, NULL) >= group->needed)
        return HILOCK_OK;
    if (count(survey, HILOCK_LOST, NULL) > group->count - group->needed)
        return HILOCK_LOST;
    return survey->was_sent ? HILOCK_UNKNOWN : HILOCK_UNREACHABLE;
}

static void fill(const struct hl_survey *survey, hilock_status status, struct hilock_result *result,
                 struct hl_text *detail)
{
    const struct hl_group *group = survey->group;
    const struct told *told = speaker(survey, status), *seen = told ? told : speaker(survey, HILOCK_OK);
    unsigned yes = count(survey, HILOCK_OK, NULL);
    result->status = status;
    if (status == HILOCK_OK || status == HILOCK_LOST)
        *detail = told->detail;
    else
        hl_text_set(detail, "no answer from %u of %u masters within %u ms%s", group->needed, group->count,
                    result->waited_ms, survey->was_sent ? "; the hold may have been ended" : "");
    result->detail = detail->bytes;
    result->holder = seen ? seen->holder : "";
    result->holder_remaining_ms = seen ? seen->remaining_ms : 0;
    result->votes = survey->is_forcing ? yes : seen ? count(survey, seen->status, seen->holder) : 0;
}

static void answer(struct hl_survey *survey)
{
    struct hilock_lock *lock = survey->group->lock;
    struct hl_core *core = hl_group_core(survey->group);
    hilock_result_fn *on_result = lock->epoch == survey->epoch ? survey->on_result : NULL;
    void *user = survey->user;
    struct hl_text detail;
    char holder[HL_INQUIRY_HOLDER_MAX + 1] = "";
    struct hilock_result result =
        {.operation = survey->is_forcing ? HILOCK_OP_FORCE_RELEASE : HILOCK_OP_PEEK,
         .attempts = survey->attempts, .waited_ms = hl_lease_span_ms(hl_now_us(&core->host) - survey->begun_us)};
    fill(survey, verdict(survey), &result, &detail);
    memcpy(holder, result.holder, strlen(result.holder));
    result.holder = holder;
    lock->refs++;
    survey_free(survey);
    hl_trace(&core->host, HL_INQUIRY_ENDED,
             &(struct hl_fact){.name = lock->name->bytes, .status = result.status, .detail = detail.bytes,
                               .count = result.operation == HILOCK_OP_FORCE_RELEASE});
    if (on_result)
        hl_callback_result(lock, on_result, result, user);
    hl_lock_unref(lock);
}

/* A peek found another holder: the named one is not there. */
static void keep(struct hl_survey *survey, const struct hilock_result *result)
{
    struct told *told = &survey->told[survey->count++];
    int is_elsewhere = survey->named && result->operation == HILOCK_OP_PEEK && result->status == HILOCK_OK;
    told->status = is_elsewhere ? HILOCK_LOST : result->status;
    told->remaining_ms = result->holder_remaining_ms;
    memccpy(told->holder, result->holder, 0, sizeof told->holder);
    hl_text_set(&told->detail, "%s", result->detail);
    survey->attempts += result->attempts;
    survey->was_sent |= result->status == HILOCK_UNKNOWN || (survey->is_forcing && result->status == HILOCK_OK);
}

static void on_answered(const struct hilock_result *result, void *user);

/* The named holder may have another id there. 0: there is nothing to end. */
static int end_there(struct hl_survey *survey, const struct hilock_result *seen)
{
    if (!survey->named || seen->operation != HILOCK_OP_PEEK || seen->status != HILOCK_OK ||
        !hl_verdict_is_one(survey->named, seen->holder))
        return 0;
    survey->attempts += seen->attempts;
    return hl_inquiry_force(hl_group_core(survey->group), seen->lock, seen->holder, on_answered, survey) == HILOCK_OK;
}

static void on_answered(const struct hilock_result *result, void *user)
{
    struct hl_survey *survey = user;
    if (end_there(survey, result))
        return;
    keep(survey, result);
    if (--survey->open == 0)
        answer(survey);
}

/* ---- the begin ---- */

static int is_up(const struct hl_group *group, unsigned i)
{
    return hl_name_node(hl_group_core(group), group->members[i].lock->name)->is_up;
}

static unsigned up(const struct hl_group *group)
{
    unsigned found = 0;
    for (unsigned i = 0; i < group->count; i++)
        found += is_up(group, i) != 0;
    return found;
}

static hilock_status ask(struct hl_core *core, struct hl_survey *survey, struct hilock_lock *member)
{
    return survey->is_forcing && !survey->named ? hl_inquiry_force(core, member, NULL, on_answered, survey)
           : hl_inquiry_peek(core, member, on_answered, survey);
}

/* Without memory a master is not asked, and counts as silent. */
static hilock_status begin(struct hl_core *core, struct hilock_lock *lock, int is_forcing, const char *holder,
                           hilock_result_fn *on_result, void *user)
{
    struct hl_group *group = lock->group;
    struct hl_survey *survey;
    int is_enough = up(group) >= group->needed;
    if (!group->ways->is_voted)
        return HILOCK_UNSUPPORTED;
    survey = survey_new(core, group, on_result, user);
    if (!survey)
        return HILOCK_NO_MEMORY;
    survey->is_forcing = is_forcing;
    survey->named = holder ? hl_memory_copy(&core->host.memory, holder, strlen(holder)) : NULL;
    for (unsigned i = 0; i < group->count; i++)
        if ((!is_enough || is_up(group, i)) && !holder == !survey->named)
            survey->open += ask(core, survey, group->members[i].lock) == HILOCK_OK;
    if (survey->open)
        return HILOCK_OK;
    survey_free(survey);
    return HILOCK_NO_MEMORY;
}

hilock_status hl_survey_peek(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    return begin(core, lock, 0, NULL, on_result, user);
}

hilock_status hl_survey_force(struct hl_core *core, struct hilock_lock *lock, const char *holder,
                              hilock_result_fn *on_result, void *user)
{
    return begin(core, lock, 1, holder, on_result, user);
}
