/* SPDX-License-Identifier: BSD-3-Clause */
/* hold - its life from the first request to the grant or the refusal, and what is common to all states. Renewal is in watchdog.c, the end in
 * ending.c. */
#include "lock/hold.h"

#include "base/contract.h"
#include "base/plant.h"
#include "lock/acquire.h"
#include "lock/ballot.h"
#include "lock/notice.h"
#include "lock/ending.h"
#include "lock/extend.h"
#include "lock/fair.h"
#include "lock/gate.h"
#include "lock/handoff.h"
#include "lock/lease.h"
#include "lock/multi.h"
#include "lock/replicas.h"
#include "lock/renewal.h"
#include "lock/side.h"
#include "lock/terms.h"
#include "lock/watchdog.h"

static struct hl_hold *hold_of(struct hl_request *request)
{
    struct hl_part *part = (struct hl_part *)(void *)request;
    return (struct hl_hold *)(void *)((char *)(part - part->index) - offsetof(struct hl_hold, parts));
}

static void about(const struct hl_request *request, struct hl_about *ret)
{
    const struct hl_part *part = (const struct hl_part *)(const void *)request;
    *ret = (struct hl_about){part->name->bytes, part->name->length, part->index};
}

/* Counted as it leaves: what only ever stood in a queue was not asked, and leaves nothing to undo. A second question belongs to the first. */
static void count_asked(struct hl_hold *hold, const struct hl_part *part)
{
    if (hold->state != HOLD_ASKING || part->is_second)
        return;
    hold->owner.acquire->attempts++;
    hl_trace(&hl_hold_core(hold)->host, HL_ACQUIRE_ASKED, &(struct hl_fact){.name = part->name->bytes});
}

/* Now and then a release of a FAIR lock lets other kinds of lock in: a queue that is never empty would keep them out for ever. */
static int yields(const struct hl_hold *hold, const struct hl_part *part)
{
    if (part->ask != PART_RELEASE || part->state != PART_OURS || !hold->terms->kind->has_queue || HL_PLANTED(FAIR_NO_YIELD))
        return 0;
    return hl_random_below(&hl_hold_core(hold)->host.random, HL_FAIR_YIELD_ONE_IN) == 0;
}

/* A part that is healed takes part in the round: it is asked for as much as the others. */
static uint32_t lease_of(const struct hl_hold *hold, const struct hl_part *part)
{
    int is_healed = hold->state == HOLD_HELD && hl_hold_is_quorum(hold) && !HL_PLANTED(QUORUM_HEALED_SHORT), is_in_round = part->ask == PART_RENEW || is_healed;
    return is_in_round ? hl_extend_lease_ms(hold) : hold->terms->lease_ms;
}

static struct hl_wants wants_of(const struct hl_hold *hold, const struct hl_part *part)
{
    const struct hl_core *core = hl_hold_core(hold);
    const struct hl_node *node = part->request.node;
    int halves = (HL_PLANTED(LEASE_SHORTER) && part->ask == PART_ACQUIRE) || (HL_PLANTED(RENEWS_SHORTER) && part->ask == PART_RENEW);
    return (struct hl_wants){
        .lease_ms = lease_of(hold, part) / (halves ? 2 : 1),
        .not_after_ms = HL_PLANTED(NOT_AFTER_MISSING) ? 0 : hl_node_not_after_ms(node, hl_now_us(&core->host)),
        .token_ttl_ms = core->limits.token_ttl_ms,
        .reserved = hl_handoff_reserved(hold),
        .is_second = part->is_second,
        .token = part->token,
        .is_extended = hl_extend_was_asked(hold) && !HL_PLANTED(SIMPLE_SHORTENS),
        .natives = node->natives,
        .is_sharded = hl_node_home(part->request.node)->subscription.is_sharded,
        .hears_in_part = hl_node_hears_in_part(hl_node_home(part->request.node)) != 0,
        .yields = yields(hold, part),
    };
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    struct hl_part *part = (struct hl_part *)(void *)request;
    struct hl_hold *hold = hold_of(request);
    const struct hl_kind *kind = hold->terms->kind;
    struct hl_wants wants = wants_of(hold, part);
    struct hl_words words = {part->name->bytes, part->name->length, hl_hold_core(hold)->uuid, HL_PLANTED(R2_ID_REUSED) ? 1 : hold->id};
    if (kind->has_natives)
        hl_lacks_natives_wanted(request->node);
    words.id -= HL_PLANTED(RELEASE_OF_ANOTHER) && part->ask == PART_RELEASE;
    switch ((enum hl_part_ask)part->ask) {
    case PART_ACQUIRE:
        count_asked(hold, part);
        if (kind->has_queue)
            hl_fair_say(hold, part, &wants);
        hl_extend_sent(hold, part, lease_of(hold, part));
        part->form = (uint8_t)kind->acquire(command, &words, &wants);
        break;
    case PART_CONFIRM: break; /* said for many at once, by the node */
    case PART_RENEW:
        hl_extend_sent(hold, part, lease_of(hold, part));
        part->form = (uint8_t)kind->renew(command, &words, &wants);
        break;
    case PART_RELEASE: part->form = (uint8_t)kind->release(command, &words, &wants); break;
    }
}

struct hl_said hl_part_said(const struct hl_hold *hold, const struct hl_part *part, const struct hl_reply *reply)
{
    const struct hl_kind *kind = hold->terms->kind;
    switch ((enum hl_part_ask)part->ask) {
    case PART_ACQUIRE: return kind->acquired(reply, (enum hl_form)part->form);
    case PART_CONFIRM: break;
    case PART_RENEW: return kind->renewed(reply, (enum hl_form)part->form);
    case PART_RELEASE: return kind->released(reply, (enum hl_form)part->form);
    }
    return hl_said_fault(reply);
}

int hl_part_is_cleared_by(const struct hl_hold *hold, const struct hl_part *part, const struct hl_said *said)
{
    int may_have_begun = said->verdict == HL_FAULT && said->fault.kind == HL_FAULT_LASTING && !said->fault.left_nothing;
    int is_in_queue = (hold->is_queued || said->position) && !HL_PLANTED(FAIR_STAYS_IN_QUEUE);
    return said->verdict != HL_YES && !may_have_begun && !part->is_haunted && !is_in_queue && part->state != PART_OURS;
}

void hl_part_not_ours(const struct hl_hold *hold, struct hl_part *part)
{
    int may_be_queued = hold->is_windowed && !HL_PLANTED(FAIR_FORGOTTEN_KEPT), may_be_made = part->is_haunted && !HL_PLANTED(HAUNT_LEFT_BY_LOSS);
    part->state = may_be_queued || may_be_made ? PART_MAYBE : PART_CLEAR;
}

int hl_part_forgoes_native(const struct hl_part *part, const struct hl_said *said)
{
    struct hl_text what;
    if (part->form != HL_FORM_NATIVE || part->ask == PART_ACQUIRE || said->verdict != HL_FAULT || said->fault.kind != HL_FAULT_LASTING ||
        said->fault.status == HILOCK_WRONG_KIND)
        return 0;
    part->request.node->natives = 0;
    hl_text_set(&what, "native command refused: %s: the script is used",
                hl_host_quote(part->request.node->host, said->quote, said->quote_length).bytes);
    hl_lacks_tell(hl_node_home(part->request.node), HL_LACK_NATIVE, what.bytes);
    return 1;
}

static void ask(struct hl_hold *hold, struct hl_part *part, int is_second)
{
    part->ask = PART_ACQUIRE;
    part->state = PART_MAYBE;
    part->is_second = is_second != 0;
    hl_route_submit(hl_hold_core(hold)->route, &part->request, hl_hold_core(hold)->limits.command_timeout_ms,
                    HL_REQUEST_GRANT | (hold->terms->replicas || HL_PLANTED(REPLICAS_LINK_FOR_ALL) ? HL_REQUEST_CONFIRM : 0));
}

/* Also from a store under its restart guard: the hold stands without it, so nobody else can hold what that store forgot. */
void hl_hold_heal(struct hl_hold *hold, struct hl_part *part, uint32_t timeout_ms, int is_second)
{
    part->ask = PART_ACQUIRE;
    part->state = PART_MAYBE;
    part->is_second = is_second != 0;
    hl_route_submit(hl_hold_core(hold)->route, &part->request, timeout_ms, HL_REQUEST_URGENT);
}

static void ask_next(struct hl_hold *hold);

/* All it needs stands, or a part of it was refused, or there are more answers to come, or more to be asked for. */
void hl_hold_weigh(struct hl_hold *hold, struct hl_part *part, struct hl_asked asked)
{
    asked.at = part->index;
    asked.asked_us = part->request.sent_us;
    if (hl_hold_count(hold, PART_OURS) >= hold->needed)
        hl_acquire_answered(hold->owner.acquire, &(struct hl_asked){.answer = ASKED_GRANTED});
    else if (hl_hold_is_quorum(hold))
        hl_ballot_cast(hold, part, &asked);
    else if (asked.answer != ASKED_GRANTED)
        hl_acquire_answered(hold->owner.acquire, &asked);
    else if (!hl_hold_asking(hold))
        ask_next(hold);
}

void hl_part_grant(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    uint64_t lease_us = (uint64_t)hl_extend_part_ms(hold, part) * 1000, now_us = hl_now_us(&hl_hold_core(hold)->host);
    part->state = PART_OURS;
    hold->is_queued = 0;
    part->token = said->token;
    part->deadline_us = hl_lease_deadline_us(HL_PLANTED(R1_DEADLINE_FROM_REPLY) ? now_us : part->request.sent_us, lease_us);
}

static void on_granted(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    hl_part_grant(hold, part, said);
    if (hold->terms->replicas && !HL_PLANTED(REPLICAS_TOLD_EARLY))
        hl_replicas_ask(hold, part);
    else
        hl_hold_weigh(hold, part, (struct hl_asked){.answer = ASKED_GRANTED});
}

/* The clock sample was old, or the command was on its way for very long: with the server's time from the refusal it is asked once more. */
static void on_late(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    static const char words[] = "the request reached the store later than it may run";
    hl_node_learn_time(part->request.node, said->server_us, part->request.sent_us);
    if (!part->is_late_once) {
        part->is_late_once = 1;
        ask(hold, part, 0);
        return;
    }
    part->is_late_once = 0;
    hl_hold_weigh(hold, part, (struct hl_asked){.answer = ASKED_FAULT, .fault = {HL_FAULT_PASSING, HILOCK_UNREACHABLE, 1}, .quote = words, .quote_length = sizeof words - 1});
}

/* The store's definite no takes the id off it, unless an earlier request of it went unanswered and may still run. An error that will last
 * (a right that the script lacks) may have come in its midst: the id is released for safety. */
static void on_asked(struct hl_hold *hold, struct hl_part *part, const struct hl_reply *reply)
{
    struct hl_said said = hl_part_said(hold, part, reply);
    part->is_late_once = part->is_late_once && said.verdict == HL_LATE;
    if (said.verdict == HL_YES) {
        on_granted(hold, part, &said);
        return;
    }
    if (said.verdict == HL_AGAIN) {
        ask(hold, part, 1);
        return;
    }
    if (hl_part_is_cleared_by(hold, part, &said))
        part->state = PART_CLEAR;
    hold->is_queued = hold->is_queued || said.position;
    if (said.verdict == HL_LATE)
        on_late(hold, part, &said);
    else if (said.verdict == HL_NO)
        hl_hold_weigh(hold, part, (struct hl_asked){.answer = ASKED_HELD, .left_ms = said.left_ms, .has_no_ttl = said.has_no_ttl, .holder = said.holder,
                                            .holder_length = said.holder_length, .ticket = said.ticket, .position = said.position,
                                            .waiters = said.waiters, .hands_over = said.hands_over});
    else
        hl_hold_weigh(hold, part, (struct hl_asked){.answer = ASKED_FAULT, .fault = said.fault, .quote = said.quote, .quote_length = said.quote_length});
}

static void on_unanswered(struct hl_hold *hold, struct hl_part *part)
{
    if (HL_PLANTED(R3_UNKNOWN_IS_FAILURE))
        part->state = PART_CLEAR;
    else
        hl_ending_haunt(hold, part);
    hl_hold_weigh(hold, part, (struct hl_asked){.answer = ASKED_UNANSWERED});
}

static void on_acquire_done(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    if (!answer->was_sent && part->state != PART_OURS)
        part->state = part->is_haunted || (hold->is_queued && !HL_PLANTED(FAIR_UNSENT_LEAVES_QUEUE)) ? PART_MAYBE
                                                                                                      : PART_CLEAR;
    if (hold->state == HOLD_ENDING || hold->state == HOLD_RETURNING)
        hl_ending_answered(hold, part, answer);
    else if (hold->state == HOLD_HELD && hl_hold_is_quorum(hold))
        hl_renewal_joined(hold, part, answer);
    else if (hold->state == HOLD_HELD)
        hl_fair_crossed(hold, part, answer);
    else if (answer->reply)
        on_asked(hold, part, answer->reply);
    else
        on_unanswered(hold, part);
}

static void done(struct hl_request *request, const struct hl_answer *answer)
{
    struct hl_part *part = (struct hl_part *)(void *)request;
    struct hl_hold *hold = hold_of(request);
    switch ((enum hl_part_ask)part->ask) {
    case PART_ACQUIRE: on_acquire_done(hold, part, answer); break;
    case PART_CONFIRM: hl_replicas_answered(hold, part, answer); break;
    case PART_RENEW: hl_renewal_answered(hold, part, answer); break;
    case PART_RELEASE: hl_ending_released(hold, part, answer); break;
    }
}

void hl_hold_on_alarm(struct hl_alarm *alarm)
{
    struct hl_hold *hold = (struct hl_hold *)(void *)((char *)alarm - offsetof(struct hl_hold, alarm));
    switch ((enum hl_hold_state)hold->state) {
    case HOLD_IDLE:
    case HOLD_ASKING:
    case HOLD_RETURNING: hl_acquire_tick(hold->owner.acquire); break;
    case HOLD_HELD: hl_watchdog_tick(hold); break;
    case HOLD_ENDING: hl_ending_tick(hold); break;
    }
}

static void init_part(struct hl_part *part, unsigned index, struct hl_name *name)
{
    static const struct hl_request_ops ops = {about, encode, done};
    part->request.ops = &ops;
    part->index = (uint8_t)index;
    part->name = name;
    name->refs++;
}

struct hl_hold *hl_hold_new(struct hl_core *core, const struct hilock_lock *lock)
{
    struct hl_terms *terms = lock->terms;
    const struct hl_route *route = core->route;
    unsigned count = terms->multi ? terms->multi->count : hl_route_members(route);
    struct hl_hold *hold = hl_memory_new(&core->host.memory, sizeof *hold + count * sizeof hold->parts[0] + (count > 1) * count * sizeof(struct hl_share));
    if (!hold)
        return NULL;
    if (hl_alarm_begin(&core->hold_alarms, &hold->alarm) != 0) {
        hl_memory_free(&core->host.memory, hold);
        return NULL;
    }
    hold->notice.ops = core->reports->hold;
    hold->terms = terms;
    terms->refs++;
    hold->parts_count = (uint8_t)count;
    hold->needed = route->masters ? route->needed : (uint8_t)count;
    for (unsigned i = 0; i < count; i++)
        init_part(&hold->parts[i], i, terms->multi ? terms->multi->of[i] : lock->name);
    core->live_holds++;
    TAILQ_INSERT_TAIL(&core->live, hold, live);
    return hold;
}

void hl_hold_free(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    for (unsigned i = 0; i < hold->parts_count; i++) {
        HL_REQUIRE(!hl_request_is_busy(&hold->parts[i].request));
        hl_name_unref(core, &core->host.memory, hold->parts[i].name);
    }
    hl_notice_cancel(core, &hold->notice);
    TAILQ_REMOVE(&core->live, hold, live);
    core->unheld -= hold->is_unheld;
    hl_alarm_end(&core->hold_alarms, &hold->alarm);
    hl_side_free(core, hold);
    hl_terms_unref(hold->terms);
    hl_memory_free(&core->host.memory, hold);
    if (--core->live_holds == 0 && core->is_closing)
        hl_host_wake(&core->host);
}

/* Of a multi: so many of the first that it has not, in the order that all multis share. */
static void ask_next(struct hl_hold *hold)
{
    const struct hl_names *names = hold->terms->multi;
    unsigned room = hl_multi_step(hold->owner.acquire);
    for (unsigned i = 0; room && i < names->count; i++) {
        struct hl_part *part = &hold->parts[names->order[i]];
        if (part->state == PART_OURS)
            continue;
        room--;
        if (!hl_request_is_busy(&part->request))
            ask(hold, part, 0);
    }
}

void hl_hold_ask(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    if (!hold->id)
        hold->id = ++core->id_last;
    hold->state = HOLD_ASKING;
    hl_ballot_begin(hold);
    if (hold->terms->multi) {
        ask_next(hold);
        return;
    }
    if (hl_hold_is_quorum(hold))
        hl_hold_ask_masters(hold);
    else if (hold->parts->state != PART_OURS && !hl_request_is_busy(&hold->parts->request))
        ask(hold, hold->parts, 0);
}

void hl_hold_ask_masters(struct hl_hold *hold)
{
    int asks_one = hl_ballot_asks_one(hold);
    for (unsigned i = 0; i < hold->parts_count; i++) {
        struct hl_part *part = &hold->parts[i];
        if (!hl_ballot_may_ask(hold, part))
            continue;
        ask(hold, part, 0);
        if (asks_one)
            break;
    }
}

void hl_hold_keep(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t deadline_us = hl_hold_deadline_us(hold);
    hold->state = HOLD_HELD;
    hold->is_round_over = 1;
    hold->since_us = hold->granted_us = hl_now_us(&core->host);
    hold->turn = 0;
    hold->is_owed = 0;
    for (unsigned i = 0; i < hold->parts_count; i++)
        hold->parts[i].name->hold = hold;
    if (deadline_us < core->earliest_us)
        core->earliest_us = deadline_us;
    hl_watchdog_begin(hold);
}

void hl_hold_wake_at(struct hl_hold *hold, uint64_t at_us)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t now_us = hl_now_us(&core->host);
    hold->due_us = at_us == UINT64_MAX ? 0 : at_us < now_us ? now_us : at_us;
    if (at_us == UINT64_MAX)
        hl_alarm_stop(&core->hold_alarms, &hold->alarm);
    else
        hl_alarm_set(&core->hold_alarms, &hold->alarm, at_us);
}

static struct hl_node *node_of(const struct hl_hold *hold, unsigned i)
{
    struct hl_route *route = hl_hold_core(hold)->route;
    const struct hl_name *name = hold->parts[i].name;
    return route->ops->node_of(route, &(struct hl_about){name->bytes, name->length, i});
}

int hl_hold_is_at(const struct hl_hold *hold, const struct hl_node *node)
{
    for (unsigned i = 0; i < hold->parts_count; i++)
        if (node_of(hold, i) == node)
            return 1;
    return 0;
}

int hl_hold_has_moved(const struct hl_hold *hold)
{
    for (unsigned i = 0; i < hold->parts_count; i++)
        if (!hold->parts[i].request.node || hl_node_home(hold->parts[i].request.node) != node_of(hold, i))
            return 1;
    return 0;
}
