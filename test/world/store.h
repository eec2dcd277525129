/* SPDX-License-Identifier: BSD-3-Clause */
/* store - a server of the world: the store in memory (adapters/memory), under a clock of the world's, with a record of all that it was asked.
 *
 * A peer is one connection to it, as the server sees it. A command is executed at once and whole; when its request arrives and its answer
 * goes is the network's business (net.h). Every command executed is written down: what was really asked is what tests look at. */
#ifndef TEST_WORLD_STORE_H
#define TEST_WORLD_STORE_H

#include "base/list.h"
#include "memory/peers.h"
#include "world/say.h"
#include "world/world.h"

struct store_peer;
typedef void store_push_fn(void *arg, struct hl_reply *message); /* a message of a channel; takes it over */

struct store_line { /* of the record */
    uint64_t at_us;
    unsigned peer;    /* peers are numbered as they connect, from 1 */
    int is_default;   /* executed as the user "default" */
    int db;
    const char *word; /* name of the script, or first word of the command */
    char *text;       /* all of it, blanks between; what is not printable is a '?' */
};

struct store {
    struct world *world;
    struct world_lane lane;
    struct world_clock clock;
    struct sim_store *core; /* its keys, its scripts, its place among others. Who reads a time there asks store_now for it */
    TAILQ_HEAD(, store_peer) peers;
    unsigned peers_ever;
    unsigned replicas, replicas_away;  /* it has; of these, that acknowledge nothing */
    uint64_t replica_us;               /* how long the others take to */
    void *arg;                         /* the calls below get it; the owner may set them, or leave them NULL: */
    void (*said)(void *arg, const struct sim_reply *push); /* to each peer that it tells a message of a channel */
    void (*published)(void *arg, int is_sharded, const struct sim_said *said); /* others hear it, too */
    /* How many replicas have what the peer wrote, instead of the three numbers above; and when to ask again. */
    unsigned (*having)(const struct store_peer *peer, uint64_t *ret_look_us);
    struct store_line *lines;
    size_t lines_count, lines_room;
    int is_unrecorded;
    struct busy *busy; /* it takes time for what it is asked (busy.h); NULL: none */
};

void store_init(struct store *store, struct world *world);
void store_done(struct store *store); /* every peer is gone by then */

struct store_peer *store_connect(struct store *store, store_push_fn *push, void *arg);
void store_disconnect(struct store_peer *peer);
/* To be freed. NULL: a WAIT blocks the peer, or else a restart closed the connection. */
struct hl_reply *store_execute(struct store_peer *peer, int argc, const char *const *argv, const size_t *lengths);
struct hl_reply *store_look(struct store_peer *peer); /* at blocked_us: the answer to its WAIT, or NULL */
const char *store_word(int argc, const char *const *argv, const size_t *lengths); /* as in the record */

uint64_t store_us(const struct store *store); /* its time of day */
struct sim_store *store_now(const struct store *store); /* its core, whose clock is set to now */

/* ---- behind the clients' backs (store_hand.c) ---- */

void store_take(struct store *store, const char *name, const char *holder, uint64_t lease_ms); /* another program holds it now: Redisson, whose holders end with a thread, ":1" where the text has none; 0: with no expiry */
void store_grant(struct store *store, const char *name, const char *holder, uint64_t lease_ms); /* another client of ours does: it hands over */
void store_join(struct store *store, const char *name, const char *field); /* one more holds it, too */
void store_free_name(struct store *store, const char *name); /* it is released, and said so on its channel */
void store_delete(struct store *store, const char *name);    /* gone, without a message */
void store_clear(struct store *store);                       /* all keys are */
void store_take_simple(struct store *store, const char *name, const char *holder, uint64_t lease_ms); /* the same for kind SIMPLE */
void store_set_hash(struct store *store, const char *name, const char *field, uint64_t lease_ms); /* another program's, and no lock */
void store_set_string(struct store *store, const char *name, const char *value);
void store_expire_ms(struct store *store, const char *name, int64_t from_now_ms);
unsigned store_publish(struct store *store, const char *channel, const char *text); /* how many heard */
unsigned store_publish_to_shard(struct store *store, const char *channel, const char *text);
void store_restart(struct store *store, int keeps_data); /* scripts are forgotten; its connections are the network's to reset */
int64_t store_left_ms(struct store *store, const char *name); /* PTTL: -2 no such key, -1 no expiry */
/* Token that the store has for this holder of the name, 0: it is not the holder. */
uint64_t store_token(struct store *store, const char *name, const char *holder);
/* How long the share of that client and token lasts; -2: there is none, or the name is not shared. */
int64_t store_share_left_ms(struct store *store, const char *name, const char *client, uint64_t token);
const char *store_holder(struct store *store, const char *name); /* "" when free; good until the key changes */
size_t store_listeners(struct store *store, const char *channel);
size_t store_shard_listeners(struct store *store, const char *channel);
void store_copy(struct store *to, const struct store *from);       /* all keys: what a replica knows now */
unsigned store_switch(struct store *sentinel, const char *host, int port, uint64_t epoch); /* it knows another master now, and says so */
void store_knows(struct store *sentinel, const char *host, int port, uint64_t epoch); /* it is a Sentinel, and knows this of "mymaster" */

size_t store_count(const struct store *store, const char *word); /* commands of that word in the record; NULL: all */
const struct store_line *store_line(const struct store *store, const char *word, int nth); /* from 0; -1 the latest; none: an empty line */
void store_forget(struct store *store); /* the record starts again */

/* ---- for store*.c and the network ---- */

struct store_peer {
    TAILQ_ENTRY(store_peer) entry;
    struct store *store;
    store_push_fn *push;
    void *arg;
    unsigned number; /* of the core's connection */
    int is_named_user, db;
    uint64_t wrote;         /* the writes of its store after its own latest: what WAIT is about; 0: it wrote nothing */
    uint64_t wait_for, wait_since_us, wait_ends_us; /* of its latest WAIT; for 0: there was none */
    uint64_t blocked_us;    /* by it, until it is looked at again: it executes nothing else; 0: not blocked */
    int is_ended;           /* the server closes it, after the answer */
    int is_of_replica;      /* it has said so (ROLE); kept by the simulator */
};

#endif
