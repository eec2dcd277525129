/* SPDX-License-Identifier: BSD-3-Clause */
/* fixture_client - the clients and handles of a fixture, and its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "fixture.h"

/* Names come from the program, holders belong into `holder` alone, and a password nowhere. */
static void check_text(struct fixture *fixture, const char *text)
{
    const struct client *client;
    HOLDS(fixture, !strstr(text, FIXTURE_SECRET));
    TAILQ_FOREACH(client, &fixture->clients, entry)
        HOLDS(fixture, !strstr(text, client->uuid));
}

/* ---- reports ---- */

static void remember(struct handle *handle, const char *holder, const char *label, const char *detail)
{
    check_text(handle->fixture, detail);
    snprintf(handle->holder, sizeof handle->holder, "%s", holder);
    snprintf(handle->label, sizeof handle->label, "%s", label);
    snprintf(handle->detail, sizeof handle->detail, "%s", detail);
    handle->at_us = handle->fixture->world.now_us;
    handle->calls++;
}

static void told(struct handle *handle, const char *what)
{
    void (*then)(struct handle *) = handle->then;
    fixture_write(handle->fixture, handle->tag, what);
    if (!then || (handle->when && strcmp(handle->when, what) != 0))
        return;
    handle->then = NULL;
    then(handle);
}

static void on_result(const struct hilock_result *result, void *user)
{
    struct handle *handle = user;
    char what[64];
    const char *status = hilock_status_name(result->status);
    remember(handle, result->holder, result->holder_label, result->detail);
    handle->result = *result;
    handle->result.holder = handle->holder;
    handle->result.holder_label = handle->label;
    handle->result.detail = handle->detail;
    if (result->operation == HILOCK_OP_ACQUIRE)
        snprintf(what, sizeof what, "%s", status);
    else if (result->operation == HILOCK_OP_DOWNGRADE)
        snprintf(what, sizeof what, "%s%s", result->status == HILOCK_OK ? "shares" : "downgrade ",
                 result->status == HILOCK_OK ? "" : status);
    else if (result->operation == HILOCK_OP_PEEK || result->operation == HILOCK_OP_FORCE_RELEASE)
        snprintf(what, sizeof what, "%s %s", result->operation == HILOCK_OP_PEEK ? "peek" : "force", status);
    else if (result->status == HILOCK_OK)
        snprintf(what, sizeof what, result->operation == HILOCK_OP_EXTEND ? "extended" : "released");
    else
        snprintf(what, sizeof what, "%s %s", result->operation == HILOCK_OP_EXTEND ? "extend" : "release", status);
    told(handle, what);
}

static void keep_event(struct handle *handle, const struct hilock_event *event)
{
    remember(handle, event->holder, event->holder_label, event->detail);
    handle->event = *event;
    handle->event.holder = handle->holder;
    handle->event.holder_label = handle->label;
    handle->event.detail = handle->detail;
}

static void on_lost(const struct hilock_event *event, void *user)
{
    static const char *const whats[] = {"LOST NONE", "LOST TAKEN", "LOST EXPIRED", "LOST SUSPENDED", "LOST HOLD_MAX", "LOST CLOSING"};
    struct handle *handle = user;
    keep_event(handle, event);
    told(handle, whats[event->reason]);
}

static const char *name_of(hilock_event_kind kind)
{
    switch (kind) {
    case HILOCK_EVENT_LOST: return "LOST through on_event";
    case HILOCK_EVENT_WAITING: return "WAITING";
    case HILOCK_EVENT_RENEWAL_FAILED: return "RENEWAL_FAILED";
    case HILOCK_EVENT_RENEWED: return "RENEWED";
    case HILOCK_EVENT_RELEASE_SETTLED: return "SETTLED";
    case HILOCK_EVENT_PASSED_OVER: return "PASSED_OVER";
    case HILOCK_EVENT_CONNECTED: return "up";
    case HILOCK_EVENT_DISCONNECTED: return "down";
    case HILOCK_EVENT_CLOCK_ANOMALY: return "ANOMALY";
    case HILOCK_EVENT_STORE_RESTARTED: return "RESTARTED";
    case HILOCK_EVENT_EVICTION_RISK: return "EVICTION";
    case HILOCK_EVENT_LOOP_STALLED: return "STALLED";
    case HILOCK_EVENT_FAILOVER: return "failover";
    case HILOCK_EVENT_SERVER_CHANGED: return "MOVED";
    case HILOCK_EVENT_LINKS_APART: return "APART";
    }
    return "some event";
}

static void on_event(const struct hilock_event *event, void *user)
{
    keep_event(user, event);
    told(user, name_of(event->kind));
}

static void on_client_event(const struct hilock_event *event, void *user)
{
    struct client *client = user;
    HOLDS(client->fixture, event->holder && event->holder_label && event->node); /* the header: never NULL */
    check_text(client->fixture, event->detail);
    client->event = *event;
    snprintf(client->event_detail, sizeof client->event_detail, "%s", event->detail);
    snprintf(client->event_node, sizeof client->event_node, "%s", event->node);
    if (client->tells)
        fixture_write(client->fixture, "", name_of(event->kind));
}

static void on_log(hilock_log_level level, const char *line, void *user)
{
    struct client *client = user;
    size_t length = strlen(line);
    HOLDS(client->fixture, level >= HILOCK_LOG_ERROR && level <= HILOCK_LOG_DEBUG);
    check_text(client->fixture, line);
    client->level = level;
    client->lines++;
    snprintf(client->line, sizeof client->line, "%s", line);
    if (client->log_room < client->log_used + length + 2) {
        client->log_room = 2 * client->log_room + length + 2;
        client->log = realloc(client->log, client->log_room);
        if (!client->log)
            abort();
    }
    memcpy(client->log + client->log_used, line, length);
    memcpy(client->log + client->log_used + length, "\n", 2);
    client->log_used += length + 1;
}

static void on_closed(void *user)
{
    struct client *client = user;
    client->client = NULL;
    client->is_closed = 1;
    client->closed_at_us = client->fixture->world.now_us;
    fixture_write(client->fixture, "", "closed");
    if (client->on_closed)
        client->on_closed(client);
}

/* ---- clients ---- */

struct client *fixture_open(struct fixture *fixture, const struct hilock_client_options *given)
{
    struct client *client = calloc(1, sizeof *client);
    struct hilock_client_options options = given ? *given : hilock_client_options_default();
    const struct hilock_allocator allocator = world_memory_allocator(&fixture->memory);
    struct hl_doors doors;
    if (!client)
        abort();
    client->fixture = fixture;
    client->log = calloc(1, client->log_room = 256);
    snprintf(client->uuid, sizeof client->uuid, "%08x-aaaa-4bbb-8ccc-0123456789ab", 0x51000000 + ++fixture->clients_ever);
    TAILQ_INSERT_TAIL(&fixture->clients, client, entry);
    world_loop_init(&client->loop, &fixture->world, &fixture->memory);
    struct hilock_loop loop = world_loop_table(&client->loop);
    doors = (struct hl_doors){.links = net_links(&fixture->net, &client->loop), .seed = fixture->clients_ever,
                              .uuid = client->uuid};
    options.allocator = &allocator;
    options.on_log = on_log;
    options.log_level = options.log_level ? options.log_level : HILOCK_LOG_DEBUG;
    options.on_event = on_client_event;
    options.user = client;
    client->status = hl_client_open_with(&client->client, &loop, &doors, &options, &client->error);
    if (client->status != HILOCK_OK)
        client->client = NULL;
    return client;
}

struct client *fixture_connect(struct fixture *fixture, const struct hilock_client_options *options)
{
    struct client *client = fixture_open(fixture, options);
    for (int i = 0; i < 100 && !hilock_client_is_connected(client->client); i++)
        run_us(fixture, 100);
    HOLDS(fixture, hilock_client_is_connected(client->client));
    return client;
}

struct client *the_client(struct fixture *fixture)
{
    struct client *first = TAILQ_FIRST(&fixture->clients);
    return first ? first : fixture_connect(fixture, NULL);
}

struct hilock_stats counts_of(const struct client *client)
{
    struct hilock_stats stats = {.size = sizeof stats};
    hilock_client_stats(client->client, &stats);
    return stats;
}

void frozen_ms(struct client *client, uint64_t span_ms)
{
    world_freeze(&client->loop.lane);
    run_ms(client->fixture, span_ms);
    world_thaw(&client->fixture->world, &client->loop.lane);
}

hilock_status client_close(struct client *client, uint32_t drain_ms)
{
    client->is_closing = 1;
    return hilock_client_close(client->client, drain_ms, on_closed, client);
}

unsigned client_lines(const struct client *client, const char *words)
{
    unsigned count = 0;
    for (const char *at = client->log; at && (at = strstr(at, words)) != NULL; at++)
        count++;
    return count;
}

void client_abandon(struct client *client)
{
    hilock_client_abandon(client->client);
    client->client = NULL;
}

/* ---- handles ---- */

static struct handle *bare_handle(struct client *client, const char *tag)
{
    struct handle *handle = calloc(1, sizeof *handle);
    if (!handle)
        abort();
    handle->fixture = client->fixture;
    handle->client = client;
    snprintf(handle->tag, sizeof handle->tag, "%s", tag);
    TAILQ_INSERT_TAIL(&client->fixture->handles, handle, entry);
    client->fixture->handles_count++;
    return handle;
}

static struct hilock_lock_options options_of(struct handle *handle, const struct hilock_lock_options *given)
{
    struct hilock_lock_options options = given ? *given : hilock_lock_options_default();
    options.on_lost = on_lost;
    options.on_event = on_event;
    options.user = handle;
    return options;
}

struct handle *handle_new(struct client *client, const char *tag, const char *name, const struct hilock_lock_options *given)
{
    struct handle *handle = bare_handle(client, tag);
    struct hilock_lock_options options = options_of(handle, given);
    if (hilock_lock_create(&handle->lock, client->client, name, &options) != HILOCK_OK)
        handle->lock = NULL;
    return handle;
}

struct handle *multi_new(struct client *client, const char *tag, const char *const *names, const struct hilock_lock_options *given)
{
    struct handle *handle = bare_handle(client, tag);
    struct hilock_lock_options options = options_of(handle, given);
    handle->names = names;
    if (hilock_multi_create(&handle->lock, client->client, names, &options) != HILOCK_OK)
        handle->lock = NULL;
    return handle;
}

struct handle *acquiring(struct handle *handle, uint32_t wait_ms)
{
    SAME(handle->fixture, acquire(handle, wait_ms), HILOCK_OK);
    return handle;
}

struct handle *lone(struct fixture *fixture) { return handle_new(fixture_connect(fixture, NULL), "a", "stock", NULL); }

struct handle *asking(struct client *client, const char *tag, const char *name,
                      const struct hilock_lock_options *options)
{
    return acquiring(handle_new(client, tag, name, options), HILOCK_FOREVER);
}

struct handle *held(struct client *client, const char *tag, const char *name, const struct hilock_lock_options *options)
{
    struct handle *handle = asking(client, tag, name, options);
    run_ms(client->fixture, 1);
    fixture_claim(client->fixture, is_held(handle), "it is granted within 1 ms", __FILE__, __LINE__);
    fixture_hush(client->fixture);
    return handle;
}

int is_held(const struct handle *handle) { return hilock_lock_state(handle->lock) == HILOCK_STATE_HELD; }
hilock_status acquire(struct handle *handle, uint32_t wait_ms) { return hilock_acquire(handle->lock, wait_ms, on_result, handle); }
hilock_status release(struct handle *handle) { return hilock_release(handle->lock, on_result, handle); }
void release_quietly(struct handle *handle) { (void)hilock_release(handle->lock, NULL, NULL); }
hilock_status extend(struct handle *handle, uint32_t lease_ms) { return hilock_extend(handle->lock, lease_ms, on_result, handle); }
hilock_status downgrade(struct handle *handle) { return hilock_downgrade(handle->lock, on_result, handle); }
hilock_status cancel(struct handle *handle) { return hilock_cancel(handle->lock); }
hilock_status peek(struct handle *handle) { return hilock_peek(handle->lock, on_result, handle); }
hilock_status force(struct handle *handle, const char *holder) { return hilock_force_release(handle->lock, holder, on_result, handle); }
void handle_drop(struct handle *handle) { hilock_lock_drop(handle->lock); }

void handle_free(struct handle *handle)
{
    hilock_lock_free(handle->lock);
    handle->lock = NULL;
}

unsigned waiters_of(struct handle *handle)
{
    peek(handle);
    run_ms(handle->fixture, 2);
    return handle->result.waiters;
}

void when(struct handle *handle, const char *what, void (*then)(struct handle *handle))
{
    handle->when = what;
    handle->then = then;
}

/* ---- the end ---- */

/* Closing without a drain is bounded by the time of one command. */
static void end_client(struct fixture *fixture, struct client *client)
{
    if (client->client && !client->loop.lane.until_us) {
        client_close(client, 0);
        for (int i = 0; i < 1000 && !client->is_closed; i++)
            run_ms(fixture, 1000);
        HOLDS(fixture, client->is_closed);
    }
    if (client->client)
        client_abandon(client);
    SAME(fixture, client->loop.timers, 0);
    SAME(fixture, client->loop.queries, 0);
    SAME(fixture, client->loop.ends, client->status == HILOCK_OK);
    TAILQ_REMOVE(&fixture->clients, client, entry);
    free(client->log);
    free(client);
}

int fixture_end(struct fixture *fixture)
{
    struct handle *handle;
    struct client *client;
    fixture->memory.is_out = 0;
    TAILQ_FOREACH(handle, &fixture->handles, entry)
        handle_free(handle);
    while ((client = TAILQ_FIRST(&fixture->clients)) != NULL)
        end_client(fixture, client);
    while ((handle = TAILQ_FIRST(&fixture->handles)) != NULL) {
        TAILQ_REMOVE(&fixture->handles, handle, entry);
        free(handle);
    }
    SAME(fixture, fixture->memory.blocks, 0);
    SAME(fixture, fixture->memory.secrets, 0); /* wiped before it was given back */
    SAME(fixture, fixture->net.links, 0);
    plans_done(&fixture->plans);
    net_done(&fixture->net);
    for (unsigned i = 0; i < fixture->more_count; i++) {
        store_done(fixture->more[i]);
        free(fixture->more[i]);
    }
    store_done(&fixture->store);
    world_done(&fixture->world);
    free(fixture->story);
    return !fixture->is_broken;
}
