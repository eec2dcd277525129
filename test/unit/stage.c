/* SPDX-License-Identifier: BSD-3-Clause */
/* stage - see stage.h. */
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slot.h"

/* ---- a cluster ---- */

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

void cluster_set(struct fixture *s)
{
    char where[32];
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
        struct sim_map map = map_at(i);
        snprintf(where, sizeof where, "%s:6379", hosts[i]);
        if (i)
            fixture_server(s, where);
        sim_store_join(store_at(s, i)->core, &map);
    }
}

void cluster_change(struct fixture *s, void (*change)(struct sim_map *map))
{
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
        struct sim_map map = *sim_store_map(store_at(s, i)->core);
        change(&map);
        sim_store_join(store_at(s, i)->core, &map);
    }
}

struct client *cluster_connect(struct fixture *s)
{
    return fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL));
}

struct client *cluster_begin(struct fixture *s)
{
    cluster_set(s);
    return cluster_connect(s);
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

struct handle *waits(struct client *p, const char *tag, const char *name)
{
    struct handle *handle = handle_new(p, tag, name, HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 30000));
    run_ms(p->fixture, 2);
    acquire(handle, HILOCK_FOREVER);
    run_ms(p->fixture, 5);
    fixture_hush(p->fixture);
    return handle;
}

struct handle *cluster_handle(struct client *p, const char *tag, unsigned at)
{
    return handle_new(p, tag, cluster_name(at, 0), NULL);
}

void cluster_begin_move(struct fixture *s, unsigned slot, unsigned from, unsigned to)
{
    sim_store_begin_leave(store_at(s, from)->core, slot, to);
    sim_store_begin_arrive(store_at(s, to)->core, slot);
}

void cluster_move_key(struct fixture *s, const char *name, unsigned from, unsigned to)
{
    sim_store_migrate(store_now(store_at(s, from)), store_now(store_at(s, to)), name, strlen(name));
}

void cluster_move_lock(struct fixture *s, const char *name, unsigned from, unsigned to)
{
    static const char *const prefixes[] = {"hilock:queue", "hilock:token"};
    char key[64];
    cluster_move_key(s, name, from, to);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        snprintf(key, sizeof key, "%s:{%s}", prefixes[i], name);
        cluster_move_key(s, key, from, to);
    }
}

void cluster_move(struct fixture *s, const char *name, unsigned from, unsigned to)
{
    cluster_begin_move(s, cluster_slot(name), from, to);
    cluster_move_lock(s, name, from, to);
    cluster_end_move(s, cluster_slot(name), to);
}

void cluster_serve(struct fixture *s, unsigned slot, unsigned owner)
{
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        sim_store_give_slot(store_at(s, i)->core, slot, owner);
}

/* A config-epoch that nobody has had, for all but one: SIM_NOBODY. */
static void date(struct fixture *s, unsigned master, unsigned but)
{
    s->epochs++;
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        if (i != but)
            sim_store_set_epoch(store_at(s, i)->core, master, CLUSTER_MASTERS + s->epochs);
}

void cluster_end_move(struct fixture *s, unsigned slot, unsigned to)
{
    date(s, to, SIM_NOBODY);
    cluster_serve(s, slot, to);
}

void cluster_take_over(struct fixture *s, unsigned from, unsigned to, int is_known_to_all)
{
    date(s, to, is_known_to_all ? SIM_NOBODY : from);
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        for (unsigned slot = 0; slot < SIM_SLOTS && (i != from || is_known_to_all); slot++)
            if (sim_store_map(store_at(s, i)->core)->owners[slot] == from + 1)
                sim_store_give_slot(store_at(s, i)->core, slot, to);
}

void cluster_set_anew(struct fixture *s, unsigned slot, unsigned at)
{
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
        struct sim_map map = map_at(i);
        map.owners[slot] = (uint8_t)(at + 1);
        sim_store_join(store_at(s, i)->core, &map);
    }
}

/* ---- sentinels ---- */

void sentinels_set(struct fixture *s)
{
    char where[32];
    sim_store_set_replica(fixture_server(s, REPLICA_HOST ":6379")->core, 1);
    for (unsigned i = 0; i < SENTINELS; i++) {
        snprintf(where, sizeof where, "10.0.0.1%u:26379", i + 1);
        store_knows(fixture_server(s, where), "127.0.0.1", 6379, 1);
    }
}

struct client *sentinels_connect(struct fixture *s)
{
    struct client *client = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = SENTINEL_URL));
    run_ms(s, 10); /* subscribed */
    return client;
}

struct client *sentinels_begin(struct fixture *s)
{
    sentinels_set(s);
    return sentinels_connect(s);
}

struct store *replica_of(struct fixture *s) { return store_at(s, REPLICA); }

struct store *sentinel_at(struct fixture *s, unsigned i) { return store_at(s, FIRST_SENTINEL + i); }

void sentinels_fail_over(struct fixture *s, unsigned sentinels, int is_told, int is_demoted)
{
    sim_store_set_replica(replica_of(s)->core, 0);
    sim_store_set_replica(s->store.core, is_demoted);
    for (unsigned i = 0; i < sentinels; i++) {
        if (is_told)
            store_switch(sentinel_at(s, i), REPLICA_HOST, 6379, 2);
        else
            store_knows(sentinel_at(s, i), REPLICA_HOST, 6379, 2);
    }
}

int is_at(struct store *store, const struct handle *handle)
{
    return strncmp(store_holder(store, hilock_lock_name(handle->lock)), handle->client->uuid, 36) == 0;
}

/* ---- a quorum ---- */

const char *const *urls_of(unsigned count)
{
    static const char *lists[FIXTURE_MASTERS_MAX + 1][FIXTURE_MASTERS_MAX + 1];
    for (unsigned i = 0; i < count; i++)
        lists[count][i] = fixture_urls[i];
    return lists[count];
}

struct client *quorum_with(struct fixture *s, unsigned count, struct hilock_client_options options)
{
    fixture_masters(s, count);
    options.quorum_urls = urls_of(count);
    struct client *p = fixture_connect(s, &options);
    run_ms(s, 1);
    return p;
}

struct client *quorum(struct fixture *s, unsigned count)
{
    return quorum_with(s, count, hilock_client_options_default());
}

/* How many masters have the name for some client of this fixture. */
unsigned kept(struct fixture *s, const char *name)
{
    unsigned found = 0;
    for (unsigned i = 0; i < s->masters_count; i++)
        found += strstr(store_holder(store_at(s, i), name), "-aaaa-4bbb-") != NULL;
    return found;
}

size_t asked_all(struct fixture *s, const char *word)
{
    size_t count = 0;
    for (unsigned i = 0; i <= s->more_count; i++)
        count += store_count(store_at(s, i), word);
    return count;
}

void crash(struct fixture *s, unsigned i)
{
    s->net.places[i].mood = NET_REFUSES;
    net_reset_at(&s->net, s->net.places[i].store, NET_ALL);
}

void restart_empty(struct fixture *s, unsigned i)
{
    store_restart(store_at(s, i), 0);
    net_reset_at(&s->net, s->net.places[i].store, NET_ALL);
    s->net.places[i].mood = NET_LISTENS;
}

void take_at(struct fixture *s, unsigned first, unsigned count, const char *holder)
{
    for (unsigned i = first; i < first + count; i++)
        store_take(store_at(s, i), "stock", holder, 60000);
}

/* ---- a multi ---- */

const char *const abc[] = {"a", "b", "c", NULL};

/* Each time it has the name that it stood at, it finds the other one taken. */
struct handle *gathering(struct client *p, const struct hilock_lock_options *options, const char *last,
                         void (*take)(struct store *store, const char *name, const char *holder, uint64_t lease_ms))
{
    struct fixture *s = p->fixture;
    const char *at[2] = {*last == 'c' ? "b" : "c", last};
    struct handle *m = multi_new(p, "m", abc, options);
    store_take(&s->store, at[0], "another", 600000);
    acquire(m, HILOCK_FOREVER);
    for (int i = 1; i < 4; i++) {
        run_ms(s, 10);
        (i < 3 ? store_take : take)(&s->store, at[i % 2], "another", 600000);
        store_free_name(&s->store, at[(i + 1) % 2]);
    }
    run_ms(s, 10);
    return m;
}

void loses_the_first(struct fixture *s, const struct handle *m)
{
    store_restart(&s->store, 0);
    store_take(&s->store, "a", "another", 600000);
    net_reset(&s->net, NULL, NET_ALL);
    for (int i = 0; i < 10000 && !is_ours(s, "c"); i++)
        run_us(s, 100);
    run_us(s, 300);
    HOLDS(s, hilock_lock_state(m->lock) == HILOCK_STATE_WAITING);
    store_free_name(&s->store, "a");
    run_ms(s, 1000);
    HOLDS(s, hilock_lock_state(m->lock) == HILOCK_STATE_HELD && is_ours(s, "a"));
}

/* ---- a replica ---- */

const struct hilock_lock_options confirmed = {.size = sizeof confirmed, .replicas = 1};

struct client *shop(struct fixture *s)
{
    s->store.replicas = 1;
    s->store.replica_us = 5000;
    return fixture_connect(s, NULL);
}
