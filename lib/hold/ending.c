/* SPDX-License-Identifier: BSD-3-Clause */
/* ending - see ending.h. The alarm has four uses: the user's call is answered UNKNOWN, a release is sent again after an
 * error, an id whose acquire may still execute is released a second time, and the lease ends. Each alarm does whatever
 * is due. Acknowledged releases stand in a ring, where a new one replaces the oldest. */
#include "hold/ending.h"

#include "base/contract.h"
#include "base/plant.h"
#include "core/lease.h"
#include "core/words.h"
#include "hold/asking.h"
#include "hold/life.h"
#include "hold/validity.h"

enum { RECENT_MAX = 1024 };

struct hl_recent {
    unsigned next;
    struct acknowledged {
        struct hl_ended ended;  /* its name and its terms are referenced; name NULL: this is empty */
        uint64_t at_us;         /* the begin of the loop's call in which the acknowledgement was read */
    } ring[RECENT_MAX];
};

/* Returns for how long an id in a queue may still be granted the name and keep it. A promise ends HL_PROMISE_MAX_MS
 * ahead at the latest, rounded up to a whole second; a grant just before that keeps the name for one window more. An id
 * without a promise stays for as long as the queue. */
static uint64_t queue_span_us(const struct hl_entry_parts *entry)
{
    uint64_t stands_ms = entry->due_s == UINT32_MAX ? HL_QUEUE_LIVES_MS : HL_PROMISE_MAX_MS + 1000;
    return (stands_ms + HL_WINDOW_MAX_MS) * 1000;
}

/* The hold is ending, and its latest request was executed at from_us: notes until when something of the hold may be at
 * the store. If the id has a place in a queue, no release can grant the name to that place from then on, and the latest
 * such grant has lapsed. */
static void note_lapse(struct hl_hold *hold, uint64_t from_us)
{
    uint64_t lease_us = hl_terms_lease_us(hold->terms);
    uint64_t stands_us = hold->is_queued ? queue_span_us(&hold->entry) : 0;
    uint64_t longest_us = stands_us > lease_us ? stands_us : lease_us;
    uint64_t command_us = (uint64_t)hl_hold_core(hold)->limits.command_timeout_ms * 1000;
    uint64_t lapses_at_us = from_us + longest_us + hl_lease_drift_us(longest_us) + command_us;
    if (hold->ending.lapses_at_us < lapses_at_us)
        hold->ending.lapses_at_us = lapses_at_us;
}

/* A request may have been executed just now, because the process slept or a script had to be loaded. So the lease may
 * last for its whole length from now on. The time of the user's call goes on. */
static void note_late_lease(struct hl_hold *hold) { note_lapse(hold, hl_hold_now_us(hold)); }

/* An answer shows that the id has, or had, a place in the queue. */
static void note_place(struct hl_hold *hold, const struct hl_response *said)
{
    hold->is_queued |= said->position != 0;
    note_lapse(hold, hold->since_us);
}

/* Returns when the release call of the user is answered UNKNOWN; UINT64_MAX: no such answer is due. */
static uint64_t answer_unknown_at_us(const struct hl_hold *hold)
{
    return hl_hold_has_open_call(hold)
           ? hold->since_us + (uint64_t)hl_hold_core(hold)->limits.command_timeout_ms * 1000 : UINT64_MAX;
}

/* Sets the alarm for this time, or earlier if the call of the user must be answered, or the lease ends, before it. */
static void sleep_until(struct hl_hold *hold, uint64_t at_us)
{
    uint64_t lapses_us = hold->ending.lapses_at_us, answer_us = answer_unknown_at_us(hold);
    at_us = lapses_us < at_us ? lapses_us : at_us;
    hl_hold_wake_at(hold, answer_us < at_us ? answer_us : at_us);
}

/* Lets other handles of this client request the name again: after the first answer to the release, or if no release is
 * needed. */
static void wake_siblings(struct hl_hold *hold)
{
    if (!hold->siblings_wait)
        return;
    hold->siblings_wait = 0;
    hold->name->unanswered_releases--;
    hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_RELEASED});
}

void hl_ending_free_if_done(struct hl_hold *hold)
{
    if (!hl_hold_is_empty(hold) || hold->notice.pending)
        return;
    if (hold->ending.caller.lock)
        hl_lock_unref(hold->ending.caller.lock);
    hl_hold_free(hold);
}

void hl_ending_answer_user(struct hl_hold *hold, hilock_status status)
{
    if (!hl_hold_has_open_call(hold))
        return;
    hold->end = status == HILOCK_OK ? END_ANSWERED_OK
                : status == HILOCK_LOST ? END_ANSWERED_LOST : END_ANSWERED_UNKNOWN;
    hl_terms_trace(hold->terms, HL_RELEASE_ANSWERED, &(struct hl_fact){.name = hold->name->bytes, .status = status});
    if (hold->ending.caller.lock)
        hl_notice_post(hl_hold_core(hold), &hold->notice, TENURE_RELEASED);
}

void hl_endings_answer_users(struct hl_core *core)
{
    struct hl_hold *hold;
    TAILQ_FOREACH(hold, &core->holds->live, live)
        hl_ending_answer_user(hold, HILOCK_UNKNOWN);
}

static void trace_settled(const struct hl_hold *hold)
{
    struct hl_host *host = &hl_hold_core(hold)->host;
    struct hl_text detail;
    hl_hold_settling_words(hold, hl_lease_span_ms(hl_now_us(host) - hold->since_us), &detail);
    hl_trace(host, HL_RELEASE_SETTLED, &(struct hl_fact){.name = hold->name->bytes, .detail = detail.bytes});
}

static void report_settled(struct hl_hold *hold, enum hl_end end)
{
    if (!hold->ending.caller.lock || hold->end != END_ANSWERED_UNKNOWN)
        return;
    hold->end = (uint8_t)end;
    if (!hl_terms_are_internal(hold->terms))
        trace_settled(hold);
    hl_notice_post(hl_hold_core(hold), &hold->notice, TENURE_SETTLED);
}

/* Notes until when the unanswered request of this hold may still execute. Until then the record is kept: an acquire may
 * make a hold at the store, and only this record leads to its release (R3). */
void hl_ending_mark_request_unanswered(struct hl_hold *hold)
{
    uint64_t may_run_us = (uint64_t)hl_hold_core(hold)->limits.command_timeout_ms * 1000;
    uint64_t until_us = hold->request.sent_us + may_run_us + may_run_us / 100 + hold->request.node->clock_error_us;
    if (hold->may_run_until_us < until_us)
        hold->may_run_until_us = until_us;
}

void hl_ending_mark_acquire_unanswered(struct hl_hold *hold)
{
    hold->kept = KEPT_MAYBE;
    hold->is_queued = hl_has_queue(hold->terms) != 0;
    hl_ending_mark_request_unanswered(hold);
}

/* Nothing of the hold is at the store: its lease has run out, or the store lost the hold before a release was sent. */
static void finish(struct hl_hold *hold)
{
    int has_lapsed = hold->kept != KEPT_NOTHING;
    hl_hold_enter(hold, HOLD_GONE);
    hold->kept = KEPT_NOTHING;
    (void)hl_asking_take_carried(hold, NULL, NULL);
    wake_siblings(hold);
    if (hl_hold_has_open_call(hold))
        hl_ending_answer_user(hold, HILOCK_LOST);
    else
        report_settled(hold, has_lapsed ? END_LAPSED : END_CONFIRMED);
    hl_ending_free_if_done(hold);
}

/* What may be at the store is released repeatedly until its lease has run out. While a request is on the wire, nothing
 * else is sent. A loss must be reported before the store can grant the lock to others, so the release waits for that
 * report. */
void hl_ending_go_on(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t at_us = hl_hold_now_us(hold);
    int has_lapsed = at_us >= hold->ending.lapses_at_us;
    if (at_us >= answer_unknown_at_us(hold))
        hl_ending_answer_user(hold, HILOCK_UNKNOWN);
    if (has_lapsed) {
        (void)hl_node_withdraw(&hold->request);
        hl_hold_wake_at(hold, UINT64_MAX);
    } else
        sleep_until(hold, UINT64_MAX);
    if (hl_request_is_busy(&hold->request))
        return;
    if (hold->notice.pending & TENURE_LOST)
        hl_hold_enter(hold, HOLD_LOST);
    else if (hold->kept == KEPT_NOTHING || has_lapsed)
        finish(hold);
    else {
        hl_hold_enter(hold, HOLD_RELEASING);
        hl_route_submit(core->route, &hold->request, core->limits.command_timeout_ms, HL_REQUEST_URGENT);
    }
}

/* The hold was lost in this turn of the loop: the answer to the release reports that, once. */
static void release_lost(struct hl_hold *hold, const struct hl_withdrawal *how)
{
    HL_REQUIRE(hold->state <= HOLD_LOST); /* a hold ends once */
    hold->end = (uint8_t)how->end;
    hold->ending.caller = how->caller;
    hl_ending_answer_user(hold, HILOCK_LOST);
    hl_ending_go_on(hold);
}

/* A request that was not sent yet is taken back. WAIT needs no answer: the grant that replicas should have confirmed is
 * at the store. */
void hl_ending_begin(struct hl_hold *hold, const struct hl_withdrawal *how)
{
    struct hl_core *core = hl_hold_core(hold);
    const struct hl_life *life = &hl_life_in[hold->state];
    int was_holder = hl_hold_is_held(hold), is_withdrawn;
    uint64_t extended_us = was_holder ? hl_hold_may_last_until_us(hold) : 0;
    if (hl_hold_is_ending(hold)) {
        release_lost(hold, how);
        return;
    }
    if (how->carried)
        hl_asking_attach(how->carried);
    is_withdrawn = hl_node_withdraw(&hold->request);
    if (is_withdrawn && life->under_way == UNDER_WAY_ACQUIRE)
        hl_hold_mark_unsent(hold);
    if (was_holder)
        LIST_REMOVE(hold, held.entry);
    hl_hold_enter(hold, is_withdrawn ? HOLD_RELEASE_DUE : (enum hl_hold_state)life->ends_as);
    hold->end = (uint8_t)how->end;
    hold->ending.caller = how->caller;
    hold->ending.carried = how->carried;
    hold->ending.lapses_at_us = extended_us;
    core->holds->undoing += how->end == END_ABANDONED;
    hl_validity_follow_all(hold);
    hold->since_us = hl_hold_now_us(hold);
    note_lapse(hold, hold->since_us);
    hold->failures = 0;
    hold->stage = STAGE_FIRST;
    if (HL_PLANTED(R5_SILENT_END))
        hold->kept = KEPT_NOTHING;
    /* The other handles of this client wait until the first answer shows that this hold is released. If the hold shared
     * the name, nobody waits: others may get the name before this release is executed. */
    hold->siblings_wait = was_holder ? hl_holds_alone(hold->terms) != 0 : !hl_hold_is_empty(hold);
    hold->name->unanswered_releases += hold->siblings_wait;
    hl_ending_go_on(hold);
}

int hl_ending_release_id(struct hl_core *core, const struct hl_ended *ended, enum hl_end end)
{
    struct hl_hold *hold = hl_hold_new(core, ended->name, ended->terms);
    if (!hold)
        return 0;
    hold->id = ended->id;
    hold->entry = ended->entry;
    hold->kept = KEPT_MAYBE;
    hold->is_queued = hl_has_queue(ended->terms) != 0;
    hl_ending_begin(hold, &(struct hl_withdrawal){.end = end});
    return 1;
}

/* Returns when a release that failed is sent again. */
static uint64_t retry_at_us(const struct hl_hold *hold)
{
    struct hl_host *host = &hl_hold_core(hold)->host;
    return hl_now_us(host) + hl_lease_retry_us(&host->random, hl_terms_lease_us(hold->terms));
}

static void trace_fault(const struct hl_hold *hold, enum hl_what what, const char *detail)
{
    hl_trace(&hl_hold_core(hold)->host, what,
             &(struct hl_fact){.name = hold->name->bytes, .node = hl_node_name(hold->request.node), .detail = detail,
                               .is_news = hold->end != END_REPEATED});
}

static void forget(struct hl_core *core, struct acknowledged *old)
{
    hl_name_unref(core, &core->host.memory, old->ended.name);
    hl_terms_unref(old->ended.terms);
    old->ended.name = NULL;
}

/* Remembers this acknowledged release, if the deployment or the kind needs it (see ending.h). */
static void remember(const struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    struct hl_holds *holds = core->holds;
    struct acknowledged *old;
    if (!(core->route->ops->can_forget || hl_has_queue(hold->terms)))
        return;
    if (!holds->recent_releases)
        holds->recent_releases = hl_memory_new(&core->host.memory, sizeof *holds->recent_releases);
    if (!holds->recent_releases)
        return;
    old = &holds->recent_releases->ring[holds->recent_releases->next];
    holds->recent_releases->next = (holds->recent_releases->next + 1) % RECENT_MAX;
    if (old->ended.name)
        forget(core, old);
    *old = (struct acknowledged){{hold->name, hold->terms, hold->id, hold->entry}, hold->request.node->active_at_us};
    hold->name->refs++;
    hold->terms->refs++;
}

/* A release was acknowledged: it ended the hold, or the store has no such hold. is_half_released: the id may still be
 * in the queue. */
static void on_gone(struct hl_hold *hold, const struct hl_response *said, int is_half_released)
{
    struct hl_core *core = hl_hold_core(hold);
    int needs_second = hold->may_run_until_us > hl_hold_now_us(hold); /* an acquire may still execute */
    int is_done = !needs_second && !is_half_released;
    /* this release or an earlier one without an answer removed the hold, or its lease has run out since */
    int was_ours = said->result == HL_YES || (hold->since_us < hold->deadline_us &&
                                              (hold->end == END_IN_DOUBT || hl_hold_now_us(hold) >= hold->deadline_us));
    hold->kept = is_done ? KEPT_NOTHING : KEPT_MAYBE;
    hl_hold_enter(hold, is_done ? HOLD_GONE : HOLD_RELEASE_DUE);
    remember(hold);
    if (hold->end == END_REPEATED && said->result == HL_YES)
        trace_settled(hold);
    /* a refused PUBLISH is reported once, and again only after a PUBLISH that was not refused */
    if (said->was_publish_denied && !core->holds->publish_denial_reported)
        trace_fault(hold, HL_NODE_FAULT, hl_words_publish_refused);
    if (said->result == HL_YES)
        core->holds->publish_denial_reported = said->was_publish_denied;
    wake_siblings(hold);
    if (hl_hold_has_open_call(hold))
        hl_ending_answer_user(hold, was_ours ? HILOCK_OK : HILOCK_LOST);
    else
        report_settled(hold, END_CONFIRMED);
    if (is_done)
        hl_ending_free_if_done(hold);
    else
        sleep_until(hold, needs_second ? hold->may_run_until_us : retry_at_us(hold));
}

/* It is sent again in a moment. That is reported the first time, because it may happen several times in a lease. */
static void on_release_refused(struct hl_hold *hold, const struct hl_response *said)
{
    struct hl_text why;
    hl_words_release_refused(&why, hl_name_quoted(hold->name).bytes,
                             hl_words_of_server(hl_hold_core(hold), said->quote, said->quote_length).bytes);
    if (!hold->failures)
        trace_fault(hold, HL_RELEASE_REFUSED, why.bytes);
    if (hold->failures < UINT8_MAX)
        hold->failures++;
    wake_siblings(hold);
    sleep_until(hold, retry_at_us(hold));
}

/* If a release is answered HL_AGAIN, a second command is sent in its place, which does not touch the queue (enum
 * hl_stage). While a hash slot is moving that is not enough: after its NO the id may still be in the queue, so the
 * first command must follow later. If the key of the queue has another type it is enough, because there is no queue
 * that the id could be in.
 * The answer to the acquire that the release carried comes in the same reply. Its hold gets it after this one. */
void hl_ending_on_release(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    struct hl_reply next_said;
    struct hl_hold *next = hl_asking_take_carried(hold, answer->reply, &next_said);
    int is_half_released = hold->stage == STAGE_SECOND_FOR_NOW && said->result == HL_NO;
    hold->stage = said->result != HL_AGAIN ? STAGE_FIRST : said->is_for_now ? STAGE_SECOND_FOR_NOW : STAGE_SECOND;
    if (said->result == HL_FAULT)
        on_release_refused(hold, said);
    else if (said->result != HL_AGAIN)
        on_gone(hold, said, is_half_released);
    else
        hl_ending_go_on(hold);
    if (next)
        hl_request_answer_carried(&next->request, &(struct hl_answer){&next_said, 1});
}

/* The release is repeated, without the acquire that it carried. */
void hl_ending_on_silence(struct hl_hold *hold, const struct hl_answer *answer)
{
    (void)answer;
    (void)hl_asking_take_carried(hold, NULL, NULL);
    if (hold->end == END_RELEASED)
        hold->end = END_IN_DOUBT;
    hl_ending_go_on(hold);
}

/* If the answer proves that nothing of the id is at the store, no release is needed; otherwise the id is released. */
void hl_ending_on_acquire(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    int is_granted = answer->was_sent && said->result == HL_YES;
    if (answer->was_sent)
        note_place(hold, said);
    if (is_granted) {
        hl_terms_trace(hold->terms, HL_HOLD_UNDONE, &(struct hl_fact){.name = hold->name->bytes, .token = said->token});
        hold->kept = KEPT_MAYBE;
        note_late_lease(hold);
    } else if (answer->was_sent && said->result != HL_FAULT && hl_hold_is_cleared_by(hold, said))
        hold->kept = KEPT_NOTHING;
    if (is_granted && HL_PLANTED(R4_NO_UNDO))
        hold->kept = KEPT_NOTHING;
    hl_ending_go_on(hold);
}

/* The id is released whatever the answer is: a push had granted the hold. */
void hl_ending_on_stale(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    (void)answer;
    note_place(hold, said);
    if (said->result == HL_YES) {
        hold->kept = KEPT_MAYBE;
        note_late_lease(hold);
    }
    hl_ending_go_on(hold);
}

void hl_ending_on_unheard(struct hl_hold *hold, const struct hl_answer *answer)
{
    if (answer->was_sent) {
        hl_ending_mark_acquire_unanswered(hold);
        note_late_lease(hold);
    }
    if (answer->was_sent && HL_PLANTED(R3_UNKNOWN_IS_FAILURE))
        hold->kept = KEPT_NOTHING;
    hl_ending_go_on(hold);
}

/* A renewal that was answered so late that the hold had been given up may have lengthened the lease. */
void hl_ending_on_renewal(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    int is_renewed = said->result == HL_YES && hl_hold_now_us(hold) >= hold->ending.lapses_at_us;
    (void)answer;
    if (is_renewed) {
        hold->kept = KEPT_MAYBE;
        note_late_lease(hold);
    } else if (said->result == HL_NO)
        hl_hold_mark_not_ours(hold);
    hl_ending_go_on(hold);
}

/* Returns 1 if another server, or the same one after a restart, now has the name, and so little time has passed that a
 * place or a lease which that server brought back would not be over yet. */
static int may_be_back(struct hl_core *core, const struct acknowledged *old)
{
    const struct hl_node *node = hl_name_node(core, old->ended.name);
    int is_another = node->moved_at_us >= old->at_us || node->server_info.started_us >= (int64_t)old->at_us;
    uint64_t stands_us = hl_has_queue(old->ended.terms) ? queue_span_us(&old->ended.entry) : 0;
    uint64_t lasts_us = hl_terms_lease_us(old->ended.terms) + stands_us;
    return is_another && old->at_us + lasts_us >= hl_now_us(&core->host);
}

void hl_endings_repeat(struct hl_core *core)
{
    for (unsigned i = 0; core->holds->recent_releases && i < RECENT_MAX; i++) {
        struct acknowledged *old = &core->holds->recent_releases->ring[i];
        int is_back = old->ended.name && may_be_back(core, old);
        if (is_back && hl_ending_release_id(core, &old->ended, END_REPEATED))
            forget(core, old); /* without memory, the release is repeated when the next link comes up */
    }
}

void hl_endings_forget(struct hl_core *core)
{
    struct hl_holds *holds = core->holds;
    for (unsigned i = 0; holds->recent_releases && i < RECENT_MAX; i++)
        if (holds->recent_releases->ring[i].ended.name)
            forget(core, &holds->recent_releases->ring[i]);
    hl_memory_free(&core->host.memory, holds->recent_releases);
    holds->recent_releases = NULL;
}
