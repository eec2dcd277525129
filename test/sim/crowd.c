/* SPDX-License-Identifier: BSD-3-Clause */
/* crowd - see crowd.h. */
#include "crowd.h"

#include <stdlib.h>

#include "../secret.h"
#include "wire/keys.h"

static const char url[] = "unix:///simulated/0";

/* Microseconds of a server on a machine at rest, measured at Redis 7.0: a call of a script, and for each element that it
 * reads or writes; any other command; the bytes of a script that is loaded. */
enum { SCRIPT_US = 30, ELEMENTS_A_US = 2, COMMAND_US = 5, LOAD_BYTES_A_US = 400, LATE_MOST_US = 300, DRIFT_PPM = 4000, CLOSED_US = 10000000, USUAL_TOUCHES = 40 };

/* A step of a script looks at 64 places at most: of each it may read the member and a record, ask who listens to its
 * channel (nine elements), and take both out. */
enum { TOUCHED_MOST = 64 * 14 + 200 };

static int is_script(const struct message *request) { return strcmp(request->argv[0], "EVALSHA") == 0; }

static uint64_t takes_us(void *arg, const struct message *request, uint64_t touched)
{
    struct crowd *crowd = arg;
    int is_load = strcmp(request->argv[0], "SCRIPT") == 0 && request->argc == 3;
    uint64_t more = touched > USUAL_TOUCHES ? touched - USUAL_TOUCHES : 0, us;
    if (!is_script(request))
        return crowd->times * (COMMAND_US + (is_load ? (uint64_t)request->lengths[2] / LOAD_BYTES_A_US : 0));
    us = crowd->times * (SCRIPT_US + more / ELEMENTS_A_US);
    crowd->scripts++;
    crowd->scripts_us += us;
    return us;
}

void crowd_judge_scripts(struct crowd *crowd)
{
    if (crowd->touched_most > TOUCHED_MOST)
        sim_violate(&crowd->world, "I23", "a run of %s touched %llu elements", crowd->touched_by, (unsigned long long)crowd->touched_most);
}

static void trace_execution(const struct crowd_client *client, const struct message *request, const struct hl_reply *reply)
{
    const char *holder = "";
    if (!client->crowd->world.trace || !is_script(request))
        return;
    for (int i = 3; i < request->argc && !*holder; i++)
        if (request->lengths[i] > HL_UUID_LENGTH && request->argv[i][HL_UUID_LENGTH] == ':' && request->argv[i][8] == '-')
            holder = request->argv[i] + HL_UUID_LENGTH;
    sim_trace(&client->crowd->world, "server runs for c%u: %s %s %.90s -> %d %lld %.*s", client->index, store_word(request->argc, request->argv, request->lengths), holder,
              request->argv[request->argc - (request->argc > 7 ? 2 : 1)], (int)reply->type, (long long)(reply->type == HL_REPLY_ARRAY && reply->count ? reply->items[0].integer : reply->integer),
              reply->type == HL_REPLY_STRING ? (int)reply->length : 0, reply->type == HL_REPLY_STRING ? reply->bytes : "");
}

static void executed(void *arg, struct hl_link *link, const struct message *request, const struct hl_reply *reply)
{
    struct crowd *crowd = arg;
    trace_execution(link->process->arg, request, reply);
    uint64_t touched = sim_store_touched(crowd->store.core) - crowd->touched;
    crowd->touched += touched;
    crowd->world.sometimes[SIM_OPERATION] += is_script(request) != 0;
    if (is_script(request) && touched > crowd->touched_most) {
        crowd->touched_most = touched;
        crowd->touched_by = store_word(request->argc, request->argv, request->lengths);
    }
    if (crowd->on_executed)
        crowd->on_executed(link->process->arg, request);
}

static uint64_t some_late_us(void *arg)
{
    return 1 + hl_random_below(&((struct crowd_client *)arg)->crowd->world.network, LATE_MOST_US);
}

void crowd_init(struct crowd *crowd, uint64_t seed, FILE *trace)
{
    sim_world_init(&crowd->world, seed, trace);
    net_init(&crowd->net, &crowd->world.time);
    crowd->net.arg = crowd;
    crowd->net.executed = executed;
    store_init(&crowd->store, &crowd->world.time);
    crowd->store.is_unrecorded = 1;
    sim_store_set_password(crowd->store.core, TEST_SECRET);
    net_listen(&crowd->net, "/simulated/0", &crowd->store);
}

static void open_client(struct crowd_client *client)
{
    struct crowd *crowd = client->crowd;
    struct hl_random *random = &crowd->world.workload;
    struct hilock_error error;
    const struct hl_doors doors = {.links = net_links(&crowd->net, &client->loop), .seed = hl_random_next(random), .uuid = client->uuid};
    const struct hilock_allocator allocator = world_memory_allocator(&client->memory);
    const struct hilock_loop loop = world_loop_table(&client->loop);
    uint64_t high = hl_random_next(random), low = hl_random_next(random);
    snprintf(client->uuid, sizeof client->uuid, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xffff),
             (unsigned)(high & 0xfff), (unsigned)(low >> 52), (unsigned long long)(low & 0xffffffffffffu));
    if (hl_client_open_with(&client->client, &loop, &doors,
                            HILOCK_CLIENT_OPTIONS(.url = url, .password = TEST_SECRET, .allocator = &allocator, .user = client), &error) != HILOCK_OK)
        sim_violate(&crowd->world, "I5", "open refused: %s", error.text);
}

static void on_turn(void *arg)
{
    struct crowd_handle *handle = arg;
    if (handle->lock)
        handle->client->crowd->on_turn(handle);
}

void crowd_open(struct crowd *crowd, unsigned clients, unsigned each)
{
    crowd->clients = calloc(clients, sizeof *crowd->clients);
    crowd->handles = calloc((size_t)clients * each, sizeof *crowd->handles);
    if (!crowd->clients || !crowd->handles)
        abort();
    if (crowd->times)
        busy_init(&crowd->busy, &crowd->store, takes_us, crowd);
    for (crowd->clients_count = 0; crowd->clients_count < clients; crowd->clients_count++) {
        struct crowd_client *client = &crowd->clients[crowd->clients_count];
        *client = (struct crowd_client){.crowd = crowd, .index = crowd->clients_count};
        world_loop_init(&client->loop, &crowd->world.time, &client->memory);
        client->loop.clock = sim_clock_new(&crowd->world, 0);
        client->loop.some_late_us = some_late_us;
        client->loop.arg = client;
        open_client(client);
        for (unsigned i = 0; i < each; i++) {
            struct crowd_handle *handle = &crowd->handles[crowd->handles_count++];
            *handle = (struct crowd_handle){.client = client};
            world_event_init(&handle->next, &client->loop.lane, on_turn, handle);
        }
    }
}

/* ---- handles ---- */

static void on_lost(const struct hilock_event *event, void *user)
{
    struct crowd_handle *handle = user;
    (void)event;
    handle->state = CROWD_RESTS;
    handle->client->crowd->on_lost(handle);
}

void crowd_make(struct crowd_handle *handle, const char *name, const struct hilock_lock_options *options)
{
    struct hilock_lock_options own = *options;
    own.on_lost = on_lost;
    own.user = handle;
    if (hilock_lock_create(&handle->lock, handle->client->client, name, &own) != HILOCK_OK)
        sim_violate(&handle->client->crowd->world, "I5", "create refused: %s", hilock_client_refusal(handle->client->client));
}

void crowd_next_us(struct crowd_handle *handle, uint64_t delay_us)
{
    struct world *time = &handle->client->crowd->world.time;
    world_start(time, &handle->next, time->now_us + delay_us);
}

/* I1. */
static void check_alone(const struct crowd_handle *handle)
{
    struct crowd *crowd = handle->client->crowd;
    for (unsigned i = 0; i < crowd->handles_count; i++) {
        const struct crowd_handle *other = &crowd->handles[i];
        if (other != handle && other->state == CROWD_HOLDS && other->lock && hilock_lock_remaining_ms(other->lock) &&
            strcmp(hilock_lock_name(other->lock), hilock_lock_name(handle->lock)) == 0)
            sim_violate(&crowd->world, "I1", "handles %u and %u both hold %s", (unsigned)(handle - crowd->handles), i, hilock_lock_name(handle->lock));
    }
}

static void on_result(const struct hilock_result *result, void *user)
{
    struct crowd_handle *handle = user;
    struct crowd *crowd = handle->client->crowd;
    handle->state = result->status == HILOCK_OK ? CROWD_HOLDS : CROWD_RESTS;
    if (handle->state == CROWD_HOLDS) {
        crowd->world.sometimes[SIM_GRANTED]++;
        check_alone(handle);
    }
    sim_trace(&crowd->world, "c%u.%u %s %s", handle->client->index, (unsigned)(handle - crowd->handles), hilock_status_name(result->status), hilock_lock_name(handle->lock));
    crowd->on_answer(handle, result);
}

void crowd_acquire(struct crowd_handle *handle, uint32_t wait_ms)
{
    struct crowd *crowd = handle->client->crowd;
    handle->state = CROWD_WAITS;
    handle->asked_us = crowd->world.time.now_us;
    handle->wait_ms = wait_ms;
    if (hilock_acquire(handle->lock, wait_ms, on_result, handle) != HILOCK_OK)
        sim_violate(&crowd->world, "I5", "acquire refused: %s", hilock_client_refusal(handle->client->client));
}

void crowd_release(struct crowd_handle *handle)
{
    handle->state = CROWD_RESTS;
    if (hilock_release(handle->lock, NULL, NULL) != HILOCK_OK)
        sim_violate(&handle->client->crowd->world, "I5", "release of a held handle was refused");
}

/* ---- faults ---- */

void crowd_stop(struct crowd_client *client, uint64_t span_us)
{
    client->thawed_us = client->loop.lane.until_us = client->crowd->world.time.now_us + span_us;
    client->stopped_at_us = client->crowd->world.time.now_us;
    client->stopped_us = span_us > client->stopped_us ? span_us : client->stopped_us;
}

int crowd_is_stopped(const struct crowd_client *client) { return client->thawed_us > client->crowd->world.time.now_us; }

void crowd_kill(struct crowd_client *client)
{
    struct crowd *crowd = client->crowd;
    hilock_client_abandon(client->client);
    client->client = NULL;
    client->died_us = crowd->world.time.now_us;
    for (unsigned i = 0; i < crowd->handles_count; i++)
        if (crowd->handles[i].client == client) {
            world_stop(&crowd->world.time, &crowd->handles[i].next);
            hilock_lock_free(crowd->handles[i].lock);
            crowd->handles[i].lock = NULL;
            crowd->handles[i].state = CROWD_RESTS;
        }
}

void crowd_reopen(struct crowd_client *client)
{
    client->loop.lane.until_us = client->thawed_us = client->stopped_us = 0;
    open_client(client);
}

/* ---- as a whole ---- */

void crowd_run_to(struct crowd *crowd, uint64_t until_us)
{
    while (sim_step(&crowd->world, until_us))
        ;
    if (!crowd->world.is_broken && crowd->world.time.now_us < until_us)
        crowd->world.time.now_us = until_us;
}

size_t crowd_places(const struct crowd *crowd, const char *name)
{
    char key[HL_KEY_PREFIX_MAX + 64];
    size_t length = hl_key_write(key, hl_key_queue, name, strlen(name)), places = 0;
    struct sim_store_field place;
    for (size_t i = 0; sim_store_hash_field(store_now(&crowd->store), key, length, i, &place); i++)
        places += place.name_length > 1;
    return places;
}

static void on_closed(void *user) { ((struct crowd_client *)user)->client = NULL; }

static unsigned open_clients(const struct crowd *crowd)
{
    unsigned count = 0;
    for (unsigned i = 0; i < crowd->clients_count; i++)
        count += crowd->clients[i].client != NULL;
    return count;
}

void crowd_close(struct crowd *crowd)
{
    uint64_t ends_us = crowd->world.time.now_us + CLOSED_US;
    for (unsigned i = 0; i < crowd->handles_count; i++) {
        world_stop(&crowd->world.time, &crowd->handles[i].next);
        hilock_lock_free(crowd->handles[i].lock);
        crowd->handles[i].lock = NULL;
        crowd->handles[i].state = CROWD_RESTS;
    }
    for (unsigned i = 0; i < crowd->clients_count; i++)
        if (crowd->clients[i].client)
            (void)hilock_client_close(crowd->clients[i].client, 1000, on_closed, &crowd->clients[i]);
    while (open_clients(crowd) && crowd->world.time.now_us < ends_us && !crowd->world.is_broken)
        crowd_run_to(crowd, crowd->world.time.now_us + 10000);
    if (open_clients(crowd))
        sim_violate(&crowd->world, "I9", "%u clients do not close", open_clients(crowd));
    crowd_run_to(crowd, crowd->world.time.now_us + 1000000);
    for (unsigned i = 0; i < crowd->clients_count; i++)
        if (crowd->clients[i].memory.blocks || crowd->clients[i].loop.timers)
            sim_violate(&crowd->world, "I9", "client %u left %zu blocks and %u timers", i, crowd->clients[i].memory.blocks, crowd->clients[i].loop.timers);
}

void crowd_done(struct crowd *crowd, uint64_t seed, struct sim_outcome *ret_outcome)
{
    *ret_outcome = (struct sim_outcome){.seed = seed, .hash = crowd->world.hash, .steps = crowd->world.time.steps, .virtual_us = crowd->world.time.now_us,
                                        .is_broken = crowd->world.is_broken};
    memcpy(ret_outcome->sometimes, crowd->world.sometimes, sizeof ret_outcome->sometimes);
    memcpy(ret_outcome->why, crowd->world.why, sizeof ret_outcome->why);
    if (crowd->world.is_broken) /* what is broken is left as it is: freeing it could crash */
        return;
    net_done(&crowd->net);
    store_done(&crowd->store);
    sim_world_done(&crowd->world);
    free(crowd->clients);
    free(crowd->handles);
}
