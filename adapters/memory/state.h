/* SPDX-License-Identifier: BSD-3-Clause */
/* state - the parts of a store. They depend on each other in this order: keyspace, replies <- pubsub, script, command_*
 * <- peers, map <- store, inspect. */
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
    const char *user, *user_password; /* a second user beside the default one; NULL: none */
    const char *policy;               /* the maxmemory-policy of a store with a limit; NULL: it has no limit */
    const char *denied_command, *denied_prefix;
    int is_mute;                      /* no user has the right to a channel */
    int is_replica, is_sentinel;
    struct sim_sentinel_knows sentinel;
    struct sim_map *map; /* NULL: the store is in no cluster */
    const struct sim_command *index[SIM_COMMANDS_ROOM]; /* a hash table by name, with linear probing */
    uint64_t calls[SIM_COMMANDS_ROOM];                  /* how often each was called, also by scripts */
};

struct sim_call { /* one command that a connection or a script has called */
    struct sim_store *store;
    unsigned connection; /* 0: a script has called it */
    int argc;
    const char *const *argv;
    const size_t *lengths;
};

enum {
    SIM_WRITES = 1,   /* the command is refused by SIM_REFUSE_WRITES */
    SIM_GROWS = 1024, /* it is refused by SIM_REFUSE_GROWTH, too */
    SIM_ALWAYS = 2,   /* it is not refused by SIM_REFUSE_ALL */
    SIM_NOSCRIPT = 4, /* a script may not call it */
    SIM_LISTENS = 8,  /* a connection that is subscribed may call it */
    SIM_KEY = 16,     /* argument 1 is a key */
    SIM_KEYS = 32,    /* all arguments are keys */
    SIM_COUNTED_KEYS = 64, /* argument 2 is the number of keys that follow it */
    SIM_CHANNEL = 128, /* argument 1 is a sharded channel */
    SIM_GUIDES = 256, /* a Sentinel has the command, too */
    SIM_GUIDES_ONLY = 512 /* only a Sentinel has the command */
};

struct sim_command {
    const char *name; /* in lower case, as errors quote it */
    int arity;        /* how many arguments, with the command's name; a negative number means at least so many */
    unsigned flags;
    const struct sim_reply *(*run)(const struct sim_call *call);
};

/* The tables of commands. Each ends with a name of NULL. */
extern const struct sim_command sim_commands_keys[], sim_commands_string[], sim_commands_hash[], sim_commands_zset[],
    sim_commands_list[], sim_commands_server[], sim_commands_operator[], sim_commands_pubsub[], sim_commands_script[],
    sim_commands_peers[], sim_commands_map[];

const struct sim_command *sim_command_find(const struct sim_store *store, const char *name, size_t length);
int sim_command_fits(const struct sim_command *command, int argc);
/* Runs a command, whose number of arguments must fit. */
const struct sim_reply *sim_command_run(const struct sim_call *call, const struct sim_command *command);

/* Returns why a command is refused by a fault of the store. NULL: the command may run. */
const char *sim_write_refusal(const struct sim_store *store, const struct sim_command *command);
/* Returns the redirection for a command in a cluster. NULL: the command belongs here. */
const struct sim_reply *sim_map_refusal(const struct sim_call *call, const struct sim_command *command, int is_asking);

/* ---- functions for all commands (arguments.c) ---- */

/* Counts elements for sim_store_touched(). Keys are counted already. */
void sim_touch(const struct sim_call *call, size_t elements);
int sim_argument_is(const struct sim_call *call, int i, const char *word); /* ignores the case of letters */
/* Reads a number. Returns 1, or 0 and *ret_error. It is as strict as a real server: no space, no plus, no leading
 * zero. */
int sim_argument_integer(const struct sim_call *call, int i, int64_t *ret_number, const struct sim_reply **ret_error);
int sim_integer_read(const char *bytes, size_t length, int64_t *ret_number);
/* Finds the key of argument i. Returns 1, with a *ret_key of NULL if there is no such key; or 0 and *ret_error if
 * the key has another type. */
int sim_argument_key(const struct sim_call *call, int i, enum sim_type type, struct sim_key **ret_key,
                     const struct sim_reply **ret_error);
struct sim_key *sim_argument_new_key(const struct sim_call *call, int i, enum sim_type type);
const struct sim_reply *sim_wrong_arguments(const struct sim_call *call, const char *command);
/* Argument 1 is the subcommand. */
const struct sim_reply *sim_unknown_subcommand(const struct sim_call *call, const char *command);

/* ---- questions of operators (command_operator.c) ---- */

const struct sim_reply *sim_clients_list(const struct sim_call *call);
const struct sim_reply *sim_clients_kill(const struct sim_call *call);
const struct sim_reply *sim_calls_told(const struct sim_call *call);
/* Answers with the keys of a table that match the pattern in argument i; with all keys if there is no such argument. */
const struct sim_reply *sim_names_like(const struct sim_call *call, const struct sim_table *table, int i);

/* ---- for hashes and sorted sets (items.c): argument 1 is the key, and names of items follow ---- */

const struct sim_reply *sim_items_count(const struct sim_call *call, enum sim_type type);
const struct sim_reply *sim_items_remove(const struct sim_call *call, enum sim_type type);

#endif
