/* SPDX-License-Identifier: BSD-3-Clause */
/* failover - another server takes over behind the same address: a replica that knows what was written up to a moment ago and has a clock
 * of its own. The old master is dead at once; or, cut off from whoever decides, it goes on for those who are still linked to it, until it is
 * found out. What it does meanwhile is acknowledged and lost. */
#include "sim.h"

enum { LAG_MAX_US = 60000, STALE_MAX_US = 3000000, CLOCKS_APART_MAX_US = 400000 };

struct sim_server *sim_server_of(struct sim *sim, unsigned epoch)
{
    struct sim_server *server = epoch == sim->server.epoch ? &sim->server : epoch == sim->former.epoch ? &sim->former : NULL;
    return server && server->store ? server : NULL;
}

void sim_taint_all(struct sim *sim)
{
    for (unsigned i = 0; i < sim->names_count; i++)
        sim->names[i].tainted_us = sim->world.now_us;
}

void sim_failover_end(struct sim *sim)
{
    if (sim->replica)
        sim_store_data_free(sim->replica);
    sim->replica = NULL;
    if (!sim->former.store)
        return;
    sim_trace(&sim->world, "the former master is found out");
    sim_taint_all(sim);
    sim_network_reset_all(sim, sim->former.epoch);
    sim_server_done(&sim->former);
}

static void on_found_out(struct sim_world *world, void *arg)
{
    (void)world;
    sim_failover_end(arg);
}

static void set_clock(struct sim *sim, struct hl_random *random)
{
    uint64_t by_us = sim_between(random, 0, CLOCKS_APART_MAX_US);
    sim->server.clock = sim->former.clock;
    sim->server.clock.offset_us += sim_chance(random, 0.5) ? by_us : -by_us;
}

/* A hold released since the snapshot is there again, and its client knows nothing of it: for its lease at most. */
static void on_promoted(struct sim_world *world, void *arg)
{
    struct sim *sim = arg;
    struct hl_random *random = &world->faults;
    if (!sim->replica)
        return;
    sim_trace(world, "fault: a replica takes over");
    world->sometimes[SIM_FAULT_FAILOVER]++;
    sim->former = sim->server;
    sim_server_init(&sim->server, sim, sim->former.epoch + 1);
    set_clock(sim, random);
    sim_server_now(&sim->server);
    sim_store_load(sim->server.store, sim->replica);
    sim_store_data_free(sim->replica);
    sim->replica = NULL;
    sim_taint_all(sim);
    sim->ghost_us = world->now_us;
    if (sim_chance(random, 0.5))
        sim_after(world, sim_between(random, 0, STALE_MAX_US), on_found_out, sim);
    else
        sim_failover_end(sim);
}

void sim_failover_start(struct sim *sim, struct hl_random *random)
{
    if (sim->former.store || sim->replica)
        return;
    sim_server_now(&sim->server);
    sim->replica = sim_store_save(sim->server.store);
    sim_after(&sim->world, sim_between(random, 0, LAG_MAX_US), on_promoted, sim);
}
