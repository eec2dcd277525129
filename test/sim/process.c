/* SPDX-License-Identifier: BSD-3-Clause */
/* process - a program with one client on a loop of its own: the library's loop door under virtual time. Frozen (stopped, or its host
 * suspended: the clock that counts suspend goes on in both) it runs nothing; what came due meanwhile runs when it thaws. A client may
 * end, drained or killed, and the process start again. */
#include "../secret.h"
#include "sim.h"

/* A loop is late by up to 2 ms, now and then by more than the margin that a deadline leaves for it. */
static uint64_t some_late_us(void *arg)
{
    struct hl_random *random = &((struct sim_process *)arg)->sim->world.network;
    return 1 + hl_random_below(random, 2000) + (sim_chance(random, 0.001) ? hl_random_below(random, 30000) : 0);
}

static void turned(void *arg) { sim_process_turned(arg); }

static void on_log(hilock_log_level level, const char *line, void *user)
{
    struct sim_process *process = user;
    sim_trace(&process->sim->world, "p%u log %d %s", process->index, (int)level, line);
    sim_check_log(process->sim, line);
}

static void on_client_event(const struct hilock_event *event, void *user)
{
    struct sim_process *process = user;
    if (event->kind == HILOCK_EVENT_CLOCK_ANOMALY)
        process->sim->world.sometimes[SIM_ANOMALY]++;
    sim_strain_lingers(process);
}

/* Between the machine and what hangs on its event point. */
static void on_fact(void *arg, enum hl_what what, const struct hl_fact *fact)
{
    uint64_t *sometimes = ((struct sim_process *)((hilock_client *)arg)->options.user)->sim->world.sometimes;
    sometimes[SIM_RENEWED] += what == HL_HOLD_RENEWED;
    sometimes[SIM_RENEWAL_FAILED] += what == HL_HOLD_RENEWAL_FAILED;
    sometimes[SIM_UNDONE] += what == HL_HOLD_UNDONE;
    sometimes[SIM_HANDED_ON] += what == HL_HOLD_HANDED_ON;
    sometimes[SIM_WAKEUP] += what == HL_WAKEUP;
    sometimes[SIM_FAIR_DOUBTED] += what == HL_GRANT_DOUBTED;
    hl_observe(arg, what, fact);
}

/* One that lacks memory is opened again. */
static void open_client(struct sim_process *process, const struct hl_doors *doors,
                        const struct hilock_client_options *options)
{
    struct sim *sim = process->sim;
    const struct hilock_loop loop = world_loop_table(&process->loop);
    struct hilock_error error;
    hilock_status status;
    uint64_t lacks;
    process->short_until_us = 0;
    do {
        lacks = process->memory.refused;
        status = hl_client_open_with(&process->client, &loop, doors, options, &error);
    } while (sim_strain_excuses(process, lacks, status));
    if (status != HILOCK_OK)
        sim_violate(&sim->world, "I5", "open refused: %s", error.text);
    else
        process->client->core.host.on_trace = on_fact;
}

void sim_process_open(struct sim_process *process)
{
    struct sim *sim = process->sim;
    char uuid[HL_UUID_LENGTH + 1];
    const struct hl_doors doors = {.links = net_links(&process->sim->net, &process->loop),
                                   .seed = hl_random_next(&sim->world.workload), .uuid = uuid};
    const struct hilock_allocator allocator = world_memory_allocator(&process->memory);
    struct hilock_client_options options = sim_deployment_options(sim);
    uint64_t high = hl_random_next(&sim->world.workload), low = hl_random_next(&sim->world.workload);
    snprintf(uuid, sizeof uuid, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xfff),
             (unsigned)(low >> 52), (unsigned long long)(low & 0xffffffffffffu));
    process->is_closing = 0;
    memset(process->served, 0, sizeof process->served);
    process->answered_epoch = 0;
    options.password = TEST_SECRET;
    options.label = process->index % 2 ? "sim" : NULL; /* both forms of a holder, beside each other */
    options.command_timeout_ms = sim->command_timeout_ms;
    options.lease_ms = sim->lease_ms;
    options.turns_max = sim->turns_max;
    options.inflight_max = sim->inflight_max;
    options.retry_max_ms = 500;
    options.keepalive_ms = 2000;
    options.connect_timeout_ms = 1000;
    options.on_log = on_log;
    options.log_level = HILOCK_LOG_INFO;
    options.on_event = on_client_event;
    options.user = process;
    options.allocator = &allocator;
    open_client(process, &doors, &options);
    sim_trace(&sim->world, "p%u opens as %.8s", process->index, uuid);
}

void sim_process_init(struct sim_process *process, struct sim *sim, unsigned index)
{
    *process = (struct sim_process){.sim = sim, .index = index, .turned_us = sim->world.time.now_us};
    process->memory.refuses = sim_strain_refuses;
    process->memory.sends = sim_strain_sends;
    process->memory.arg = process;
    world_loop_init(&process->loop, &sim->world.time, &process->memory);
    process->loop.clock = sim_clock_new(&sim->world, 0);
    process->loop.some_late_us = some_late_us;
    process->loop.turned = turned;
    process->loop.arg = process;
}

void sim_process_kill(struct sim_process *process)
{
    hilock_client_abandon(process->client);
    process->client = NULL;
}

int sim_process_is_frozen(const struct sim_process *process)
{
    return process->loop.lane.until_us > process->sim->world.time.now_us;
}

uint64_t sim_process_now_us(const struct sim_process *process) { return world_clock_us(&process->loop.clock); }

void sim_process_turned(struct sim_process *process)
{
    sim_check_beliefs(process);
    process->turned_us = process->sim->world.time.now_us;
    process->lingered_us = 0;
    process->turn++;
}
