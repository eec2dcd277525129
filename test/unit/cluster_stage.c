/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_stage - see cluster_stage.h. */
#include "cluster_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slot.h"

static unsigned first_owner(unsigned slot) { return slot / (STORE_SLOTS / CLUSTER_MASTERS + 1); }

void cluster_set(struct cluster_stage *stage, struct scene *scene)
{
    static const char *const hosts[CLUSTER_MASTERS] = {"127.0.0.1", "10.0.0.2", "10.0.0.3"};
    char where[32];
    *stage = (struct cluster_stage){.scene = scene};
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
        struct store_map *map = calloc(1, sizeof *map);
        if (!map)
            abort();
        snprintf(where, sizeof where, "%s:6379", hosts[i]);
        stage->stores[i] = i ? scene_server(scene, where) : &scene->store;
        stage->places[i] = &scene->net.places[scene->net.places_count - 1];
        stage->stores[i]->map = map;
        map->count = CLUSTER_MASTERS;
        map->self = i;
        map->leaving = map->arriving = -1;
        for (unsigned j = 0; j < CLUSTER_MASTERS; j++)
            map->nodes[j].host = hosts[j], map->nodes[j].port = 6379;
        for (unsigned slot = 0; slot < STORE_SLOTS; slot++)
            map->owners[slot] = (uint8_t)(first_owner(slot) + 1);
    }
}

struct party *cluster_connect(struct cluster_stage *stage) { return scene_connect(stage->scene, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL)); }

unsigned cluster_slot(const char *name) { return hl_slot_of(name, strlen(name)); }

const char *cluster_name(unsigned at, int nth)
{
    static char name[16];
    for (int i = 0; nth >= 0; i++) {
        snprintf(name, sizeof name, "k%d", i);
        nth -= first_owner(cluster_slot(name)) == at;
    }
    return name;
}

void cluster_begin_move(struct cluster_stage *stage, unsigned slot, unsigned from, unsigned to)
{
    stage->stores[from]->map->leaving = (int)slot;
    stage->stores[from]->map->leaves_to = to;
    stage->stores[to]->map->arriving = (int)slot;
}

void cluster_move_key(struct cluster_stage *stage, const char *name, unsigned from, unsigned to)
{
    struct keys *keys = &stage->stores[from]->keys;
    struct keys_key *key = keys_find(keys, keys_text(name), store_ms(stage->stores[from])), *copy;
    const struct keys_field *field;
    if (!key)
        return;
    copy = keys_make(&stage->stores[to]->keys, key->name, key->type);
    TAILQ_FOREACH(field, &key->fields, entry)
        keys_set(copy, field->name, field->value);
    copy->expires_ms = key->expires_ms;
    keys_delete(keys, key);
}

void cluster_move_lock(struct cluster_stage *stage, const char *name, unsigned from, unsigned to)
{
    static const char *const prefixes[] = {"hilock:queue", "hilock:waiter", "hilock:token"};
    char key[64];
    cluster_move_key(stage, name, from, to);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        snprintf(key, sizeof key, "%s:{%s}", prefixes[i], name);
        cluster_move_key(stage, key, from, to);
    }
}

void cluster_move(struct cluster_stage *stage, const char *name, unsigned from, unsigned to)
{
    cluster_begin_move(stage, cluster_slot(name), from, to);
    cluster_move_lock(stage, name, from, to);
    cluster_end_move(stage, cluster_slot(name), from, to);
}

void cluster_end_move(struct cluster_stage *stage, unsigned slot, unsigned from, unsigned to)
{
    stage->stores[from]->map->leaving = stage->stores[to]->map->arriving = -1;
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        store_give_slot(stage->stores[i], slot, to);
}

void cluster_take_over(struct cluster_stage *stage, unsigned from, unsigned to, int is_known_to_all)
{
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        for (unsigned slot = 0; slot < STORE_SLOTS && (i != from || is_known_to_all); slot++)
            if (stage->stores[i]->map->owners[slot] == from + 1)
                store_give_slot(stage->stores[i], slot, to);
}
