/* SPDX-License-Identifier: BSD-3-Clause */
/* ending - see ending.h. The alarm: the time after which a release's outcome is unknown, the next try after an error, the second release of
 * an id whose acquire may still run, the end of the lease; whatever it was, all that is not done yet is tried again. */
#include "lock/ending.h"

#include "base/plant.h"
#include "base/quote.h"
#include "lock/extend.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/lock.h"
#include "lock/notice.h"
#include "lock/part.h"
#include "lock/recent.h"
#include "lock/validity.h"
#include "lock/words.h"

/* In a queue it is over when nobody grants to it any more, and what was granted last has lapsed. A heartbeat without an answer may put it there. */
static uint64_t queue_us(const struct hl_hold *hold)
{
    const struct hl_part *part = &hold->parts[0];
    int may_be_put = hold->terms->kind->has_queue && part->ask == PART_ACQUIRE && hl_request_is_busy(&part->request);
    return (hold->is_queued || may_be_put) && !HL_PLANTED(FAIR_QUEUE_FORGOTTEN) ? (uint64_t)(HL_FAIR_ALIVE_MS + HL_FAIR_WINDOW_MS) * 1000 : 0;
}

static uint64_t over_us(const struct hl_hold *hold)
{
    uint64_t longest_us = queue_us(hold) > hl_terms_lease_us(hold->terms) ? queue_us(hold) : hl_terms_lease_us(hold->terms);
    uint64_t own_us = hl_lease_over_us(hold->since_us, longest_us, hl_hold_core(hold)->limits.command_timeout_ms);
    uint64_t extended_us = HL_PLANTED(EXTEND_FORGOTTEN) ? 0 : hl_extend_over_us(hold);
    return extended_us > own_us ? extended_us : own_us;
}

static uint64_t unknown_us(const struct hl_hold *hold)
{
    return hold->is_release && !hold->is_answered ? hold->since_us + (uint64_t)hl_hold_core(hold)->limits.command_timeout_ms * 1000 : UINT64_MAX;
}

static int is_part_clear(const struct hl_part *part) { return part->state == PART_CLEAR && !hl_request_is_busy(&part->request); }

static void sleep_until(struct hl_hold *hold, uint64_t at_us)
{
    uint64_t over = over_us(hold), unknown = unknown_us(hold);
    uint64_t silent = hl_hold_is_quorum(hold) && hold->parts[0].is_counted ? hl_now_us(&hl_hold_core(hold)->host) + hl_part_patience_us(hold) : over;
    over = silent < over ? silent : over;
    at_us = over < at_us ? over : at_us;
    hl_hold_wake_at(hold, unknown < at_us ? unknown : at_us);
}

static void release(struct hl_hold *hold, struct hl_part *part)
{
    struct hl_core *core = hl_hold_core(hold);
    part->ask = PART_RELEASE;
    hl_route_submit(core->route, &part->request, core->limits.command_timeout_ms, HL_REQUEST_URGENT);
}

/* A loss is told before the store lets others in: its release waits for that. */
static void release_all(struct hl_hold *hold)
{
    if (hold->notice.pending & REPORT_LOST)
        return;
    for (unsigned i = 0; i < hold->parts_count; i++) {
        struct hl_part *part = &hold->parts[i];
        if (hl_request_is_busy(&part->request) || part->state == PART_CLEAR)
            continue;
        release(hold, part);
    }
}

void hl_ending_retry(struct hl_hold *hold) { release_all(hold); }

/* What waits to be sent need not be. An acquire that never left leaves nothing behind. */
static void withdraw_all(struct hl_hold *hold)
{
    for (unsigned i = 0; i < hold->parts_count; i++) {
        struct hl_part *part = &hold->parts[i];
        if (hl_node_withdraw(&part->request) && part->ask == PART_ACQUIRE && !part->is_haunted && !hold->is_queued && part->state != PART_OURS)
            part->state = PART_CLEAR;
    }
}

/* A name of a quorum is counted once, by the first part. */
static struct hl_part *counter_of(struct hl_hold *hold, struct hl_part *part) { return hl_hold_is_quorum(hold) ? hold->parts : part; }

/* Its name is not to be asked for yet: no answer has come. Of a quorum: from a master that would be asked again, where our own vote would
 * be in our way; one that is silent is not waited for. */
static int is_awaited(const struct hl_hold *hold, const struct hl_part *part)
{
    if (!hl_hold_is_quorum(hold))
        return part->heard == HEARD_NOTHING;
    for (part = hold->parts; part < hold->parts + hold->parts_count; part++)
        if (part->heard == HEARD_NOTHING && hl_part_can_vote(hold, part) && !HL_PLANTED(QUORUM_BLOCKS_ITSELF))
            return 1;
    return 0;
}

/* The round of releases begins: where nothing is left to release nothing needs to be heard. */
static void begin_round(struct hl_hold *hold)
{
    for (unsigned i = 0; i < hold->parts_count; i++) {
        hold->parts[i].is_behind = 0;
        hold->parts[i].heard = is_part_clear(&hold->parts[i]) ? HEARD_NO : HEARD_NOTHING;
    }
}

/* From here on siblings wait for the first answer to the release. Where nothing is left to release they need not. */
static void count_in(struct hl_hold *hold)
{
    for (unsigned i = 0; i < hold->parts_count; i++) {
        struct hl_part *part = &hold->parts[i];
        struct hl_name *name = part->name;
        int was_holder = name->hold == hold;
        if (was_holder)
            name->hold = NULL;
        if (counter_of(hold, part) != part)
            continue;
        if (is_awaited(hold, part)) {
            name->ending = (uint16_t)(name->ending + !part->is_counted);
            part->is_counted = 1;
        } else if (was_holder)
            hl_hold_core(hold)->owner->freed(hl_hold_core(hold), name, 0, 0);
    }
}

/* The first answer, or there is nothing to wait for: siblings may ask for the name again. */
static void count_out(struct hl_hold *hold, struct hl_part *part, uint64_t listeners)
{
    part = counter_of(hold, part);
    if (!part->is_counted)
        return;
    part->is_counted = 0;
    part->name->ending--;
    if (hold->is_attempt || !HL_PLANTED(RELEASE_HIDDEN))
        hl_hold_core(hold)->owner->freed(hl_hold_core(hold), part->name, listeners, hold->is_attempt);
}

static void count_all_out(struct hl_hold *hold)
{
    for (unsigned i = 0; i < hold->parts_count; i++)
        count_out(hold, &hold->parts[i], 0);
}

static void hear(struct hl_hold *hold, struct hl_part *part, enum hl_part_heard heard, uint64_t listeners)
{
    if (part->heard != HEARD_YES) /* one that is released a second time was ours the first time */
        part->heard = (uint8_t)heard;
    if (!is_awaited(hold, part))
        count_out(hold, part, listeners);
}

void hl_ending_settle(struct hl_hold *hold)
{
    struct hilock_lock *lock = hold->owner.lock;
    if (hold->state != HOLD_ENDING || !hl_hold_is_blank(hold) || hold->notice.pending)
        return;
    count_all_out(hold);
    if (lock && !hold->is_told)
        hl_lock_unref(lock);
    hl_hold_free(hold);
}

void hl_ending_begin(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    hold->state = HOLD_ENDING;
    hl_validity_end(hold);
    hold->since_us = hl_now_us(&core->host);
    hold->is_answered = 0;
    withdraw_all(hold);
    if (HL_PLANTED(R5_SILENT_END))
        for (unsigned i = 0; i < hold->parts_count; i++)
            hold->parts[i].state = PART_CLEAR;
    begin_round(hold);
    count_in(hold);
    release_all(hold);
    sleep_until(hold, UINT64_MAX);
    hl_ending_settle(hold);
}

void hl_ending_give_up(struct hl_hold *hold)
{
    hold->owner.lock = NULL;
    hold->is_unheld = 1;
    hl_hold_core(hold)->unheld++;
    hl_ending_begin(hold);
}

int hl_ending_of(struct hl_core *core, const struct hilock_lock *lock, uint64_t id)
{
    struct hl_hold *hold = hl_hold_new(core, lock);
    if (!hold)
        return 0;
    hold->id = id;
    hold->parts[0].state = PART_MAYBE;
    hl_ending_begin(hold);
    return 1;
}

void hl_ending_answer(struct hl_hold *hold, hilock_status status)
{
    struct hl_core *core = hl_hold_core(hold);
    if (hold->state != HOLD_ENDING || hold->is_answered)
        return;
    hold->is_answered = 1;
    hold->verdict = (unsigned)-(int)status & 0x7fu;
    if (hold->is_release)
        hl_trace(&core->host, HL_RELEASE_ANSWERED, &(struct hl_fact){.name = hold->parts[0].name->bytes, .status = status});
    if (hold->on_result)
        hl_notice_post(core, &hold->notice, REPORT_RELEASED);
}

void hl_endings_answer(struct hl_core *core)
{
    struct hl_hold *hold;
    TAILQ_FOREACH(hold, &core->live, live)
        hl_ending_answer(hold, HILOCK_UNKNOWN);
}

static void tell_settled(struct hl_hold *hold, int is_confirmed)
{
    struct hl_core *core = hl_hold_core(hold);
    struct hl_text detail;
    if (!hold->on_result || hold->verdict != (uint8_t)-(int)HILOCK_UNKNOWN || !hold->is_answered || hold->is_settled)
        return;
    hold->is_settled = 1;
    hold->is_confirmed = is_confirmed != 0;
    hl_words_of_settling(hold, hl_lease_span_ms(hl_now_us(&core->host) - hold->since_us), &detail);
    hl_trace(&core->host, HL_RELEASE_SETTLED, &(struct hl_fact){.name = hold->parts[0].name->bytes, .detail = detail.bytes});
    hl_notice_post(core, &hold->notice, REPORT_SETTLED);
}

/* An id with an unanswered acquire is released once more when that acquire can no longer run (R3): until then a copy of it in an old link
 * may make a hold that nobody knows of. */
void hl_ending_haunt(struct hl_hold *hold, struct hl_part *part)
{
    part->is_haunted = 1;
    part->state = PART_MAYBE;
    hold->is_queued = hold->is_queued || hold->terms->kind->has_queue;
    hl_ending_may_run(hold, part);
}

void hl_ending_may_run(struct hl_hold *hold, const struct hl_part *part)
{
    uint64_t may_run_us = (uint64_t)hl_hold_core(hold)->limits.command_timeout_ms * 1000;
    uint64_t until_us = part->request.sent_us + may_run_us + may_run_us / 100 + part->request.node->round_trip_us;
    if (hold->haunted_until_us < until_us)
        hold->haunted_until_us = until_us;
}

/* 1: released, but it is to be released once more. */
static int haunts(struct hl_hold *hold, struct hl_part *part)
{
    int was_haunted = part->is_haunted;
    part->is_haunted = 0;
    return was_haunted && !HL_PLANTED(HAUNT_FORGOTTEN) && hold->haunted_until_us > hl_now_us(&hl_hold_core(hold)->host);
}

/* Never the same id again (R2), and what was known of it goes with it. */
static void forget_id(struct hl_hold *hold)
{
    hold->state = HOLD_IDLE;
    hold->id = hold->haunted_until_us = 0;
    hold->is_queued = hold->is_windowed = 0;
    for (struct hl_part *part = hold->parts; part < hold->parts + hold->parts_count; part++)
        *part = (struct hl_part){.request = part->request, .name = part->name, .index = part->index};
}

/* After an answer: the hold goes on to what it was ended for, if that was all. */
static void go_on(struct hl_hold *hold)
{
    if (!hl_hold_is_blank(hold))
        return;
    if (hold->state == HOLD_RETURNING) {
        count_all_out(hold);
        forget_id(hold);
        hl_hold_core(hold)->owner->returned(hold);
    } else {
        hl_ending_answer(hold, HILOCK_LOST); /* found taken before a release was sent */
        hl_ending_settle(hold);
    }
}

void hl_ending_return(struct hl_hold *hold)
{
    hold->state = HOLD_RETURNING;
    begin_round(hold);
    count_in(hold);
    release_all(hold);
    go_on(hold); /* found gone already: a turn that was not told yet may be that of a hold that is renewed */
}

static void sleep_for_next(struct hl_hold *hold, uint64_t at_us)
{
    if (hold->state == HOLD_ENDING)
        sleep_until(hold, at_us);
    else
        hl_hold_core(hold)->owner->wake_at(hold, at_us);
}

/* Released, if as many say so as it needed; not, if so many do not that these are missing. */
static void conclude(struct hl_hold *hold)
{
    int is_released = hl_hold_heard(hold, HEARD_YES) >= hold->needed;
    if (!is_released && hl_hold_heard(hold, HEARD_NO) <= (unsigned)(hold->parts_count - hold->needed))
        return;
    tell_settled(hold, 1);
    hl_ending_answer(hold, is_released ? HILOCK_OK : HILOCK_LOST);
}

static uint64_t again_us(const struct hl_hold *hold)
{
    struct hl_host *host = &hl_hold_core(hold)->host;
    return hl_now_us(host) + hl_lease_retry_us(&host->random, hl_terms_lease_us(hold->terms));
}

static void on_gone(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    static const char unheard[] = "released, but the message to those who wait was refused (has the user a right to the channel?)";
    struct hl_core *core = hl_hold_core(hold);
    /* gone by our own doing, or by its lease's end */
    int is_doubtful = part->was_repeated || hl_now_us(&core->host) >= part->deadline_us;
    int was_ours = said->verdict == HL_YES || (is_doubtful && hold->since_us < part->deadline_us);
    int is_haunting = haunts(hold, part), is_over = !is_haunting && !part->is_half_said;
    part->state = is_over ? PART_CLEAR : PART_MAYBE;
    hl_recent_add(core, hold, part);
    if (said->was_unheard && !core->is_unheard_told)
        hl_trace(&core->host, HL_NODE_FAULT,
                 &(struct hl_fact){.name = part->name->bytes, .node = hl_node_name(part->request.node), .detail = unheard});
    core->is_unheard_told = said->verdict == HL_YES ? said->was_unheard : core->is_unheard_told;
    hear(hold, part, was_ours ? HEARD_YES : HEARD_NO, said->listeners + hl_node_hears_in_part(part->request.node));
    conclude(hold);
    if (is_over)
        go_on(hold);
    else
        sleep_for_next(hold, is_haunting ? hold->haunted_until_us : again_us(hold));
}

/* Told once: it is tried again several times a lease. */
static void on_fault(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    struct hl_core *core = hl_hold_core(hold);
    struct hl_text why;
    hl_text_set(&why, "release of \"%s\" refused, it is tried again until its lease has run out: %s", hl_quote(part->name->bytes, part->name->length).bytes,
                hl_words_of_server(core, said->quote, said->quote_length).bytes);
    if (!part->is_refused)
        hl_trace(&core->host, HL_NODE_FAULT, &(struct hl_fact){.name = part->name->bytes, .node = hl_node_name(part->request.node), .detail = why.bytes});
    part->is_refused = 1;
    if (!hl_hold_is_quorum(hold))
        count_out(hold, part, 0);
    sleep_for_next(hold, again_us(hold));
}

/* Whom the second way did not find holding may stand in the queue, unless there is none: a key of another type stands in its place. */
static void note_way(struct hl_part *part, const struct hl_said *said)
{
    int was_half_said = part->is_second && part->is_half_said && said->verdict == HL_NO;
    part->is_half_said = (said->is_for_now || was_half_said) && !HL_PLANTED(FAIR_HALF_RELEASED);
    part->is_second = said->verdict == HL_AGAIN;
}

void hl_ending_released(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    struct hl_said said;
    if (!answer->reply) {
        part->was_repeated = 1;
        if (HL_PLANTED(RELEASE_NOT_REPEATED))
            part->state = PART_CLEAR;
        release_all(hold); /* nothing, once the lease has run out */
        go_on(hold);
        return;
    }
    said = hl_part_said(hold, part, answer->reply);
    note_way(part, &said);
    if (hl_part_forgoes_native(part, &said) || said.verdict == HL_AGAIN) {
        release_all(hold); /* nothing, if it was given up meanwhile */
        if (!HL_PLANTED(GIVEN_UP_UNSETTLED))
            go_on(hold);
    } else if (said.verdict == HL_FAULT)
        on_fault(hold, part, &said);
    else
        on_gone(hold, part, &said);
}

/* However late: also when it was given up meanwhile (the process slept, or a script had to be loaded again), for its lease begins now. */
static void take_up(struct hl_hold *hold, struct hl_part *part)
{
    part->state = PART_MAYBE;
    hold->since_us = hl_now_us(&hl_hold_core(hold)->host);
    sleep_for_next(hold, UINT64_MAX);
}

static void undo(struct hl_hold *hold, struct hl_part *part, uint64_t token)
{
    hl_trace(&hl_hold_core(hold)->host, HL_HOLD_UNDONE, &(struct hl_fact){.name = part->name->bytes, .token = token});
    take_up(hold, part);
    if (HL_PLANTED(R4_NO_UNDO))
        part->state = PART_CLEAR;
}

static void renewed(struct hl_hold *hold, struct hl_part *part, const struct hl_reply *reply)
{
    enum hl_verdict verdict = hl_part_said(hold, part, reply).verdict;
    if (verdict == HL_NO)
        hl_part_not_ours(hold, part);
    else if (verdict == HL_YES && part->state == PART_CLEAR && !HL_PLANTED(RENEWAL_KEPT_AFTER_GIVEN_UP))
        take_up(hold, part);
}

/* What was under way when the end began. Of an acquire: refused in words, it left nothing; else it is released. */
void hl_ending_answered(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    if (part->ask == PART_ACQUIRE && answer->reply && answer->was_sent) {
        struct hl_said said = hl_part_said(hold, part, answer->reply);
        if (said.verdict != HL_FAULT && hl_part_is_cleared_by(hold, part, &said))
            part->state = PART_CLEAR;
        if (said.verdict == HL_YES && !(HL_PLANTED(GRANT_KEPT_AFTER_GIVEN_UP) && part->state == PART_CLEAR))
            undo(hold, part, said.token);
    } else if (part->ask == PART_ACQUIRE && answer->was_sent) {
        if (HL_PLANTED(R3_UNKNOWN_IS_FAILURE))
            part->state = PART_CLEAR;
        else
            hl_ending_haunt(hold, part);
    } else if (part->ask == PART_RENEW && answer->reply)
        renewed(hold, part, answer->reply);
    if (part->state == PART_CLEAR) {
        hear(hold, part, HEARD_NO, 0);
        conclude(hold);
    }
    release_all(hold);
    go_on(hold);
}

/* The lease has run out whatever got through: nothing is left to release. A request on the wire is waited for. */
static void give_up(struct hl_hold *hold)
{
    withdraw_all(hold);
    for (unsigned i = 0; i < hold->parts_count; i++)
        hold->parts[i].state = PART_CLEAR;
    hl_ending_answer(hold, HILOCK_UNKNOWN);
    tell_settled(hold, 0);
    hl_hold_wake_at(hold, UINT64_MAX);
    hl_ending_settle(hold);
}

void hl_ending_tick(struct hl_hold *hold)
{
    uint64_t now_us = hl_now_us(&hl_hold_core(hold)->host);
    if (now_us >= over_us(hold)) {
        give_up(hold);
        return;
    }
    if (now_us >= unknown_us(hold))
        hl_ending_answer(hold, HILOCK_UNKNOWN);
    if (hl_hold_is_quorum(hold) && !is_awaited(hold, hold->parts))
        count_out(hold, hold->parts, 0);
    release_all(hold);
    sleep_until(hold, UINT64_MAX);
}
