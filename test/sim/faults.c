/* SPDX-License-Identifier: BSD-3-Clause */
/* faults - what goes wrong in the world of a seed, and when. Each seed enables a random set of kinds (swarm testing: Groce et al., 2012), so
 * that no kind always hides another; one seed in ten has none. */
#include "sim.h"

void sim_swarm_choose(struct sim *sim, const struct sim_choice *choice)
{
    struct hl_random *random = &sim->world.faults;
    struct sim_swarm *swarm = &sim->swarm;
    int *kinds[] = {&swarm->resets, &swarm->cuts, &swarm->delays, &swarm->refusals, &swarm->stalls, &swarm->restarts_kept, &swarm->restarts_empty,
                    &swarm->flushes, &swarm->script_flushes, &swarm->errors, &swarm->steps, &swarm->shortens, &swarm->freezes, &swarm->suspends,
                    &swarm->kills, &swarm->failovers};
    int is_calm = sim_chance(random, 0.1) || (choice->is_hot && !choice->is_struck);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        *kinds[i] = !is_calm && sim_chance(random, 0.4);
    /* those that lose or shorten what the store has acknowledged excuse overlaps: they are rarer, so that most seeds may excuse none */
    swarm->restarts_empty = swarm->restarts_empty && sim_chance(random, 0.3);
    swarm->flushes = swarm->flushes && sim_chance(random, 0.3);
    swarm->steps = swarm->steps && sim_chance(random, 0.3);
    swarm->shortens = swarm->shortens && sim_chance(random, 0.3);
    swarm->failovers = swarm->failovers && sim_chance(random, 0.3);
    if (choice->is_struck) /* few at a time, or all are excused */
        swarm->restarts_empty = swarm->flushes = swarm->steps = swarm->shortens = swarm->failovers = 0;
    swarm->mean_gap_us = is_calm ? 0 : choice->is_struck ? sim_between(random, 1000000, 6000000) : sim_between(random, 20000, 400000);
    swarm->latency_us = (uint32_t)sim_between(random, 20, 300);
    swarm->tail_us = sim_chance(random, 0.3) ? (uint32_t)sim_between(random, 1000, 20000) : (uint32_t)sim_between(random, 20, 500);
}

/* Whom a fault of a server befalls. */
static struct sim_place *some_place(struct sim *sim, struct hl_random *random)
{
    return &sim->places[sim->places_count > 1 ? hl_random_below(random, sim->places_count) : 0];
}

static void stall(struct sim_place *place, struct hl_random *random)
{
    struct sim_world *world = &place->sim->world;
    world->sometimes[SIM_FAULT_SERVER_STALL]++;
    place->store->lane.until_us = world->time.now_us + sim_between(random, 1000, 5000000);
}

static void restart(struct sim_place *place, int keeps_data)
{
    struct sim *sim = place->sim;
    sim_server_restart(place, keeps_data);
    if (keeps_data)
        return;
    if (sim->guard_ms)
        place->forgot_us = sim->world.time.now_us;
    else
        sim_taint(place);
}

/* Away: no client can connect; when it is back it has the data that it kept. */
static void on_back(void *arg)
{
    struct sim_place *place = arg;
    if (!place->is_away)
        return;
    place->is_away = 0;
    sim_server_restart(place, 1);
    sim_trace(&place->sim->world, "master %u is back", place->index);
}

static void crash(struct sim_place *place, struct hl_random *random)
{
    struct sim_world *world = &place->sim->world;
    int keeps_data = sim_chance(random, 0.5);
    if (place->is_away)
        return;
    sim_trace(world, "fault: master %u crashes", place->index);
    world->sometimes[keeps_data ? SIM_FAULT_CRASH_KEPT : SIM_FAULT_CRASH_EMPTY]++;
    restart(place, keeps_data);
    place->is_away = 1;
    sim_after(world, sim_between(random, 1000, 4000000), on_back, place);
}

/* Redisson's RMultiLock does that: a bare PEXPIRE. To a length that still leaves time to find out. */
static void shorten(struct sim_place *place, struct hl_random *random)
{
    struct sim *sim = place->sim;
    unsigned i = (unsigned)hl_random_below(random, sim->names_count);
    uint64_t span_ms = sim_between(random, sim->lease_ms / 2, sim->lease_ms);
    if (store_left_ms(place->store, sim->names[i].text) <= (int64_t)span_ms)
        return;
    if (sim->sets.count)
        sim_sets_meddle(sim, &sim->names[i]);
    else
        sim->names[i].tainted_us[place->index] = sim->world.time.now_us;
    sim->world.sometimes[SIM_FAULT_SHORTENED]++;
    store_expire_ms(place->store, sim->names[i].text, (int64_t)span_ms);
}

static void flush(struct sim_place *place)
{
    place->sim->world.sometimes[SIM_FAULT_FLUSH]++;
    sim_taint(place);
    store_clear(place->store);
}

static void step_clock(struct sim_place *place, struct hl_random *random)
{
    int64_t by_us = (int64_t)sim_between(random, 1000, 5000000);
    int is_back = !sim_chance(random, 0.5);
    place->sim->world.sometimes[SIM_FAULT_CLOCK_STEP]++;
    world_clock_step(&place->store->clock, is_back ? -by_us : by_us);
    place->set_back_us += is_back ? (uint64_t)by_us : 0;
    sim_taint(place);
}

static void on_errors_over(void *arg)
{
    sim_store_refuse(((struct sim_place *)arg)->store->core, SIM_REFUSE_NOTHING, NULL);
}

static void answer_errors(struct sim_place *place, struct hl_random *random)
{
    struct sim_world *world = &place->sim->world;
    static const struct { enum sim_refusal what; const char *text; } errors[] = {
        {SIM_REFUSE_WRITES, "READONLY You can't write against a read only replica."},
        {SIM_REFUSE_WRITES, "OOM command not allowed when used memory > 'maxmemory'."},
        {SIM_REFUSE_WRITES, "NOREPLICAS Not enough good replicas to write."},
        {SIM_REFUSE_ALL, "LOADING Redis is loading the dataset in memory"},
        {SIM_REFUSE_ALL, "BUSY Redis is busy running a script."},
        {SIM_REFUSE_ALL, "MASTERDOWN Link with MASTER is down"}};
    uint64_t i = hl_random_below(random, sizeof errors / sizeof *errors);
    world->sometimes[SIM_FAULT_ERRORS]++;
    sim_store_refuse(place->store->core, errors[i].what, errors[i].text);
    place->refuses_until_us = world->time.now_us + sim_between(random, 10000, 3000000);
    sim_at(world, place->refuses_until_us, on_errors_over, place);
}

/* ---- processes ---- */

static int is_at_work(const struct sim_process *process) { return process->client && !process->is_closing && !sim_process_is_frozen(process); }

static struct sim_process *some_process(struct sim *sim, struct hl_random *random)
{
    struct sim_process *process = &sim->processes[hl_random_below(random, sim->processes_count)];
    return is_at_work(process) ? process : NULL;
}

static void each_actor(struct sim_process *process, void (*act)(struct sim_actor *actor))
{
    struct sim *sim = process->sim;
    for (unsigned i = 0; i < sim->actors_count; i++)
        if (sim->actors[i].process == process)
            act(&sim->actors[i]);
}

static void on_rebirth(void *arg)
{
    struct sim_process *process = arg;
    if (process->sim->is_ending)
        return;
    sim_process_open(process);
    each_actor(process, sim_actor_start);
}

static void on_closed(void *user)
{
    struct sim_process *process = user;
    process->client = NULL;
    each_actor(process, sim_actor_die);
    sim_trace(&process->sim->world, "p%u has closed", process->index);
    sim_after(&process->sim->world, 100000, on_rebirth, process);
}

static void kill_or_close(struct sim *sim, struct hl_random *random)
{
    struct sim_process *process = some_process(sim, random);
    if (!process)
        return;
    if (sim_chance(random, 0.4)) {
        process->is_closing = 1;
        sim_trace(&sim->world, "p%u closes", process->index);
        (void)hilock_client_close(process->client, (uint32_t)sim_between(random, 0, 2000), on_closed, process);
        return;
    }
    sim->world.sometimes[SIM_FAULT_KILL]++;
    sim_trace(&sim->world, "fault: p%u is killed", process->index);
    each_actor(process, sim_queue_dies);
    sim_process_kill(process);
    each_actor(process, sim_actor_die);
    sim_after(&sim->world, sim_between(random, 1000, 1000000), on_rebirth, process);
}

static void freeze(struct sim_process *process, int is_suspend)
{
    struct sim *sim = process->sim;
    uint64_t span_us = sim_between(&sim->world.faults, 10000, is_suspend ? 4000u * sim->lease_ms : 1500u * sim->lease_ms);
    sim->world.sometimes[is_suspend ? SIM_FAULT_SUSPEND : SIM_FAULT_FREEZE]++;
    process->loop.lane.until_us = sim->world.time.now_us + span_us;
    sim_trace(&sim->world, "fault: p%u is frozen for %llu us", process->index, (unsigned long long)span_us);
}

static void freeze_some(struct sim *sim, struct hl_random *random, int is_suspend)
{
    struct sim_process *process = some_process(sim, random);
    if (process)
        freeze(process, is_suspend);
}

static void on_ambush(void *arg)
{
    struct sim_process *process = arg;
    if (is_at_work(process) && !process->sim->is_healed)
        freeze(process, 0);
}

/* What is measured or agreed upon while a link begins is used for long: a stop in the midst of that must not spoil it. */
void sim_faults_connecting(struct sim_process *process)
{
    struct sim *sim = process->sim;
    struct hl_random *random = &sim->world.faults;
    if (!sim->is_healed && sim->swarm.freezes && sim_chance(random, 0.05))
        sim_after(&sim->world, sim_between(random, 0, 8 * (uint64_t)(sim->swarm.latency_us + sim->swarm.tail_us)), on_ambush, process);
}

/* ---- the course of things ---- */

static void forget_scripts(void *arg)
{
    const struct sim_place *place = arg;
    place->sim->world.sometimes[SIM_FAULT_SCRIPT_FLUSH]++;
    sim_store_flush_scripts(place->store->core);
}

/* Often a second time, while what was forgotten is being loaded. */
static void flush_scripts(struct sim_place *place, struct hl_random *random)
{
    struct sim *sim = place->sim;
    forget_scripts(place);
    if (sim_chance(random, 0.5))
        sim_after(&sim->world, sim_between(random, 0, 4 * (uint64_t)(sim->swarm.latency_us + sim->swarm.tail_us)), forget_scripts, place);
}

static void restart_some(struct sim *sim, struct hl_random *random, int keeps_data)
{
    sim->world.sometimes[keeps_data ? SIM_FAULT_RESTART_KEPT : SIM_FAULT_RESTART_EMPTY]++;
    restart(some_place(sim, random), keeps_data);
}

static void strike(struct sim *sim)
{
    struct hl_random *random = &sim->world.faults;
    const struct sim_swarm *swarm = &sim->swarm;
    unsigned kind = (unsigned)hl_random_below(random, 21);
    sim_trace(&sim->world, "fault of kind %u", kind);
    if (sim->deployment == SIM_QUORUM && sim_chance(random, 0.1))
        crash(some_place(sim, random), random);
    else if (kind < 5 && swarm->resets)
        sim_network_reset_some(sim, random);
    else if (kind < 7 && swarm->cuts)
        sim_network_cut_some(sim, random);
    else if (kind < 8 && swarm->stalls)
        stall(some_place(sim, random), random);
    else if (kind == 8 && swarm->restarts_kept)
        restart_some(sim, random, 1);
    else if (kind == 9 && swarm->restarts_empty)
        restart_some(sim, random, 0);
    else if (kind == 10 && swarm->flushes)
        flush(some_place(sim, random));
    else if (kind == 11 && swarm->script_flushes)
        flush_scripts(some_place(sim, random), random);
    else if (kind == 12 && swarm->errors)
        answer_errors(some_place(sim, random), random);
    else if (kind == 13 && swarm->steps)
        step_clock(some_place(sim, random), random);
    else if (kind == 14 && swarm->shortens)
        shorten(some_place(sim, random), random);
    else if (kind < 17 && swarm->freezes)
        freeze_some(sim, random, 0);
    else if (kind == 17 && swarm->suspends)
        freeze_some(sim, random, 1);
    else if (kind == 20 && swarm->failovers && !sim->sets.count)
        sim_failover_start(some_place(sim, random), random);
    else if (kind < 20 && swarm->kills)
        kill_or_close(sim, random);
}

static void on_fault(void *arg)
{
    struct sim *sim = arg;
    if (sim->is_healed)
        return;
    strike(sim);
    sim_after(&sim->world, sim_between(&sim->world.faults, 1, 2 * sim->swarm.mean_gap_us), on_fault, sim);
}

void sim_faults_start(struct sim *sim)
{
    if (sim->swarm.mean_gap_us)
        sim_after(&sim->world, sim->swarm.mean_gap_us, on_fault, sim);
    sim_sets_start(sim);
    sim_strains_start(sim);
}

void sim_faults_heal(struct sim *sim)
{
    sim->is_healed = 1;
    sim->healed_us = sim->world.time.now_us;
    sim_trace(&sim->world, "healed");
    for (unsigned i = 0; i < sim->places_count; i++) {
        struct sim_place *place = &sim->places[i];
        place->store->lane.until_us = 0;
        on_back(place);
        sim_failover_end(place);
        sim_store_refuse(place->store->core, SIM_REFUSE_NOTHING, NULL);
    }
    sim_sets_heal(sim);
    sim_network_heal(sim);
}
