/* SPDX-License-Identifier: BSD-3-Clause */
/* actor - one would-be holder with a handle: rests, acquires, holds, writes to the fenced resource, releases; now and then it cancels,
 * drops or frees instead. It believes only what its callbacks say, and its calls are those of a program's own timers.
 * It keeps the book for I5: each accepted acquire is answered once, a cancelled one with CANCELLED, a silenced handle never. */
#include "core/lease.h"
#include "hold/hold.h"
#include "lock/tenure.h"
#include "sim.h"
#include "lock/line.h"
#include "wire/queued.h"

static struct sim *sim_of(const struct sim_actor *actor) { return actor->process->sim; }

static void next_after(struct sim_actor *actor, uint64_t delay_us)
{
    struct world *time = &sim_of(actor)->world.time;
    world_start(time, &actor->next, time->now_us + delay_us);
}

static void rest(struct sim_actor *actor)
{
    struct sim *sim = sim_of(actor);
    if (actor->state == ACTOR_HOLDS)
        sim_bound_let_go(actor);
    actor->state = ACTOR_RESTS;
    actor->token = 0;
    actor->turn = 0;
    actor->entries = 0;
    actor->is_downgraded = 0;
    if (sim->is_hot)
        next_after(actor, sim_between(&sim->world.workload, 0, 1000));
    else if (sim->is_duel) /* until an unneeded subscription is dropped; or so long that the other one is on its own */
        next_after(actor, sim_between(&sim->world.workload, 0, sim_chance(&sim->world.workload, 0.5) ? 1300000 : 8000000));
    else if (sim->has_multis && sim->is_healed) {
        /* An actor with several names needs a moment in which all are free. If many share few names over a slow network, all must rest longer. */
        uint64_t use_us = 20000 + 8 * ((uint64_t)sim->swarm.latency_us + sim->swarm.tail_us), all_us = 4 * use_us * sim->actors_count / sim->names_count;
        next_after(actor, sim_between(&sim->world.workload, 0, sim->sets.count && all_us > 1000000 ? all_us : 1000000));
    } else
        next_after(actor, sim_between(&sim->world.workload, 0, sim_chance(&sim->world.workload, 0.1) ? 2000000 : 30000));
}

/* ---- callbacks ---- */

void sim_actor_lost(struct sim_actor *actor)
{
    sim_check_write(actor, 1);
    rest(actor);
}

static void on_lost(const struct hilock_event *event, void *user)
{
    static const enum sim_sometimes by_reason[] = {SIM_LOST_TAKEN, SIM_LOST_TAKEN, SIM_LOST_EXPIRED, SIM_LOST_SUSPENDED, SIM_LOST_HOLD_MAX, SIM_LOST_CLOSING};
    struct sim_actor *actor = user;
    struct sim *sim = sim_of(actor);
    sim_trace(&sim->world, "%s lost %s: reason %d", actor->who, sim->names[actor->name].text, (int)event->reason);
    if (actor->state != ACTOR_HOLDS)
        sim_violate(&sim->world, "I5", "%s: on_lost without a hold", actor->who);
    sim->world.sometimes[by_reason[event->reason]]++;
    sim_check_loss(actor, event);
    sim_actor_lost(actor);
    sim_strain_lingers(actor->process);
}

static void on_event(const struct hilock_event *event, void *user)
{
    struct sim_actor *actor = user;
    struct sim_world *world = &sim_of(actor)->world;
    sim_check_order(actor);
    if (event->kind == HILOCK_EVENT_RENEWAL_FAILED)
        world->sometimes[SIM_RENEWAL_TOLD]++;
    else if (event->kind == HILOCK_EVENT_RELEASE_SETTLED)
        world->sometimes[SIM_SETTLED]++;
    else if (event->kind == HILOCK_EVENT_PASSED_OVER)
        sim_bound_asks(actor); /* its own loop missed the turn: the wait is counted anew */
    sim_strain_lingers(actor->process);
}

static void count_result(struct sim_actor *actor, const struct hilock_result *result, int was_try)
{
    static const struct { hilock_status status; enum sim_sometimes what; } legal[] = {
        {HILOCK_OK, SIM_GRANTED}, {HILOCK_TIMED_OUT, SIM_TIMED_OUT}, {HILOCK_UNREACHABLE, SIM_UNREACHABLE},
        {HILOCK_UNWRITABLE, SIM_UNWRITABLE},
        {HILOCK_NOT_REPLICATED, SIM_NOT_REPLICATED}, {HILOCK_CANCELLED, SIM_CANCELLED}, {HILOCK_CLOSED, SIM_CLOSED}};
    struct sim_world *world = &sim_of(actor)->world;
    size_t i = 0;
    while (i < sizeof legal / sizeof *legal && legal[i].status != result->status)
        i++;
    world->sometimes[SIM_CONTENDED] += result->status == HILOCK_OK && result->attempts > 1;
    world->sometimes[SIM_DENIED_LOCALLY] += result->status == HILOCK_TIMED_OUT && was_try && result->attempts == 0;
    if (i < sizeof legal / sizeof *legal)
        world->sometimes[legal[i].what]++;
    else if (!sim_strain_excuses(actor->process, actor->lacks, result->status))
        sim_violate(world, "I5", "an acquire ended %s: %s", hilock_status_name(result->status), result->detail);
}

static uint64_t hold_us(struct sim *sim)
{
    struct hl_random *random = &sim->world.workload;
    if (sim->is_hot)
        return sim_between(random, 0, 5000);
    if (sim->is_duel && sim_chance(random, 0.5))
        return sim_between(random, 0, 1000000);
    if (sim->is_healed || sim_chance(random, 0.8))
        return sim_between(random, 0, 20000);
    return sim_between(random, 0, (uint64_t)sim->lease_ms * (sim_chance(random, 0.2) ? 4000 : 400));
}

/* The request that was sent latest is one from after the grant. */
static int may_be_renewed(const struct hl_hold *part)
{
    return !hl_hold_is_held(part) || part->request.sent_us >= part->held.granted_at_us;
}

/* A renewal may have been sent since: then a time by which no request that its deadline counts from had left yet. */
static uint64_t sent_us(const struct sim_actor *actor, const struct hl_hold *part)
{
    uint64_t span_us = 2100 * (uint64_t)sim_of(actor)->lease_ms;
    if (part->window_ms) /* and handed on since: it counts from a heartbeat, as old as a place in the queue at most */
        span_us += 1000 * (uint64_t)HL_QUEUE_LIVES_MS;
    if (!part->served && !may_be_renewed(part))
        return part->request.sent_us;
    return part->deadline_us > span_us ? part->deadline_us - span_us : 0;
}

/* True time at which the request left to which the hold is owed, of several the first: what was lost since then may be lost to it. */
static uint64_t begun_us(const struct sim_actor *actor)
{
    uint64_t first_us = UINT64_MAX;
    for (unsigned i = 0; i < sim_inside_count(actor); i++) {
        const struct hl_hold *part = sim_inside_hold(actor, i);
        uint64_t part_us = UINT64_MAX;
        if (part && part->window_ms && !part->served) /* by some heartbeat of this wait */
            part_us = actor->asked_us;
        else if (part && part->kept == KEPT_OURS)
            part_us = world_clock_when_us(&actor->process->loop.clock, sent_us(actor, part));
        first_us = part_us < first_us ? part_us : first_us;
    }
    return first_us;
}

/* The lease that its acquire asked for; what a renewal has made of it since is not waited for. */
static uint64_t confirmed_us(const struct sim_actor *actor, unsigned i)
{
    const struct hl_hold *part = sim_inside_hold(actor, i);
    return actor->replicas && !may_be_renewed(part) ? part->deadline_us : 0;
}

static void hear_result(struct sim_actor *actor, const struct hilock_result *result)
{
    struct sim *sim = sim_of(actor);
    sim_trace(&sim->world, "%s acquire %s: %s token %llu left %u", actor->who, sim->names[actor->name].text,
              hilock_status_name(result->status), (unsigned long long)result->fencing_token, result->remaining_ms);
    if (actor->state != ACTOR_WAITS)
        sim_violate(&sim->world, "I5", "%s: an answer to nothing", actor->who);
    if (actor->is_answered_by_cancel && result->status != HILOCK_CANCELLED)
        sim_violate(&sim->world, "I5", "%s: cancelled, but answered %s", actor->who,
                    hilock_status_name(result->status));
    actor->is_answered_by_cancel = 0;
    sim_check_order(actor);
    count_result(actor, result, actor->ends_us == 0);
    if (result->status != HILOCK_OK) {
        rest(actor);
        return;
    }
    actor->state = ACTOR_HOLDS;
    sim->world.sometimes[SIM_SIMPLE_GRANTED] += actor->kind == HILOCK_SIMPLE;
    sim->world.sometimes[SIM_MULTI_GRANTED] += actor->names_count > 1;
    sim->world.sometimes[SIM_MULTI_CONTENDED] += actor->names_count > 1 && result->attempts > actor->names_count;
    sim->world.sometimes[SIM_CONFIRMED] += actor->replicas != 0;
    sim->world.sometimes[SIM_QUORUM_GRANTED] += result->votes != 0;
    sim->world.sometimes[SIM_QUORUM_OF_SOME] += result->votes && result->votes < sim->places_count;
    actor->token = result->fencing_token;
    for (unsigned i = 0; i < actor->names_count; i++)
        actor->tokens[i] = actor->names_count > 1 ? hilock_multi_token(actor->lock, i) : actor->token;
    for (unsigned i = 0; i < actor->names_count; i++)
        actor->confirmed_us[i] = confirmed_us(actor, i);
    actor->turn = actor->lock->hold ? actor->lock->hold->served : 0;
    actor->begun_us = begun_us(actor);
    actor->served = 1;
    sim->world.sometimes[SIM_REPLAYED] += sim_inside_hold(actor, 0) && sim_inside_hold(actor, 0)->may_run_until_us != 0;
    sim_check_grant(actor, result);
    if (!sim_sharing_joined(actor, result))
        sim_queue_granted(actor);
    sim_contest_granted(actor);
    sim_share_granted(actor);
    sim_bound_granted(actor);
    sim_check_write(actor, 0);
    sim_held_begin(actor);
    next_after(actor, hold_us(sim));
}

static void on_result(const struct hilock_result *result, void *user)
{
    struct sim_actor *actor = user;
    hear_result(actor, result);
    sim_strain_lingers(actor->process);
}

static void on_released(const struct hilock_result *result, void *user)
{
    struct sim_actor *actor = user;
    struct sim_world *world = &sim_of(actor)->world;
    sim_check_released(actor);
    world->sometimes[result->status == HILOCK_OK ? SIM_RELEASED : result->status == HILOCK_LOST ? SIM_RELEASE_LOST : SIM_RELEASE_UNKNOWN]++;
    sim_strain_lingers(actor->process);
}

/* ---- turns ---- */

/* Some of those of its kind, in any order; name is the first. */
static void choose_names(struct sim_actor *actor)
{
    struct sim *sim = sim_of(actor);
    struct hl_random *random = &sim->world.deployments;
    unsigned most = 1;
    actor->names[0] = actor->name;
    actor->names_count = 1;
    if (sim->names[actor->name].kind == HILOCK_FAIR || !(sim->is_crowd || (sim->has_multis && sim_chance(random, 0.5))))
        return;
    for (unsigned i = 0; i < sim->names_count; i++)
        if (i != actor->name && sim->names[i].kind == actor->kind) {
            unsigned at = 1 + (unsigned)hl_random_below(random, most++);
            actor->names[most - 1] = actor->names[at];
            actor->names[at] = i;
        }
    actor->names_count = most > 1 ? (unsigned)sim_between(random, 2, most) : 1;
}

static hilock_status create(struct sim_actor *actor, const struct hilock_lock_options *options)
{
    const struct sim *sim = sim_of(actor);
    const char *names[SIM_NAMES_MAX + 1] = {NULL};
    for (unsigned i = 0; i < actor->names_count; i++)
        names[i] = sim->names[actor->names[i]].text;
    if (actor->names_count == 1)
        return hilock_lock_create(&actor->lock, actor->process->client, names[0], options);
    return hilock_multi_create(&actor->lock, actor->process->client, names, options);
}

static void make_lock(struct sim_actor *actor)
{
    struct sim *sim = sim_of(actor);
    struct hl_random *random = &sim->world.workload;
    struct hl_random wakes = *random, *sets = &sim->world.sets; /* a copy: no seed plays anything else for it */
    uint32_t replica_timeout_ms;
    hilock_status status;
    uint64_t lacks = actor->process->memory.refused;
    actor->named_us = sim->world.time.now_us;
    /* Most alike, so that holds can be handed on; some with a lease of their own, and some that are content with little, or with much only. */
    actor->lease_ms = sim->lease_ms >= 500 && sim_chance(&wakes, 0.15) ? sim->lease_ms / 4 : sim->lease_ms;
    actor->least_ms = sim_chance(&wakes, 0.2) ? actor->lease_ms / 8 : sim_chance(&wakes, 0.2) ? actor->lease_ms / 10 * 8 : actor->lease_ms / 2;
    /* All of them, or fewer; for as long as the library thinks good, or hardly at all. */
    actor->replicas = sim->has_replicas && sim_chance(sets, 0.6) ? (unsigned)sim_between(sets, 1, sim_replicas_max(sim)) : 0;
    replica_timeout_ms = actor->replicas && sim_chance(sets, 0.5) ? (uint32_t)sim_between(sets, 1, actor->lease_ms) : 0;
    actor->is_renewed = !sim_chance(random, 0.1);
    actor->hold_max_ms = sim_chance(random, 0.1) ? 2 * sim->lease_ms : 0;
    actor->name = (unsigned)hl_random_below(random, sim->names_count);
    actor->kind = sim->names[actor->name].is_mixed && sim_chance(&wakes, 0.4) ? HILOCK_MUTEX : sim->names[actor->name].kind;
    choose_names(actor);
    actor->is_reentrant = sim->has_extras && sim_chance(&sim->world.extras, 0.5) && actor->names_count == 1;
    sim_names_refused(actor->process, HILOCK_LOCK_OPTIONS(.on_lost = on_lost));
    actor->lock = NULL;
    uint32_t holders_max = sim_sharing_number(actor);
    status = create(actor, HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .on_event = on_event, .user = actor, .kind = actor->kind, .lease_ms = actor->lease_ms,
                                               .min_validity_ms = actor->least_ms,
                                               .wake = sim_chance(&wakes, 0.2) && !sim->is_crowd && !sim->is_hot ? HILOCK_WAKE_POLL : HILOCK_WAKE_SUBSCRIBE,
                                               .renew = actor->is_renewed ? HILOCK_RENEW_AUTO : HILOCK_RENEW_NEVER,
                                               .hold_max_ms = actor->hold_max_ms, .reentrant = actor->is_reentrant,
                                               .holders_max = holders_max, .share_local_ms = sim_sharing_local_ms(actor, holders_max), .replicas = actor->replicas, .replica_timeout_ms = replica_timeout_ms));
    if (status != HILOCK_OK && !sim_strain_excuses(actor->process, lacks, status))
        sim_violate(&sim->world, "I5", "create refused: %s", hilock_client_refusal(actor->process->client));
}

/* What happens to a released hold while a sibling waits: the next in line, if there is one. */
static struct sim_actor *foresee(struct sim_actor *actor)
{
    uint64_t *sometimes = sim_of(actor)->world.sometimes, now_us = sim_process_now_us(actor->process);
    const struct hl_hold *hold = actor->lock->hold;
    const struct hl_acquire *next = hold ? hl_line_next(actor->lock->name) : NULL;
    if (!next || hl_terms_are_internal(next->lock->terms) || !hl_hold_is_held(hold) || hold->terms->kind != next->lock->terms->kind || sim_of(actor)->turns_max == 1)
        return NULL;
    if (hold->served + 1u == sim_of(actor)->turns_max)
        sometimes[SIM_HAND_OFF_COUNTED]++;
    else if (now_us - hold->held.granted_at_us >= (uint64_t)hold->terms->lease_ms * 1000 / 3)
        sometimes[SIM_HAND_OFF_AGED]++;
    else if (!hl_hold_lasts_for(hold, next->lock->terms, now_us))
        sometimes[SIM_HAND_OFF_TOO_LITTLE]++;
    return hilock_lock_user(next->lock);
}

/* What happens to a hold that was handed on, and is not wanted when that is reported. */
static void foresee_crossing(struct sim_actor *actor)
{
    const struct hl_acquire *acquire = actor->lock->acquire;
    if (acquire && acquire->state == ACQUIRE_GRANTED && acquire->hold->served)
        sim_of(actor)->world.sometimes[hl_tenure_next(&actor->process->client->core, acquire->hold) ? SIM_HANDED_PAST : SIM_HANDED_BACK]++;
}

static void silence(struct sim_actor *actor)
{
    struct sim_world *world = &sim_of(actor)->world;
    foresee(actor);
    foresee_crossing(actor);
    sim_queue_leaves(actor);
    if (actor->state == ACTOR_WAITS)
        world->sometimes[SIM_DROPPED_WAITING]++;
    else if (actor->state == ACTOR_HOLDS) {
        world->sometimes[SIM_DROPPED_HELD]++;
        sim_bound_let_go(actor); /* before it has another name */
    }
    actor->state = ACTOR_RESTS;
    sim_trace(world, "%s drops %s", actor->who, sim_of(actor)->names[actor->name].text);
    actor->is_releasing = actor->is_answered_by_cancel = 0;
    sim_held_silence(actor);
    if (sim_chance(&world->workload, 0.5) || actor->process->is_closing)
        hilock_lock_drop(actor->lock);
    else {
        hilock_lock_free(actor->lock);
        make_lock(actor);
    }
    rest(actor);
}

static uint32_t some_wait_ms(struct sim *sim)
{
    struct hl_random *random = &sim->world.workload;
    if (sim->is_healed || sim->is_hot || sim_chance(random, 0.2))
        return HILOCK_FOREVER;
    if (sim_chance(random, 0.2))
        return HILOCK_TRY;
    return (uint32_t)sim_between(random, 1, sim_chance(random, 0.5) ? 200 : 5000);
}

static void acquire(struct sim_actor *actor)
{
    struct sim *sim = sim_of(actor);
    uint32_t wait_ms = some_wait_ms(sim);
    hilock_status status;
    if (sim->is_crowd && !actor->is_releasing && !actor->process->is_closing) { /* other names, in another order */
        hilock_lock_free(actor->lock);
        make_lock(actor);
    }
    if (!actor->lock && !actor->process->is_closing)
        make_lock(actor);
    if (!actor->lock) {
        rest(actor);
        return;
    }
    actor->state = ACTOR_WAITS;
    actor->lacks = actor->process->memory.refused;
    actor->asked_us = sim->world.time.now_us;
    sim_queue_asks(actor);
    sim_contest_asks(actor);
    sim_bound_asks(actor);
    actor->ends_us = wait_ms == HILOCK_FOREVER ? UINT64_MAX : wait_ms == HILOCK_TRY ? 0 : sim_process_now_us(actor->process) + (uint64_t)wait_ms * 1000;
    sim_trace(&sim->world, "%s wants %s for %u ms", actor->who, sim->names[actor->name].text, wait_ms);
    status = hilock_acquire(actor->lock, wait_ms, on_result, actor);
    /* The moments that matter are between a question, its answer and the subscription: there the other one lets go. */
    for (unsigned i = 0; sim->is_duel && i < sim->actors_count; i++)
        if (sim->actors[i].state == ACTOR_HOLDS && sim_chance(&sim->world.workload, 0.5))
            next_after(&sim->actors[i], sim_between(&sim->world.workload, 0, 4 * (uint64_t)(sim->swarm.latency_us + sim->swarm.tail_us)));
    if (status != HILOCK_OK) {
        if (status != HILOCK_CLOSED && !sim_strain_excuses(actor->process, actor->lacks, status))
            sim_violate(&sim->world, "I5", "acquire refused: %s", hilock_client_refusal(actor->process->client));
        rest(actor);
    } else if (!sim->is_healed && !sim->is_hot && sim_chance(&sim->world.workload, 0.15))
        next_after(actor, sim_between(&sim->world.workload, 0, 300000));
}

static void give_up(struct sim_actor *actor)
{
    struct sim *sim = sim_of(actor);
    if (sim_chance(&sim->world.workload, 0.3)) {
        silence(actor);
        return;
    }
    sim_trace(&sim->world, "%s cancels %s", actor->who, sim->names[actor->name].text);
    actor->is_answered_by_cancel = 1;
    sim_queue_leaves(actor);
    foresee_crossing(actor);
    if (hilock_cancel(actor->lock) != HILOCK_OK)
        sim_violate(&sim->world, "I5", "cancel of a waiting handle was refused");
}

static void let_go(struct sim_actor *actor)
{
    struct sim *sim = sim_of(actor);
    struct sim_actor *next;
    sim_check_write(actor, 1);
    if (sim_sharing_downgrades(actor)) {
        next_after(actor, hold_us(sim));
        return;
    }
    switch (sim_held_step(actor)) {
    case HELD_GOES_ON: next_after(actor, hold_us(sim)); return;
    case HELD_HAS_ENDED: rest(actor); return;
    case HELD_LETS_GO: break;
    }
    if (!sim->is_hot && sim_chance(&sim->world.workload, 0.1)) {
        silence(actor);
        return;
    }
    sim_trace(&sim->world, "%s releases %s", actor->who, sim->names[actor->name].text);
    actor->is_releasing++;
    next = foresee(actor);
    if (hilock_release(actor->lock, on_released, actor) != HILOCK_OK)
        sim_violate(&sim->world, "I5", "release of a held handle was refused");
    rest(actor);
    if (next && !sim->is_healed && !sim->choice.is_struck && !next->is_answered_by_cancel && sim_chance(&sim->world.workload, 0.05))
        give_up(next); /* it was handed on, which is not reported yet */
}

static void on_turn(void *arg)
{
    struct sim_actor *actor = arg;
    if (!actor->process->client || sim_of(actor)->is_ending)
        return;
    switch (actor->state) {
    case ACTOR_RESTS: acquire(actor); break;
    case ACTOR_WAITS: give_up(actor); break;
    case ACTOR_HOLDS: let_go(actor); break;
    }
}

void sim_actor_init(struct sim_actor *actor, struct sim_process *process, unsigned index)
{
    *actor = (struct sim_actor){.process = process};
    snprintf(actor->who, sizeof actor->who, "p%u.%u", process->index, index);
    world_event_init(&actor->next, &process->loop.lane, on_turn, actor);
}

void sim_actor_start(struct sim_actor *actor)
{
    make_lock(actor);
    rest(actor);
}

void sim_actor_die(struct sim_actor *actor)
{
    world_stop(&sim_of(actor)->world.time, &actor->next);
    hilock_lock_free(actor->lock);
    actor->lock = NULL;
    sim_held_die(actor);
    actor->state = ACTOR_RESTS;
    actor->is_releasing = actor->is_answered_by_cancel = 0;
}
