/* SPDX-License-Identifier: BSD-3-Clause */
/* script - SCRIPT and EVALSHA: runs the same script texts that real servers get, with the same Lua 5.1.
 * A script is compiled once, when it is loaded. The layer between Lua and the server (redis.call, the conversions both
 * ways, and the position that an error names) works as in Redis. The libraries bit, cjson, cmsgpack and struct, and
 * math.random, are left out. */
#ifndef SIM_STORE_SCRIPT_H
#define SIM_STORE_SCRIPT_H

#include "table.h"

struct lua_State;
struct sim_store;

struct sim_scripts {
    struct lua_State *lua;
    struct sim_table known; /* the loaded scripts, by SHA-1 */
    uint64_t loads;        /* how many SCRIPT LOADs there were */
    int has_written;       /* the running script has called a command that writes */
    int is_asking;         /* the command before this script was ASKING */
    int on_error;          /* a reference to the Lua function that runs where an error is raised */
};

void sim_scripts_init(struct sim_store *store);
void sim_scripts_done(struct sim_store *store);
void sim_scripts_flush(struct sim_store *store);
uint64_t sim_scripts_digest(const struct sim_store *store);

#endif
