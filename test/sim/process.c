/* SPDX-License-Identifier: BSD-3-Clause */
/* process - a program with one client on a loop of its own: the library's loop door under virtual time. Frozen (stopped, or its host
 * suspended: the clock that counts suspend goes on in both) it runs nothing; what came due meanwhile runs when it thaws. A client may
 * end, drained or killed, and the process start again. */
#include <stdlib.h>

#include "client/observe.h"
#include "../secret.h"
#include "sim.h"

struct timer {
    struct sim_process *process;
    struct sim_event *event; /* NULL: stopped */
    hilock_fire_fn *fire;
    void *arg;
};

static uint64_t now_us(const void *clock)
{
    const struct sim_process *process = clock;
    return world_clock_us(&process->clock);
}

static void on_timer(struct sim_world *world, void *arg)
{
    struct timer *timer = arg;
    struct sim_process *process = timer->process;
    if (sim_process_is_frozen(process)) {
        timer->event = sim_at(world, process->frozen_until_us, on_timer, timer);
        return;
    }
    timer->event = NULL;
    timer->fire(timer->arg);
    sim_process_turned(process);
}

static void *timer_new(void *ctx, hilock_fire_fn *fire, void *arg)
{
    struct timer *timer = sim_strain_allocates(ctx) ? malloc(sizeof *timer) : NULL;
    if (!timer)
        return NULL;
    *timer = (struct timer){ctx, NULL, fire, arg};
    return timer;
}

static void timer_stop(void *handle)
{
    struct timer *timer = handle;
    sim_cancel(&timer->process->sim->world, timer->event);
    timer->event = NULL;
}

/* A loop is late by up to 2 ms, now and then by more than the margin that a deadline leaves for it. */
static void timer_start(void *handle, uint64_t delay_us)
{
    struct timer *timer = handle;
    struct sim_process *process = timer->process;
    struct sim_world *world = &process->sim->world;
    uint64_t late_us = hl_random_below(&world->network, 2000) + (sim_chance(&world->network, 0.001) ? hl_random_below(&world->network, 30000) : 0);
    timer_stop(timer);
    timer->event = sim_after(world, world_clock_span_us(&process->clock, delay_us) + 1 + late_us, on_timer, timer);
}

static void timer_free(void *handle)
{
    timer_stop(handle);
    free(handle);
}

static void *no_watch(void *ctx, int fd, hilock_ready_fn *ready, void *arg) { return (void)ctx, (void)fd, (void)ready, (void)arg, NULL; }
static int no_watch_set(void *watch, unsigned interest) { return (void)watch, (void)interest, -1; }
static void no_watch_free(void *watch) { (void)watch; }
static void *no_resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg) { return (void)ctx, (void)host, (void)done, (void)arg, NULL; }
static void no_cancel(void *query) { (void)query; }

/* ---- memory ---- */

static void *allocate(size_t bytes, void *ctx)
{
    struct sim_process *process = ctx;
    if (!sim_strain_allocates(process))
        return NULL;
    process->sim->live_allocations++;
    return malloc(bytes);
}

static void *reallocate(void *block, size_t bytes, void *ctx)
{
    struct sim_process *process = ctx;
    if (!sim_strain_allocates(process))
        return NULL;
    process->sim->live_allocations += !block;
    return realloc(block, bytes);
}

static void release(void *block, void *ctx)
{
    ((struct sim_process *)ctx)->sim->live_allocations--;
    free(block);
}

/* ---- clients ---- */

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
    uint64_t *sometimes = ((struct sim_process *)((hilock_client *)arg)->user)->sim->world.sometimes;
    sometimes[SIM_RENEWED] += what == HL_HOLD_RENEWED;
    sometimes[SIM_RENEWAL_FAILED] += what == HL_HOLD_RENEWAL_FAILED;
    sometimes[SIM_UNDONE] += what == HL_HOLD_UNDONE;
    sometimes[SIM_HANDED_ON] += what == HL_HOLD_HANDED_ON;
    sometimes[SIM_WAKEUP] += what == HL_WAKEUP;
    sometimes[SIM_FAIR_DOUBTED] += what == HL_GRANT_DOUBTED;
    hl_observe(arg, what, fact);
}

static void uuid_of(struct sim_world *world, char text[HL_UUID_LENGTH + 1])
{
    uint64_t high = hl_random_next(&world->workload), low = hl_random_next(&world->workload);
    snprintf(text, HL_UUID_LENGTH + 1, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xfff),
             (unsigned)(low >> 52), (unsigned long long)(low & 0xffffffffffffu));
}

/* One that lacks memory is opened again. */
static void open_client(struct sim_process *process, const struct hl_doors *doors,
                        const struct hilock_client_options *options)
{
    struct sim *sim = process->sim;
    struct hilock_error error;
    hilock_status status;
    uint64_t lacks;
    process->short_until_us = 0;
    do {
        lacks = process->lacks;
        status = hl_client_open_with(&process->client, &process->loop, doors, options, &error);
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
    const struct hl_doors doors = {.links = sim_network_links(process), .seed = hl_random_next(&sim->world.workload), .uuid = uuid};
    const struct hilock_allocator allocator = {allocate, reallocate, release, process};
    struct hilock_client_options options = sim_deployment_options(sim);
    uuid_of(&sim->world, uuid);
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
    process->clock = sim_clock_new(&sim->world, 0);
    process->loop = (struct hilock_loop){.size = sizeof process->loop, .now_us = now_us, .clock = process, .ctx = process, .watch_new = no_watch,
                                         .watch_set = no_watch_set, .watch_free = no_watch_free, .timer_new = timer_new,
                                         .timer_start = timer_start, .timer_stop = timer_stop, .timer_free = timer_free, .resolve = no_resolve,
                                         .resolve_cancel = no_cancel};
}

void sim_process_kill(struct sim_process *process)
{
    hilock_client_abandon(process->client);
    process->client = NULL;
}

int sim_process_is_frozen(const struct sim_process *process) { return process->frozen_until_us > process->sim->world.time.now_us; }

uint64_t sim_process_now_us(const struct sim_process *process) { return now_us(process); }

void sim_process_turned(struct sim_process *process)
{
    sim_check_beliefs(process);
    process->turned_us = process->sim->world.time.now_us;
    process->lingered_us = 0;
    process->turn++;
}
