/* SPDX-License-Identifier: BSD-3-Clause */
/* renewal - see renewal.h. */
#include "lock/renewal.h"

#include "base/plant.h"
#include "lock/asking.h"
#include "lock/belief.h"
#include "lock/ending.h"
#include "lock/extend.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/notice.h"
#include "lock/part.h"
#include "lock/validity.h"
#include "lock/words.h"

/* ---- when ---- */

static int was_sent_since(const struct hl_part *part, uint64_t since_us) { return part->state == PART_OURS && part->request.sent_us >= since_us; }

/* Since when all that is needed has been asked. Those that are away do not count: they are asked when they are back. */
static uint64_t round_sent_us(const struct hl_hold *hold)
{
    uint64_t best = 0;
    for (unsigned i = 0; i < hold->parts_count; i++) {
        uint64_t sent_us = hold->parts[i].request.sent_us;
        unsigned since = 0;
        for (unsigned j = 0; sent_us > best && j < hold->parts_count; j++)
            since += was_sent_since(&hold->parts[j], sent_us) != 0;
        if (since >= hold->needed)
            best = sent_us;
    }
    return best;
}

/* A pushed grant has no send of its own to count from: two thirds of its window before the end. */
static uint64_t renewal_us(const struct hl_hold *hold)
{
    if (hold->is_windowed)
        return hl_left_us(hl_hold_deadline_us(hold), hl_belief_stood_us(hold) / 3 * 2);
    return hl_lease_renewal_us(round_sent_us(hold), hl_terms_lease_us(hold->terms));
}

uint64_t hl_renewal_due_us(const struct hl_hold *hold)
{
    return hold->terms->is_renewed || hold->is_owed ? renewal_us(hold) : UINT64_MAX;
}

void hl_renewal_sleep(struct hl_hold *hold) { hl_belief_sleep_until(hold, hl_renewal_due_us(hold)); }

/* ---- rounds ---- */

static unsigned asking(const struct hl_hold *hold)
{
    unsigned found = 0;
    for (unsigned i = 0; i < hold->parts_count; i++)
        found += hl_request_is_busy(&hold->parts[i].request) && !hold->parts[i].is_behind;
    return found;
}

int hl_renewal_is_open(const struct hl_hold *hold) { return !hold->is_round_over && asking(hold); }

/* How long a renewal has before it counts as failed: after a failure half of what is left at most, so that the second
 * one is known, and reported, while the hold is still good. Its link has command_timeout_ms: other locks use it too. */
static uint64_t patience_us(const struct hl_hold *hold, uint64_t now_us)
{
    uint64_t half_us = hl_left_us(hl_hold_deadline_us(hold), now_us) / 2;
    uint32_t command_ms = hl_hold_core(hold)->limits.command_timeout_ms;
    uint64_t timeout_us = hl_lease_renewal_timeout_us(hl_belief_stood_us(hold), command_ms);
    return hold->failures && half_us < timeout_us ? half_us : timeout_us;
}

static void count_failure(struct hl_hold *hold, const char *why)
{
    struct hl_core *core = hl_hold_core(hold);
    if (hold->failures < UINT8_MAX)
        hold->failures++;
    hl_trace(&core->host, HL_HOLD_RENEWAL_FAILED,
             &(struct hl_fact){.name = hold->parts[0].name->bytes, .count = hold->failures, .detail = why,
                               .remaining_us = hl_left_us(hl_hold_deadline_us(hold), hl_now_us(&core->host))});
    if (hold->failures == 2 && hold->is_told && hold->terms->is_renewed)
        hl_notice_post(core, &hold->notice, REPORT_RENEWAL_FAILED);
}

static uint64_t retry_us(struct hl_hold *hold)
{
    return hl_lease_retry_us(&hl_hold_core(hold)->host.random, hl_belief_stood_us(hold));
}

static void retry(struct hl_hold *hold)
{
    hl_belief_sleep_until(hold, hl_now_us(&hl_hold_core(hold)->host) + retry_us(hold));
}

static void on_failed(struct hl_hold *hold, const char *why)
{
    count_failure(hold, why);
    retry(hold);
}

/* 1: so many parts of the round said no, or nothing, that what is needed is missing. */
static int has_failed(struct hl_hold *hold)
{
    if (hold->is_round_over || hl_hold_heard(hold, HEARD_YES) + asking(hold) >= hold->needed)
        return 0;
    hold->is_round_over = 1;
    return 1;
}

/* 1: with this one as many said yes as it needs. */
static int has_succeeded(struct hl_hold *hold)
{
    if (hold->is_round_over || hl_hold_heard(hold, HEARD_YES) < hold->needed)
        return 0;
    hold->is_round_over = 1;
    return 1;
}

static void begin_round(struct hl_hold *hold)
{
    hl_extend_round(hold);
    hold->is_round_over = 0;
    for (unsigned i = 0; i < hold->parts_count; i++) {
        hold->parts[i].heard = HEARD_NOTHING;
        hold->parts[i].is_behind = hl_request_is_busy(&hold->parts[i].request) != 0;
    }
}

static int is_only_verified(const struct hl_hold *hold) { return hold->side && hold->side->is_doubted && !hl_extend_is_pending(hold); }

/* A master that cannot be asked has no vote in this round; one that does not have the hold is asked for it again: it was away, or has
 * restarted empty. But not for one that is not renewed: there it would stand for a whole lease from now. */
static void ask_part(struct hl_hold *hold, struct hl_part *part)
{
    uint32_t timeout_ms = hl_hold_core(hold)->limits.command_timeout_ms;
    part->is_overdue = 0;
    if (hl_hold_is_quorum(hold) && !hl_part_can_vote(hold, part))
        part->heard = HEARD_NO;
    else if (part->state != PART_OURS && (is_only_verified(hold) || HL_PLANTED(QUORUM_UNHEALED)))
        part->heard = HEARD_NO;
    else if (part->state != PART_OURS)
        hl_asking_heal(hold, part, timeout_ms, 0);
    else {
        part->ask = PART_RENEW;
        hl_route_submit(hl_hold_core(hold)->route, &part->request, timeout_ms, HL_REQUEST_URGENT);
    }
}

/* All parts of a round ask for the same: a new one begins when the outcome of the one before is known. */
void hl_renewal_begin(struct hl_hold *hold, uint64_t now_us)
{
    if (!hl_renewal_is_open(hold))
        begin_round(hold);
    for (unsigned i = 0; i < hold->parts_count; i++) {
        struct hl_part *part = &hold->parts[i];
        if (!hl_request_is_busy(&part->request) && part->heard == HEARD_NOTHING && !part->is_behind)
            ask_part(hold, part);
    }
    hl_belief_sleep_until(hold, now_us + patience_us(hold, now_us));
    if (has_failed(hold))
        on_failed(hold, "too few masters can be asked");
}

static void on_overdue(struct hl_hold *hold)
{
    uint64_t now_us = hl_now_us(&hl_hold_core(hold)->host), pause_us = retry_us(hold), longer_us;
    count_failure(hold, "no answer yet");
    longer_us = patience_us(hold, now_us);
    hl_belief_sleep_until(hold, now_us + (longer_us > pause_us ? longer_us : pause_us));
}

/* Its time is over. What has not left is taken back. What is on the wire may still be answered, and then counts as ever.
 * Of a quorum the other masters are asked again without those that owe an answer; else nothing is won by that. */
void hl_renewal_give_up(struct hl_hold *hold)
{
    for (unsigned i = 0; i < hold->parts_count; i++) {
        struct hl_part *part = &hold->parts[i];
        if (hl_node_withdraw(&part->request))
            part->heard = HEARD_NO;
        else if (hl_request_is_busy(&part->request)) {
            part->is_overdue = 1;
            part->is_behind = part->is_behind || hl_hold_is_quorum(hold);
        }
    }
    if (has_failed(hold))
        on_failed(hold, "the store is unreachable");
    else
        on_overdue(hold);
}

/* ---- answers ---- */

/* What was accepted while a round was under way asks now. */
static void ask_next(struct hl_hold *hold, int must_ask)
{
    if (!hl_renewal_is_open(hold) && (must_ask || hl_extend_is_waiting(hold)))
        hl_renewal_begin(hold, hl_now_us(&hl_hold_core(hold)->host));
}

/* A native renewal that went unanswered sets the lease outright when it runs after all: what was extended before it could no longer run is
 * believed in for the lock's own lease only. */
static int may_be_cut(struct hl_hold *hold, const struct hl_part *part)
{
    return part->is_stray && part->request.sent_us < hold->haunted_until_us && hl_part_asked_ms(hold, part) > hold->terms->lease_ms &&
           !HL_PLANTED(SIMPLE_STRAYS_FORGOTTEN);
}

static void on_unanswered(struct hl_hold *hold, struct hl_part *part)
{
    if (part->form == HL_FORM_NATIVE) {
        part->is_stray = 1;
        hl_ending_may_run(hold, part);
    }
    if (!has_failed(hold))
        return;
    if (part->is_overdue)
        retry(hold);
    else
        on_failed(hold, "no answer");
}

/* The end may have come nearer with one part's answer, and the alarm must know. */
static void look_at_end(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t ends_us = hl_hold_ends_us(hold);
    hl_validity_follow(hold);
    if (ends_us < core->earliest_us)
        core->earliest_us = ends_us;
    if (hold->due_us > ends_us)
        hl_hold_wake_at(hold, ends_us);
}

/* Once for as long as it is so. A lease that an unanswered extend asked for is none. */
static void look_for_overlong(struct hl_hold *hold, struct hl_part *part, uint64_t found_us)
{
    struct hl_core *core = hl_hold_core(hold);
    int is_overlong = found_us > hl_terms_lease_us(hold->terms) + hl_lease_drift_us(hl_terms_lease_us(hold->terms)) && part->request.sent_us + found_us > hl_extend_over_us(hold);
    struct hl_text detail;
    if (is_overlong && !part->is_overlong) {
        hl_words_of_anomaly(part->name, found_us, "longer than was asked for", &detail);
        hl_trace(&core->host, HL_CLOCK_ANOMALY, &(struct hl_fact){.name = part->name->bytes, .remaining_us = found_us, .detail = detail.bytes});
    }
    part->is_overlong = is_overlong != 0;
}

static void on_shortened(struct hl_core *core, const struct hl_part *part, uint64_t found_us)
{
    struct hl_text detail;
    hl_words_of_anomaly(part->name, found_us, "less than believed", &detail);
    hl_trace(&core->host, HL_CLOCK_ANOMALY, &(struct hl_fact){.name = part->name->bytes, .remaining_us = found_us, .detail = detail.bytes});
}

/* The whole of what is needed said yes. */
static void on_renewed(struct hl_hold *hold, const struct hl_part *part, int is_cut)
{
    static const char unsure[] = "a renewal that was not answered may still run at the store, and shorten what was extended: ask again";
    struct hl_core *core = hl_hold_core(hold);
    int was_told = hold->failures >= 2 && hold->terms->is_renewed;
    hl_trace(&core->host, HL_HOLD_RENEWED, &(struct hl_fact){.name = hold->parts[0].name->bytes, .count = hold->failures,
                                                             .waited_us = hl_now_us(&core->host) - part->request.sent_us});
    hold->is_windowed = 0;
    hold->failures = 0;
    if (was_told && hold->is_told)
        hl_notice_post(core, &hold->notice, REPORT_RENEWED);
    hl_extend_answered(hold, is_cut ? HILOCK_UNKNOWN : HILOCK_OK, is_cut ? unsure : NULL);
    hold->is_owed = hold->is_owed && part->request.sent_us < hold->since_us; /* else it was asked for in this turn */
    if (hold->side)
        hold->side->is_doubted = 0;
    hl_renewal_sleep(hold);
    ask_next(hold, hold->is_owed);
}

/* What a part's answer proves moves that part's deadline, whatever becomes of the round. */
static void on_kept(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    struct hl_core *core = hl_hold_core(hold);
    int is_cut = may_be_cut(hold, part);
    uint64_t now_us = hl_now_us(&core->host), found_us = said->left_ms * 1000,
             asked_us = is_cut ? hl_terms_lease_us(hold->terms) : (uint64_t)hl_part_asked_ms(hold, part) * 1000;
    int is_from_reply = HL_PLANTED(R1_DEADLINE_FROM_REPLY) || (HL_PLANTED(EXTEND_FROM_REPLY) && hl_extend_is_pending(hold));
    uint64_t deadline_us = hl_lease_deadline_us(is_from_reply ? now_us : part->request.sent_us, asked_us);
    if (now_us + found_us + 1000 < part->deadline_us) {
        /* somebody shortened it under us: belief is what this very reply proves, even if that is less (R1's one exception) */
        part->deadline_us = hl_lease_deadline_us(part->request.sent_us, asked_us > found_us ? asked_us : found_us);
        on_shortened(core, part, found_us);
    } else if (deadline_us > part->deadline_us || HL_PLANTED(EXTEND_SHORTENS))
        part->deadline_us = deadline_us;
    if (said->left_ms != HL_LEFT_UNTOLD)
        look_for_overlong(hold, part, found_us);
    look_at_end(hold);
    part->heard = HEARD_YES;
    if (has_succeeded(hold))
        on_renewed(hold, part, is_cut);
}

static void on_not_ours(struct hl_hold *hold, struct hl_part *part)
{
    if (!HL_PLANTED(R5_TAKEN_IGNORED))
        hl_part_not_ours(hold, part);
    if (hl_hold_deadline_us(hold) == 0) {
        hl_belief_end(hold, HILOCK_LOST_TAKEN);
        return;
    }
    look_at_end(hold);
    if (has_failed(hold))
        on_failed(hold, "not ours at so many masters");
}

static void on_fault(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    struct hl_text quote = hl_words_of_server(hl_hold_core(hold), said->quote, said->quote_length);
    if (hl_part_forgoes_native(part, said)) {
        part->heard = HEARD_NOTHING;
        hl_renewal_begin(hold, hl_now_us(&hl_hold_core(hold)->host));
    } else if (HL_PLANTED(R5_ERROR_IS_LOSS))
        hl_belief_end(hold, HILOCK_LOST_TAKEN);
    else {
        if (!has_failed(hold))
            return;
        hl_extend_answered(hold, said->fault.status, quote.bytes);
        on_failed(hold, quote.bytes);
        ask_next(hold, 0);
    }
}

void hl_renewal_answered(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    struct hl_said said;
    if (hold->state != HOLD_HELD) {
        hl_ending_answered(hold, part, answer);
        return;
    }
    part->heard = HEARD_NO;
    if (!answer->reply) {
        on_unanswered(hold, part);
        return;
    }
    said = hl_part_said(hold, part, answer->reply);
    if (said.verdict == HL_NO)
        on_not_ours(hold, part);
    else if (!HL_PLANTED(R11_RESURRECT) && hl_belief_has_ended(hold))
        return;
    else if (said.verdict == HL_YES)
        on_kept(hold, part, &said);
    else
        on_fault(hold, part, &said);
}

void hl_renewal_confirmed(struct hl_hold *hold, struct hl_part *part)
{
    uint64_t deadline_us = hl_lease_deadline_us(part->request.sent_us, hl_terms_lease_us(hold->terms));
    if (!HL_PLANTED(R11_HEARTBEAT_RESURRECTS) && hl_belief_has_ended(hold))
        return;
    if (deadline_us > part->deadline_us)
        part->deadline_us = deadline_us;
    hold->is_windowed = 0;
    hl_validity_follow(hold);
    hl_renewal_sleep(hold);
    ask_next(hold, hl_extend_is_pending(hold)); /* which found it under way */
}

static void on_joined(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    hl_part_grant(hold, part, said);
    part->heard = HEARD_YES;
    look_at_end(hold);
    if (has_succeeded(hold))
        on_renewed(hold, part, 0);
}

/* Never after the end (R11): what comes then is undone. What was refused in words left nothing there, unless an older request may run. */
void hl_renewal_joined(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    struct hl_said said = {.verdict = HL_NO};
    part->heard = HEARD_NO;
    if (answer->was_sent && !answer->reply)
        hl_ending_haunt(hold, part);
    else if (answer->was_sent) {
        said = hl_part_said(hold, part, answer->reply);
        if (!HL_PLANTED(R11_RESURRECT) && hl_belief_has_ended(hold))
            return;
        if (said.verdict == HL_LATE)
            hl_node_learn_time(part->request.node, said.server_us, part->request.sent_us);
        if (said.verdict != HL_YES && !(said.verdict == HL_FAULT && said.fault.kind == HL_FAULT_LASTING && !said.fault.left_nothing) &&
            (!part->is_haunted || HL_PLANTED(QUORUM_HAUNT_FORGOTTEN)))
            part->state = PART_CLEAR;
    }
    if (said.verdict == HL_YES)
        on_joined(hold, part, &said);
    else if (said.verdict == HL_AGAIN) {
        part->heard = HEARD_NOTHING;
        hl_asking_heal(hold, part, part->request.timeout_ms, 1);
    } else if (has_failed(hold))
        on_failed(hold, "not ours at so many masters");
}
