/* SPDX-License-Identifier: BSD-3-Clause */
/* script - SCRIPT and EVALSHA: the text that is sent to real servers, run by the same Lua 5.1 that they have.
 * A script is compiled once, when it is loaded. The layer between Lua and a server (redis.call, conversions both ways,
 * the place that an error names) works here as in Redis; bit, cjson, cmsgpack, struct and math.random are left out. */
#ifndef SIM_STORE_SCRIPT_H
#define SIM_STORE_SCRIPT_H

#include "table.h"

struct lua_State;
struct sim_store;

struct sim_scripts {
    struct lua_State *lua;
    struct sim_table known; /* by SHA-1 */
    uint64_t loads;        /* SCRIPT LOADs so far */
    int has_written;       /* the one that runs has called a command that writes */
    int is_asking;         /* the command before it was ASKING */
    int on_error;          /* reference of the function that runs where an error is raised */
    const char *twisted_from, *twisted_to; /* NULL: scripts run as they are written */
};

void sim_scripts_init(struct sim_store *store);
void sim_scripts_done(struct sim_store *store);
void sim_scripts_flush(struct sim_store *store);
uint64_t sim_scripts_digest(const struct sim_store *store);

#endif
