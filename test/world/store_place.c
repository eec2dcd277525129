/* SPDX-License-Identifier: BSD-3-Clause */
/* store_place - what a server says for its place among others: a replica, a sentinel, a master that has replicas. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "world/store.h"

static int is_word(struct keys_bytes bytes, const char *text) { return keys_are_same(bytes, keys_text(text)); }

static struct hl_reply *port_of(const struct store_sentinel *sentinel)
{
    char port[16];
    snprintf(port, sizeof port, "%d", sentinel->port);
    return say_string(port);
}

static struct hl_reply *tell_master(const struct store_sentinel *sentinel)
{
    char epoch[24];
    snprintf(epoch, sizeof epoch, "%" PRIu64, sentinel->epoch);
    return say_array(8, say_string("name"), say_string(sentinel->master), say_string("ip"), say_string(sentinel->host), say_string("port"),
                     port_of(sentinel), say_string("config-epoch"), say_string(epoch));
}

static struct hl_reply *sentinel_says(const struct store_sentinel *sentinel, int argc, const struct keys_bytes *words)
{
    if (is_word(words[0], "PING"))
        return say_status("PONG");
    if (is_word(words[0], "CLIENT") || is_word(words[0], "SUBSCRIBE") || is_word(words[0], "UNSUBSCRIBE"))
        return NULL;
    if (!is_word(words[0], "SENTINEL") || argc != 3)
        return say_error("ERR unknown command '%.*s'", (int)words[0].length, words[0].bytes);
    if (is_word(words[1], "MASTER"))
        return is_word(words[2], sentinel->master) ? tell_master(sentinel) : say_error("ERR No such master with that name");
    return is_word(words[2], sentinel->master) ? say_array(2, say_string(sentinel->host), port_of(sentinel)) : say_nil();
}

/* Reads are allowed; of the scripts those that only look. */
static int is_write(int argc, const struct keys_bytes *words)
{
    int script = argc > 1 && is_word(words[0], "EVALSHA") ? store_script_of_sha1(words[1]) : -1;
    return (script >= 0 && !strstr(store_script_name(script), "peek")) || is_word(words[0], "SET") || is_word(words[0], "DELEX") || is_word(words[0], "DELIFEQ");
}

/* A refused acquire writes nothing. */
int store_has_written(int argc, const struct keys_bytes *words, const struct hl_reply *reply)
{
    int is_refused = reply->type == HL_REPLY_ERROR || reply->type == HL_REPLY_NIL || (reply->type == HL_REPLY_ARRAY && !is_word(words[0], "SCRIPT"));
    const struct hl_reply *first = hl_reply_item(reply, 0, HL_REPLY_INTEGER);
    return is_write(argc, words) && (!is_refused || (first && first->integer == 1));
}

/* All replicas have what a connection wrote that wrote nothing. */
struct hl_reply *store_wait(struct store_peer *peer, const struct keys_bytes *words)
{
    const struct store *store = peer->store;
    unsigned have = store->replicas - store->replicas_away, wanted = (unsigned)strtoul(words[1].bytes, NULL, 10);
    uint64_t timeout_us = strtoull(words[2].bytes, NULL, 10) * 1000;
    if (store->is_replica)
        return say_error("ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 ...");
    if (!peer->has_written)
        return say_integer(store->replicas);
    peer->blocked_us = store->world->now_us + (have >= wanted && store->replica_us < timeout_us ? store->replica_us : timeout_us);
    return say_integer(have >= wanted && store->replica_us >= timeout_us ? 0 : have);
}

struct hl_reply *store_place(struct store_peer *peer, int argc, const struct keys_bytes *words)
{
    const struct store *store = peer->store;
    if (store->sentinel.master)
        return sentinel_says(&store->sentinel, argc, words);
    if (is_word(words[0], "ROLE"))
        return say_array(1, say_string(store->is_replica ? "slave" : "master"));
    if (store->is_replica && is_write(argc, words))
        return say_error("READONLY You can't write against a read only replica.");
    return NULL;
}

unsigned store_switch(struct store *sentinel, const char *host, int port, uint64_t epoch)
{
    struct store_sentinel *knows = &sentinel->sentinel;
    char text[256];
    snprintf(text, sizeof text, "%s %s %d %s %d", knows->master, knows->host, knows->port, host, port);
    *knows = (struct store_sentinel){knows->master, host, port, epoch};
    return store_publish(sentinel, "+switch-master", text);
}

void store_copy(struct store *to, struct store *from)
{
    keys_clear(&to->keys);
    for (const struct keys_key *key = from->keys.first; key; key = key->hh.next) {
        struct keys_key *copy = keys_make(&to->keys, key->name, key->type);
        const struct keys_field *field;
        TAILQ_FOREACH(field, &key->fields, entry)
            keys_set(copy, field->name, field->value);
        copy->expires_ms = key->expires_ms;
    }
}
