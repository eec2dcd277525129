/* SPDX-License-Identifier: BSD-3-Clause */
/* replicas - what the replicas of a set have of what their master wrote, and how many say so (WAIT).
 *
 * One that keeps up has everything, though it takes a moment to say so. One that is behind has what its master had when it stopped to
 * hear, and no more until it catches up, when it has everything at once: that is all that is visible from outside. It may take over
 * meanwhile, and what it has is what there is then.
 * Invariant: a replica that is counted for a write has it when it takes over. */
#include "sim.h"

enum { BEHIND_MAX_US = 3000000, GAP_MAX_US = 2000000 };

static const char *behind_name(const struct sim_replica *replica) { return replica->behind ? "is behind" : "keeps up"; }

void sim_replica_fall_behind(struct sim_replica *replica)
{
    const struct sim_store *master = store_now(replica->set->master->store);
    replica->behind = sim_store_save(master);
    replica->writes = sim_store_writes(master);
}

void sim_replica_catch_up(struct sim_replica *replica)
{
    if (replica->behind)
        sim_store_data_free(replica->behind);
    replica->behind = NULL;
}

unsigned sim_replicas_max(const struct sim *sim) { return sim->sets.count ? sim->sets.list[0].count - 1 : 0; }

/* The third of a set learns last that another one is the master, if the former one was neither dead nor cut off. */
static int follows(const struct sim_replica *replica, const struct sim_place *place)
{
    const struct sim_set *set = replica->set;
    int follows_former = set->former && (set->kind == FAILOVER_FORCED || set->kind == FAILOVER_STOPPED);
    if (replica->place == set->master || replica->place == set->former || replica->place->is_away)
        return 0;
    if (set->step == SET_IS_STRUCK && set->kind == FAILOVER_CUT_OFF)
        return 0;
    return place == (follows_former ? set->former : set->master);
}

unsigned sim_replicas_having(const struct store_peer *peer, uint64_t *ret_look_us)
{
    const struct sim_place *place = peer->store->arg;
    const struct sim_set *set = sim_set_of(place);
    struct sim *sim = place->sim;
    uint64_t now_us = peer->store->world->now_us, most_us = 2 * (uint64_t)(sim->swarm.latency_us + sim->swarm.tail_us);
    int is_first = now_us == peer->wait_since_us;
    unsigned count = 0;
    *ret_look_us = now_us + sim_between(&sim->world.sets, is_first ? 1 : 1000, is_first ? most_us : 10000);
    for (unsigned i = 0; set && !is_first && i < set->count; i++) {
        const struct sim_replica *replica = &set->replicas[i];
        count += follows(replica, place) && (!replica->behind || peer->wrote <= replica->writes);
    }
    return count;
}

/* ---- life ---- */

static void on_gap(void *arg);

static int is_to_be_next(const struct sim_replica *replica) { return replica->place == replica->set->next && replica->set->step != SET_IS_QUIET; }

static void on_over(void *arg)
{
    struct sim_replica *replica = arg;
    if (!replica->behind || is_to_be_next(replica))
        return;
    sim_replica_catch_up(replica);
    sim_trace(&replica->place->sim->world, "place %u %s", replica->place->index, behind_name(replica));
}

static void on_gap(void *arg)
{
    struct sim *sim = arg;
    struct sim_world *world = &sim->world;
    struct hl_random *random = &world->sets;
    struct sim_set *set = &sim->sets.list[hl_random_below(random, sim->sets.count)];
    struct sim_replica *replica = &set->replicas[hl_random_below(random, set->count)];
    if (sim->is_healed)
        return;
    /* The move of a slot waits until replicas have kept up: what they missed of it would be there twice when they
     * take over. */
    if (follows(replica, set->master) && !replica->behind && !is_to_be_next(replica) && !sim_set_moves(set)) {
        sim_replica_fall_behind(replica);
        world->sometimes[SIM_FAULT_BEHIND]++;
        sim_trace(world, "fault: place %u %s", replica->place->index, behind_name(replica));
        sim_after(world, sim_between(random, 1000, BEHIND_MAX_US), on_over, replica);
    }
    sim_after(world, sim_between(random, 1, GAP_MAX_US), on_gap, sim);
}

void sim_replicas_start(struct sim *sim)
{
    if (sim->has_replicas && sim->swarm.mean_gap_us)
        sim_after(&sim->world, sim_between(&sim->world.sets, 1, GAP_MAX_US), on_gap, sim);
}
