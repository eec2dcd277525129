/* SPDX-License-Identifier: BSD-3-Clause */
/* run - one seed from its first event to its last: a phase with faults in which only safety is asked for, then everything is healed and
 * progress is demanded (random faults heal too soon to show a livelock), then all is closed and nothing may be left. */
#include <stdlib.h>

#include "base/slot.h"
#include "crowd.h"
#include "sim.h"
#include "wire/queued.h"

enum { PROCESSES_USUAL = 6, NAMES_USUAL = 5, CROWD = 20, CROWD_NAMES = 10, HOT_NAMES = 3, HOT_EACH = 2 };
enum { FAULT_PHASE_US = 12000000, DUEL_US = 60000000, HOT_US = 60000000, CONTESTS = 2000, LIVE_STEP_US = 100000, LIVE_LEAST_US = 9000000, END_US = 60000000 };

static void populate(struct sim *sim)
{
    static const uint32_t leases_ms[] = {150, 500, 3000, 10000}, turns[] = {16, 16, 4, 2, 1};
    static const hilock_kind pick[] = {HILOCK_SIMPLE, HILOCK_SIMPLE, HILOCK_FAIR, HILOCK_FAIR, HILOCK_MUTEX, HILOCK_MUTEX};
    struct hl_random *random = &sim->world.workload, kinds = sim->world.workload; /* a copy: no seed plays anything else for it */
    unsigned each = (unsigned)sim_between(random, 1, SIM_ACTORS_MAX);
    sim->lease_ms = leases_ms[sim->is_crowd || sim->is_hot ? 2 + hl_random_below(random, 2) : hl_random_below(random, 4)];
    /* Several names, and WAIT for each, must be had while more than most of a lease is left: some ask for that much. */
    uint64_t trip_us = sim->swarm.latency_us + sim->swarm.tail_us;
    if (sim->sets.count && (sim->has_multis || sim->has_replicas) && (uint64_t)sim->lease_ms * 1000 < 40 * trip_us)
        sim->lease_ms = leases_ms[2];
    sim->command_timeout_ms = (uint32_t)sim_between(random, 200, 1000);
    sim->processes_count = (unsigned)sim_between(random, 1, PROCESSES_USUAL);
    sim->names_count = (unsigned)sim_between(random, 1, NAMES_USUAL);
    sim->turns_max = turns[hl_random_below(&kinds, sizeof turns / sizeof *turns)];
    sim->is_duel = sim_chance(random, sim->swarm.mean_gap_us ? 0.1 : 0.5) && !sim->is_crowd && !sim->is_hot;
    sim->has_extras = !sim->is_duel && sim_chance(&sim->world.extras, 0.5);
    if (sim->is_duel) {
        sim->processes_count = 2;
        sim->names_count = each = 1;
    }
    if (sim->is_crowd) {
        sim->processes_count = CROWD;
        sim->names_count = CROWD_NAMES;
        each = 1;
    }
    if (sim->is_hot) {
        sim->processes_count += 1;
        sim->names_count = (unsigned)sim_between(random, 1, HOT_NAMES);
        each = (unsigned)sim_between(random, 1, HOT_EACH);
        sim->has_extras = 0;
    }
    if (sim->has_guard) /* an extend may ask for twice as much */
        sim->guard_ms = sim->has_extras ? 2 * sim->lease_ms : sim->lease_ms;
    sim_names_choose(sim);
    for (unsigned i = 0; i < sim->names_count; i++) {
        sim->names[i].kind = sim->is_crowd || sim->is_hot ? HILOCK_MUTEX : pick[hl_random_below(&kinds, sizeof pick / sizeof *pick)];
        sim->names[i].slot = hl_slot_of(sim->names[i].text, strlen(sim->names[i].text));
        sim->names[i].set = sim->sets.owners[sim->names[i].slot];
        if (sim->deployment == SIM_QUORUM && sim->names[i].kind == HILOCK_FAIR)
            sim->names[i].kind = HILOCK_MUTEX;
        sim->names[i].is_mixed = sim->names[i].kind == HILOCK_FAIR && sim_chance(&kinds, 0.4);
    }
    sim_sharing_choose(sim);
    for (unsigned i = 0; i < sim->processes_count; i++) {
        sim_process_init(&sim->processes[i], sim, i);
        sim_process_open(&sim->processes[i]);
        for (unsigned j = 0; j < each; j++) {
            sim_actor_init(&sim->actors[sim->actors_count], &sim->processes[i], j);
            sim_actor_start(&sim->actors[sim->actors_count++]);
        }
    }
}

static void run_until(struct sim *sim, uint64_t until_us)
{
    while (sim_step(&sim->world, until_us))
        ;
    if (!sim->world.is_broken && sim->world.time.now_us < until_us)
        sim->world.time.now_us = until_us;
}

void sim_pass(struct sim *sim, uint64_t until_us)
{
    while (sim->world.time.now_us < until_us && !sim->world.is_broken) {
        run_until(sim, sim->world.time.now_us + LIVE_STEP_US < until_us ? sim->world.time.now_us + LIVE_STEP_US : until_us);
        sim_check_names(sim);
    }
}

static unsigned unserved(const struct sim *sim)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim->actors_count; i++)
        count += !sim->actors[i].served;
    for (unsigned i = 0; i < sim->javas_count; i++)
        count += !sim->javas[i].served;
    return count;
}

/* What a dead link's bytes made may stand for as long as they asked for. */
static int may_have_unknown_holds(const struct sim *sim)
{
    return sim->ghost_us && sim->world.time.now_us < sim->ghost_us + (sim->has_extras ? 2000u : 1000u) * (uint64_t)sim->lease_ms + LIVE_STEP_US;
}

/* A waiter is served within a lost process's lease, a frozen process's sleep, the polls, and all turns before it. */
static void demand_progress(struct sim *sim)
{
    uint64_t lease_us = 1000 * (uint64_t)sim->lease_ms, bound_us = sim->world.time.now_us + 12 * lease_us + 60000000;
    uint64_t least_us = sim->world.time.now_us + (lease_us + 1500000 > LIVE_LEAST_US ? lease_us + 1500000 : LIVE_LEAST_US); /* unknown holds run
                                                                                                                               out */
    for (unsigned i = 0; i < sim->actors_count; i++)
        sim->actors[i].served = 0;
    for (unsigned i = 0; i < sim->javas_count; i++)
        sim->javas[i].served = 0;
    while ((unserved(sim) || sim->world.time.now_us < least_us || may_have_unknown_holds(sim)) && sim->world.time.now_us < bound_us &&
           !sim->world.is_broken)
        sim_pass(sim, sim->world.time.now_us + LIVE_STEP_US);
    for (unsigned i = 0; i < sim->actors_count && !sim->world.is_broken; i++)
        if (!sim->actors[i].served)
            sim_violate(&sim->world, "I6",
                        "%u handles are not served, long after the heal: %s, kind %d, of %u names", unserved(sim),
                        sim->actors[i].who, sim->actors[i].kind, sim->actors[i].names_count);
    for (unsigned i = 0; i < sim->javas_count && !sim->world.is_broken; i++)
        if (!sim->javas[i].served)
            sim_violate(&sim->world, "I6", "%s, of %u names, is not served, long after the heal", sim->javas[i].holder, sim->javas[i].count);
}

static void on_closed(void *user) { ((struct sim_process *)user)->client = NULL; }

static unsigned clients(const struct sim *sim)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim->processes_count; i++)
        count += sim->processes[i].client != NULL;
    return count;
}

static void close_all(struct sim *sim)
{
    uint64_t bound_us = sim->world.time.now_us + END_US + 4000u * (uint64_t)sim->lease_ms;
    sim->is_ending = 1;
    sim_java_end(sim);
    for (unsigned i = 0; i < sim->processes_count; i++)
        if (sim->processes[i].client && !sim->processes[i].is_closing)
            (void)hilock_client_close(sim->processes[i].client, 0, on_closed, &sim->processes[i]);
    while (clients(sim) && sim->world.time.now_us < bound_us && !sim->world.is_broken)
        run_until(sim, sim->world.time.now_us + LIVE_STEP_US);
    if (clients(sim) && !sim->world.is_broken)
        sim_violate(&sim->world, "I9", "%u clients do not close", clients(sim));
    for (unsigned i = 0; i < sim->actors_count; i++)
        sim_actor_die(&sim->actors[i]);
    /* A process that is killed, or closes while the store is away, leaves its hold until its lease ends (an extend may have doubled it) and its
     * place in a queue until that lapses: then nothing is left. Without faults nothing is left at once, but for how often the name was
     * left to another program in vain. */
    uint64_t soon_us = sim->world.time.now_us + 10 * LIVE_STEP_US, queues_us = soon_us + 1000u * (uint64_t)HL_QUEUE_LIVES_MS;
    uint64_t leases_us = FAULT_PHASE_US + 3000u * (uint64_t)sim->lease_ms, later_us = leases_us > queues_us ? leases_us : queues_us;
    run_until(sim, sim->swarm.mean_gap_us || sim_has_strain(sim, STRAIN_JAVA) ? later_us : soon_us);
}

static uint64_t phase_us(const struct sim *sim)
{
    if (sim->is_hot)
        return sim->contests < CONTESTS || sim->choice.is_struck ? HOT_US : 0;
    return sim->is_duel ? DUEL_US : FAULT_PHASE_US;
}

void sim_run(uint64_t seed, const struct sim_choice *choice, FILE *trace, struct sim_outcome *ret_outcome)
{
    if (choice->is_load || choice->is_heirs) {
        (choice->is_load ? sim_load_run : sim_heirs_run)(seed, trace, ret_outcome);
        return;
    }
    struct sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        abort();
    sim_world_init(&sim->world, seed, trace);
    sim_network_init(sim);
    sim_swarm_choose(sim, choice);
    sim_deployment_choose(sim, choice);
    sim_strains_choose(sim);
    for (unsigned i = 0; i < sim->places_count; i++)
        sim_place_init(sim, i);
    sim_sets_init(sim);
    populate(sim);
    sim_faults_start(sim);
    sim_java_start(sim);
    while (sim->world.time.now_us < phase_us(sim) && !sim->world.is_broken)
        sim_pass(sim, sim->world.time.now_us + LIVE_STEP_US);
    sim_faults_heal(sim);
    if (!sim->is_hot)
        demand_progress(sim);
    if (!sim->world.is_broken)
        close_all(sim);
    if (!sim->world.is_broken)
        sim_check_end(sim);
    sim->is_over = 1;
    *ret_outcome = (struct sim_outcome){.seed = seed, .hash = sim->world.hash, .steps = sim->world.time.steps, .virtual_us = sim->world.time.now_us,
                                        .is_broken = sim->world.is_broken};
    memcpy(ret_outcome->sometimes, sim->world.sometimes, sizeof ret_outcome->sometimes);
    memcpy(ret_outcome->why, sim->world.why, sizeof ret_outcome->why);
    if (sim->world.is_broken) /* what is broken is left as it is: freeing it could crash */
        return;
    net_done(&sim->net);
    sim_sets_done(sim);
    for (unsigned i = 0; i < sim->places_count; i++)
        sim_place_done(&sim->places[i]);
    sim_world_done(&sim->world);
    free(sim);
}
