/* SPDX-License-Identifier: BSD-3-Clause */
/* places - what the queue of a crowd's name must be at any moment. I25: an id has one place, and none while it holds the
 * name; its ticket never rises; and a record stands beside a place only. I17: a client has no more places than handles
 * that wait, but for a moment. */
#include "heirs.h"

#include "wire/keys.h"

enum { IDS_MAX = 512, STRAY_US = 1500000, HOLDER_LEAST = HL_UUID_LENGTH + 2 };

struct ids { uint64_t hashes[IDS_MAX]; size_t count; };

static uint64_t hash_of(const char *bytes, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash | 1;
}

static int has(const struct ids *ids, uint64_t hash)
{
    for (size_t i = 0; i < ids->count; i++)
        if (ids->hashes[i] == hash)
            return 1;
    return 0;
}

/* Where its ticket is noted; an old one may be forgotten for it. */
static uint64_t *ticket_of(struct heirs *heirs, uint64_t hash)
{
    struct rest *rest = &heirs->rest;
    size_t at = hash % HEIRS_BOOK;
    if (rest->book[at].hash != hash)
        rest->book[at].ticket = UINT64_MAX;
    rest->book[at].hash = hash;
    return &rest->book[at].ticket;
}

static void check_place(struct heirs *heirs, struct ids *ids, const struct sim_store_field *place, size_t length)
{
    struct sim_world *world = &heirs->crowd.world;
    uint64_t hash = hash_of(place->name, length), *ticket = ticket_of(heirs, hash);
    if (has(ids, hash))
        sim_violate(world, "I25", "one id has two places: %.*s", (int)place->name_length, place->name);
    if (strlen(heirs->rest.holder) == length && memcmp(place->name, heirs->rest.holder, length) == 0)
        sim_violate(world, "I25", "%s holds the name, and has a place in its queue", heirs->rest.holder);
    if ((uint64_t)place->score > *ticket)
        sim_violate(world, "I25", "the ticket of %.*s rises from %llu to %.0f", (int)length, place->name, (unsigned long long)*ticket, place->score);
    *ticket = (uint64_t)place->score;
    ids->hashes[ids->count++] = hash;
}

static void check_records(struct heirs *heirs, const struct ids *ids)
{
    char key[HL_KEY_PREFIX_MAX + 64];
    size_t length = hl_key_write(key, "hilock:place", heirs_name, strlen(heirs_name));
    struct sim_store_field record;
    for (size_t i = 0; sim_store_hash_field(store_now(&heirs->crowd.store), key, length, i, &record); i++)
        if (record.name_length > 1 && !has(ids, hash_of(record.name, record.name_length)))
            sim_violate(&heirs->crowd.world, "I25", "%.*s has a record, and no place", (int)record.name_length, record.name);
}

static void check_count(struct heirs *heirs, unsigned client, unsigned places)
{
    const struct crowd *crowd = &heirs->crowd;
    uint64_t now_us = crowd->world.time.now_us, *since_us = &heirs->rest.stray_us[client];
    unsigned waits = 0;
    for (unsigned i = 0; i < crowd->handles_count; i++)
        waits += crowd->handles[i].client->index == client && crowd->handles[i].state == CROWD_WAITS;
    if (places <= waits || crowd->clients[client].thawed_us + STRAY_US > now_us)
        *since_us = now_us;
    if (*since_us + STRAY_US < now_us)
        sim_violate(&heirs->crowd.world, "I17", "c%u has %u places, and %u handles that wait", client, places, waits);
}

void rest_check_places(struct heirs *heirs)
{
    struct crowd *crowd = &heirs->crowd;
    char key[HL_KEY_PREFIX_MAX + 64];
    size_t length = hl_key_write(key, hl_key_queue, heirs_name, strlen(heirs_name));
    unsigned counts[HEIRS_CLIENTS_MAX] = {0};
    struct ids ids = {.count = 0};
    struct sim_store_field place;
    for (size_t i = 0; ids.count < IDS_MAX && sim_store_hash_field(store_now(&crowd->store), key, length, i, &place); i++) {
        const char *end = memchr(place.name, ' ', place.name_length);
        if (!end || end - place.name < HOLDER_LEAST)
            continue;
        check_place(heirs, &ids, &place, (size_t)(end - place.name));
        for (unsigned j = 0; j < crowd->clients_count; j++)
            counts[j] += crowd->clients[j].client && memcmp(crowd->clients[j].uuid, place.name, HL_UUID_LENGTH) == 0;
    }
    check_records(heirs, &ids);
    for (unsigned j = 0; j < crowd->clients_count; j++)
        check_count(heirs, j, counts[j]);
}
