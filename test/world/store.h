/* SPDX-License-Identifier: BSD-3-Clause */
/* store - a server of the world, at the level of commands: it understands the argv that the library sends, and nothing more.
 *
 * A peer is one connection to it, as the server sees it. A command is executed at once and whole; when its request arrives and its answer
 * goes is the network's business (net.h). Every command executed is written down: what was really asked is what tests look at.
 * The scripts are a model in C (store_script.c), found by their text. */
#ifndef TEST_WORLD_STORE_H
#define TEST_WORLD_STORE_H

#include "base/command.h"
#include "world/keys.h"
#include "world/say.h"
#include "world/world.h"

enum { STORE_SCRIPTS_MAX = 16, STORE_WORDS_MAX = 32 };
enum { STORE_DELIFEQ = 1, STORE_DELEX = 2 };

struct store_sentinel { /* a server that is a Sentinel: what it knows of one master */
    const char *master; /* how it calls it; NULL: the server is none */
    const char *host;
    int port;
    uint64_t epoch;
};

enum { STORE_NODES_MAX = 6, STORE_SLOTS = 16384 };

struct store_map { /* a server that is part of a cluster: what it believes of it */
    struct { const char *host; int port; } nodes[STORE_NODES_MAX]; /* as it tells of them; host NULL: as it was reached */
    unsigned count, self;
    uint8_t owners[STORE_SLOTS]; /* 1 + node, 0: nobody */
    int leaving, arriving;       /* a slot on its way to `leaves_to`, or here; -1: none */
    unsigned leaves_to;
    int has_no_shards;           /* its version does not know sharded channels */
};

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
    struct keys keys;
    TAILQ_HEAD(, store_peer) peers;
    unsigned peers_ever;
    int has_script[STORE_SCRIPTS_MAX];
    const char *password;              /* of the user "default"; NULL: open to everybody */
    const char *user, *user_password;  /* one more user; NULL: none */
    unsigned natives;                  /* STORE_ bits: the commands of newer servers that it has, and SET .. IFEQ with either */
    int publish_is_denied;             /* to scripts: the right to a channel is missing */
    uint64_t started_us;               /* by its clock */
    unsigned runs;                     /* how often it was started */
    int is_replica;
    unsigned replicas, replicas_away;  /* it has; of these, that acknowledge nothing */
    uint64_t replica_us;               /* how long the others take to */
    struct store_sentinel sentinel;
    struct store_map *map; /* of malloc, taken over; NULL: not part of a cluster */
    const char *policy;                /* maxmemory-policy, with a limit; NULL: none */
    struct store_line *lines;
    size_t lines_count, lines_room;
    int is_unrecorded;
};

void store_init(struct store *store, struct world *world);
void store_done(struct store *store); /* every peer is gone by then */

struct store_peer *store_connect(struct store *store, store_push_fn *push, void *arg);
void store_disconnect(struct store_peer *peer);
struct hl_reply *store_execute(struct store_peer *peer, int argc, const char *const *argv, const size_t *lengths); /* to be freed */
const char *store_word(int argc, const char *const *argv, const size_t *lengths); /* as in the record */

uint64_t store_us(const struct store *store); /* its time of day */
static inline int64_t store_ms(const struct store *store) { return (int64_t)(store_us(store) / 1000); }

/* ---- behind the clients' backs (store_hand.c) ---- */

void store_take(struct store *store, const char *name, const char *holder, uint64_t lease_ms); /* another holds it now; 0: with no expiry */
void store_free_name(struct store *store, const char *name); /* it is released, and said so on its channel */
void store_delete(struct store *store, const char *name);    /* gone, and nobody is told */
void store_take_simple(struct store *store, const char *name, const char *holder, uint64_t lease_ms); /* the same for kind SIMPLE */
void store_set_string(struct store *store, const char *name, const char *value);
void store_expire_ms(struct store *store, const char *name, int64_t from_now_ms);
unsigned store_publish(struct store *store, const char *channel, const char *text); /* how many heard */
void store_flush_scripts(struct store *store);
void store_restart(struct store *store, int keeps_data); /* scripts are forgotten; its connections are the network's to reset */
int64_t store_left_ms(struct store *store, const char *name); /* PTTL: -2 no such key, -1 no expiry */
/* Token that the store has for this holder of the name, 0: it is not the holder. */
uint64_t store_token(struct store *store, const char *name, const char *holder);
const char *store_holder(struct store *store, const char *name); /* "" when free; good until the key changes */
unsigned store_listeners(struct store *store, const char *channel);

size_t store_count(const struct store *store, const char *word); /* commands of that word in the record; NULL: all */
const struct store_line *store_line(const struct store *store, const char *word, int nth); /* from 0; -1 the latest; none: an empty line */
void store_forget(struct store *store); /* the record begins anew */

void store_copy(struct store *to, struct store *from);       /* all keys: what a replica knows now */
void store_give_slot(struct store *store, unsigned slot, unsigned to); /* it believes so now: subscriptions to it end if it was its own */
unsigned store_shard_listeners(struct store *store, const char *channel);
unsigned store_switch(struct store *sentinel, const char *host, int port, uint64_t epoch); /* it knows another master now, and says so */

/* ---- for store*.c alone ---- */

struct store_peer {
    TAILQ_ENTRY(store_peer) entry;
    struct store *store;
    store_push_fn *push;
    void *arg;
    unsigned number;
    int is_named_user, is_logged_in, is_asking, db;
    int has_written;        /* what WAIT counts */
    uint64_t blocked_us;    /* by a WAIT: until then it executes nothing else, and is told nothing */
    struct keys_fields channels; /* names only */
};

struct hl_reply *store_mapped(struct store_peer *peer, int argc, const struct keys_bytes *words); /* NULL: it is for this server */
/* SUBSCRIBE, or what leaves a channel; a shard's are kept apart by STORE_SHARD in front of their names. */
#define STORE_SHARD '\1'
struct keys_field *store_find_channel(struct store_peer *peer, struct keys_bytes channel);
void store_listen(struct store_peer *peer, struct keys_bytes channel, int is_on);
unsigned store_publish_to_shard(struct store *store, struct keys_bytes channel, struct keys_bytes text);
unsigned store_publish_bytes(struct store *store, struct keys_bytes channel, struct keys_bytes text);
struct hl_reply *store_script(struct store *store, int script, const struct keys_bytes *words, int count); /* after EVALSHA <sha1> */
struct hl_reply *store_native(struct store *store, int argc, const struct keys_bytes *words); /* NULL: no such command */
struct hl_reply *store_fair_acquire(struct store *store, const struct keys_bytes *words);
struct hl_reply *store_fair_peek(struct store *store, const struct keys_bytes *words);
struct hl_reply *store_fair_release(struct store *store, const struct keys_bytes *words);
struct hl_reply *store_simple_acquire(struct store *store, const struct keys_bytes *words);
struct hl_reply *store_simple_peek(struct store *store, const struct keys_bytes *words);
struct hl_reply *store_simple_renew(struct store *store, const struct keys_bytes *words);
struct hl_reply *store_simple_release(struct store *store, const struct keys_bytes *words);
struct hl_reply *store_wait(struct store_peer *peer, const struct keys_bytes *words);
int store_has_written(int argc, const struct keys_bytes *words, const struct hl_reply *reply);
struct hl_reply *store_place(struct store_peer *peer, int argc, const struct keys_bytes *words); /* NULL: nothing that its place would change */
const char *store_script_name(int script);
int store_script_of_sha1(struct keys_bytes sha1); /* index in hl_scripts, or -1 */

#endif
