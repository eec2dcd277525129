/* SPDX-License-Identifier: BSD-3-Clause */
/* heirs - many handles of several clients want one name, some for ever, some for a while, some by a try; some clients
 * poll. Nothing befalls them but that they are stopped for 0.1 to 20 s, or killed and started again; in some seeds a
 * program of another kind takes the name now and then, or listens. rest.c judges who has the name, and when. */
#include "heirs.h"

#include <stdlib.h>

enum { SECOND_US = 1000000, ENDS_US = 40 * SECOND_US, HEALED_US = 12 * SECOND_US, TICK_US = 2000, PLACES_TICK_US = 10000, LEASE_MS = 5000, FEW = 2 };

const char heirs_name[] = "stock", heirs_other[] = "00000000-0000-4000-8000-000000000000:1";

static struct heirs *heirs_of(const struct crowd_handle *handle) { return handle->client->crowd->owner; }

/* ---- handles ---- */

static uint64_t hold_us(struct hl_random *random)
{
    if (sim_chance(random, 0.9))
        return sim_between(random, 500, 20000);
    return sim_between(random, 20000, sim_chance(random, 0.2) ? 9 * SECOND_US : SECOND_US);
}

static uint32_t wait_ms(const struct crowd_handle *handle, struct hl_random *random)
{
    const struct heirs *heirs = heirs_of(handle);
    if (heirs->tries && handle->client->index == 0)
        return HILOCK_TRY;
    if (heirs->is_healed || sim_chance(random, 0.5))
        return HILOCK_FOREVER;
    if (sim_chance(random, 0.3))
        return HILOCK_TRY;
    return (uint32_t)sim_between(random, 20, sim_chance(random, 0.5) ? 400 : 8000);
}

static long each_of(const struct heirs *heirs) { return heirs->crowd.handles_count / heirs->crowd.clients_count; }

static void on_turn(struct crowd_handle *handle)
{
    struct heirs *heirs = heirs_of(handle);
    struct hl_random *random = &heirs->crowd.world.workload;
    if (handle->state == CROWD_HOLDS) {
        crowd_release(handle);
        crowd_next_us(handle, sim_between(random, 0, sim_chance(random, 0.2) ? 2 * SECOND_US : 20000));
    } else if (handle->state == CROWD_RESTS && !heirs->is_ending && (!heirs->has_few || handle - heirs->crowd.handles >= each_of(heirs) || handle - heirs->crowd.handles < FEW))
        crowd_acquire(handle, wait_ms(handle, random));
}

static void on_answer(struct crowd_handle *handle, const struct hilock_result *result)
{
    struct heirs *heirs = heirs_of(handle);
    struct hl_random *random = &heirs->crowd.world.workload;
    if (result->status == HILOCK_TIMED_OUT && handle->wait_ms == HILOCK_TRY) {
        heirs->tries_refused++;
        rest_refused(heirs, handle);
    }
    if (handle->state == CROWD_HOLDS)
        rest_looked(heirs, NULL); /* it may have released before the next look */
    crowd_next_us(handle, handle->state == CROWD_HOLDS ? hold_us(random) : sim_between(random, 0, 300000));
}

static void on_lost(struct crowd_handle *handle) { crowd_next_us(handle, 1000); }

static void on_executed(struct crowd_client *client, const struct message *request)
{
    if (strcmp(request->argv[0], "EVALSHA") == 0)
        rest_looked(client->crowd->owner, client);
}

static void make_locks(struct crowd_client *client)
{
    struct crowd *crowd = client->crowd;
    struct hl_random *random = &crowd->world.workload;
    struct heirs *heirs = crowd->owner;
    int polls = heirs->polls[client->index] = sim_chance(random, 0.08);
    for (unsigned i = 0; i < crowd->handles_count && client->client; i++)
        if (crowd->handles[i].client == client) {
            crowd_make(&crowd->handles[i], heirs_name, HILOCK_LOCK_OPTIONS(.kind = sim_chance(random, 0.3) ? HILOCK_MUTEX : HILOCK_FAIR, .lease_ms = LEASE_MS,
                                                                           .wake = polls ? HILOCK_WAKE_POLL : HILOCK_WAKE_SUBSCRIBE));
            crowd_next_us(&crowd->handles[i], sim_between(random, 0, 200000));
        }
}

/* ---- faults ---- */

static void on_back(void *arg)
{
    struct crowd_client *client = arg;
    struct heirs *heirs = client->crowd->owner;
    if (heirs->is_ending || client->client)
        return;
    crowd_reopen(client);
    make_locks(client);
    sim_trace(&client->crowd->world, "c%u is open again", client->index);
}

static void strike(struct heirs *heirs, struct crowd_client *client, int is_kill)
{
    struct sim_world *world = &heirs->crowd.world;
    if (!client->client)
        return;
    if (is_kill) {
        sim_trace(world, "fault: c%u is killed", client->index);
        heirs->lives[client->index]++;
        rest_kills(heirs, client);
        crowd_kill(client);
        world->sometimes[SIM_FAULT_KILL]++;
        sim_after(world, sim_between(&world->faults, 100000, sim_chance(&world->faults, 0.5) ? SECOND_US : 6 * SECOND_US), on_back, client);
    } else if (!crowd_is_stopped(client)) {
        uint64_t most_us = sim_chance(&world->faults, 0.5) ? SECOND_US : sim_chance(&world->faults, 0.8) ? 7 * SECOND_US : 20 * SECOND_US;
        uint64_t span_us = sim_between(&world->faults, 100000, most_us);
        sim_trace(world, "fault: c%u is stopped for %llu us", client->index, (unsigned long long)span_us);
        heirs->lives[client->index]++;
        crowd_stop(client, span_us);
        world->sometimes[SIM_FAULT_FREEZE]++;
    }
}

static void on_fault(void *arg)
{
    struct heirs *heirs = arg;
    struct hl_random *random = &heirs->crowd.world.faults;
    unsigned count = heirs->crowd.clients_count, most = sim_chance(random, 0.2) ? count - 1 : 1;
    int kills_others = sim_chance(random, 0.1);
    if (heirs->is_healed)
        return;
    for (unsigned i = kills_others ? 1 : 0; i < (kills_others ? count : most); i++)
        strike(heirs, &heirs->crowd.clients[kills_others ? i : hl_random_below(random, count)], kills_others || sim_chance(random, 0.3));
    sim_after(&heirs->crowd.world, sim_between(random, 1000, 2 * heirs->gap_us), on_fault, heirs);
}

/* ---- a program of another kind ---- */

static void on_other(void *arg)
{
    struct heirs *heirs = arg;
    struct hl_random *random = &heirs->crowd.world.extras;
    if (heirs->other_until_us) {
        heirs->other_until_us = 0;
        if (strcmp(store_holder(&heirs->crowd.store, heirs_name), heirs_other) == 0)
            store_free_name(&heirs->crowd.store, heirs_name);
        sim_trace(&heirs->crowd.world, "another program frees the name");
    } else if (!heirs->is_healed && store_left_ms(&heirs->crowd.store, heirs_name) == -2) {
        store_take(&heirs->crowd.store, heirs_name, heirs_other, LEASE_MS);
        heirs->other_until_us = heirs->crowd.world.time.now_us + sim_between(random, 1000, sim_chance(random, 0.5) ? 20000 : 3 * SECOND_US);
        sim_trace(&heirs->crowd.world, "another program takes the name");
        sim_at(&heirs->crowd.world, heirs->other_until_us, on_other, heirs);
        rest_looked(heirs, NULL);
        return;
    }
    rest_looked(heirs, NULL);
    if (!heirs->is_healed)
        sim_after(&heirs->crowd.world, sim_between(random, 1000, sim_chance(random, 0.8) ? 3000 : SECOND_US), on_other, heirs);
}

/* ---- the play ---- */

static void populate(struct heirs *heirs)
{
    static const struct { unsigned clients, each; } sizes[] = {{3, 1}, {5, 1}, {8, 1}, {4, 3}, {3, 40}, {5, 20}, {12, 1}};
    struct crowd *crowd = &heirs->crowd;
    struct hl_random *random = &crowd->world.workload;
    uint64_t size = hl_random_below(random, sizeof sizes / sizeof *sizes);
    heirs->gap_us = sim_between(&crowd->world.faults, 400000, 4 * SECOND_US);
    heirs->has_others = sim_chance(&crowd->world.extras, 0.25);
    heirs->tries = sim_chance(&crowd->world.extras, 0.25);
    heirs->has_few = !heirs->tries && sim_chance(&crowd->world.extras, 0.4);
    if (sim_chance(&crowd->world.faults, 0.15))
        heirs->gap_us = ENDS_US; /* hardly any */
    crowd_open(crowd, sizes[size].clients, sizes[size].each);
    sim_trace(&crowd->world, "heirs: %u clients with %u handles, a fault every %llu us, others %d", sizes[size].clients, sizes[size].each,
              (unsigned long long)heirs->gap_us, heirs->has_others);
    for (unsigned i = 0; i < crowd->clients_count; i++)
        make_locks(&crowd->clients[i]);
    sim_after(&crowd->world, SECOND_US, on_fault, heirs);
    if (heirs->has_others)
        sim_after(&crowd->world, SECOND_US, on_other, heirs);
}

static void play_to(struct heirs *heirs, uint64_t until_us)
{
    struct crowd *crowd = &heirs->crowd;
    while (crowd->world.time.now_us < until_us && !crowd->world.is_broken) {
        crowd_run_to(crowd, crowd->world.time.now_us + TICK_US);
        if (heirs->other_until_us)
            heirs->other_us = crowd->world.time.now_us;
        rest_looked(heirs, NULL);
        if (crowd->world.time.now_us / PLACES_TICK_US != (crowd->world.time.now_us - TICK_US) / PLACES_TICK_US)
            rest_check_places(heirs);
        crowd_judge_scripts(crowd);
    }
}

void sim_heirs_run(uint64_t seed, FILE *trace, struct sim_outcome *ret_outcome)
{
    struct heirs *heirs = calloc(1, sizeof *heirs);
    struct crowd *crowd = &heirs->crowd;
    if (!heirs)
        abort();
    crowd->owner = heirs;
    crowd->on_turn = on_turn;
    crowd->on_answer = on_answer;
    crowd->on_lost = on_lost;
    crowd->on_executed = on_executed;
    crowd_init(crowd, seed, trace);
    populate(heirs);
    play_to(heirs, ENDS_US);
    heirs->is_healed = 1;
    play_to(heirs, ENDS_US + HEALED_US);
    heirs->is_ending = 1;
    if (!crowd->world.is_broken)
        crowd_close(crowd);
    crowd_done(crowd, seed, ret_outcome);
    if (!ret_outcome->is_broken)
        free(heirs);
}
