/* SPDX-License-Identifier: BSD-3-Clause */
/* deployment - where the locks of a seed live, and which places decide about a name: one server; or a quorum of several masters, by votes.
 * Chosen by a stream of chance of its own. */
#include "sim.h"

static const char *const names[SIM_DEPLOYMENTS] = {"single", "quorum"};

static const char *const urls[] = {"unix:///simulated/0", "unix:///simulated/1", "unix:///simulated/2", "unix:///simulated/3", "unix:///simulated/4"};

const char *sim_deployment_name(enum sim_deployment deployment) { return names[deployment]; }

int sim_deployment_find(const char *name, enum sim_deployment *ret_deployment)
{
    for (int i = 0; i < SIM_DEPLOYMENTS; i++)
        if (strcmp(names[i], name) == 0)
            return *ret_deployment = (enum sim_deployment)i, 1;
    return 0;
}

/* Odd counts are what users are told to take; four of which three must say yes, and all of three, are legal too. */
static void choose_quorum(struct sim *sim, struct hl_random *random)
{
    static const struct { unsigned masters, needed; } sizes[] = {{3, 2}, {3, 2}, {3, 2}, {5, 3}, {5, 3}, {4, 3}, {3, 3}};
    size_t i = hl_random_below(random, sizeof sizes / sizeof *sizes);
    sim->places_count = sizes[i].masters;
    sim->needed = sizes[i].needed;
    for (unsigned place = 0; place < sim->places_count; place++)
        sim->urls[place] = urls[place];
}

void sim_deployment_choose(struct sim *sim, const struct sim_choice *choice)
{
    struct hl_random *random = &sim->world.deployments;
    sim->deployment = sim_chance(random, 0.8) ? SIM_SINGLE : SIM_QUORUM;
    if (choice->has_deployment)
        sim->deployment = choice->deployment;
    sim->choice = *choice;
    sim->places_count = sim->needed = 1;
    if (sim->deployment == SIM_QUORUM) { /* which has no multis */
        choose_quorum(sim, random);
        sim->has_guard = !sim_chance(random, 0.2) && !choice->is_unguarded;
        return;
    }
    sim->has_multis = sim_chance(random, 0.3);
    sim->is_crowd = sim_chance(random, 0.005) || choice->is_crowd;
}

struct hilock_client_options sim_deployment_options(const struct sim *sim)
{
    struct hilock_client_options options = hilock_client_options_default();
    if (sim->deployment == SIM_QUORUM) {
        options.quorum_urls = sim->urls;
        options.quorum_needed = sim->needed;
        options.restart_guard_ms = sim->guard_ms ? sim->guard_ms : HILOCK_OFF;
    } else
        options.url = urls[0];
    return options;
}

unsigned sim_deciding(const struct sim *sim, const struct sim_name *name)
{
    (void)name;
    return sim->deployment == SIM_QUORUM ? sim->places_count : 1;
}

struct sim_place *sim_decides(struct sim *sim, const struct sim_name *name, unsigned i)
{
    (void)name;
    return &sim->places[i];
}
