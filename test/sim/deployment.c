/* SPDX-License-Identifier: BSD-3-Clause */
/* deployment - where the locks of a seed live, and which places decide about a name: one server; a quorum of several masters, by votes; the master
 * that Sentinels name; the server of a cluster that has its slot.
 * Chosen by a stream of chance of its own. */
#include "../secret.h"
#include "sim.h"

static const char *const names[SIM_DEPLOYMENTS] = {"single", "quorum", "sentinel", "cluster"};

static const char *const urls[] = {"unix:///simulated/0", "unix:///simulated/1", "unix:///simulated/2", "unix:///simulated/3", "unix:///simulated/4"};

const char *sim_deployment_name(enum sim_deployment deployment) { return names[deployment]; }

int sim_deployment_find(const char *name, enum sim_deployment *ret_deployment)
{
    for (int i = 0; i < SIM_DEPLOYMENTS; i++)
        if (strcmp(names[i], name) == 0)
            return *ret_deployment = (enum sim_deployment)i, 1;
    return 0;
}

/* Users are advised to take odd counts; three of four, and all of three, are legal, too. */
static void choose_quorum(struct sim *sim, struct hl_random *random)
{
    static const struct { unsigned masters, needed; } sizes[] = {{3, 2}, {3, 2}, {3, 2}, {5, 3}, {5, 3}, {4, 3}, {3, 3}};
    uint64_t i = hl_random_below(random, sizeof sizes / sizeof *sizes);
    sim->places_count = sizes[i].masters;
    sim->needed = sizes[i].needed;
    for (unsigned place = 0; place < sim->places_count; place++)
        sim->urls[place] = urls[place];
}

/* A cluster is found by some of its servers, replicas among them. */
static void choose_sets(struct sim *sim, struct hl_random *random)
{
    static const char *const seeds[] = {"redis+cluster://127.0.0.1:7000,127.0.0.1:7001,127.0.0.1:7002", "redis+cluster://127.0.0.1:7001,127.0.0.1:7004",
                                        "redis+cluster://127.0.0.1:7003,127.0.0.1:7004,127.0.0.1:7005"};
    sim->places_count = SIM_SETS_PLACES;
    sim->urls[0] = sim->deployment == SIM_CLUSTER ? seeds[hl_random_below(random, sizeof seeds / sizeof *seeds)]
                                                  : "redis+sentinel://127.0.0.1:7003,127.0.0.1:7004,127.0.0.1:7005/mymaster";
}

void sim_deployment_choose(struct sim *sim, const struct sim_choice *choice)
{
    struct hl_random *random = &sim->world.deployments;
    sim->deployment = sim_chance(random, 0.8) ? SIM_SINGLE : SIM_QUORUM;
    if (sim->deployment == SIM_SINGLE && sim_chance(random, 0.35))
        sim->deployment = sim_chance(random, 0.5) ? SIM_SENTINEL : SIM_CLUSTER;
    if (choice->is_hot) {
        sim->is_hot = 1;
        sim->deployment = sim_chance(random, 0.5) ? SIM_SINGLE : SIM_QUORUM;
    }
    if (choice->has_deployment)
        sim->deployment = choice->deployment;
    sim->choice = *choice;
    sim->places_count = sim->needed = 1;
    if (sim->deployment == SIM_QUORUM) { /* which has no multis */
        choose_quorum(sim, random);
        sim->has_guard = !sim_chance(random, 0.2) && !choice->is_unguarded;
        return;
    }
    if (sim->deployment != SIM_SINGLE) {
        choose_sets(sim, random);
        sim->has_multis = sim_chance(&sim->world.sets, 0.3) && !choice->is_struck;
        sim->has_replicas = sim_chance(&sim->world.sets, 0.4) || choice->has_replicas;
        return;
    }
    sim->has_multis = sim_chance(random, 0.3);
    sim->has_multis = sim->has_multis || (choice->is_hot && sim_chance(random, 0.5));
    sim->has_multis = sim->has_multis && !choice->is_struck;
    sim->is_crowd = (sim_chance(random, 0.005) && !sim->is_hot) || choice->is_crowd;
}

struct hilock_client_options sim_deployment_options(const struct sim *sim)
{
    struct hilock_client_options options = hilock_client_options_default();
    if (sim->deployment == SIM_QUORUM) {
        options.quorum_urls = sim->urls;
        options.quorum_needed = sim->needed;
        options.restart_guard_ms = sim->guard_ms ? sim->guard_ms : HILOCK_GUARD_OFF;
        options.lease_ms = sim->guard_ms; /* every lock gives its own; a default above the guard is refused */
    } else if (sim->deployment == SIM_SINGLE)
        options.url = urls[0];
    else
        options.url = sim->urls[0];
    if (sim->deployment == SIM_SENTINEL)
        options.sentinel_password = TEST_SECRET;
    return options;
}

unsigned sim_deciding(const struct sim *sim, const struct sim_name *name)
{
    (void)name;
    return sim->deployment == SIM_QUORUM ? sim->places_count : 1;
}

struct sim_place *sim_decides(struct sim *sim, const struct sim_name *name, unsigned i)
{
    return sim->sets.count ? sim_sets_decide(sim, name) : &sim->places[i];
}
