/* SPDX-License-Identifier: BSD-3-Clause */
/* survey - see survey.h. */
#include "group/survey.h"

#include "base/text.h"
#include "core/lease.h"
#include "core/lock.h"
#include "core/name.h"
#include "group/gather.h"
#include "group/verdict.h"
#include "lock/inquiry.h"

struct survey {
    struct hl_gather gather; /* first: freed as one */
    int was_sent;
    char named[HL_INQUIRY_HOLDER_MAX + 1]; /* whose hold must end; "": any holder's */
    struct hl_vote votes[];                /* of masters with an answer */
};

static int is_forcing(const struct survey *survey) { return survey->gather.operation == HILOCK_OP_FORCE_RELEASE; }

/* ---- the answer ---- */

static unsigned count(const struct survey *survey, hilock_status status)
{
    unsigned found = 0;
    for (unsigned i = 0; i < survey->gather.voted; i++)
        found += survey->votes[i].status == status;
    return found;
}

static hilock_status verdict(const struct survey *survey)
{
    const struct hl_group *group = survey->gather.group;
    if (count(survey, HILOCK_OK) >= group->needed)
        return HILOCK_OK;
    if (count(survey, HILOCK_LOST) > group->count - group->needed)
        return HILOCK_LOST;
    return survey->was_sent ? HILOCK_UNKNOWN : HILOCK_UNREACHABLE;
}

/* The answer frees the survey, so it takes the words with it. */
static void answer(struct survey *survey)
{
    const struct hl_group *group = survey->gather.group;
    struct hilock_lock *lock = group->lock;
    struct hl_core *core = hl_group_core(group);
    struct hl_memory memory = core->host.memory;
    struct hilock_result result = {.status = verdict(survey)};
    const struct hl_vote *vote = hl_verdict_speaker(survey->votes, survey->gather.voted, result.status);
    const struct hl_vote *one = vote ? vote : hl_verdict_speaker(survey->votes, survey->gather.voted, HILOCK_OK);
    struct hl_last_words *words = one ? one->words : NULL;
    struct hl_text silence;
    result.votes = is_forcing(survey) ? count(survey, HILOCK_OK)
        : one ? hl_verdict_agreed(survey->votes, survey->gather.voted, one) : 0;
    if (one)
        survey->votes[one - survey->votes].words = NULL;
    hl_last_words_say(words, &result);
    if (result.status != HILOCK_OK && result.status != HILOCK_LOST) {
        hl_text_set(&silence, "no answer from %u of %u masters within %u ms%s", group->needed, group->count,
                    hl_lease_span_ms(hl_now_us(&core->host) - survey->gather.begun_us),
                    survey->was_sent ? "; the hold may have been ended" : "");
        result.detail = silence.bytes;
    }
    lock->refs++;
    hl_trace(&core->host, HL_INQUIRY_ENDED,
             &(struct hl_fact){.name = lock->name->bytes, .status = result.status, .detail = result.detail,
                               .count = is_forcing(survey) != 0});
    hl_gather_answer(&survey->gather, result);
    hl_memory_free(&memory, words);
    hl_lock_unref(lock);
}

/* A peek found another holder: the named one is not there. */
static void keep(struct survey *survey, const struct hilock_result *result)
{
    int is_elsewhere = *survey->named && result->operation == HILOCK_OP_PEEK && result->status == HILOCK_OK;
    survey->votes[survey->gather.voted++] =
        (struct hl_vote){is_elsewhere ? HILOCK_LOST : result->status,
                         hl_last_words_copy(hl_group_memory(survey->gather.group), result)};
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
    survey = hl_memory_new(&core->host.memory, sizeof *survey + group->count * sizeof survey->votes[0]);
    if (!survey)
        return HILOCK_NO_MEMORY;
    hl_gather_begin(&survey->gather, group, operation, on_result, user);
    survey->gather.votes = survey->votes;
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
