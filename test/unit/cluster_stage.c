/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_stage - see cluster_stage.h. */
#include "cluster_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slot.h"

static const char *const hosts[CLUSTER_MASTERS] = {"127.0.0.1", "10.0.0.2", "10.0.0.3"};

static unsigned first_owner(unsigned slot) { return slot / (SIM_SLOTS / CLUSTER_MASTERS + 1); }

static struct sim_map map_at(unsigned self)
{
    struct sim_map map = {.self = self, .count = CLUSTER_MASTERS, .leaving = -1, .arriving = -1};
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
        map.nodes[i] = (struct sim_node){.address.port = 6379, .master = i, .epoch = i + 1};
        snprintf(map.nodes[i].address.host, sizeof map.nodes[i].address.host, "%s", hosts[i]);
    }
    for (unsigned slot = 0; slot < SIM_SLOTS; slot++)
        map.owners[slot] = (uint8_t)(first_owner(slot) + 1);
    return map;
}

void cluster_set(struct cluster_stage *stage, struct fixture *fixture)
{
    char where[32];
    *stage = (struct cluster_stage){.fixture = fixture};
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
        struct sim_map map = map_at(i);
        snprintf(where, sizeof where, "%s:6379", hosts[i]);
        stage->stores[i] = i ? fixture_server(fixture, where) : &fixture->store;
        stage->places[i] = &fixture->net.places[fixture->net.places_count - 1];
        sim_store_join(stage->stores[i]->core, &map);
    }
}

void cluster_of_old_servers(struct cluster_stage *stage)
{
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
        struct sim_map map = map_at(i);
        map.has_no_shards = 1;
        sim_store_join(stage->stores[i]->core, &map);
    }
}

void cluster_without_hosts(struct cluster_stage *stage)
{
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
        struct sim_map map = map_at(i);
        *map.nodes[i].address.host = '\0';
        sim_store_join(stage->stores[i]->core, &map);
    }
}

struct client *cluster_connect(struct cluster_stage *stage) { return fixture_connect(stage->fixture, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL)); }

struct client *cluster_begin(struct cluster_stage *stage, struct fixture *fixture)
{
    cluster_set(stage, fixture);
    return cluster_connect(stage);
}

unsigned cluster_slot(const char *name) { return hl_slot_of(name, strlen(name)); }

const char *cluster_name(unsigned at, int nth)
{
    static char names[32][16];
    static unsigned latest;
    char *name = names[++latest % 32];
    for (int i = 0; nth >= 0; i++) {
        snprintf(name, sizeof *names, "k%d", i);
        nth -= first_owner(cluster_slot(name)) == at;
    }
    return name;
}

struct handle *cluster_handle(struct client *p, const char *tag, unsigned at) { return handle_new(p, tag, cluster_name(at, 0), NULL); }

void cluster_begin_move(struct cluster_stage *stage, unsigned slot, unsigned from, unsigned to)
{
    sim_store_begin_leave(stage->stores[from]->core, slot, to);
    sim_store_begin_arrive(stage->stores[to]->core, slot);
}

void cluster_move_key(struct cluster_stage *stage, const char *name, unsigned from, unsigned to)
{
    sim_store_migrate(store_now(stage->stores[from]), store_now(stage->stores[to]), name, strlen(name));
}

void cluster_move_lock(struct cluster_stage *stage, const char *name, unsigned from, unsigned to)
{
    static const char *const prefixes[] = {"hilock:wait", "hilock:token"};
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
    cluster_end_move(stage, cluster_slot(name), to);
}

/* A config-epoch that nobody has had, for all but one: SIM_NOBODY. */
static void date(struct cluster_stage *stage, unsigned master, unsigned but)
{
    stage->epochs++;
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        if (i != but)
            sim_store_set_epoch(stage->stores[i]->core, master, CLUSTER_MASTERS + stage->epochs);
}

void cluster_end_move(struct cluster_stage *stage, unsigned slot, unsigned to)
{
    date(stage, to, SIM_NOBODY);
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        sim_store_give_slot(stage->stores[i]->core, slot, to);
}

void cluster_take_over(struct cluster_stage *stage, unsigned from, unsigned to, int is_known_to_all)
{
    date(stage, to, is_known_to_all ? SIM_NOBODY : from);
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        for (unsigned slot = 0; slot < SIM_SLOTS && (i != from || is_known_to_all); slot++)
            if (sim_store_map(stage->stores[i]->core)->owners[slot] == from + 1)
                sim_store_give_slot(stage->stores[i]->core, slot, to);
}

void cluster_set_anew(struct cluster_stage *stage, unsigned slot, unsigned at)
{
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
        struct sim_map map = map_at(i);
        map.owners[slot] = (uint8_t)(at + 1);
        sim_store_join(stage->stores[i]->core, &map);
    }
}
