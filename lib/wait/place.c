/* SPDX-License-Identifier: BSD-3-Clause */
/* place - see place.h. */
#include "wait/place.h"

#include "base/plant.h"
#include "core/lease.h"
#include "hold/asking.h"
#include "hold/ending.h"
#include "hold/watchdog.h"
#include "wait/gate.h"
#include "wait/grants.h"
#include "wait/known.h"

enum { STEP_US = 10000, NEAR_MAX = 8, CLOCK_US = 2000 };
enum { KEPT_MS = 5, LOOK_US = 1000, SILENT_LOOK_US = 5000, SILENT_LOOKS_MAX = 4 };

/* Where there is no queue for it. */
static int is_guest(const struct hl_acquire *acquire)
{
    const struct hl_terms *terms = acquire->lock->terms;
    return !terms->kind->place_each && hl_name_node(terms->cell->core, acquire->lock->name)->has_no_queue;
}

int hl_place_is_wanted(const struct hl_acquire *acquire)
{
    return acquire->lock->terms->kind->has_queue && !acquire->is_try && !is_guest(acquire);
}

/* Without the rights for it MUTEX polls, like a kind without a queue. FAIR does not: its queue is its promise. If it is
 * granted already, WAIT was refused, not the queue. */
int hl_place_forgoes_queue(struct hl_acquire *acquire, const struct hl_response *said)
{
    const struct hl_terms *terms = acquire->lock->terms;
    struct hl_core *core = terms->cell->core;
    int is_refused = said->result == HL_FAULT && said->fault.status == HILOCK_DENIED;
    if (!is_refused || acquire->hold->ask == ASK_CONFIRM || !acquire->place || terms->kind->place_each)
        return 0;
    hl_handshake_lack_queue(hl_name_node(core, acquire->lock->name), said->quote, said->quote_length);
    hl_place_free(core, acquire);
    return 1;
}

int hl_place_take(struct hl_core *core, struct hl_acquire *acquire)
{
    acquire->place = hl_memory_new(&core->host.memory, sizeof *acquire->place);
    if (acquire->place)
        acquire->place->acquire = acquire;
    return acquire->place ? 0 : -1;
}

void hl_place_free(struct hl_core *core, struct hl_acquire *acquire)
{
    if (!acquire->place)
        return;
    hl_grants_leave(acquire->place);
    if (!acquire->lock->terms->kind->place_each)
        hl_memory_free(&core->host.memory, acquire->place);
    acquire->place = NULL;
}

/* Between two heartbeats, and to a handle with the same terms: for the store nothing changes. */
void hl_place_pass(struct hl_acquire *acquire, struct hl_acquire *next)
{
    struct hl_hold *hold = acquire->hold;
    int is_like = next && !next->hold && !next->place && next->lock->terms == acquire->lock->terms;
    int can_pass = is_like && acquire->place && acquire->state == ACQUIRE_SLEEPING && hold->state == HOLD_ASKING &&
                   hold->is_queued && !hl_request_is_busy(&hold->request);
    if (!can_pass || HL_PLANTED(PLACE_LOST_BY_CANCEL))
        return;
    next->hold = hold;
    hold->lock = next->lock;
    next->place = acquire->place;
    next->place->acquire = next;
    next->state = ACQUIRE_SLEEPING;
    acquire->hold = NULL;
    acquire->place = NULL;
}

void hl_place_begin(struct hl_core *core, struct hl_queue_place *place)
{
    hl_grants_leave(place);
    place->acquire->hold->id = hl_asking_id(place->acquire->lock);
    place->ticket = 0;
    place->behind = NULL;
    if (!place->acquire->lock->terms->is_polling)
        hl_grants_join(core, place);
}

/* ---- heartbeats ---- */

/* Among all who wait for a name a multi is as old as its acquire: else the younger ones at each of its names go first,
 * while it keeps the names before. Only that server's clock can say so. If an earlier request has no answer, it may be
 * in the queue already. */
static uint64_t ticket_of(const struct hl_queue_place *place)
{
    const struct hl_attempt *attempt = place->acquire->lock->attempt;
    uint64_t age = attempt && attempt->node == place->node ? attempt->ticket : 0;
    uint64_t none = place->number > 1 ? HL_TICKET_UNKNOWN : 0, has = place->ticket ? place->ticket : age;
    return has && !HL_PLANTED(FAIR_TAIL) ? has : none;
}

/* A heartbeat that is sent again after its wait is over (its script had to be loaded) is a try: it takes no place. */
void hl_place_say(struct hl_hold *hold, struct hl_params *params)
{
    struct hl_acquire *acquire = hold->state == HOLD_ASKING ? hold->lock->acquire : NULL;
    struct hl_queue_place *place = acquire ? acquire->place : NULL;
    struct hl_node *node = hl_node_parent(hold->request.node);
    if (acquire && hold->way != WAY_SECOND) {
        acquire->attempts++;
        hl_trace(&hl_hold_core(hold)->host, HL_ACQUIRE_ASKED,
                 &(struct hl_fact){.lock = hold->lock, .name = hold->name->bytes});
    }
    params->channel = acquire && !place && is_guest(acquire) ? NULL : "";
    params->is_try = 1;
    if (!place)
        return;
    place->number = HL_PLANTED(FAIR_NUMBERS_REUSED) ? 1 : place->number + 1;
    /* earlier heartbeats, to another server, had another clock */
    if (place->node != node && !HL_PLANTED(FAIR_BELIEVES_ELSEWHERE))
        memset(place->sent_us, 0, sizeof place->sent_us);
    place->node = node;
    place->sent_us[place->number % HL_FAIR_SENDS] = hold->request.sent_us;
    params->number = place->number;
    params->ticket = ticket_of(place);
    params->is_try = acquire->is_try;
    params->channel = hl_grants_channel(place);
}

void hl_place_placed(struct hl_queue_place *place, const struct hl_response *said)
{
    const struct hilock_lock *lock = place->acquire->lock;
    struct hl_attempt *attempt = lock->attempt;
    place->ticket = said->ticket;
    place->acquire->hold->token = said->ticket;
    if (attempt && !attempt->id_last && !attempt->ticket) {
        attempt->ticket = place->ticket;
        attempt->node = place->node;
    }
    if (lock->terms->kind->place_each)
        hl_gate_move(place->acquire, said->position <= 1);
    place->is_polling = !*hl_grants_channel(place); /* from here on it listens */
    if (place->position != said->position)
        hl_terms_trace(lock->terms, HL_ACQUIRE_PLACED,
                       &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .position = said->position,
                                         .waiters = said->waiters});
    place->position = said->position;
    place->waiters = said->waiters;
    place->hands_over = said->hands_over != 0;
    if (place->hands_over)
        place->looks = 0;
    else
        hl_gate_saw_others(lock->name);
    if (!hl_gate_has_others(lock->name) && !HL_PLANTED(FAIR_LISTENS_ON))
        hl_gate_stop_listening(lock->name->gate);
}

/* Soon after the other programs, to which the name was left: one of them has it, or none wants it. */
static uint64_t look_us(struct hl_core *core) { return LOOK_US + hl_random_below(&core->host.random, LOOK_US); }

/* The head finds a dead holder when the lease ends, the next one finds a dead head a little later, and each finds a
 * lost push within a window for each place. Behind another program the head looks more often: the release of Redisson's
 * fair lock wakes only the first of its own queue. */
uint64_t hl_place_sleep_us(struct hl_core *core, struct hl_queue_place *place, const struct hl_response *said)
{
    uint64_t at = place->position ? place->position : 1, ends_us = said->left_ms * 1000 + 1000 + STEP_US * (at - 1);
    uint64_t sleep_us = HL_FAIR_ALIVE_MS * 1000 / 3, window_us = HL_FAIR_WINDOW_MS * 1000 * at, sooner_us = UINT64_MAX;
    int is_unheard = !place->hands_over && core->silent_until_us > hl_now_us(&core->host);
    if (HL_PLANTED(FAIR_HEIR_TRUSTED))
        is_unheard = 0;
    if (HL_PLANTED(FAIR_NO_HEARTBEAT))
        return (uint64_t)1 << 50;
    sleep_us = window_us < sleep_us ? window_us : sleep_us;
    if (at <= NEAR_MAX && !said->has_no_ttl && ends_us < sleep_us)
        sleep_us = ends_us;
    if (place->is_polling)
        sooner_us = hl_known_poll_us(core, place->acquire->lock->terms) * at;
    else if (at == 1 && said->left_ms <= KEPT_MS && !said->has_no_ttl)
        sooner_us = look_us(core);
    else if (at == 1 && is_unheard) {
        sooner_us = (uint64_t)SILENT_LOOK_US << place->looks;
        place->looks = (uint8_t)(place->looks + (place->looks < SILENT_LOOKS_MAX));
    }
    return sooner_us < sleep_us ? sooner_us : sleep_us;
}

/* ---- a release that also asks for the next handle ---- */

/* Not for grants that replicas confirm, which use another link, and not for votes, whose attempts begin elsewhere. */
void hl_place_take_next(struct hl_core *core, const struct hl_hold *hold)
{
    struct hl_acquire *acquire = hl_gate_next(hold->name);
    const struct hilock_lock *lock = acquire ? acquire->lock : NULL;
    int is_vote = lock && lock->attempt && lock->attempt->id_last;
    if (!lock || lock->terms->kind != hold->terms->kind || lock->terms->replicas || is_vote)
        return;
    if (!hl_place_is_wanted(acquire) || !core->waiters->may_ask(acquire))
        return;
    hl_place_begin(core, acquire->place);
    acquire->place->behind = hold;
    acquire->state = ACQUIRE_ASKING;
    acquire->hold->state = HOLD_ASKING;
    hl_hold_wake_at(acquire->hold, UINT64_MAX);
}

struct hl_hold *hl_place_next(const struct hl_hold *hold)
{
    const struct hl_gate *gate = hold->name->gate;
    const struct hl_acquire *head = gate ? TAILQ_FIRST(&gate->line) : NULL;
    return head && head->hold && head->place && head->place->behind == hold ? head->hold : NULL;
}

struct hl_hold *hl_place_next_asked(const struct hl_hold *hold, const struct hl_reply *reply)
{
    struct hl_hold *next = hl_place_next(hold);
    struct hl_acquire *acquire = next ? next->lock->acquire : NULL;
    int was_alone = reply && reply->type == HL_REPLY_INTEGER;
    struct hl_reply said;
    if (!next)
        return NULL;
    acquire->place->behind = NULL;
    if (reply && hl_queued_next(reply, &said) && next->haunted_until_us)
        return next;
    if (acquire->state != ACQUIRE_ASKING)
        return NULL;
    if (was_alone || HL_PLANTED(NEXT_FORGOTTEN)) {
        next->haunted_until_us = 0;
        next->kept = KEPT_NOTHING;
        next->is_queued = 0;
        next->id = HL_PLANTED(NEXT_FORGOTTEN) ? 0 : next->id;
    }
    acquire->state = ACQUIRE_IN_LINE; /* the release continues the line */
    return NULL;
}

void hl_place_next_answered(struct hl_hold *next, const struct hl_reply *reply)
{
    struct hl_reply said;
    next->haunted_until_us = 0;
    if (hl_queued_next(reply, &said))
        next->request.ops->done(&next->request, &(struct hl_answer){&said, 1});
}

/* ---- pushes ---- */

/* When belief in this grant ends; 0: do not believe it. */
static uint64_t deadline_of(const struct hl_queue_place *place, const struct hl_node *node, const struct hl_push *push)
{
    uint64_t now_us = hl_now_us(node->host), number = HL_PLANTED(FAIR_NEWEST_SEND) ? place->number : push->number;
    uint64_t sent_us = place->sent_us[number % HL_FAIR_SENDS], elapsed_us = now_us - sent_us;
    int is_elsewhere = place->node != node && !HL_PLANTED(FAIR_BELIEVES_ELSEWHERE);
    if (!number || number > place->number || place->number - number >= HL_FAIR_SENDS || is_elsewhere)
        return 0;
    if (sent_us <= hl_node_since_us(node) && !HL_PLANTED(FAIR_BELIEVES_OLD_LINK))
        return 0;
    /* the server's clock has stepped */
    if (push->since_us > elapsed_us + elapsed_us / 100 + CLOCK_US && !HL_PLANTED(FAIR_STEP_BELIEVED))
        return 0;
    if (HL_PLANTED(FAIR_FROM_ARRIVAL))
        return hl_lease_deadline_us(now_us, push->lease_us);
    if (HL_PLANTED(FAIR_DRIFT_OF_LEASE))
        return sent_us + push->since_us + push->lease_us - hl_lease_drift_us(push->lease_us);
    return hl_lease_deadline_us(sent_us, push->since_us + push->lease_us);
}

/* Enough must be left for this lock; a fixed lease must be whole. Where replicas must confirm a grant, the releasing
 * client wrote it, but WAIT counts our writes: the heartbeat, over the link of that WAIT, writes the lease. */
static void on_grant(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push)
{
    struct hl_acquire *acquire = place->acquire;
    struct hl_hold *hold = acquire->hold;
    const struct hl_terms *terms = acquire->lock->terms;
    struct hl_core *core = terms->cell->core;
    uint64_t least_us = hl_terms_least_us(terms, hl_terms_window_ms(terms)), deadline_us = 0;
    int must_confirm = terms->replicas && !HL_PLANTED(REPLICAS_PUSH_BELIEVED);
    if ((acquire->state != ACQUIRE_SLEEPING && acquire->state != ACQUIRE_ASKING) || acquire->is_try ||
        hold->state != HOLD_ASKING)
        return;
    if (terms->is_renewed && !must_confirm && !hl_node_guard_left_us(node))
        deadline_us = deadline_of(place, node, push);
    hl_trace(node->host, HL_WAKEUP, &(struct hl_fact){.name = acquire->lock->name->bytes});
    if (!deadline_us || hl_left_us(deadline_us, hl_now_us(node->host)) < least_us) {
        hl_gate_has_news(acquire->lock->name->gate);
        hl_trace(node->host, HL_GRANT_DOUBTED, &(struct hl_fact){.name = acquire->lock->name->bytes});
        if (acquire->state == ACQUIRE_SLEEPING)
            core->waiters->ask(acquire);
        return;
    }
    (void)hl_node_withdraw(&hold->request);
    hold->kept = KEPT_OURS;
    hold->token = push->token;
    hold->deadline_us = deadline_us;
    hold->is_windowed = 1;
    core->owner->answered(acquire, &(struct hl_response){.result = HL_YES});
}

/* A pause means that the name is left for a moment to other programs, which were notified first; else it is free, and
 * we are first. */
void hl_place_pushed(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push)
{
    struct hl_core *core = place->acquire->lock->terms->cell->core;
    switch (push->what) {
    case HL_PUSH_NONSENSE: break;
    case HL_PUSH_GRANT:
        if (!HL_PLANTED(PUSH_IGNORED))
            on_grant(place, node, push);
        break;
    case HL_PUSH_YIELD:
        if (place->acquire->state == ACQUIRE_SLEEPING)
            hl_hold_wake_at(place->acquire->hold, hl_now_us(&core->host) + (push->pause_us ? look_us(core) : 0));
        else
            hl_gate_has_news(place->acquire->lock->name->gate);
        break;
    }
}

void hl_place_crossed(struct hl_hold *hold, const struct hl_answer *answer)
{
    const struct hl_response said = answer->reply ? hl_hold_read(hold, answer->reply)
                                                  : (struct hl_response){.result = HL_FAULT};
    int is_other = said.token != hold->token && !HL_PLANTED(FAIR_RETAKEN_BELIEVED);
    int is_taken = said.result == HL_YES && is_other;
    int is_old_no = said.result == HL_NO && HL_PLANTED(FAIR_OLD_NO_BELIEVED);
    if (!answer->reply && answer->was_sent)
        hl_ending_may_run(hold);
    if (is_taken || is_old_no)
        hl_watchdog_end(hold, HILOCK_REASON_TAKEN); /* under a token never reported: released with the report */
    else
        hl_watchdog_crossed(hold, said.result == HL_YES);
}
