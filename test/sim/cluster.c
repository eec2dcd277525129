/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster - sets that share the slots of a cluster: what each server knows of them, and slots that move from one to another, key by key, as the
 * stock tool does it: the target learns that it comes, the source that it goes, the keys go one after the other with the time that they had
 * left, then the target learns that the slot is its own, then the source, and all others later. A move loses nothing, and excuses nothing but
 * that a free lock cannot be had while its keys are at two places. */
#include <stdio.h>

#include "base/slot.h"
#include "sim.h"

enum { HEARS_MAX_US = 500000, CALM_HEARS_MAX_US = 100000, KEY_LENGTH_MAX = 128 };

/* ---- what they know ---- */

void sim_cluster_learn(struct sim_place *place)
{
    struct sim *sim = place->sim;
    struct sim_store *store = place->store->core;
    const struct sim_map *map = sim_store_map(store);
    const struct sim_hole *hole = &sim->sets.hole;
    sim_store_set_down(store, hole->is_on && hole->is_total);
    for (unsigned i = 0; i < sim->places_count; i++) {
        sim_store_set_master(store, i, sim_set_of(&sim->places[i])->master->index);
        sim_store_set_epoch(store, i, sim_set_of(&sim->places[i])->config_epoch);
    }
    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        int is_in_hole = hole->is_on && slot >= hole->first && slot <= hole->last;
        unsigned master = is_in_hole ? SIM_NOBODY : sim->sets.list[sim->sets.owners[slot]].master->index;
        if (map->owners[slot] != (uint8_t)(master + 1))
            sim_store_give_slot(store, slot, master);
    }
}

void sim_cluster_date(struct sim_set *set)
{
    set->config_epoch = ++set->sim->sets.newest_epoch;
    sim_store_set_epoch(set->master->store->core, set->master->index, set->config_epoch);
}

/* A server that is cut off hears nothing. */
static void on_heard(void *arg)
{
    struct sim_place *place = arg;
    if (!sim_is_former(place) && !place->is_away)
        sim_cluster_learn(place);
}

void sim_cluster_hear(struct sim *sim, struct hl_random *random)
{
    sim_sets_hear(sim, random, 0, sim->swarm.mean_gap_us ? HEARS_MAX_US : CALM_HEARS_MAX_US, on_heard);
}

/* ---- a slot moves ---- */

static struct sim_store *store_of(const struct sim_set *set) { return store_now(set->master->store); }

struct keys { struct hl_random *random; unsigned slot, count; char chosen[KEY_LENGTH_MAX]; size_t length; };

static void on_key(void *arg, const char *key, size_t length)
{
    struct keys *keys = arg;
    if (hl_slot_of(key, length) != keys->slot || length > sizeof keys->chosen || hl_random_below(keys->random, ++keys->count) != 0)
        return;
    memcpy(keys->chosen, key, length);
    keys->length = length;
}

/* 0: there is none left. */
static int move_key(struct sim *sim)
{
    struct sim_move *move = &sim->sets.move;
    struct keys keys = {.random = &sim->world.deployments, .slot = move->slot};
    sim_store_each_key(store_of(move->from), on_key, &keys);
    if (!keys.count)
        return 0;
    sim_trace(&sim->world, "%.*s goes to place %u", (int)keys.length, keys.chosen, move->to->master->index);
    sim->world.sometimes[SIM_KEY_MOVED]++;
    if (!sim_store_migrate(store_of(move->from), store_of(move->to), keys.chosen, keys.length))
        sim_violate(&sim->world, "I14", "%.*s was made anew where its slot goes to", (int)keys.length, keys.chosen);
    for (unsigned i = 0; i < sim->names_count && sim->sets.is_out_of_step; i++) /* ends of shares are times of the server that it leaves */
        if (sim->names[i].is_shared && sim->names[i].slot == move->slot)
            sim_sets_taint_name(sim, &sim->names[i]);
    return 1;
}

static void end_move(struct sim *sim)
{
    struct sim_move *move = &sim->sets.move;
    move->is_on = 0;
    for (unsigned i = 0; i < sim->names_count; i++) /* names with one tag go together */
        if (sim->names[i].slot == move->slot) {
            sim->names[i].set = move->to->index;
            sim->names[i].unsettled_us = sim->world.time.now_us;
        }
    sim->sets.owners[move->slot] = (uint8_t)move->to->index;
    sim->world.sometimes[SIM_SLOT_MOVED]++;
    sim_trace(&sim->world, "slot %u is at place %u", move->slot, move->to->master->index);
    sim_store_sweep(store_of(move->from)); /* what had run out is not there again when its clock is set back */
    sim_store_give_slot(store_of(move->to), move->slot, move->to->master->index);
    if (move->to->config_epoch != sim->sets.newest_epoch)
        sim_cluster_date(move->to);
    sim_store_give_slot(store_of(move->from), move->slot, move->to->master->index);
    sim_cluster_hear(sim, &sim->world.deployments);
}

static uint64_t gap_us(struct sim *sim) { return sim_between(&sim->world.deployments, 0, sim->sets.move.is_slow ? 1500000 : 5000); }

static void step(struct sim *sim)
{
    struct sim_move *move = &sim->sets.move;
    if (!move->is_leaving) {
        sim_store_begin_leave(store_of(move->from), move->slot, move->to->master->index);
        move->is_leaving = 1;
    } else if (!move_key(sim))
        end_move(sim);
}

static void on_move(void *arg)
{
    struct sim *sim = arg;
    if (!sim->sets.move.is_on)
        return;
    if (!sim_server_is_stalled(sim->sets.move.from->master) && !sim_server_is_stalled(sim->sets.move.to->master))
        step(sim);
    if (sim->sets.move.is_on)
        sim_after(&sim->world, gap_us(sim), on_move, sim);
}

void sim_cluster_move(struct sim *sim, struct hl_random *random)
{
    struct sim_move *move = &sim->sets.move;
    struct sim_name *name = &sim->names[hl_random_below(random, sim->names_count)];
    struct sim_set *from = &sim->sets.list[name->set], *to = &sim->sets.list[(name->set + 1 + hl_random_below(random, sim->sets.count - 1)) % sim->sets.count];
    if (move->is_on || sim->sets.hole.is_on || from->step != SET_IS_QUIET || to->step != SET_IS_QUIET)
        return;
    *move = (struct sim_move){.is_on = 1, .is_slow = sim_chance(random, 0.3), .slot = name->slot, .name = name, .from = from, .to = to};
    sim_trace(&sim->world, "%s, slot %u, begins to move from place %u to %u", name->text, name->slot, from->master->index, to->master->index);
    for (unsigned i = 0; i < from->count; i++)
        sim_replica_catch_up(&from->replicas[i]);
    for (unsigned i = 0; i < to->count; i++)
        sim_replica_catch_up(&to->replicas[i]);
    sim_store_begin_arrive(store_of(to), move->slot);
    sim_after(&sim->world, gap_us(sim), on_move, sim);
}

/* ---- slots without a server ---- */

static void learn_first(struct sim *sim)
{
    for (unsigned i = 0; i < sim->sets.count; i++)
        if (!sim->sets.list[i].master->is_away)
            sim_cluster_learn(sim->sets.list[i].master);
    sim_cluster_hear(sim, &sim->world.strains);
}

static void on_filled(void *arg)
{
    struct sim *sim = arg;
    if (!sim->sets.hole.is_on)
        return;
    sim_trace(&sim->world, "slots %u to %u are somebody's again", sim->sets.hole.first, sim->sets.hole.last);
    sim->sets.hole.is_on = 0;
    learn_first(sim);
}

/* An operator has taken them from their owner, or has not given them yet. What is kept in them is kept, and runs out. */
void sim_cluster_hole(struct sim *sim, struct hl_random *random)
{
    unsigned slot = sim->names[hl_random_below(random, sim->names_count)].slot;
    struct sim_hole *hole = &sim->sets.hole;
    if (hole->is_on || sim->sets.move.is_on)
        return;
    *hole = (struct sim_hole){1, sim_chance(random, 0.3), slot, slot};
    if (sim_chance(random, 0.5)) {
        hole->first -= (unsigned)hl_random_below(random, slot + 1);
        hole->last += (unsigned)hl_random_below(random, SIM_SLOTS - slot);
    }
    sim_trace(&sim->world, "fault: slots %u to %u are nobody's", hole->first, hole->last);
    learn_first(sim);
    sim_after(&sim->world, sim_between(random, 1000, 4000000), on_filled, sim);
}

void sim_cluster_heal(struct sim *sim)
{
    sim->sets.hole.is_on = 0;
    while (sim->sets.move.is_on && !sim->world.is_broken)
        step(sim);
    for (unsigned i = 0; i < sim->places_count; i++)
        sim_cluster_learn(&sim->places[i]);
}

void sim_cluster_init(struct sim *sim)
{
    struct sim_map map = {.count = sim->places_count, .leaving = -1, .arriving = -1};
    for (unsigned i = 0; i < sim->sets.count; i++)
        sim->sets.list[i].config_epoch = ++sim->sets.newest_epoch;
    for (unsigned i = 0; i < sim->places_count; i++) {
        map.nodes[i].address.port = SIM_PORT + (int)i;
        map.nodes[i].master = sim_set_of(&sim->places[i])->master->index;
        map.nodes[i].epoch = sim_set_of(&sim->places[i])->config_epoch;
        snprintf(map.nodes[i].address.host, sizeof map.nodes[i].address.host, "%s", SIM_HOST);
    }
    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        sim->sets.owners[slot] = (uint8_t)(slot / (SIM_SLOTS / SIM_SETS_MAX + 1));
        map.owners[slot] = (uint8_t)(sim->sets.list[sim->sets.owners[slot]].master->index + 1);
    }
    for (unsigned i = 0; i < sim->places_count; i++) {
        map.self = i;
        sim_store_join(sim->places[i].store->core, &map);
    }
}
