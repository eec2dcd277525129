/* SPDX-License-Identifier: BSD-3-Clause */
/* fair - see fair.h. */
#include "lock/fair.h"

#include "base/plant.h"
#include "lock/belief.h"
#include "lock/channel.h"
#include "lock/ending.h"
#include "lock/gate.h"
#include "lock/grants.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/part.h"
#include "lock/renewal.h"
#include "lock/wait.h"

enum { STEP_US = 10000, NEAR_MAX = 8, CONFIRMS_MAX = 2, CLOCK_US = 2000 };

static struct hl_core *core_of(const struct hl_fair *fair) { return fair->acquire.lock->terms->cell->core; }

void hl_fair_begin(struct hl_core *core, struct hl_fair *fair)
{
    hl_fair_forget(core, fair);
    fair->acquire.hold->id = ++core->id_last;
    fair->ticket = 0;
    if (!fair->acquire.lock->terms->is_polling)
        hl_grants_join(core, fair);
}

void hl_fair_forget(struct hl_core *core, struct hl_fair *fair)
{
    if (fair->is_found)
        hl_grants_leave(core, fair);
}

/* ---- heartbeats ---- */

static uint32_t next_number(const struct hl_fair *fair) { return HL_PLANTED(FAIR_NUMBERS_REUSED) ? 1 : fair->number + 1; }

/* Asked before and never answered, it may stand there already. */
static uint64_t ticket_of(const struct hl_fair *fair)
{
    uint64_t none = fair->number > 1 ? HL_TICKET_UNKNOWN : 0;
    return fair->ticket && !HL_PLANTED(FAIR_TAIL) ? fair->ticket : none;
}

/* A heartbeat that is said again after its wait was over (its script had to be loaded) is a try: it stands nobody in the queue. */
void hl_fair_say(struct hl_hold *hold, const struct hl_part *part, struct hl_wants *wants)
{
    struct hl_core *core = hl_hold_core(hold);
    struct hl_fair *fair = hold->state == HOLD_ASKING ? hl_fair_of(hold->owner.acquire) : NULL;
    wants->channel = "";
    wants->is_try = 1;
    if (!fair)
        return;
    fair->number = next_number(fair);
    if (fair->node != hl_node_home(part->request.node) && !HL_PLANTED(FAIR_BELIEVES_ELSEWHERE)) /* what was sent elsewhere was timed by another clock */
        memset(fair->sent_us, 0, sizeof fair->sent_us);
    fair->node = hl_node_home(part->request.node);
    fair->sent_us[fair->number % HL_FAIR_SENDS] = hl_now_us(&core->host);
    wants->number = fair->number;
    wants->ticket = ticket_of(fair);
    wants->is_try = fair->acquire.is_try;
    if (fair->is_found)
        wants->channel = hl_grants_channel(fair);
    fair->is_polling = !*wants->channel;
}

void hl_fair_placed(struct hl_fair *fair, const struct hl_asked *asked)
{
    int is_new = !fair->ticket;
    fair->confirms = 0;
    fair->ticket = asked->ticket;
    fair->acquire.hold->parts[0].token = asked->ticket;
    if (is_new)
        hl_gate_place(&fair->acquire);
    fair->position = asked->position;
    fair->waiters = asked->waiters;
    fair->hands_over = asked->hands_over != 0;
}

/* Another program frees the name without a grant, and says so on the unlock channel, if at all: the head listens there. */
int hl_fair_may_sleep(struct hl_fair *fair)
{
    uint64_t sent_us = fair->acquire.hold->parts[0].request.sent_us;
    if (!fair->hands_over && fair->position <= 1 && !HL_PLANTED(FAIR_DEAF_TO_OTHERS) && !hl_channel_may_sleep(&fair->acquire, sent_us))
        return 0;
    return fair->news_us <= sent_us;
}

/* A dead holder is found by the end of the lease, a dead head by the one behind it a little later, a lost push within a window for each place. */
uint64_t hl_fair_sleep_us(struct hl_core *core, struct hl_fair *fair, const struct hl_asked *asked)
{
    const struct hl_terms *terms = fair->acquire.lock->terms;
    uint64_t place = fair->position ? fair->position : 1, ends_us = asked->left_ms * 1000 + 1000 + STEP_US * (place - 1);
    uint64_t sleep_us = (uint64_t)HL_FAIR_ALIVE_MS * 1000 / 3, window_us = (uint64_t)HL_FAIR_WINDOW_MS * 1000 * place, poll_us;
    if (HL_PLANTED(FAIR_NO_HEARTBEAT))
        return (uint64_t)1 << 50;
    sleep_us = window_us < sleep_us ? window_us : sleep_us;
    if (place <= NEAR_MAX && !asked->has_no_ttl && ends_us < sleep_us)
        sleep_us = ends_us;
    if (!fair->is_polling)
        return sleep_us;
    poll_us = ((uint64_t)terms->poll_min_ms * 1000 + hl_random_below(&core->host.random, (uint64_t)terms->poll_jitter_ms * 1000 + 1)) * place;
    return poll_us < sleep_us ? poll_us : sleep_us;
}

static void ask_soon(struct hl_fair *fair, uint64_t within_us)
{
    struct hl_host *host = &core_of(fair)->host;
    if (fair->acquire.state == ACQUIRE_SLEEPING)
        hl_wait_resume_at(&fair->acquire, hl_now_us(host) + (within_us ? hl_random_below(&host->random, within_us) : 0));
}

void hl_fair_wake(struct hl_fair *fair, uint64_t within_us)
{
    fair->news_us = hl_now_us(&core_of(fair)->host);
    ask_soon(fair, within_us);
}

/* ---- pushes ---- */

/* Until when this grant may be believed in; 0: not at all. */
static uint64_t deadline_of(const struct hl_fair *fair, const struct hl_node *node, const struct hl_push *push)
{
    uint64_t now_us = hl_now_us(node->host), number = HL_PLANTED(FAIR_NEWEST_SEND) ? fair->number : push->number, sent_us, elapsed_us;
    if (!number || number > fair->number || fair->number - number >= HL_FAIR_SENDS || (fair->node != node && !HL_PLANTED(FAIR_BELIEVES_ELSEWHERE)))
        return 0;
    sent_us = fair->sent_us[number % HL_FAIR_SENDS];
    elapsed_us = now_us - sent_us;
    if (sent_us <= hl_node_since_us(node) && !HL_PLANTED(FAIR_BELIEVES_OLD_LINK))
        return 0;
    if (push->since_us > elapsed_us + elapsed_us / 100 + CLOCK_US && !HL_PLANTED(FAIR_STEP_BELIEVED)) /* the server's clock has stepped */
        return 0;
    if (HL_PLANTED(FAIR_FROM_ARRIVAL))
        return hl_lease_deadline_us(now_us, push->lease_us);
    if (HL_PLANTED(FAIR_DRIFT_OF_LEASE))
        return sent_us + push->since_us + push->lease_us - hl_lease_drift_us(push->lease_us);
    return hl_lease_deadline_us(sent_us, push->since_us + push->lease_us);
}

/* What is left must do for this lock; a fixed lease is got whole. */
static int is_enough(struct hl_fair *fair, uint64_t deadline_us)
{
    struct hl_hold *hold = fair->acquire.hold;
    uint64_t least_us;
    hold->is_windowed = 1;
    least_us = hl_wait_least_us(&fair->acquire);
    hold->is_windowed = 0;
    return fair->acquire.lock->terms->is_renewed && hl_left_us(deadline_us, hl_now_us(&core_of(fair)->host)) >= least_us;
}

static void ask_now(struct hl_fair *fair)
{
    if (fair->acquire.state == ACQUIRE_SLEEPING)
        core_of(fair)->waiter->ask(&fair->acquire);
}

static void confirm(struct hl_fair *fair)
{
    fair->news_us = hl_now_us(&core_of(fair)->host);
    hl_trace(&core_of(fair)->host, HL_GRANT_DOUBTED, &(struct hl_fact){.name = fair->acquire.lock->name->bytes});
    ask_now(fair);
}

/* Whoever released wrote the grant, and WAIT counts what we write: the heartbeat, over the link on which it is waited for, writes the lease. */
static int is_to_be_confirmed(const struct hl_fair *fair)
{
    return fair->acquire.lock->terms->replicas && !HL_PLANTED(REPLICAS_PUSH_BELIEVED);
}

static void on_grant(struct hl_fair *fair, struct hl_node *node, const struct hl_push *push)
{
    struct hl_acquire *acquire = &fair->acquire;
    struct hl_hold *hold = acquire->hold;
    uint64_t deadline_us;
    if ((acquire->state != ACQUIRE_SLEEPING && acquire->state != ACQUIRE_ASKING) || acquire->is_try || hold->state != HOLD_ASKING)
        return;
    deadline_us = is_to_be_confirmed(fair) || hl_node_guard_left_us(node, hl_now_us(node->host)) ? 0 : deadline_of(fair, node, push);
    hl_trace(node->host, HL_WAKEUP, &(struct hl_fact){.name = acquire->lock->name->bytes});
    if (!deadline_us || !is_enough(fair, deadline_us)) {
        confirm(fair);
        return;
    }
    (void)hl_node_withdraw(&hold->parts[0].request);
    hold->parts[0].state = PART_OURS;
    hold->parts[0].token = push->token;
    hold->parts[0].deadline_us = deadline_us;
    hold->is_windowed = 1;
    core_of(fair)->waiter->answered(acquire, &(struct hl_asked){.answer = ASKED_GRANTED});
}

/* For a moment the name is left to others, who heard of it before us. 0: it is free, and nobody is before us. */
static void on_yield(struct hl_fair *fair, const struct hl_push *push)
{
    if (fair->acquire.state == ACQUIRE_SLEEPING)
        hl_wait_resume_at(&fair->acquire, hl_now_us(&core_of(fair)->host) + (push->pause_us ? push->pause_us + 1000 : 0));
    else
        fair->news_us = hl_now_us(&core_of(fair)->host);
}

void hl_fair_pushed(struct hl_fair *fair, struct hl_node *node, const struct hl_push *push)
{
    switch (push->what) {
    case HL_PUSH_NONSENSE: break;
    case HL_PUSH_GRANT: on_grant(fair, node, push); break;
    case HL_PUSH_YIELD: on_yield(fair, push); break;
    }
}

/* ---- grants that are not told ---- */

/* A renewal under way would be answered to a hold that is none any more: then it is given back. */
int hl_fair_confirms(struct hl_fair *fair)
{
    struct hl_acquire *acquire = &fair->acquire;
    struct hl_hold *hold = acquire->hold;
    struct hl_name *name = acquire->lock->name;
    int is_renewing = hold->parts[0].ask != PART_ACQUIRE && hl_request_is_busy(&hold->parts[0].request);
    if (is_renewing || fair->confirms++ >= CONFIRMS_MAX) {
        fair->confirms = 0;
        return 0;
    }
    fair->news_us = hl_now_us(&core_of(fair)->host);
    hold->state = HOLD_ASKING;
    hold->is_windowed = 0;
    hold->parts[0].state = PART_MAYBE;
    hold->parts[0].token = fair->ticket;
    hold->is_queued = !HL_PLANTED(FAIR_DOUBTED_FORGOTTEN);
    if (name->hold == hold)
        name->hold = NULL;
    core_of(fair)->waiter->ask(acquire);
    hl_gate_wake(name);
    return 1;
}

void hl_fair_crossed(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    struct hl_said said;
    if (!answer->reply) {
        if (answer->was_sent) {
            part->is_haunted = 1;
            hl_ending_may_run(hold, part);
        }
        return;
    }
    said = hl_part_said(hold, part, answer->reply);
    if (said.verdict == HL_YES && (said.token == part->token || HL_PLANTED(FAIR_RETAKEN_BELIEVED)))
        hl_renewal_confirmed(hold, part);
    else if (said.verdict == HL_YES)
        hl_belief_end(hold, HILOCK_LOST_TAKEN); /* its id is at the store under a token that nobody was told of: released when the loss is told */
    else if (HL_PLANTED(FAIR_OLD_NO_BELIEVED) && said.verdict == HL_NO)
        hl_belief_end(hold, HILOCK_LOST_TAKEN);
}
