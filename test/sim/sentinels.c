/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinels - what they know of the master, and report. The one that led the failover knows at once and reports the promotion; each reports
 * the switch when it learns of it, up to seconds later. One that was away comes back with what it knew, and learns the rest in silence. */
#include <stdio.h>

#include "sim.h"

enum { HEARS_MAX_US = 1500000, CALM_HEARS_MAX_US = 200000 };

static struct sim_set *set_of(struct sim *sim) { return &sim->sets.list[0]; }

static void learn(struct sim_sentinel *sentinel)
{
    const struct sim_set *set = set_of(sentinel->sim);
    store_knows(sentinel->place->store, SIM_HOST, SIM_PORT + (int)set->master->index, 1 + set->epoch);
}

static void tell(const struct sim_sentinel *sentinel, const char *channel, const struct sim_place *from)
{
    struct sim_world *world = &sentinel->sim->world;
    char text[120];
    snprintf(text, sizeof text, "mymaster %s %d %s %d", SIM_HOST, SIM_PORT + (int)from->index, SIM_HOST,
             SIM_PORT + (int)set_of(sentinel->sim)->master->index);
    sim_trace(world, "place %u tells %s: %s", sentinel->place->index, channel, text);
    world->sometimes[SIM_SWITCH_HEARD] += sim_store_publish(sentinel->place->store->core, channel, text);
}

/* All that it has not reported yet. */
static void hear(struct sim_sentinel *sentinel)
{
    const struct sim_set *set = set_of(sentinel->sim);
    const struct sim_place *from = sentinel->names;
    if (sentinel->place->is_away || sentinel->told == set->epoch)
        return;
    learn(sentinel);
    sentinel->told = set->epoch;
    sentinel->names = set->master;
    tell(sentinel, "+switch-master", from);
}

static void on_heard(void *arg)
{
    const struct sim_place *place = arg;
    hear(&place->sim->sets.sentinels[place->index - set_of(place->sim)->count]);
}

void sim_sentinels_hear(struct sim *sim, struct hl_random *random)
{
    struct sim_sentinel *leader = &sim->sets.sentinels[hl_random_below(random, SIM_SENTINELS)];
    if (!leader->place->is_away) {
        learn(leader);
        tell(leader, "+promoted-slave", leader->names);
    }
    sim_sets_hear(sim, random, set_of(sim)->count, sim->swarm.mean_gap_us ? HEARS_MAX_US : CALM_HEARS_MAX_US, on_heard);
}

/* An address is a list of two. */
void sim_sentinels_told(struct sim_process *process, const struct sim_place *place, const struct hl_reply *reply)
{
    int is_address = reply->type == HL_REPLY_ARRAY && reply->count == 2 && place->sim->deployment == SIM_SENTINEL && !sim_set_of(place);
    unsigned epoch = is_address ? (unsigned)sim_store_knows(place->store->core)->epoch - 1 : 0;
    process->answered_epoch = epoch > process->answered_epoch ? epoch : process->answered_epoch;
}

/* ---- one that was away ---- */

static void on_back(void *arg)
{
    struct sim_sentinel *sentinel = arg;
    if (!sentinel->place->is_away || sentinel->sim->is_healed)
        return;
    sentinel->place->is_away = 0;
    sim_trace(&sentinel->sim->world, "place %u is back, and knows epoch %llu", sentinel->place->index,
              (unsigned long long)sim_store_knows(sentinel->place->store->core)->epoch);
    sim_after(&sentinel->sim->world, sim_between(&sentinel->sim->world.deployments, 100000, 3000000), on_heard,
              sentinel->place);
}

void sim_sentinels_lose_one(struct sim *sim, struct hl_random *random)
{
    struct sim_sentinel *sentinel = &sim->sets.sentinels[hl_random_below(random, SIM_SENTINELS)];
    struct sim_place *place = sentinel->place;
    if (place->is_away)
        return;
    sim_trace(&sim->world, "fault: place %u, a sentinel, is away", place->index);
    sim->world.sometimes[SIM_FAULT_SENTINEL_AWAY]++;
    sim_server_restart(place, 1);
    place->is_away = 1;
    sim_after(&sim->world, sim_between(random, 500000, 6000000), on_back, sentinel);
}

void sim_sentinels_heal(struct sim *sim)
{
    for (unsigned i = 0; i < SIM_SENTINELS; i++)
        hear(&sim->sets.sentinels[i]);
}

void sim_sentinels_init(struct sim *sim)
{
    const struct sim_set *set = set_of(sim);
    for (unsigned i = 0; i < SIM_SENTINELS; i++) {
        sim->sets.sentinels[i] = (struct sim_sentinel){.sim = sim, .place = &sim->places[set->count + i], .names = set->master};
        learn(&sim->sets.sentinels[i]);
    }
}
