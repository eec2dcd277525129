/* SPDX-License-Identifier: BSD-3-Clause */
/* server - a simulated Redis: the store, under a clock of its own; and the place at whose address it answers. */
#include <stdlib.h>

#include "../secret.h"
#include "base/plant.h"
#include "sim.h"

static const uint64_t UP_US = 3600000000u; /* no restart guard is on as a world begins */

/* Planted bugs of what runs at the server. */
static void plant(struct sim_store *store)
{
    if (HL_PLANTED(FAIR_ONLY_RELEASER_GRANTS))
        sim_store_twist(store, "if first then\nlocal is_granted", "if nil then\nlocal is_granted");
    if (HL_PLANTED(FAIR_POLLERS_PASSED_OVER))
        sim_store_twist(store, "if channel == '-' or ", "if channel ~= '-' and ");
    if (HL_PLANTED(NEXT_JUMPS_QUEUE))
        sim_store_twist(store, "if next and not first then", "if next then");
}

void sim_server_init(struct sim_server *server, struct sim_place *place, unsigned epoch)
{
    struct sim *sim = place->sim;
    static const struct sim_store_events events = {.message = sim_network_on_message, .published = sim_sets_said};
    struct sim_ear *ear = malloc(sizeof *ear);
    if (!ear)
        abort();
    *ear = (struct sim_ear){place, epoch};
    *server = (struct sim_server){.place = place, .ear = ear, .epoch = epoch, .store = sim_store_new(&events, ear)};
    sim_store_set_password(server->store, TEST_SECRET);
    plant(server->store);
    server->clock = sim_clock_new(&sim->world, 1700000000000000u);
    sim_store_set_time(server->store, world_clock_us(&server->clock) - UP_US);
    sim_server_now(server);
}

unsigned sim_server_login(struct sim_server *server)
{
    static const char *const argv[] = {"AUTH", TEST_SECRET};
    static const size_t lengths[] = {4, sizeof TEST_SECRET - 1};
    unsigned connection = sim_store_connect(server->store);
    const struct sim_reply *reply = sim_server_execute(server, connection, 2, argv, lengths);
    if (reply && reply->type == SIM_REPLY_ERROR)
        sim_violate(&server->place->sim->world, "I5", "the world itself is not let in: %s", reply->bytes);
    return connection;
}

void sim_server_done(struct sim_server *server)
{
    if (!server->store)
        return;
    sim_store_free(server->store);
    free(server->ear);
    server->store = NULL;
}

void sim_server_now(struct sim_server *server) { sim_store_set_time(server->store, world_clock_us(&server->clock)); }

void sim_server_started(struct sim_server *server)
{
    server->started_us = server->place->sim->world.time.now_us;
    server->set_back_us = 0;
}

void sim_server_step(struct sim_server *server, int64_t by_us)
{
    world_clock_step(&server->clock, by_us);
    if (by_us < 0)
        server->set_back_us += (uint64_t)-by_us;
}

const struct sim_reply *sim_server_execute(struct sim_server *server, unsigned connection, int argc, const char *const *argv, const size_t *lengths)
{
    sim_server_now(server);
    return sim_store_execute(server->store, connection, argc, argv, lengths);
}

void sim_place_init(struct sim_place *place, struct sim *sim, unsigned index)
{
    *place = (struct sim_place){.sim = sim, .index = index};
    sim_server_init(&place->server, place, 0);
}

void sim_place_done(struct sim_place *place)
{
    sim_failover_end(place);
    sim_server_done(&place->server);
}

struct sim_server *sim_place_server(struct sim_place *place, unsigned epoch)
{
    struct sim_server *server = epoch == place->server.epoch ? &place->server : epoch == place->former.epoch ? &place->former : NULL;
    return server && server->store && !place->is_away ? server : NULL;
}
