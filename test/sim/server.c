/* SPDX-License-Identifier: BSD-3-Clause */
/* server - a simulated Redis: a store of ../world, with a clock of its own; and the place at whose address it is. */
#include <stdlib.h>

#include "../secret.h"
#include "sim.h"

static const uint64_t UP_US = 3600000000u; /* no restart guard is on as a world begins */

static void said(void *arg, const struct sim_reply *push)
{
    struct sim *sim = ((struct sim_place *)arg)->sim;
    sim_queue_said(sim, push);
    sim->world.sometimes[SIM_TAKEN_BACK] += sim_reply_is(&push->items[0], "sunsubscribe") != 0;
}

struct store *sim_server_new(struct sim_place *place)
{
    struct store *store = malloc(sizeof *store);
    if (!store)
        abort();
    store_init(store, &place->sim->world.time);
    store->clock = sim_clock_new(&place->sim->world, 1700000000000000u);
    store->is_unrecorded = 1;
    store->arg = place;
    store->said = said;
    store->published = sim_sets_said;
    store->having = sim_replicas_having;
    sim_store_set_password(store->core, TEST_SECRET);
    sim_store_set_started(store_now(store), store_us(store) - UP_US);
    return store;
}

void sim_server_free(struct store *store)
{
    net_gone(&((struct sim_place *)store->arg)->sim->net, store);
    store_done(store);
    free(store);
}

void sim_server_restart(struct sim_place *place, int keeps_data)
{
    net_reset_at(&place->sim->net, place->store, NET_ALL);
    sim_java_cut(place->sim);
    store_restart(place->store, keeps_data);
    sim_server_started(place);
}

void sim_server_started(struct sim_place *place)
{
    place->started_us = place->sim->world.time.now_us;
    place->set_back_us = 0;
}

int sim_server_is_stalled(const struct sim_place *place)
{
    return place->store->lane.until_us > place->sim->world.time.now_us;
}

/* At the address that deployment.c names. */
void sim_place_init(struct sim *sim, unsigned index)
{
    struct sim_place *place = &sim->places[index];
    int is_in_set = sim->deployment == SIM_SENTINEL || sim->deployment == SIM_CLUSTER;
    char where[32];
    snprintf(where, sizeof where, is_in_set ? SIM_HOST ":%u" : "/simulated/%u", is_in_set ? SIM_PORT + index : index);
    *place = (struct sim_place){.sim = sim, .index = index};
    place->store = sim_server_new(place);
    place->at = net_listen(&sim->net, where, place->store);
}

void sim_place_done(struct sim_place *place)
{
    sim_failover_end(place);
    sim_server_free(place->store);
}
