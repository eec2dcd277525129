/* SPDX-License-Identifier: BSD-3-Clause */
/* strains - what some seeds have besides: names that are alike, few requests at a time, sends and allocations that fail,
 * slow callbacks, slots without a server. Each is chosen by itself, from a random stream of their own, so that
 * the other seeds run as if it were not there. They end with the heal, but for names and requests at a time. */
#include "sim.h"

enum { GAP_MAX_US = 2000000, SHORT_MAX_US = 1500000 };

static const struct { const char *word; double chance; int is_fault; } strains[SIM_STRAINS] = {
    [STRAIN_NAMES] = {"names", 0.3, 0},
    [STRAIN_INFLIGHT] = {"inflight", 0.15, 0},
    [STRAIN_SENDS] = {"sends", 0.15, 1},
    [STRAIN_MEMORY] = {"memory", 0.15, 1},
    [STRAIN_CALLBACKS] = {"callbacks", 0.15, 1},
    [STRAIN_HOLES] = {"holes", 0.15, 1},
    [STRAIN_JAVA] = {"java", 0.25, 0},
    [STRAIN_SHARE] = {"share", 0, 0},
};

int sim_strain_find(const char *word, enum sim_strain *ret_strain)
{
    for (int i = 0; i < SIM_STRAINS; i++)
        if (strcmp(strains[i].word, word) == 0)
            return *ret_strain = (enum sim_strain)i, 1;
    return 0;
}

const char *sim_strain_word(enum sim_strain strain) { return strains[strain].word; }

void sim_strains_choose(struct sim *sim)
{
    for (int i = 0; i < SIM_STRAINS; i++) {
        int is_drawn = strains[i].chance > 0 && sim_chance(&sim->world.strains, strains[i].chance);
        int is_possible = i == STRAIN_NAMES || (i == STRAIN_SHARE ? sim->deployment != SIM_QUORUM && !sim->is_hot : !sim->is_hot && (!strains[i].is_fault || sim->swarm.mean_gap_us));
        sim->strains |= (is_drawn || sim->choice.strains & 1u << i) && is_possible ? 1u << i : 0;
    }
    sim->inflight_max = sim_has_strain(sim, STRAIN_INFLIGHT) ? (uint32_t)sim_between(&sim->world.strains, 1, 2) : 0;
}

int sim_has_strain(const struct sim *sim, enum sim_strain strain) { return (sim->strains >> strain & 1) != 0; }

static int is_under(const struct sim *sim, enum sim_strain strain)
{
    return sim_has_strain(sim, strain) && !sim->is_healed;
}

/* ---- sends and memory ---- */

int sim_strain_sends(void *arg)
{
    const struct sim_process *process = arg;
    struct sim *sim = process->sim;
    if (!is_under(sim, STRAIN_SENDS) || !sim_chance(&sim->world.strains, 0.002))
        return 1;
    sim->world.sometimes[SIM_FAULT_SEND_REFUSED]++;
    sim_trace(&sim->world, "fault: a send of p%u is refused", process->index);
    return 0;
}

int sim_strain_refuses(void *arg)
{
    const struct sim_process *process = arg;
    struct sim *sim = process->sim;
    if (!is_under(sim, STRAIN_MEMORY))
        return 0;
    if (process->short_until_us <= sim->world.time.now_us && !sim_chance(&sim->world.strains, 0.001))
        return 0;
    sim->world.sometimes[SIM_FAULT_NO_MEMORY]++;
    return 1;
}

int sim_strain_excuses(struct sim_process *process, uint64_t lacks, hilock_status status)
{
    int is_honest = status == HILOCK_NO_MEMORY && process->memory.refused > lacks;
    process->sim->world.sometimes[SIM_NO_MEMORY] += is_honest != 0;
    return is_honest;
}

static void on_short(void *arg)
{
    struct sim *sim = arg;
    struct sim_world *world = &sim->world;
    struct sim_process *process = &sim->processes[hl_random_below(&world->strains, sim->processes_count)];
    if (sim->is_healed)
        return;
    process->short_until_us = world->time.now_us + sim_between(&world->strains, 0, SHORT_MAX_US);
    sim_trace(world, "fault: p%u is out of memory for a while", process->index);
    sim_after(world, sim_between(&world->strains, 1, GAP_MAX_US), on_short, sim);
}

/* ---- callbacks ---- */

/* One at a time, or they would nest for as long as there are processes. What comes for it waits, as for one that is frozen. */
void sim_strain_lingers(struct sim_process *process)
{
    struct sim *sim = process->sim;
    struct hl_random *random = &sim->world.strains;
    uint64_t most_us, *until_us = &process->loop.lane.until_us;
    if (!is_under(sim, STRAIN_CALLBACKS) || sim->is_lingering || !sim_chance(random, 0.01))
        return;
    sim->is_lingering = 1;
    process->lingered_us = process->lingered_us ? process->lingered_us : sim->world.time.now_us;
    sim->world.sometimes[SIM_FAULT_CALLBACK]++;
    most_us = sim_chance(random, 0.5) ? 100000 : 1500u * (uint64_t)sim->lease_ms;
    *until_us = sim->world.time.now_us + sim_between(random, 1000, most_us);
    sim_trace(&sim->world, "fault: a callback of p%u takes its time", process->index);
    sim_pass(sim, *until_us - 1);
    sim->world.time.now_us = *until_us;
    sim_trace(&sim->world, "a callback of p%u returns", process->index);
    sim->is_lingering = 0;
}

/* ---- slots that nobody has ---- */

static void on_hole(void *arg)
{
    struct sim *sim = arg;
    if (sim->is_healed)
        return;
    sim_cluster_hole(sim, &sim->world.strains);
    sim_after(&sim->world, sim_between(&sim->world.strains, 1, GAP_MAX_US), on_hole, sim);
}

void sim_strains_start(struct sim *sim)
{
    if (is_under(sim, STRAIN_MEMORY))
        sim_after(&sim->world, sim_between(&sim->world.strains, 1, GAP_MAX_US), on_short, sim);
    if (is_under(sim, STRAIN_HOLES) && sim->deployment == SIM_CLUSTER)
        on_hole(sim);
}
