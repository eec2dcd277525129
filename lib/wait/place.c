/* SPDX-License-Identifier: BSD-3-Clause */
/* place - see place.h. */
#include "wait/place.h"

#include "base/plant.h"
#include "core/lease.h"
#include "hold/asking.h"
#include "hold/belief.h"
#include "hold/ending.h"
#include "hold/watchdog.h"
#include "wait/channel.h"
#include "wait/gate.h"
#include "wait/grants.h"
#include "wait/known.h"

enum { STEP_US = 10000, NEAR_MAX = 8, CLOCK_US = 2000 };
enum { KEPT_MS = 5, LOOK_US = 1000, SILENT_LOOK_US = 5000, SILENT_LOOKS_MAX = 5 };

static struct hl_core *core_of(const struct hl_queue_place *place) { return place->acquire->lock->terms->cell->core; }

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
    hl_missing_queue(hl_name_node(core, acquire->lock->name), said->quote, said->quote_length);
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
    int is_like = next && !next->hold && next->lock->terms == acquire->lock->terms;
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

/* Whether another program holds, and how its release is heard of. */
static void look_out(struct hl_queue_place *place, const struct hl_response *said)
{
    struct hl_name *name = place->acquire->lock->name;
    if (!place->hands_over) {
        hl_gate_saw_others(name);
        if (place->position <= 1 && !HL_PLANTED(FAIR_HEIR_UNHEARD))
            hl_channel_hear_heir(place->acquire, said->heir, said->heir_length);
        return;
    }
    place->looks = 0;
    if (!hl_gate_has_others(name) && !HL_PLANTED(FAIR_LISTENS_ON))
        hl_channel_leave(name);
}

void hl_place_placed(struct hl_queue_place *place, const struct hl_response *said)
{
    const struct hilock_lock *lock = place->acquire->lock;
    struct hl_attempt *attempt = lock->attempt;
    int is_new = !place->ticket;
    place->ticket = said->ticket;
    place->acquire->hold->token = said->ticket;
    if (attempt && !attempt->id_last && !attempt->ticket) {
        attempt->ticket = place->ticket;
        attempt->node = place->node;
    }
    if (is_new && lock->terms->kind->place_each)
        hl_gate_place(place->acquire);
    place->is_polling = !*hl_grants_channel(place); /* from here on it listens */
    if (place->position != said->position)
        hl_terms_trace(lock->terms, HL_ACQUIRE_PLACED,
                       &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .position = said->position,
                                         .waiters = said->waiters});
    place->position = said->position;
    place->waiters = said->waiters;
    place->hands_over = said->hands_over != 0;
    look_out(place, said);
}

/* Another program frees the name without a grant, and publishes it on the unlock channel, if at all: the head listens
 * there. */
int hl_place_may_sleep(struct hl_queue_place *place)
{
    int is_first_behind_others = !place->hands_over && place->position <= 1;
    if (is_first_behind_others && !HL_PLANTED(FAIR_DEAF_TO_OTHERS))
        return hl_channel_may_sleep(place->acquire);
    return hl_gate_is_asked(place->acquire);
}

/* Soon after the other programs, to which the name was left: one of them has it, or none wants it. */
static uint64_t look_us(struct hl_core *core) { return LOOK_US + hl_random_below(&core->host.random, LOOK_US); }

/* Behind another program: the release of Redisson's fair lock wakes only the first of its own queue. */
static uint64_t silent_look_us(const struct hl_core *core, struct hl_queue_place *place)
{
    int is_heard = place->hands_over || core->silent_until_us <= hl_now_us(&core->host);
    if (is_heard || HL_PLANTED(FAIR_HEIR_TRUSTED))
        return UINT64_MAX;
    place->looks = (uint8_t)(place->looks < SILENT_LOOKS_MAX ? place->looks + 1 : SILENT_LOOKS_MAX);
    return (uint64_t)SILENT_LOOK_US << (place->looks - 1);
}

/* The head finds a dead holder when the lease ends, the next one finds a dead head a little later, and each finds a
 * lost push within a window for each place. */
uint64_t hl_place_sleep_us(struct hl_core *core, struct hl_queue_place *place, const struct hl_response *said)
{
    uint64_t at = place->position ? place->position : 1, ends_us = said->left_ms * 1000 + 1000 + STEP_US * (at - 1);
    uint64_t sleep_us = (uint64_t)HL_FAIR_ALIVE_MS * 1000 / 3, window_us = (uint64_t)HL_FAIR_WINDOW_MS * 1000 * at,
        sooner_us = UINT64_MAX;
    if (HL_PLANTED(FAIR_NO_HEARTBEAT))
        return (uint64_t)1 << 50;
    sleep_us = window_us < sleep_us ? window_us : sleep_us;
    if (at <= NEAR_MAX && !said->has_no_ttl && ends_us < sleep_us)
        sleep_us = ends_us;
    if (place->is_polling)
        sooner_us = hl_known_poll_us(core, place->acquire->lock->terms) * at;
    else if (at == 1)
        sooner_us = said->left_ms <= KEPT_MS && !said->has_no_ttl ? look_us(core) : silent_look_us(core, place);
    return sooner_us < sleep_us ? sooner_us : sleep_us;
}

void hl_place_wake(struct hl_queue_place *place, uint64_t within_us)
{
    struct hl_host *host = &core_of(place)->host;
    hl_gate_has_news(place->acquire->lock->name->gate);
    if (place->acquire->state == ACQUIRE_SLEEPING)
        hl_hold_wake_at(place->acquire->hold, hl_now_us(host) + hl_random_below(&host->random, within_us));
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
    uint64_t least_us = hl_terms_least_us(terms, hl_terms_window_ms(terms)), deadline_us = 0;
    int must_confirm = terms->replicas && !HL_PLANTED(REPLICAS_PUSH_BELIEVED);
    if ((acquire->state != ACQUIRE_SLEEPING && acquire->state != ACQUIRE_ASKING) || acquire->is_try ||
        hold->state != HOLD_ASKING)
        return;
    if (terms->is_renewed && !must_confirm && !hl_node_is_guarded(node))
        deadline_us = deadline_of(place, node, push);
    hl_trace(node->host, HL_WAKEUP, &(struct hl_fact){.name = acquire->lock->name->bytes});
    if (!deadline_us || hl_left_us(deadline_us, hl_now_us(node->host)) < least_us) {
        hl_gate_has_news(acquire->lock->name->gate);
        hl_trace(node->host, HL_GRANT_DOUBTED, &(struct hl_fact){.name = acquire->lock->name->bytes});
        if (acquire->state == ACQUIRE_SLEEPING)
            core_of(place)->waiters->ask(acquire);
        return;
    }
    (void)hl_node_withdraw(&hold->request);
    hold->kept = KEPT_OURS;
    hold->token = push->token;
    hold->deadline_us = deadline_us;
    hold->is_windowed = 1;
    core_of(place)->owner->answered(acquire, &(struct hl_response){.result = HL_YES});
}

/* A pause means that the name is left for a moment to other programs, which were notified first; else it is free, and
 * we are first. */
void hl_place_pushed(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push)
{
    struct hl_core *core = core_of(place);
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
        hl_belief_end(hold, HILOCK_REASON_TAKEN); /* its id is at the store under a token that was never reported:
                                                     released when the loss is reported */
    else
        hl_watchdog_crossed(hold, said.result == HL_YES);
}
