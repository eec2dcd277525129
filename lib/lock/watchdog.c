/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog - see watchdog.h. The timer's next meaning is read from the hold: due_us is the next renewal or retry, unless the end of belief
 * or of hold_max comes first. */
#include "lock/watchdog.h"

#include "base/plant.h"
#include "lock/acquire.h"
#include "lock/ballot.h"
#include "lock/deliver.h"
#include "lock/ending.h"
#include "lock/extend.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/validity.h"
#include "lock/walk.h"
#include "lock/words.h"

static const uint64_t stall_us = 1000000; /* later than this, the loop stood still */

/* What was granted, or renewed, last. */
static uint64_t stood_us(const struct hl_hold *hold)
{
    uint64_t window_us = (uint64_t)HL_FAIR_WINDOW_MS * 1000;
    return hold->is_windowed && window_us < hl_terms_lease_us(hold->terms) ? window_us : hl_terms_lease_us(hold->terms);
}

static uint64_t hold_max_ends_us(const struct hl_hold *hold)
{
    return hold->terms->hold_max_ms && !HL_PLANTED(HOLD_MAX_IGNORED) ? hold->since_us + (uint64_t)hold->terms->hold_max_ms * 1000 : UINT64_MAX;
}

uint64_t hl_watchdog_ends_us(const struct hl_hold *hold)
{
    uint64_t deadline_us = hl_hold_deadline_us(hold), max_us = hold_max_ends_us(hold);
    return deadline_us < max_us ? deadline_us : max_us;
}

/* At next_us, or when belief ends, or an extend is to be answered, whichever is first. */
static void sleep_until(struct hl_hold *hold, uint64_t next_us)
{
    uint64_t ends_us = hl_watchdog_ends_us(hold);
    hl_hold_wake_at(hold, hl_extend_wake_us(hold, ends_us < next_us ? ends_us : next_us));
}

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
        return hl_left_us(hl_hold_deadline_us(hold), stood_us(hold) / 3 * 2);
    return hl_lease_renewal_us(round_sent_us(hold), hl_terms_lease_us(hold->terms));
}

static void sleep_for_a_third(struct hl_hold *hold)
{
    sleep_until(hold, hold->terms->is_renewed || hold->is_owed ? renewal_us(hold) : UINT64_MAX);
}

static unsigned asking(const struct hl_hold *hold)
{
    unsigned found = 0;
    for (unsigned i = 0; i < hold->parts_count; i++)
        found += hl_request_is_busy(&hold->parts[i].request) && !hold->parts[i].is_behind;
    return found;
}

static int is_renewing(const struct hl_hold *hold) { return !hold->is_round_over && asking(hold); }

/* How long a renewal may wait to be sent: after a failure half of what is left at most, so that the second one is known, and told, while
 * the hold is still good. */
static uint64_t patience_us(const struct hl_hold *hold, uint64_t now_us, uint32_t timeout_ms)
{
    uint64_t half_us = hl_left_us(hl_hold_deadline_us(hold), now_us) / 2, timeout_us = (uint64_t)timeout_ms * 1000;
    return hold->failures && half_us < timeout_us ? half_us : timeout_us;
}

static void on_failed(struct hl_hold *hold, const char *why)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t now_us = hl_now_us(&core->host);
    if (hold->failures < UINT8_MAX)
        hold->failures++;
    hl_trace(&core->host, HL_HOLD_RENEWAL_FAILED,
             &(struct hl_fact){.name = hold->parts[0].name->bytes, .count = hold->failures, .detail = why,
                               .remaining_us = hl_left_us(hl_hold_deadline_us(hold), now_us)});
    if (hold->failures == 2 && hold->is_told && hold->terms->is_renewed)
        hl_notice_tell(core, &hold->notice, TELL_RENEWAL_FAILED);
    sleep_until(hold, now_us + hl_lease_retry_us(&core->host.random, stood_us(hold)));
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

/* A master that cannot be asked has no vote in this round; one that does not have the hold is asked for it again: it was away, or has
 * restarted empty. */
static void ask_part(struct hl_hold *hold, struct hl_part *part, uint32_t timeout_ms)
{
    if (hl_hold_is_quorum(hold) && !hl_part_can_vote(hold, part))
        part->heard = HEARD_NO;
    else if (part->state != PART_OURS && HL_PLANTED(QUORUM_UNHEALED))
        part->heard = HEARD_NO;
    else if (part->state != PART_OURS)
        hl_hold_heal(hold, part, timeout_ms, 0);
    else {
        part->ask = PART_RENEW;
        hl_route_submit(hl_hold_core(hold)->route, &part->request, timeout_ms, HL_REQUEST_URGENT);
    }
}

/* All parts of a round ask for the same: a new one begins when the outcome of the one before is known. */
static void renew(struct hl_hold *hold, uint64_t now_us)
{
    uint32_t timeout_ms = hl_lease_renewal_timeout_ms(stood_us(hold), hl_hold_core(hold)->limits.command_timeout_ms);
    if (!is_renewing(hold))
        begin_round(hold);
    for (unsigned i = 0; i < hold->parts_count; i++) {
        struct hl_part *part = &hold->parts[i];
        if (!hl_request_is_busy(&part->request) && part->heard == HEARD_NOTHING && !part->is_behind)
            ask_part(hold, part, timeout_ms);
    }
    sleep_until(hold, now_us + patience_us(hold, now_us, timeout_ms));
    if (has_failed(hold))
        on_failed(hold, "too few masters can be asked");
}

/* A fixed lease is to end for all names of a multi at the same time. What was asked for later than the first is in the store for longer:
 * all are asked for once more, which shortens nothing. */
static int is_uneven(const struct hl_hold *hold)
{
    for (unsigned i = 1; hold->terms->multi && !hold->terms->is_renewed && i < hold->parts_count; i++)
        if (hold->parts[i].request.sent_us != hold->parts[0].request.sent_us)
            return 1;
    return 0;
}

/* A turn whose own lease is still to be asked for asks at once. */
void hl_watchdog_begin(struct hl_hold *hold)
{
    hold->failures = 0;
    if ((hold->is_owed && !is_renewing(hold)) || (is_uneven(hold) && !HL_PLANTED(MULTI_UNEVEN)))
        renew(hold, hl_now_us(&hl_hold_core(hold)->host));
    else
        sleep_for_a_third(hold);
}

/* A renewal that never left (no link) counts as failed when its time is over; one on the wire is answered by its node in that time. */
static void give_up_unsent(struct hl_hold *hold)
{
    for (unsigned i = 0; i < hold->parts_count; i++)
        if (hl_node_withdraw(&hold->parts[i].request))
            hold->parts[i].heard = HEARD_NO;
    if (has_failed(hold))
        on_failed(hold, "the store is unreachable");
    else
        sleep_until(hold, hl_now_us(&hl_hold_core(hold)->host) + stood_us(hold) / 12);
}

void hl_watchdog_lose(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason)
{
    struct hl_text detail;
    hold->reason = (uint8_t)reason;
    hl_words_of_loss(core, hold, &detail);
    hl_trace(&core->host, HL_HOLD_LOST, &(struct hl_fact){.name = hold->parts[0].name->bytes, .reason = reason, .detail = detail.bytes,
                                                          .token = hl_hold_token(hold), .waited_us = hl_now_us(&core->host) - hold->since_us});
    if (!HL_PLANTED(LOSS_UNTOLD))
        hl_notice_tell(core, &hold->notice, TELL_LOST);
    hl_ending_begin(hold);
}

static void lose(struct hl_hold *hold, hilock_lost_reason reason)
{
    struct hl_core *core = hl_hold_core(hold);
    if (hold->is_told)
        hl_watchdog_lose(core, hold, reason);
    else
        hl_acquire_regain(hold->owner.acquire); /* lost before anybody was told that it was had */
}

/* EXPIRED if the watchdog had its turns and no renewal got through; SUSPENDED if what it was to do well before the deadline was still to be
 * done (a little late every loop is), or the loop was away for long at the deadline itself. */
static hilock_lost_reason expiry_reason(const struct hl_hold *hold, uint64_t now_us)
{
    uint64_t deadline_us = hl_hold_deadline_us(hold);
    int missed_its_turn = hold->due_us && hold->due_us < deadline_us && now_us - hold->due_us > stood_us(hold) / 6 && hold->terms->is_renewed;
    return missed_its_turn || now_us - deadline_us > stall_us ? HILOCK_LOST_SUSPENDED : HILOCK_LOST_EXPIRED;
}

static int has_ended(struct hl_hold *hold, uint64_t now_us)
{
    if (hl_hold_deadline_us(hold) <= now_us && !HL_PLANTED(EXPIRY_IGNORED))
        lose(hold, expiry_reason(hold, now_us));
    else if (hold_max_ends_us(hold) <= now_us)
        lose(hold, HILOCK_LOST_HOLD_MAX);
    else
        return 0;
    return 1;
}

int hl_watchdog_has_ended(struct hl_hold *hold) { return has_ended(hold, hl_now_us(&hl_hold_core(hold)->host)); }

/* A little early is legal for a timer: it is started again. */
void hl_watchdog_tick(struct hl_hold *hold)
{
    uint64_t now_us = hl_now_us(&hl_hold_core(hold)->host);
    if (hold->due_us > now_us)
        hl_hold_wake_at(hold, hold->due_us);
    else if (has_ended(hold, now_us))
        return;
    else if (hl_extend_tick(hold, now_us))
        sleep_until(hold, hold->side->next_us);
    else if (is_renewing(hold))
        give_up_unsent(hold);
    else if (hold->terms->is_renewed || hold->is_owed || hl_extend_is_pending(hold))
        renew(hold, now_us);
    else
        sleep_for_a_third(hold);
}

/* What was accepted while a round was under way asks now. */
static void ask_next(struct hl_hold *hold, int must_ask)
{
    if (!is_renewing(hold) && (must_ask || hl_extend_is_waiting(hold)))
        renew(hold, hl_now_us(&hl_hold_core(hold)->host));
}

/* A native renewal that went unanswered sets the lease outright when it runs after all: what was extended before it could no longer run is
 * believed in for the lock's own lease only. */
static int may_be_cut(struct hl_hold *hold, const struct hl_part *part)
{
    return part->is_stray && part->request.sent_us < hold->haunted_until_us && hl_extend_part_ms(hold, part) > hold->terms->lease_ms &&
           !HL_PLANTED(SIMPLE_STRAYS_FORGOTTEN);
}

static void on_unanswered(struct hl_hold *hold, struct hl_part *part)
{
    if (part->form == HL_FORM_NATIVE) {
        part->is_stray = 1;
        hl_ending_may_run(hold, part);
    }
    if (has_failed(hold))
        on_failed(hold, "no answer");
}

/* The end may have come nearer with one part's answer, and the timer must know. */
static void look_at_end(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t ends_us = hl_watchdog_ends_us(hold);
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
        hl_notice_tell(core, &hold->notice, TELL_RENEWED);
    hl_extend_answered(hold, is_cut ? HILOCK_UNKNOWN : HILOCK_OK, is_cut ? unsure : NULL);
    hold->is_owed = hold->is_owed && part->request.sent_us < hold->since_us; /* else it was asked for in this turn */
    sleep_for_a_third(hold);
    ask_next(hold, hold->is_owed);
}

/* What a part's answer proves moves that part's deadline, whatever becomes of the round. */
static void on_kept(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    struct hl_core *core = hl_hold_core(hold);
    int is_cut = may_be_cut(hold, part);
    uint64_t now_us = hl_now_us(&core->host), found_us = said->left_ms * 1000,
             asked_us = is_cut ? hl_terms_lease_us(hold->terms) : (uint64_t)hl_extend_part_ms(hold, part) * 1000;
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

/* A store that forgot a grant which it had pushed may have the id in its queue still. */
static void on_not_ours(struct hl_hold *hold, struct hl_part *part)
{
    int may_be_queued = hold->is_windowed && !HL_PLANTED(FAIR_FORGOTTEN_KEPT);
    part->state = HL_PLANTED(R5_TAKEN_IGNORED) ? PART_OURS : may_be_queued ? PART_MAYBE : PART_CLEAR;
    if (hl_hold_deadline_us(hold) == 0) {
        lose(hold, HILOCK_LOST_TAKEN);
        return;
    }
    look_at_end(hold);
    if (has_failed(hold))
        on_failed(hold, "not ours at so many masters");
}

static void on_fault(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    struct hl_quoted quote = hl_quote(said->quote, said->quote_length);
    if (hl_part_forgoes_native(part, said)) {
        part->heard = HEARD_NOTHING;
        renew(hold, hl_now_us(&hl_hold_core(hold)->host));
    } else if (HL_PLANTED(R5_ERROR_IS_LOSS))
        lose(hold, HILOCK_LOST_TAKEN);
    else {
        if (!has_failed(hold))
            return;
        hl_extend_answered(hold, said->fault.status, quote.bytes);
        on_failed(hold, quote.bytes);
        ask_next(hold, 0);
    }
}

void hl_watchdog_answered(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    uint64_t now_us = hl_now_us(&hl_hold_core(hold)->host);
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
    else if (!HL_PLANTED(R11_RESURRECT) && has_ended(hold, now_us))
        return;
    else if (said.verdict == HL_YES)
        on_kept(hold, part, &said);
    else
        on_fault(hold, part, &said);
}

void hl_watchdog_taken(struct hl_hold *hold) { lose(hold, HILOCK_LOST_TAKEN); }

void hl_watchdog_confirmed(struct hl_hold *hold, struct hl_part *part)
{
    uint64_t deadline_us = hl_lease_deadline_us(part->request.sent_us, hl_terms_lease_us(hold->terms));
    if (has_ended(hold, hl_now_us(&hl_hold_core(hold)->host)))
        return;
    if (deadline_us > part->deadline_us)
        part->deadline_us = deadline_us;
    hold->is_windowed = 0;
    hl_validity_follow(hold);
    sleep_for_a_third(hold);
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
void hl_watchdog_joined(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    struct hl_said said = {.verdict = HL_NO};
    part->heard = HEARD_NO;
    if (answer->was_sent && !answer->reply)
        hl_ending_haunt(hold, part);
    else if (answer->was_sent) {
        said = hl_part_said(hold, part, answer->reply);
        if (!HL_PLANTED(R11_RESURRECT) && has_ended(hold, hl_now_us(&hl_hold_core(hold)->host)))
            return;
        if (said.verdict == HL_LATE)
            hl_node_learn_time(part->request.node, said.server_us, part->request.sent_us);
        if (said.verdict != HL_YES && !(said.verdict == HL_FAULT && said.fault.kind == HL_FAULT_LASTING && !said.fault.left_nothing) && !part->is_haunted)
            part->state = PART_CLEAR;
    }
    if (said.verdict == HL_YES)
        on_joined(hold, part, &said);
    else if (said.verdict == HL_AGAIN) {
        part->heard = HEARD_NOTHING;
        hl_hold_heal(hold, part, part->request.timeout_ms, 1);
    } else if (has_failed(hold))
        on_failed(hold, "not ours at so many masters");
}

void hl_watchdog_ask(struct hl_hold *hold)
{
    if (is_renewing(hold))
        sleep_until(hold, hold->side->next_us);
    else
        renew(hold, hl_now_us(&hl_hold_core(hold)->host));
}

void hl_watchdog_verify(struct hl_hold *hold, uint64_t within_us)
{
    struct hl_host *host = &hl_hold_core(hold)->host;
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(hold), hl_now_us(host)) / 4;
    if (!is_renewing(hold))
        sleep_until(hold, hl_now_us(host) + hl_random_below(&host->random, within_us < left_us ? within_us : left_us));
}

static void sweep(struct hl_hold *hold, void *arg)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t ends_us = HL_PLANTED(HOLD_MAX_UNSWEPT) ? hl_hold_deadline_us(hold) : hl_watchdog_ends_us(hold), now_us = *(const uint64_t *)arg;
    if (ends_us <= now_us)
        has_ended(hold, now_us);
    else if (ends_us < core->earliest_us)
        core->earliest_us = ends_us;
}

/* Runs before every delivery, and looks only when something may have ended: earliest_us is never later than the first end (hold_max is not
 * below a lease). */
void hl_watchdog_sweep(struct hl_core *core)
{
    uint64_t now_us = hl_now_us(&core->host);
    if (now_us < core->earliest_us || HL_PLANTED(R6_NO_SWEEP))
        return;
    core->earliest_us = UINT64_MAX;
    hl_walk_held(core, sweep, &now_us);
}
