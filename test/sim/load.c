/* SPDX-License-Identifier: BSD-3-Clause */
/* load - I24: a crowd wants one name without pause, more often than it can be had, at a server whose scripts take time
 * by what they touch. Most waits end in vain. The load must not feed itself: the name is handed over at a good rate from
 * the start, again at that rate soon after the server stood still for a while, and nothing is left in the queue soon
 * after the load has ended. And I23: no script touches more than a few elements, however long the queue is. */
#include "crowd.h"

#include <stdlib.h>

enum { SECOND_US = 1000000, HEALTHY_FROM_US = 3 * SECOND_US, PAUSE_AT_US = 6 * SECOND_US, PAUSE_US = 1500000, RECOVERS_US = 2 * SECOND_US,
       JUDGED_US = 3 * SECOND_US, ENDS_US = PAUSE_AT_US + PAUSE_US + RECOVERS_US + JUDGED_US, LEFT_US = SECOND_US };
enum { HOLD_LEAST_US = 1500, HOLD_MOST_US = 2500, HANDOVER_US = 600, REST_MOST_US = 2000, IDEAL_PART = 3, WAITED_PART = 5, WAITED_US = 20000, PAIR_US = 60 };

static const char name[] = "stock";

struct load {
    struct crowd crowd;
    uint32_t least_ms, most_ms; /* of a wait */
    int is_ending;
    unsigned grants;
};

static void on_turn(struct crowd_handle *handle)
{
    struct load *load = handle->client->crowd->owner;
    struct hl_random *random = &load->crowd.world.workload;
    if (handle->state == CROWD_HOLDS) {
        crowd_release(handle);
        crowd_next_us(handle, sim_between(random, 0, REST_MOST_US));
    } else if (handle->state == CROWD_RESTS && !load->is_ending)
        crowd_acquire(handle, (uint32_t)sim_between(random, load->least_ms, load->most_ms));
}

static void on_answer(struct crowd_handle *handle, const struct hilock_result *result)
{
    struct load *load = handle->client->crowd->owner;
    struct hl_random *random = &load->crowd.world.workload;
    load->grants += result->status == HILOCK_OK;
    crowd_next_us(handle, handle->state == CROWD_HOLDS ? sim_between(random, HOLD_LEAST_US, HOLD_MOST_US) : sim_between(random, 0, REST_MOST_US));
}

static void on_lost(struct crowd_handle *handle) { crowd_next_us(handle, REST_MOST_US); }

/* A server that is asked for more than it can answer has no good rate to come back to. */
static int can_be_answered(const struct load *load, unsigned handles)
{
    uint64_t turn_us = 1000 * ((uint64_t)load->least_ms + load->most_ms) / 2 + REST_MOST_US / 2, asks_us = (uint64_t)handles * PAIR_US * load->crowd.times;
    return asks_us * 4 <= turn_us * 3;
}

static void populate(struct load *load)
{
    static const struct { unsigned clients, each; } sizes[] = {{400, 1}, {600, 1}, {1, 200}, {2, 100}, {40, 10}, {1000, 1}};
    static const struct { uint32_t least_ms, most_ms; } waits[] = {{20, 80}, {5, 50}, {400, 600}};
    struct crowd *crowd = &load->crowd;
    struct hl_random *random = &crowd->world.workload;
    uint64_t size = hl_random_below(random, sizeof sizes / sizeof *sizes), wait = hl_random_below(random, sizeof waits / sizeof *waits);
    unsigned mixed = (unsigned)hl_random_below(random, 3); /* all MUTEX, all FAIR, or both */
    crowd->times = (unsigned)sim_between(random, 1, 3);
    load->least_ms = waits[wait].least_ms;
    load->most_ms = waits[wait].most_ms;
    while (!can_be_answered(load, sizes[size].clients * sizes[size].each)) {
        load->least_ms += 20;
        load->most_ms += 20;
    }
    crowd_open(crowd, sizes[size].clients, sizes[size].each);
    sim_trace(&crowd->world, "load: %u clients with %u handles, waits of %u to %u ms, kinds %u, server times %u", sizes[size].clients,
              sizes[size].each, load->least_ms, load->most_ms, mixed, crowd->times);
    for (unsigned i = 0; i < crowd->handles_count; i++) {
        hilock_kind kind = mixed == 0 || (mixed == 2 && i % 2) ? HILOCK_MUTEX : HILOCK_FAIR;
        crowd_make(&crowd->handles[i], name, HILOCK_LOCK_OPTIONS(.kind = kind, .lease_ms = 10000));
        crowd_next_us(&crowd->handles[i], sim_between(random, 0, SECOND_US));
    }
}

/* Until then; how many grants in a second. */
static double rate_to(struct load *load, uint64_t until_us)
{
    uint64_t since_us = load->crowd.world.time.now_us, scripts = load->crowd.scripts, scripts_us = load->crowd.scripts_us;
    load->grants = 0;
    load->crowd.busy.waited_us = 0;
    crowd_run_to(&load->crowd, until_us);
    sim_trace(&load->crowd.world, "load: %u grants, %llu scripts of %llu us, one waited %llu us, %zu places", load->grants, (unsigned long long)(load->crowd.scripts - scripts),
              (unsigned long long)(load->crowd.scripts_us - scripts_us), (unsigned long long)load->crowd.busy.waited_us, crowd_places(&load->crowd, name));
    return until_us > since_us ? (double)load->grants * SECOND_US / (double)(until_us - since_us) : 0;
}

static void judge(struct load *load)
{
    struct sim_world *world = &load->crowd.world;
    double ideal = SECOND_US / (double)((HOLD_LEAST_US + HOLD_MOST_US) / 2 + HANDOVER_US * load->crowd.times), healthy, again;
    uint64_t waited_us;
    rate_to(load, HEALTHY_FROM_US);
    healthy = rate_to(load, PAUSE_AT_US);
    waited_us = load->crowd.busy.waited_us;
    if (healthy * IDEAL_PART < ideal)
        sim_violate(world, "I24", "%.0f grants a second without any fault, where its holds allow %.0f", healthy, ideal);
    load->crowd.store.lane.until_us = PAUSE_AT_US + PAUSE_US;
    rate_to(load, PAUSE_AT_US + PAUSE_US);
    rate_to(load, PAUSE_AT_US + PAUSE_US + RECOVERS_US);
    again = rate_to(load, ENDS_US);
    if (again < 0.9 * healthy)
        sim_violate(world, "I24", "%.0f grants a second after a pause of the server, %.0f before it", again, healthy);
    if (load->crowd.busy.waited_us > WAITED_PART * waited_us + WAITED_US)
        sim_violate(world, "I24", "a request waits for %llu us long after a pause of the server, %llu before it", (unsigned long long)load->crowd.busy.waited_us,
                    (unsigned long long)waited_us);
    load->is_ending = 1;
    crowd_run_to(&load->crowd, ENDS_US + 1000u * load->most_ms + LEFT_US);
    if (crowd_places(&load->crowd, name))
        sim_violate(world, "I24", "%zu places are left in the queue of a load that has ended", crowd_places(&load->crowd, name));
    crowd_judge_scripts(&load->crowd);
}

void sim_load_run(uint64_t seed, FILE *trace, struct sim_outcome *ret_outcome)
{
    struct load *load = calloc(1, sizeof *load);
    if (!load)
        abort();
    load->crowd.owner = load;
    load->crowd.on_turn = on_turn;
    load->crowd.on_answer = on_answer;
    load->crowd.on_lost = on_lost;
    crowd_init(&load->crowd, seed, trace);
    populate(load);
    judge(load);
    if (!load->crowd.world.is_broken)
        crowd_close(&load->crowd);
    crowd_done(&load->crowd, seed, ret_outcome);
    if (!ret_outcome->is_broken)
        free(load);
}
