/* SPDX-License-Identifier: BSD-3-Clause */
/* scene_party - the parties and hands of a scene, and its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "scene.h"

/* Names come from the program, holders belong into `holder` alone, and a password nowhere. */
static void check_text(struct scene *scene, const char *text)
{
    const struct party *party;
    HOLDS(scene, !strstr(text, SCENE_SECRET));
    TAILQ_FOREACH(party, &scene->parties, entry)
        HOLDS(scene, !strstr(text, party->uuid));
}

/* ---- what is told ---- */

static void remember(struct hand *hand, const char *holder, const char *detail)
{
    check_text(hand->scene, detail);
    snprintf(hand->holder, sizeof hand->holder, "%s", holder);
    snprintf(hand->detail, sizeof hand->detail, "%s", detail);
    hand->at_us = hand->scene->world.now_us;
    hand->calls++;
}

static void told(struct hand *hand, const char *what)
{
    void (*then)(struct hand *) = hand->then;
    scene_write(hand->scene, hand->tag, what);
    if (!then || (hand->when && strcmp(hand->when, what) != 0))
        return;
    hand->then = NULL;
    then(hand);
}

static void on_result(const struct hilock_result *result, void *user)
{
    struct hand *hand = user;
    char what[64];
    const char *status = hilock_status_name(result->status);
    remember(hand, result->holder, result->detail);
    hand->result = *result;
    hand->result.holder = hand->holder;
    hand->result.detail = hand->detail;
    if (result->operation == HILOCK_ACQUIRE)
        snprintf(what, sizeof what, "%s", status);
    else if (result->operation == HILOCK_PEEK || result->operation == HILOCK_FORCE_RELEASE)
        snprintf(what, sizeof what, "%s %s", result->operation == HILOCK_PEEK ? "peek" : "force", status);
    else if (result->status == HILOCK_OK)
        snprintf(what, sizeof what, result->operation == HILOCK_EXTEND ? "extended" : "released");
    else
        snprintf(what, sizeof what, "%s %s", result->operation == HILOCK_EXTEND ? "extend" : "release", status);
    told(hand, what);
}

static void keep_event(struct hand *hand, const struct hilock_event *event)
{
    remember(hand, event->holder, event->detail);
    hand->event = *event;
    hand->event.holder = hand->holder;
    hand->event.detail = hand->detail;
}

static void on_lost(const struct hilock_event *event, void *user)
{
    static const char *const whats[] = {"LOST NONE", "LOST TAKEN", "LOST EXPIRED", "LOST SUSPENDED", "LOST HOLD_MAX", "LOST CLOSING"};
    struct hand *hand = user;
    keep_event(hand, event);
    told(hand, whats[event->reason]);
}

static const char *name_of(hilock_event_kind kind)
{
    switch (kind) {
    case HILOCK_EVENT_LOST: return "LOST through on_event";
    case HILOCK_EVENT_WAITING: return "WAITING";
    case HILOCK_EVENT_RENEWAL_FAILED: return "RENEWAL_FAILED";
    case HILOCK_EVENT_RENEWED: return "RENEWED";
    case HILOCK_EVENT_RELEASE_SETTLED: return "SETTLED";
    case HILOCK_EVENT_CONNECTED: return "up";
    case HILOCK_EVENT_DISCONNECTED: return "down";
    case HILOCK_EVENT_CLOCK_ANOMALY: return "ANOMALY";
    case HILOCK_EVENT_STORE_RESTARTED: return "RESTARTED";
    case HILOCK_EVENT_EVICTION_RISK: return "EVICTION";
    case HILOCK_EVENT_LOOP_STALLED: return "STALLED";
    case HILOCK_EVENT_FAILOVER: return "failover";
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
    struct party *party = user;
    check_text(party->scene, event->detail);
    party->event = *event;
    snprintf(party->event_detail, sizeof party->event_detail, "%s", event->detail);
    snprintf(party->event_node, sizeof party->event_node, "%s", event->node);
    if (party->tells)
        scene_write(party->scene, "", name_of(event->kind));
}

static void on_log(hilock_log_level level, const char *line, void *user)
{
    struct party *party = user;
    size_t length = strlen(line);
    (void)level;
    check_text(party->scene, line);
    party->lines++;
    snprintf(party->line, sizeof party->line, "%s", line);
    if (party->log_room < party->log_used + length + 2) {
        party->log_room = 2 * party->log_room + length + 2;
        party->log = realloc(party->log, party->log_room);
        if (!party->log)
            abort();
    }
    memcpy(party->log + party->log_used, line, length);
    memcpy(party->log + party->log_used + length, "\n", 2);
    party->log_used += length + 1;
}

static void on_closed(void *user)
{
    struct party *party = user;
    party->client = NULL;
    party->is_closed = 1;
    party->closed_at_us = party->scene->world.now_us;
    scene_write(party->scene, "", "closed");
    if (party->on_closed)
        party->on_closed(party);
}

/* ---- parties ---- */

struct party *scene_open(struct scene *scene, const struct hilock_client_options *given)
{
    struct party *party = calloc(1, sizeof *party);
    struct hilock_client_options options = given ? *given : hilock_client_options_default();
    const struct hilock_allocator allocator = world_memory_allocator(&scene->memory);
    struct hilock_loop loop;
    struct hl_doors doors;
    if (!party)
        abort();
    party->scene = scene;
    party->port = (struct net_port){&scene->net, &party->loop};
    party->log = calloc(1, party->log_room = 256);
    snprintf(party->uuid, sizeof party->uuid, "%08x-aaaa-4bbb-8ccc-0123456789ab", 0x51000000 + ++scene->parties_ever);
    TAILQ_INSERT_TAIL(&scene->parties, party, entry);
    world_loop_init(&party->loop, &scene->world, &scene->memory);
    loop = world_loop_table(&party->loop);
    doors = (struct hl_doors){.links = net_links(&party->port), .seed = scene->parties_ever, .uuid = party->uuid};
    options.allocator = &allocator;
    options.on_log = on_log;
    options.log_level = options.log_level ? options.log_level : HILOCK_LOG_DEBUG;
    options.on_event = on_client_event;
    options.user = party;
    party->status = hl_client_open_with(&party->client, &loop, &doors, &options, &party->error);
    if (party->status != HILOCK_OK)
        party->client = NULL;
    return party;
}

struct party *scene_connect(struct scene *scene, const struct hilock_client_options *options)
{
    struct party *party = scene_open(scene, options);
    for (int i = 0; i < 100 && !hilock_client_is_connected(party->client); i++)
        run_us(scene, 100);
    HOLDS(scene, hilock_client_is_connected(party->client));
    return party;
}

hilock_status party_close(struct party *party, uint32_t drain_ms)
{
    party->is_closing = 1;
    return hilock_client_close(party->client, drain_ms, on_closed, party);
}

void party_abandon(struct party *party)
{
    hilock_client_abandon(party->client);
    party->client = NULL;
}

/* ---- hands ---- */

static struct hand *bare_hand(struct party *party, const char *tag)
{
    struct hand *hand = calloc(1, sizeof *hand);
    if (!hand)
        abort();
    hand->scene = party->scene;
    hand->party = party;
    snprintf(hand->tag, sizeof hand->tag, "%s", tag);
    TAILQ_INSERT_TAIL(&party->scene->hands, hand, entry);
    party->scene->hands_count++;
    return hand;
}

static struct hilock_lock_options options_of(struct hand *hand, const struct hilock_lock_options *given)
{
    struct hilock_lock_options options = given ? *given : hilock_lock_options_default();
    options.on_lost = on_lost;
    options.on_event = on_event;
    options.user = hand;
    return options;
}

struct hand *hand_new(struct party *party, const char *tag, const char *name, const struct hilock_lock_options *given)
{
    struct hand *hand = bare_hand(party, tag);
    struct hilock_lock_options options = options_of(hand, given);
    if (hilock_lock_create(&hand->lock, party->client, name, &options) != HILOCK_OK)
        hand->lock = NULL;
    return hand;
}

struct hand *multi_new(struct party *party, const char *tag, const char *const *names, const struct hilock_lock_options *given)
{
    struct hand *hand = bare_hand(party, tag);
    struct hilock_lock_options options = options_of(hand, given);
    hand->names = names;
    if (hilock_multi_create(&hand->lock, party->client, names, &options) != HILOCK_OK)
        hand->lock = NULL;
    return hand;
}

struct hand *held(struct party *party, const char *tag, const char *name, const struct hilock_lock_options *options)
{
    struct hand *hand = hand_new(party, tag, name, options);
    acquire(hand, HILOCK_FOREVER);
    run_ms(party->scene, 1);
    scene_claim(party->scene, hilock_lock_state(hand->lock) == HILOCK_HELD, "it is granted within 1 ms", __FILE__, __LINE__);
    scene_hush(party->scene);
    return hand;
}

hilock_status acquire(struct hand *hand, uint32_t wait_ms) { return hilock_acquire(hand->lock, wait_ms, on_result, hand); }
hilock_status release(struct hand *hand) { return hilock_release(hand->lock, on_result, hand); }
hilock_status release_quietly(struct hand *hand) { return hilock_release(hand->lock, NULL, NULL); }
hilock_status extend(struct hand *hand, uint32_t lease_ms) { return hilock_extend(hand->lock, lease_ms, on_result, hand); }
hilock_status cancel(struct hand *hand) { return hilock_cancel(hand->lock); }
hilock_status peek(struct hand *hand) { return hilock_peek(hand->lock, on_result, hand); }
hilock_status force(struct hand *hand, const char *holder) { return hilock_force_release(hand->lock, holder, on_result, hand); }
void hand_drop(struct hand *hand) { hilock_lock_drop(hand->lock); }

void hand_free(struct hand *hand)
{
    hilock_lock_free(hand->lock);
    hand->lock = NULL;
}

void when(struct hand *hand, const char *what, void (*then)(struct hand *hand))
{
    hand->when = what;
    hand->then = then;
}

/* ---- the end ---- */

/* Closing without a drain is bounded by the time of one command. */
static void end_party(struct scene *scene, struct party *party)
{
    if (party->client && !party->loop.lane.is_frozen) {
        party_close(party, 0);
        for (int i = 0; i < 1000 && !party->is_closed; i++)
            run_ms(scene, 1000);
        HOLDS(scene, party->is_closed);
    }
    if (party->client)
        party_abandon(party);
    SAME(scene, party->loop.timers, 0);
    SAME(scene, party->loop.queries, 0);
    SAME(scene, party->loop.ends, party->status == HILOCK_OK);
    TAILQ_REMOVE(&scene->parties, party, entry);
    free(party->log);
    free(party);
}

int scene_end(struct scene *scene)
{
    struct hand *hand;
    struct party *party;
    scene->memory.is_out = 0;
    TAILQ_FOREACH(hand, &scene->hands, entry)
        hand_free(hand);
    while ((party = TAILQ_FIRST(&scene->parties)) != NULL)
        end_party(scene, party);
    while ((hand = TAILQ_FIRST(&scene->hands)) != NULL) {
        TAILQ_REMOVE(&scene->hands, hand, entry);
        free(hand);
    }
    SAME(scene, scene->memory.blocks, 0);
    SAME(scene, scene->memory.secrets, 0); /* wiped before it was given back */
    SAME(scene, scene->net.links, 0);
    plans_done(&scene->plans);
    net_done(&scene->net);
    for (unsigned i = 0; i < scene->more_count; i++) {
        store_done(scene->more[i]);
        free(scene->more[i]);
    }
    store_done(&scene->store);
    world_done(&scene->world);
    free(scene->story);
    return !scene->is_broken;
}
