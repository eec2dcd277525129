/* SPDX-License-Identifier: BSD-3-Clause */
/* state - what a store is made of. The order of dependence is keyspace, replies <- pubsub, script, command_* <- peers,
 * map <- store, inspect. */
#ifndef SIM_STORE_STATE_H
#define SIM_STORE_STATE_H

#include "keyspace.h"
#include "peers.h"
#include "pubsub.h"
#include "replies.h"
#include "script.h"
#include "store.h"

enum { SIM_COMMANDS_ROOM = 128 };

struct sim_store {
    struct sim_keyspace keys;
    struct sim_replies replies;
    struct sim_pubsub pubsub;
    struct sim_scripts scripts;
    const struct sim_store_events *events;
    void *arg;
    uint64_t started_us, commands;
    enum sim_refusal refuses;
    const char *refusal;
    char *password;
    const char *user, *user_password; /* one more user; NULL: none */
    const char *policy;               /* maxmemory-policy, with a limit; NULL: none */
    const char *denied_command, *denied_prefix;
    int is_mute;                      /* no user has the right to a channel */
    int is_replica, is_sentinel;
    struct sim_sentinel_knows sentinel;
    struct sim_map *map; /* NULL: in no cluster */
    const struct sim_command *index[SIM_COMMANDS_ROOM]; /* by hash of the name, linear probing */
    uint64_t calls[SIM_COMMANDS_ROOM];                  /* of each, in scripts too */
};

struct sim_call { /* one command, of a connection or of a script */
    struct sim_store *store;
    unsigned connection; /* 0: a script */
    int argc;
    const char *const *argv;
    const size_t *lengths;
};

enum {
    SIM_WRITES = 1,   /* refused by SIM_REFUSE_WRITES */
    SIM_GROWS = 1024, /* and by SIM_REFUSE_GROWTH */
    SIM_ALWAYS = 2,   /* not refused by SIM_REFUSE_ALL */
    SIM_NOSCRIPT = 4, /* not legal inside a script */
    SIM_LISTENS = 8,  /* legal on a connection that is subscribed */
    SIM_KEY = 16,     /* argument 1 is a key, */
    SIM_KEYS = 32,    /* all are, */
    SIM_COUNTED_KEYS = 64, /* argument 2 is the number of those that follow */
    SIM_CHANNEL = 128, /* argument 1 is a sharded channel */
    SIM_GUIDES = 256, /* of a Sentinel, too, */
    SIM_GUIDES_ONLY = 512 /* or of it alone */
};

struct sim_command {
    const char *name; /* lower case, as errors quote it */
    int arity;        /* the command's word included; negative: at least */
    unsigned flags;
    const struct sim_reply *(*run)(const struct sim_call *call);
};

extern const struct sim_command sim_commands_keys[], sim_commands_string[], sim_commands_hash[], sim_commands_zset[],
    sim_commands_list[], sim_commands_server[], sim_commands_operator[], sim_commands_pubsub[], sim_commands_script[],
    sim_commands_peers[], sim_commands_map[];
/* each ended by a name of NULL */

const struct sim_command *sim_command_find(const struct sim_store *store, const char *name, size_t length);
int sim_command_fits(const struct sim_command *command, int argc);
/* which fits */
const struct sim_reply *sim_command_run(const struct sim_call *call, const struct sim_command *command);

const char *sim_write_refusal(const struct sim_store *store, const struct sim_command *command); /* NULL: it may run */
/* NULL: it belongs here */
const struct sim_reply *sim_map_refusal(const struct sim_call *call, const struct sim_command *command, int is_asking);

/* ---- what commands share (arguments.c) ---- */

void sim_touch(const struct sim_call *call, size_t elements); /* beside its keys, which are counted (store.h) */
int sim_argument_is(const struct sim_call *call, int i, const char *word); /* case does not matter */
/* 1, or 0 and *ret_error. As strict as a real server: no space, no plus, no leading zero. */
int sim_argument_integer(const struct sim_call *call, int i, int64_t *ret_number, const struct sim_reply **ret_error);
int sim_integer_read(const char *bytes, size_t length, int64_t *ret_number);
/* 1, *ret_key NULL if there is none; 0: of another type, *ret_error. */
int sim_argument_key(const struct sim_call *call, int i, enum sim_type type, struct sim_key **ret_key,
                     const struct sim_reply **ret_error);
struct sim_key *sim_argument_new_key(const struct sim_call *call, int i, enum sim_type type);
const struct sim_reply *sim_wrong_arguments(const struct sim_call *call, const char *command);
const struct sim_reply *sim_unknown_subcommand(const struct sim_call *call, const char *command); /* argument 1 */

/* ---- what an operator asks (command_operator.c) ---- */

const struct sim_reply *sim_clients_list(const struct sim_call *call);
const struct sim_reply *sim_clients_kill(const struct sim_call *call);
const struct sim_reply *sim_calls_told(const struct sim_call *call);
/* Keys of a table that are like argument i; all of them, if there is none. */
const struct sim_reply *sim_names_like(const struct sim_call *call, const struct sim_table *table, int i);

/* ---- what hashes and sorted sets share (items.c): argument 1 is the key, names of items follow ---- */

const struct sim_reply *sim_items_count(const struct sim_call *call, enum sim_type type);
const struct sim_reply *sim_items_remove(const struct sim_call *call, enum sim_type type);

#endif
