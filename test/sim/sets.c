/* SPDX-License-Identifier: BSD-3-Clause */
/* sets - see sets.h: a master and its replicas, and how one takes over from the other.
 *
 * A replica that takes over knows what was written up to a moment before, or for how long it had kept up (replicas.c): nobody reads from a
 * replica. What the master acknowledged since is lost, and so is what it acknowledges as long as nobody tells it; a failover that hands over
 * loses nothing, and excuses nothing. */
#include "sim.h"
#include "world/message.h"

enum { LAG_MAX_US = 60000, GAP_LEAST_US = 200000, GAP_MOST_US = 3000000, ASKS_US = 1000000 };

struct sim_set *sim_set_of(const struct sim_place *place)
{
    struct sim_sets *sets = &place->sim->sets;
    for (unsigned i = 0; i < sets->count; i++)
        for (unsigned j = 0; j < sets->list[i].count; j++)
            if (sets->list[i].places[j] == place)
                return &sets->list[i];
    return NULL;
}

int sim_is_former(const struct sim_place *place)
{
    const struct sim_set *set = sim_set_of(place);
    return set && set->former == place;
}

static struct sim_set *set_of_name(struct sim *sim, const struct sim_name *name) { return &sim->sets.list[name->set]; }

static int is_moving(const struct sim *sim, const struct sim_name *name) { return sim->sets.move.is_on && sim->sets.move.slot == name->slot; }

static int is_in_hole(const struct sim *sim, const struct sim_name *name)
{
    const struct sim_hole *hole = &sim->sets.hole;
    return hole->is_on && (hole->is_total || (name->slot >= hole->first && name->slot <= hole->last));
}

/* While the slot moves: where the key is. */
struct sim_place *sim_sets_decide(struct sim *sim, const struct sim_name *name)
{
    struct sim_place *there = is_moving(sim, name) ? sim->sets.move.to->master : NULL;
    if (!there)
        return set_of_name(sim, name)->master;
    return sim_store_left_us(store_now(there->store), name->text, strlen(name->text)) != -2 ? there
        : set_of_name(sim, name)->master;
}

int sim_is_unsettled(struct sim *sim, const struct sim_name *name)
{
    const struct sim_set *set = sim->sets.count ? set_of_name(sim, name) : NULL;
    return set && (is_moving(sim, name) || is_in_hole(sim, name) || set->step != SET_IS_QUIET ||
                   set->known_us > sim->world.time.now_us);
}

/* ---- what is excused ---- */

void sim_sets_taint_name(struct sim *sim, struct sim_name *name)
{
    for (unsigned i = 0; i < sim->places_count; i++)
        name->tainted_us[i] = sim->world.time.now_us;
}

void sim_sets_meddle(struct sim *sim, struct sim_name *name)
{
    name->meddled_us = sim->world.time.now_us;
    sim_sets_taint_name(sim, name);
}

static void each_name_at(struct sim_place *place, void (*taint)(struct sim *sim, struct sim_name *name))
{
    struct sim *sim = place->sim;
    for (unsigned i = 0; i < sim->names_count; i++) {
        struct sim_name *name = &sim->names[i];
        const struct sim_set *set = set_of_name(sim, name);
        if (set->master == place || set->former == place || (is_moving(sim, name) && sim->sets.move.to->master == place))
            taint(sim, name);
    }
}

void sim_sets_taint(struct sim_place *place) { each_name_at(place, sim_sets_meddle); }

/* ---- a failover, step by step ---- */

static void on_step(void *arg);

static void go_on_after(struct sim_set *set, enum sim_set_step step, uint64_t delay_us)
{
    set->step = step;
    sim_after(&set->sim->world, delay_us, on_step, set);
}

static void set_replica(struct sim_place *place, int is_replica)
{
    if (!sim_store_map(place->store->core))
        sim_store_set_replica(place->store->core, is_replica);
}

/* Its keys are those of the new master, as of now. Sentinels end the connections of a master that they demote, those before 6.0 not those that
 * subscribed. */
static void find_out(struct sim_set *set)
{
    struct sim *sim = set->sim;
    struct sim_place *former = set->former;
    set->former = NULL;
    set->step = SET_IS_QUIET;
    sim_trace(&sim->world, "place %u is found out to be no master any more", former->index);
    store_copy(former->store, set->master->store);
    set_replica(former, 1);
    if (sim->deployment == SIM_CLUSTER)
        sim_cluster_learn(former);
    else
        net_reset_at(&sim->net, former->store, sim_chance(&sim->world.deployments, 0.7) ? NET_ALL : NET_COMMANDS);
}

void sim_sets_hear(struct sim *sim, struct hl_random *random, unsigned first, uint64_t most_us,
                   void (*hear)(void *place))
{
    uint64_t longest_us = 0;
    for (unsigned i = first; i < sim->places_count; i++) {
        uint64_t delay_us = sim_between(random, 0, most_us);
        sim_after(&sim->world, delay_us, hear, &sim->places[i]);
        longest_us = delay_us > longest_us ? delay_us : longest_us;
    }
    for (unsigned i = 0; i < sim->sets.count; i++)
        sim->sets.list[i].known_us = sim->world.time.now_us + longest_us;
}

static struct sim_replica *replica_of(struct sim_set *set, const struct sim_place *place)
{
    unsigned i = 0;
    while (set->places[i] != place)
        i++;
    return &set->replicas[i];
}

/* The next master's keys are what it has. The others that are behind have nothing of what it writes from now on. */
static void load_next(struct sim_set *set)
{
    struct sim_replica *next = replica_of(set, set->next);
    if (!next->behind)
        sim_replica_fall_behind(next);
    sim_store_load(store_now(set->next->store), next->behind);
    sim_replica_catch_up(next);
    for (unsigned i = 0; i < set->count; i++)
        set->replicas[i].writes = 0;
}

static void promote(struct sim_set *set)
{
    static const enum sim_sometimes kinds[] = {SIM_FAULT_HANDED_OVER, SIM_FAULT_FORCED, SIM_FAULT_MASTER_KILLED, SIM_FAULT_MASTER_STOPPED, SIM_FAULT_MASTER_CUT_OFF};
    struct sim *sim = set->sim;
    sim_trace(&sim->world, "place %u takes over from %u", set->next->index, set->master->index);
    sim->world.sometimes[kinds[set->kind]]++;
    load_next(set);
    if (set->kind != FAILOVER_HANDED_OVER || sim->sets.is_out_of_step)
        each_name_at(set->master, sim_sets_taint_name);
    if (set->kind != FAILOVER_HANDED_OVER)
        sim->ghost_us = sim->world.time.now_us; /* a hold released since is there again, until its client repeats the release */
    set->former = set->master;
    set->master = set->next;
    set->epoch++;
    for (unsigned i = 0; i < sim->names_count; i++)
        if (set_of_name(sim, &sim->names[i]) == set)
            sim->names[i].unsettled_us = sim->world.time.now_us;
    set_replica(set->master, 0);
    if (sim->deployment == SIM_CLUSTER) {
        sim_cluster_date(set);
        sim_cluster_learn(set->master);
        sim_cluster_hear(sim, &sim->world.deployments);
    } else
        sim_sentinels_hear(sim, &sim->world.deployments);
}

static void strike(struct sim_set *set)
{
    struct hl_random *random = &set->sim->world.deployments;
    uint64_t unnoticed_us = set->kind == FAILOVER_FORCED ? 0 : sim_between(random, 200000, 2000000);
    sim_trace(&set->sim->world, "fault: master %u, failover of kind %d", set->master->index, (int)set->kind);
    if (set->kind == FAILOVER_KILLED) {
        sim_server_restart(set->master, 1);
        set->master->is_away = 1;
    } else if (set->kind == FAILOVER_STOPPED)
        set->master->store->lane.until_us = set->sim->world.time.now_us + unnoticed_us + sim_between(random, 0,
                                                                                                     2000000);
    go_on_after(set, SET_IS_STRUCK, unnoticed_us);
}

/* For how long the former master is not there: dead, or stopped. */
static uint64_t absence_us(const struct sim_set *set)
{
    uint64_t now_us = set->sim->world.time.now_us, until_us = set->former->store->lane.until_us;
    if (set->kind == FAILOVER_KILLED)
        return sim_between(&set->sim->world.deployments, 100000, 2000000);
    return set->kind == FAILOVER_STOPPED && until_us > now_us ? until_us - now_us : 0;
}

/* It is there again, and takes itself for the master; in a cluster it may notice that it is alone. */
static void give_back(struct sim_set *set)
{
    struct hl_random *random = &set->sim->world.deployments;
    uint64_t stale_us = sim_chance(random, 0.3) ? 0 : sim_between(random, 0, set->kind == FAILOVER_FORCED ? 200000 : 3000000);
    if (set->former->is_away && sim_chance(random, 0.3))
        sim_store_restart(set->former->store->core, 0);
    set->former->is_away = 0;
    if (set->sim->deployment == SIM_CLUSTER && sim_chance(random, 0.3))
        sim_store_set_down(set->former->store->core, 1);
    go_on_after(set, SET_HAS_STALE, stale_us);
}

static void on_step(void *arg)
{
    struct sim_set *set = arg;
    if (set->sim->is_healed)
        return;
    switch (set->step) {
    case SET_LAGS: strike(set); break;
    case SET_IS_STRUCK:
        promote(set);
        go_on_after(set, SET_IS_REPLACED, absence_us(set));
        break;
    case SET_IS_REPLACED: give_back(set); break;
    case SET_HAS_STALE: find_out(set); break;
    case SET_IS_QUIET: break;
    }
}

static struct sim_place *some_replica(struct sim_set *set, struct hl_random *random)
{
    unsigned first = (unsigned)hl_random_below(random, set->count);
    for (unsigned i = 0; i < set->count; i++) {
        struct sim_place *place = set->places[(first + i) % set->count];
        if (place != set->master && !place->is_away)
            return place;
    }
    return NULL;
}

int sim_set_moves(const struct sim_set *set)
{
    const struct sim_move *move = &set->sim->sets.move;
    return move->is_on && (move->from == set || move->to == set);
}

static void fail_over(struct sim_set *set, struct hl_random *random)
{
    int can_fail_over = set->step == SET_IS_QUIET && !set->master->is_away && !sim_set_moves(set);
    struct sim_place *next = can_fail_over ? some_replica(set, random) : NULL;
    int is_lossy = set->sim->sets.is_lossy && sim_chance(random, 0.8);
    if (!next)
        return;
    set->kind = is_lossy ? (enum sim_failover)sim_between(random, FAILOVER_FORCED, FAILOVER_CUT_OFF) : FAILOVER_HANDED_OVER;
    set->next = next;
    if (!is_lossy)
        sim_replica_catch_up(replica_of(set, next));
    else if (!replica_of(set, next)->behind)
        sim_replica_fall_behind(replica_of(set, next));
    if (is_lossy) {
        go_on_after(set, SET_LAGS, sim_between(random, 0, LAG_MAX_US));
        return;
    }
    promote(set);
    find_out(set);
}

/* ---- I14: which server a process believes ---- */

struct sim_name *sim_name_in(struct sim *sim, const struct message *request)
{
    int at = request->argc > 3 && strcmp(request->argv[0], "EVALSHA") == 0 ? 3 : request->argc > 3 && strcmp(request->argv[0], "SET") == 0 ? 1 : 0;
    for (unsigned i = 0; at && i < sim->names_count; i++)
        if (strcmp(sim->names[i].text, request->argv[at]) == 0)
            return &sim->names[i];
    return NULL;
}

static void count_answer(struct sim_world *world, const struct hl_reply *reply)
{
    static const struct { const char *code; enum sim_sometimes what; } codes[] = {{"MOVED", SIM_TOLD_MOVED}, {"ASK", SIM_TOLD_ASK}, {"TRYAGAIN", SIM_TOLD_TRYAGAIN},
                                                                                  {"CLUSTERDOWN", SIM_TOLD_CLUSTERDOWN}, {"READONLY", SIM_TOLD_READONLY}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        world->sometimes[codes[i].what] += hl_reply_starts(reply, codes[i].code) != 0;
}

/* A client that was served by a master is not served by one that it replaced: where the news is older than a config-epoch that a Sentinel has named
 * to it (who has slept through several switches, and finds the same one master again, has old news and does not know it), and in a cluster
 * when all servers have agreed for as long as it takes to ask again, and it was awake: one that did not know yet may have given it the old news once more. */
static void check_believed(struct sim_process *process, const struct sim_place *place, struct sim_name *name)
{
    struct sim *sim = process->sim;
    const struct sim_set *set = sim_set_of(place);
    struct sim_served *served = &process->served[name - sim->names];
    unsigned epoch = set->epoch - (set->former == place);
    uint64_t since_us = set->known_us > process->loop.lane.until_us ? set->known_us : process->loop.lane.until_us;
    int can_know = sim->deployment == SIM_SENTINEL || since_us + ASKS_US < sim->world.time.now_us;
    if (served->set == set && served->epoch > epoch && can_know)
        sim_violate(&sim->world, "I14", "p%u is served %s by place %u, though it has been served by the master after it", process->index, name->text, place->index);
    *served = (struct sim_served){set, sim->deployment == SIM_SENTINEL && process->answered_epoch < epoch ? process->answered_epoch : epoch};
}

void sim_sets_answered(struct sim_process *process, struct store_peer *peer, const struct message *request,
                       const struct hl_reply *reply)
{
    struct sim_place *place = peer->store->arg;
    struct sim *sim = process->sim;
    struct sim_set *set = sim->sets.count ? sim_set_of(place) : NULL;
    struct sim_name *name = set ? sim_name_in(sim, request) : NULL;
    if (set && sim->deployment == SIM_SENTINEL && strcmp(request->argv[0], "ROLE") == 0)
        peer->is_of_replica = sim_store_is_replica(place->store->core);
    if (!name)
        return;
    if (peer->is_of_replica)
        sim_violate(&sim->world, "I14", "p%u asks place %u for %s, which has told it that it is a replica", process->index, place->index, name->text);
    count_answer(&sim->world, reply);
    if (reply->type != HL_REPLY_ERROR && (place == set->master || place == set->former))
        check_believed(process, place, name);
}

/* ---- what is said on a channel ---- */

/* A master's replicas get what it publishes, and of a plain channel in a cluster all servers; except those that are cut off. */
void sim_sets_said(void *arg, int is_sharded, const struct sim_said *said)
{
    struct sim_place *from = arg;
    struct sim *sim = from->sim;
    const struct sim_set *set = sim_set_of(from);
    for (unsigned i = 0; set && set->master == from && i < sim->places_count; i++) {
        struct sim_place *place = &sim->places[i];
        int is_near = sim_set_of(place) == set || (!is_sharded && sim->deployment == SIM_CLUSTER && sim_set_of(place));
        if (is_near && place != from && !sim_is_former(place) && !place->is_away && !sim_server_is_stalled(place))
            sim_store_deliver(place->store->core, is_sharded, said);
    }
}

/* ---- life ---- */

static void on_event(void *arg)
{
    struct sim *sim = arg;
    struct hl_random *random = &sim->world.deployments;
    if (sim->is_healed)
        return;
    if (sim->deployment == SIM_CLUSTER && sim_chance(random, 0.6))
        sim_cluster_move(sim, random);
    else if (sim->deployment == SIM_SENTINEL && sim->sets.is_lossy && sim_chance(random, 0.2))
        sim_sentinels_lose_one(sim, random);
    else
        fail_over(&sim->sets.list[hl_random_below(random, sim->sets.count)], random);
    sim_after(&sim->world, sim_between(random, GAP_LEAST_US, GAP_MOST_US), on_event, sim);
}

static void init_set(struct sim *sim, unsigned places, unsigned step)
{
    struct sim_set *set = &sim->sets.list[sim->sets.count];
    *set = (struct sim_set){.sim = sim, .index = sim->sets.count, .count = places};
    for (unsigned i = 0; i < places; i++) {
        set->places[i] = &sim->places[sim->sets.count + i * step];
        set->replicas[i] = (struct sim_replica){.set = set, .place = set->places[i]};
    }
    set->master = set->places[0];
    for (unsigned i = 1; i < places; i++)
        set_replica(set->places[i], 1);
    sim->sets.count++;
}

/* Clocks of one deployment are kept in step, more or less; they go at the same rate. */
static void set_clocks(struct sim *sim)
{
    struct hl_random *random = &sim->world.deployments;
    uint64_t apart_us = sim_chance(random, 0.5) ? 0 : sim_between(random, 1000, 400000);
    for (unsigned i = 1; i < sim->places_count; i++) {
        int64_t by_us = (int64_t)sim_between(random, 0, apart_us);
        sim->places[i].store->clock = sim->places[0].store->clock;
        world_clock_step(&sim->places[i].store->clock, sim_chance(random, 0.5) ? by_us : -by_us);
    }
    sim->sets.is_out_of_step = apart_us || sim->swarm.steps;
}

void sim_sets_init(struct sim *sim)
{
    if (sim->deployment != SIM_SENTINEL && sim->deployment != SIM_CLUSTER)
        return;
    set_clocks(sim);
    sim->sets.is_lossy = sim->swarm.mean_gap_us && sim_chance(&sim->world.deployments, 0.6);
    if (sim->deployment == SIM_SENTINEL)
        init_set(sim, SIM_SET_PLACES_MAX, 1);
    else
        for (unsigned i = 0; i < SIM_SETS_MAX; i++)
            init_set(sim, 2, SIM_SETS_MAX);
    if (sim->deployment == SIM_SENTINEL)
        sim_sentinels_init(sim);
    else
        sim_cluster_init(sim);
}

void sim_sets_start(struct sim *sim)
{
    if (!sim->sets.count)
        return;
    sim_after(&sim->world, sim_between(&sim->world.deployments, GAP_LEAST_US, GAP_MOST_US), on_event, sim);
    sim_replicas_start(sim);
}

void sim_sets_heal(struct sim *sim)
{
    for (unsigned i = 0; i < sim->sets.count; i++) {
        struct sim_set *set = &sim->sets.list[i];
        for (unsigned j = 0; j < set->count; j++)
            sim_replica_catch_up(&set->replicas[j]);
        if (set->former)
            find_out(set);
        set->step = SET_IS_QUIET;
    }
    if (sim->deployment == SIM_CLUSTER)
        sim_cluster_heal(sim);
    else if (sim->deployment == SIM_SENTINEL)
        sim_sentinels_heal(sim);
}

void sim_sets_done(struct sim *sim)
{
    for (unsigned i = 0; i < sim->sets.count; i++)
        for (unsigned j = 0; j < sim->sets.list[i].count; j++)
            sim_replica_catch_up(&sim->sets.list[i].replicas[j]);
}
