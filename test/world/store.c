/* SPDX-License-Identifier: BSD-3-Clause */
/* store - see store.h. The commands, and the record of them. */
#include "world/store.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/scripts.h"

static struct keys_bytes word_of(const char *const *argv, const size_t *lengths, int i) { return (struct keys_bytes){argv[i], lengths[i]}; }

static int is_word(struct keys_bytes bytes, const char *text) { return keys_are_same(bytes, keys_text(text)); }

void store_init(struct store *store, struct world *world)
{
    memset(store, 0, sizeof *store);
    store->world = world;
    world_lane_init(&store->lane);
    world_clock_init(&store->clock, world, 1700000000 * 1000000u);
    TAILQ_INIT(&store->peers);
    store->started_us = store_us(store) - 100000000;
}

void store_done(struct store *store)
{
    if (!TAILQ_EMPTY(&store->peers))
        abort();
    keys_clear(&store->keys);
    free(store->map);
    store_forget(store);
    free(store->lines);
}

uint64_t store_us(const struct store *store) { return world_clock_us(&store->clock); }

struct store_peer *store_connect(struct store *store, store_push_fn *push, void *arg)
{
    struct store_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        abort();
    *peer = (struct store_peer){.store = store, .push = push, .arg = arg, .number = ++store->peers_ever, .is_logged_in = !store->password};
    TAILQ_INIT(&peer->channels);
    TAILQ_INSERT_TAIL(&store->peers, peer, entry);
    return peer;
}

struct keys_field *store_find_channel(struct store_peer *peer, struct keys_bytes channel)
{
    struct keys_field *found;
    TAILQ_FOREACH(found, &peer->channels, entry)
        if (keys_are_same(found->name, channel))
            return found;
    return NULL;
}

static void leave_channel(struct store_peer *peer, struct keys_field *channel)
{
    TAILQ_REMOVE(&peer->channels, channel, entry);
    free((void *)(uintptr_t)channel->name.bytes);
    free(channel);
}

void store_disconnect(struct store_peer *peer)
{
    while (!TAILQ_EMPTY(&peer->channels))
        leave_channel(peer, TAILQ_FIRST(&peer->channels));
    TAILQ_REMOVE(&peer->store->peers, peer, entry);
    free(peer);
}

/* ---- the record ---- */

const char *store_word(int argc, const char *const *argv, const size_t *lengths)
{
    static const char *const known[] = {"AUTH", "SELECT", "CLIENT", "SCRIPT", "TIME", "INFO", "PING", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH",
                                        "SET", "DEL", "DELIFEQ", "DELEX", "COMMAND", "ROLE", "SENTINEL", "CLUSTER", "ASKING",
                                        "PUBSUB", "SSUBSCRIBE", "SUNSUBSCRIBE", "WAIT"};
    int script = argc > 1 && is_word(word_of(argv, lengths, 0), "EVALSHA") ? store_script_of_sha1(word_of(argv, lengths, 1)) : -1;
    if (script >= 0)
        return hl_scripts[script]->name;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_word(word_of(argv, lengths, 0), known[i]))
            return known[i];
    return "?";
}

/* A script's SHA-1 and its text are named instead: they are what they are. */
static char *text_of(const char *word, int argc, const char *const *argv, const size_t *lengths)
{
    int is_script = is_word(word_of(argv, lengths, 0), "EVALSHA"), is_load = strcmp(word, "SCRIPT") == 0 && argc == 3;
    size_t room = strlen(word) + 32, used;
    char *text;
    for (int i = 0; i < argc; i++)
        room += lengths[i] + 1;
    text = malloc(room);
    if (!text)
        abort();
    used = (size_t)snprintf(text, room, "%s", word);
    for (int i = 1 + is_script; i < argc - is_load; i++) {
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

static struct hl_reply *auth(struct store_peer *peer, int argc, const struct keys_bytes *words)
{
    struct store *store = peer->store;
    int is_named = argc == 3 && !is_word(words[1], "default");
    const char *password = is_named ? store->user_password : store->password;
    if (argc == 2 && !store->password)
        return say_error("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?");
    if ((is_named && (!store->user || !is_word(words[1], store->user))) || (password && !is_word(words[argc - 1], password)))
        return say_error("WRONGPASS invalid username-password pair or user is disabled.");
    peer->is_named_user = is_named;
    peer->is_logged_in = 1;
    return say_status("OK");
}

static struct hl_reply *script(struct store_peer *peer, int argc, const struct keys_bytes *words)
{
    for (int i = 0; argc == 3 && is_word(words[1], "LOAD") && hl_scripts[i] && i < STORE_SCRIPTS_MAX; i++) {
        if (!keys_are_same(words[2], (struct keys_bytes){hl_scripts[i]->text, hl_scripts[i]->length}))
            continue;
        peer->store->has_script[i] = 1;
        return say_string(hl_scripts[i]->sha1);
    }
    return say_error("ERR the world knows no such script");
}

static struct hl_reply *evalsha(struct store_peer *peer, int argc, const struct keys_bytes *words)
{
    int which = argc > 2 ? store_script_of_sha1(words[1]) : -1;
    if (which < 0 || !peer->store->has_script[which])
        return say_error("NOSCRIPT No matching script. Please use EVAL.");
    return store_script(peer->store, which, words + 2, argc - 2);
}

static struct hl_reply *tell_time(const struct store *store)
{
    char seconds[24], micros[24];
    uint64_t now_us = store_us(store);
    snprintf(seconds, sizeof seconds, "%" PRIu64, now_us / 1000000);
    snprintf(micros, sizeof micros, "%" PRIu64, now_us % 1000000);
    return say_array(2, say_string(seconds), say_string(micros));
}

/* The uptime is the difference of two whole seconds, as Redis counts it. */
static struct hl_reply *info(const struct store *store, struct keys_bytes section)
{
    char text[512];
    if (is_word(section, "memory"))
        snprintf(text, sizeof text, "# Memory\r\nused_memory:1000000\r\nmaxmemory:%d\r\nmaxmemory_human:x\r\nmaxmemory_policy:%s\r\n",
                 store->policy ? 100000000 : 0, store->policy ? store->policy : "noeviction");
    else
        snprintf(text, sizeof text, "# Server\r\nredis_version:7.0.15\r\nrun_id:%040x\r\nuptime_in_seconds:%" PRIu64 "\r\nuptime_in_days:0\r\n",
                 store->runs + 1, store_us(store) / 1000000 - store->started_us / 1000000);
    return say_string(text);
}

static int count_channels(const struct store_peer *peer)
{
    const struct keys_field *channel;
    int count = 0;
    TAILQ_FOREACH(channel, &peer->channels, entry)
        count++;
    return count;
}

void store_listen(struct store_peer *peer, struct keys_bytes channel, int is_on)
{
    struct keys_field *found = store_find_channel(peer, channel);
    if (found && !is_on)
        leave_channel(peer, found);
    if (!found && is_on) {
        char *name = malloc(channel.length + 1);
        found = calloc(1, sizeof *found);
        if (!found || !name)
            abort();
        memcpy(name, channel.bytes, channel.length);
        found->name = (struct keys_bytes){name, channel.length};
        TAILQ_INSERT_TAIL(&peer->channels, found, entry);
    }
}

static struct hl_reply *subscribe(struct store_peer *peer, struct keys_bytes channel, int is_on)
{
    store_listen(peer, channel, is_on);
    return say_array(3, say_string(is_on ? "subscribe" : "unsubscribe"), say_bytes(channel.bytes, channel.length), say_integer(count_channels(peer)));
}

static struct hl_reply *execute(struct store_peer *peer, int argc, const struct keys_bytes *words)
{
    struct hl_reply *reply;
    if (is_word(words[0], "AUTH") && argc >= 2)
        return auth(peer, argc, words);
    if (!peer->is_logged_in)
        return say_error("NOAUTH Authentication required.");
    if (is_word(words[0], "WAIT") && argc == 3)
        return store_wait(peer, words);
    reply = peer->store->map ? store_mapped(peer, argc, words) : store_place(peer, argc, words);
    if (reply)
        return reply;
    if (is_word(words[0], "SELECT") && argc == 2) {
        peer->db = atoi(words[1].bytes);
        return peer->db < 16 ? say_status("OK") : (peer->db = 0, say_error("ERR DB index is out of range"));
    }
    if (is_word(words[0], "CLIENT") && argc == 3)
        return say_status("OK");
    if (is_word(words[0], "SCRIPT"))
        return script(peer, argc, words);
    if (is_word(words[0], "TIME"))
        return tell_time(peer->store);
    if (is_word(words[0], "INFO") && argc == 2)
        return info(peer->store, words[1]);
    if (is_word(words[0], "EVALSHA"))
        return evalsha(peer, argc, words);
    if ((is_word(words[0], "SUBSCRIBE") || is_word(words[0], "UNSUBSCRIBE")) && argc == 2)
        return subscribe(peer, words[1], words[0].bytes[0] == 'S');
    reply = store_native(peer->store, argc, words);
    return reply ? reply : say_error("ERR unknown command '%.*s'", (int)words[0].length, words[0].bytes);
}

struct hl_reply *store_execute(struct store_peer *peer, int argc, const char *const *argv, const size_t *lengths)
{
    struct keys_bytes words[STORE_WORDS_MAX];
    struct hl_reply *reply;
    if (argc < 1 || argc > STORE_WORDS_MAX)
        abort();
    for (int i = 0; i < argc; i++)
        words[i] = word_of(argv, lengths, i);
    record(peer, argc, argv, lengths);
    reply = execute(peer, argc, words);
    peer->has_written |= store_has_written(argc, words, reply);
    return reply;
}

unsigned store_publish_bytes(struct store *store, struct keys_bytes channel, struct keys_bytes text)
{
    struct store_peer *peer;
    unsigned heard = 0;
    TAILQ_FOREACH(peer, &store->peers, entry)
    {
        if (!store_find_channel(peer, channel))
            continue;
        peer->push(peer->arg, say_array(3, say_string("message"), say_bytes(channel.bytes, channel.length), say_bytes(text.bytes, text.length)));
        heard++;
    }
    return heard;
}
