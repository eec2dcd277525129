/* SPDX-License-Identifier: BSD-3-Clause */
/* survey - see survey.h. */
#include "group/survey.h"

#include "base/text.h"
#include "group/gather.h"
#include "group/verdict.h"
#include "lock/inquiry.h"
#include "lock/lease.h"
#include "lock/lock.h"
#include "lock/name.h"

struct told { /* of one master */
    hilock_status status;
    uint32_t remaining_ms;
    char holder[HL_INQUIRY_HOLDER_MAX + 1];
    struct hl_text detail;
};

struct survey {
    struct hl_gather gather; /* first: freed as one */
    unsigned count;          /* masters with an answer */
    int was_sent;
    char named[HL_INQUIRY_HOLDER_MAX + 1]; /* whose hold must end; "": any holder's */
    struct told told[];
};

static int is_forcing(const struct survey *survey) { return survey->gather.operation == HILOCK_OP_FORCE_RELEASE; }

/* ---- the answer ---- */

static unsigned count(const struct survey *survey, hilock_status status, const char *holder)
{
    unsigned found = 0;
    for (unsigned i = 0; i < survey->count; i++)
        found += survey->told[i].status == status && (!holder || hl_verdict_is_one(survey->told[i].holder, holder));
    return found;
}

/* Of the masters with that answer, one that agrees with most of them. */
static const struct told *speaker(const struct survey *survey, hilock_status status)
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

static hilock_status verdict(const struct survey *survey)
{
    const struct hl_group *group = survey->gather.group;
    if (count(survey, HILOCK_OK, NULL) >= group->needed)
        return HILOCK_OK;
    if (count(survey, HILOCK_LOST, NULL) > group->count - group->needed)
        return HILOCK_LOST;
    return survey->was_sent ? HILOCK_UNKNOWN : HILOCK_UNREACHABLE;
}

/* The answer frees the survey, so its texts are copied. */
static void answer(struct survey *survey)
{
    const struct hl_group *group = survey->gather.group;
    struct hilock_lock *lock = group->lock;
    struct hl_core *core = hl_group_core(group);
    hilock_status status = verdict(survey);
    const struct told *told = speaker(survey, status), *one = told ? told : speaker(survey, HILOCK_OK);
    struct told seen = one ? *one : (struct told){.status = status};
    unsigned agreed = one ? count(survey, one->status, one->holder) : 0;
    uint32_t waited_ms = hl_lease_span_ms(hl_now_us(&core->host) - survey->gather.begun_us);
    if (status != HILOCK_OK && status != HILOCK_LOST)
        hl_text_set(&seen.detail, "no answer from %u of %u masters within %u ms%s", group->needed, group->count,
                    waited_ms, survey->was_sent ? "; the hold may have been ended" : "");
    lock->refs++;
    hl_trace(&core->host, HL_INQUIRY_ENDED,
             &(struct hl_fact){.name = lock->name->bytes, .status = status, .detail = seen.detail.bytes,
                               .count = is_forcing(survey) != 0});
    hl_gather_answer(&survey->gather,
                     (struct hilock_result){.status = status, .detail = seen.detail.bytes, .holder = seen.holder,
                                            .holder_remaining_ms = seen.remaining_ms,
                                            .votes = is_forcing(survey) ? count(survey, HILOCK_OK, NULL) : agreed});
    hl_lock_unref(lock);
}

/* A peek found another holder: the named one is not there. */
static void keep(struct survey *survey, const struct hilock_result *result)
{
    struct told *told = &survey->told[survey->count++];
    int is_elsewhere = *survey->named && result->operation == HILOCK_OP_PEEK && result->status == HILOCK_OK;
    told->status = is_elsewhere ? HILOCK_LOST : result->status;
    told->remaining_ms = result->holder_remaining_ms;
    memccpy(told->holder, result->holder, 0, sizeof told->holder);
    hl_text_set(&told->detail, "%s", result->detail);
    survey->gather.attempts += result->attempts;
    survey->was_sent |= result->status == HILOCK_UNKNOWN || (is_forcing(survey) && result->status == HILOCK_OK);
}

static void on_answered(const struct hilock_result *result, void *user);

/* The named holder may have another id there. 0: there is nothing to end. */
static int end_there(struct survey *survey, const struct hilock_result *seen)
{
    if (!*survey->named || seen->operation != HILOCK_OP_PEEK || seen->status != HILOCK_OK ||
        !hl_verdict_is_one(survey->named, seen->holder))
        return 0;
    survey->gather.attempts += seen->attempts;
    return hl_inquiry_force(hl_group_core(survey->gather.group), seen->lock, seen->holder, on_answered, survey) ==
           HILOCK_OK;
}

static void on_answered(const struct hilock_result *result, void *user)
{
    struct survey *survey = user;
    if (end_there(survey, result))
        return;
    keep(survey, result);
    if (--survey->gather.open == 0)
        answer(survey);
}

/* ---- the begin ---- */

static int is_up(const struct hl_group *group, unsigned i)
{
    return hl_name_node(hl_group_core(group), group->members[i].lock->name)->is_up;
}

/* Without memory a master is not asked, and counts as silent. */
static hilock_status begin(struct hl_core *core, struct hl_group *group, hilock_operation operation, const char *holder,
                           hilock_result_fn *on_result, void *user)
{
    struct survey *survey;
    unsigned up = 0;
    if (!group->ways->is_voted)
        return HILOCK_UNSUPPORTED;
    survey = hl_memory_new(&core->host.memory, sizeof *survey + group->count * sizeof survey->told[0]);
    if (!survey)
        return HILOCK_NO_MEMORY;
    hl_gather_begin(&survey->gather, group, operation, on_result, user);
    memccpy(survey->named, holder, 0, sizeof survey->named);
    for (unsigned i = 0; i < group->count; i++)
        up += is_up(group, i) != 0;
    for (unsigned i = 0; i < group->count; i++) {
        struct hilock_lock *member = group->members[i].lock;
        if (up >= group->needed && !is_up(group, i))
            continue;
        survey->gather.open += (is_forcing(survey) && !*holder
                                    ? hl_inquiry_force(core, member, NULL, on_answered, survey)
                                    : hl_inquiry_peek(core, member, on_answered, survey)) == HILOCK_OK;
    }
    if (survey->gather.open)
        return HILOCK_OK;
    hl_gather_end(&survey->gather);
    return HILOCK_NO_MEMORY;
}

hilock_status hl_survey_peek(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    return begin(core, lock->group, HILOCK_OP_PEEK, "", on_result, user);
}

hilock_status hl_survey_force(struct hl_core *core, struct hilock_lock *lock, const char *holder,
                              hilock_result_fn *on_result, void *user)
{
    return begin(core, lock->group, HILOCK_OP_FORCE_RELEASE, holder ? holder : "", on_result, user);
}
