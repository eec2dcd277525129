/* SPDX-License-Identifier: BSD-3-Clause */
/* failover - another server takes over behind the same address: a replica that knows what was written up to a moment ago and has a clock
 * of its own. The old master is dead at once; or, cut off from those that decide, it goes on for clients that are still linked to it, until it is
 * found out. What it does meanwhile is acknowledged and lost. */
#include "sim.h"

enum { LAG_MAX_US = 60000, STALE_MAX_US = 3000000, CLOCKS_APART_MAX_US = 400000 };

void sim_taint(struct sim_place *place)
{
    struct sim *sim = place->sim;
    if (sim->sets.count)
        sim_sets_taint(place);
    for (unsigned i = 0; !sim->sets.count && i < sim->names_count; i++)
        sim->names[i].tainted_us[place->index] = sim->world.time.now_us;
}

void sim_failover_end(struct sim_place *place)
{
    if (place->replica)
        sim_store_data_free(place->replica);
    place->replica = NULL;
    if (!place->former)
        return;
    sim_trace(&place->sim->world, "the former master is found out");
    sim_taint(place);
    sim_server_free(place->former);
    place->former = NULL;
}

static void on_found_out(void *arg) { sim_failover_end(arg); }

/* A hold released since the snapshot is there again, and its client knows nothing of it: for its lease at most. */
static void on_promoted(void *arg)
{
    struct sim_place *place = arg;
    struct sim_world *world = &place->sim->world;
    struct hl_random *random = &world->faults;
    if (!place->replica)
        return;
    sim_trace(world, "fault: a replica takes over");
    world->sometimes[SIM_FAULT_FAILOVER]++;
    sim_java_cut(place->sim);
    place->former = place->store;
    place->store = place->at->store = sim_server_new(place);
    sim_server_started(place); /* another run than was known: a restart guard begins */
    int64_t by_us = (int64_t)sim_between(random, 0, CLOCKS_APART_MAX_US);
    place->store->clock = place->former->clock;
    world_clock_step(&place->store->clock, sim_chance(random, 0.5) ? by_us : -by_us);
    sim_store_load(store_now(place->store), place->replica);
    sim_store_data_free(place->replica);
    place->replica = NULL;
    sim_taint(place);
    place->sim->ghost_us = world->time.now_us;
    if (sim_chance(random, 0.5))
        sim_after(world, sim_between(random, 0, STALE_MAX_US), on_found_out, place);
    else
        sim_failover_end(place);
}

void sim_failover_start(struct sim_place *place, struct hl_random *random)
{
    struct sim_world *world = &place->sim->world;
    if (place->former || place->replica)
        return;
    place->replica = sim_store_save(store_now(place->store));
    sim_after(world, sim_between(random, 0, LAG_MAX_US), on_promoted, place);
}
