/* SPDX-License-Identifier: BSD-3-Clause */
/* store - see store.h. The way of a command, and the record. */
#include "world/store.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/scripts.h"

enum { UP_US = 100000000 }; /* as a world begins */

static int is_word(const char *const *argv, const size_t *lengths, int i, const char *text)
{
    return lengths[i] == strlen(text) && memcmp(argv[i], text, lengths[i]) == 0;
}

static void on_message(void *arg, unsigned connection, const struct sim_reply *push)
{
    struct store *store = arg;
    struct store_peer *peer = TAILQ_FIRST(&store->peers);
    while (peer->number != connection)
        peer = TAILQ_NEXT(peer, entry);
    if (store->said)
        store->said(store->arg, push);
    peer->push(peer->arg, say_stored(push));
}

static void on_published(void *arg, int is_sharded, const struct sim_said *said)
{
    const struct store *store = arg;
    if (store->published)
        store->published(store->arg, is_sharded, said);
}

/* The start of each is another microsecond: it names the run. */
void store_init(struct store *store, struct world *world)
{
    static const struct sim_store_events events = {.message = on_message, .published = on_published};
    memset(store, 0, sizeof *store);
    store->world = world;
    world_clock_init(&store->clock, world, 1700000000 * 1000000u);
    TAILQ_INIT(&store->peers);
    store->core = sim_store_new(&events, store);
    sim_store_set_time(store->core, store_us(store) - UP_US + world->servers++);
}

void store_done(struct store *store)
{
    if (!TAILQ_EMPTY(&store->peers))
        abort();
    sim_store_free(store->core);
    store_forget(store);
    free(store->lines);
}

uint64_t store_us(const struct store *store) { return world_clock_us(&store->clock); }

struct sim_store *store_now(const struct store *store)
{
    sim_store_set_time(store->core, store_us(store));
    return store->core;
}

struct store_peer *store_connect(struct store *store, store_push_fn *push, void *arg)
{
    struct store_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        abort();
    *peer = (struct store_peer){.store = store, .push = push, .arg = arg, .number = sim_store_connect(store->core)};
    store->peers_ever++;
    TAILQ_INSERT_TAIL(&store->peers, peer, entry);
    return peer;
}

void store_disconnect(struct store_peer *peer)
{
    sim_store_disconnect(peer->store->core, peer->number);
    TAILQ_REMOVE(&peer->store->peers, peer, entry);
    free(peer);
}

/* ---- the record ---- */

static const struct hl_script *script_of(const char *sha1, size_t length)
{
    for (int i = 0; hl_scripts[i]; i++)
        if (length == strlen(hl_scripts[i]->sha1) && memcmp(sha1, hl_scripts[i]->sha1, length) == 0)
            return hl_scripts[i];
    return NULL;
}

const char *store_word(int argc, const char *const *argv, const size_t *lengths)
{
    static const char *const known[] = {"AUTH", "SELECT", "CLIENT", "SCRIPT", "TIME", "INFO", "PING", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH",
                                        "SET", "DEL", "ROLE", "SENTINEL", "ASKING",
                                        "PUBSUB", "SSUBSCRIBE", "SUNSUBSCRIBE", "WAIT"};
    const struct hl_script *script = argc > 1 && is_word(argv, lengths, 0, "EVALSHA") ? script_of(argv[1], lengths[1]) : NULL;
    if (script)
        return script->name;
    if (argc > 1 && is_word(argv, lengths, 0, "CLUSTER"))
        return is_word(argv, lengths, 1, "NODES") ? "CLUSTER NODES" : "CLUSTER SLOTS";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_word(argv, lengths, 0, known[i]))
            return known[i];
    return "?";
}

/* A script's SHA-1 and its text are named instead: they are what they are. */
static char *text_of(const char *word, int argc, const char *const *argv, const size_t *lengths)
{
    int is_script = is_word(argv, lengths, 0, "EVALSHA"), is_load = strcmp(word, "SCRIPT") == 0 && argc == 3;
    size_t room = strlen(word) + 32, used;
    char *text;
    for (int i = 0; i < argc; i++)
        room += lengths[i] + 1;
    text = malloc(room);
    if (!text)
        abort();
    used = (size_t)snprintf(text, room, "%s", word);
    for (int i = 1 + (is_script || strchr(word, ' ')); i < argc - is_load; i++) {
        text[used++] = ' ';
        for (size_t j = 0; j < lengths[i]; j++)
            text[used++] = isprint((unsigned char)argv[i][j]) ? argv[i][j] : '?';
    }
    text[used] = '\0';
    return text;
}

static void record(struct store_peer *peer, int argc, const char *const *argv, const size_t *lengths)
{
    struct store *store = peer->store;
    const char *word = store_word(argc, argv, lengths);
    if (store->is_unrecorded)
        return;
    if (store->lines_count == store->lines_room) {
        store->lines_room = store->lines_room ? 2 * store->lines_room : 64;
        store->lines = realloc(store->lines, store->lines_room * sizeof *store->lines);
        if (!store->lines)
            abort();
    }
    store->lines[store->lines_count++] =
        (struct store_line){.at_us = store->world->now_us, .peer = peer->number, .is_default = !peer->is_named_user, .db = peer->db, .word = word,
                            .text = text_of(word, argc, argv, lengths)};
}

/* ---- commands ---- */

static unsigned having(const struct store_peer *peer, uint64_t *ret_look_us)
{
    const struct store *store = peer->store;
    if (store->having)
        return store->having(peer, ret_look_us);
    *ret_look_us = peer->wait_since_us + store->replica_us;
    if (!peer->wrote)
        return store->replicas;
    if (store->world->now_us < *ret_look_us)
        return 0;
    *ret_look_us = UINT64_MAX;
    return store->replicas - store->replicas_away;
}

/* A server that becomes a replica ends those that block on it. */
struct hl_reply *store_look(struct store_peer *peer)
{
    uint64_t look_us;
    unsigned count = having(peer, &look_us);
    peer->blocked_us = 0;
    if (sim_store_is_replica(peer->store->core)) {
        peer->is_ended = 1;
        return say_error("UNBLOCKED force unblock from blocking operation, instance state changed "
                         "(master -> replica?)");
    }
    if (count >= peer->wait_for || peer->store->world->now_us >= peer->wait_ends_us)
        return say_integer(count);
    peer->blocked_us = look_us < peer->wait_ends_us ? look_us : peer->wait_ends_us;
    return NULL;
}

static struct hl_reply *begin_wait(struct store_peer *peer, const char *const *argv)
{
    uint64_t timeout_us = 1000 * strtoull(argv[2], NULL, 10);
    peer->wait_for = strtoull(argv[1], NULL, 10);
    peer->wait_since_us = peer->store->world->now_us;
    peer->wait_ends_us = timeout_us ? peer->wait_since_us + timeout_us : UINT64_MAX;
    return store_look(peer);
}

struct hl_reply *store_execute(struct store_peer *peer, int argc, const char *const *argv, const size_t *lengths)
{
    struct sim_store *core = store_now(peer->store);
    uint64_t writes = sim_store_writes(core);
    const struct sim_reply *reply;
    record(peer, argc, argv, lengths);
    reply = sim_store_execute(core, peer->number, argc, argv, lengths);
    if (!reply)
        return NULL;
    if (sim_store_writes(core) != writes)
        peer->wrote = sim_store_writes(core);
    if (reply->type == SIM_REPLY_ERROR)
        return say_stored(reply);
    /* What the connection is, after a command that was not refused. */
    if (is_word(argv, lengths, 0, "AUTH"))
        peer->is_named_user = argc == 3 && !is_word(argv, lengths, 1, "default");
    if (is_word(argv, lengths, 0, "SELECT"))
        peer->db = atoi(argv[1]);
    return is_word(argv, lengths, 0, "WAIT") ? begin_wait(peer, argv) : say_stored(reply);
}
