/* SPDX-License-Identifier: BSD-3-Clause */
/* script_values - converts values between Lua and the server. */
#ifndef SIM_STORE_SCRIPT_VALUES_H
#define SIM_STORE_SCRIPT_VALUES_H

#include "state.h"

struct lua_State;

/* All that is on Lua's stack, as the arguments of a command; strings stay Lua's. 0: not possible, *ret_error. */
int sim_lua_arguments(struct lua_State *lua, struct sim_call *call, const struct sim_reply **ret_error);
void sim_lua_push(struct lua_State *lua, const struct sim_reply *reply);
const struct sim_reply *sim_lua_answer(struct lua_State *lua, struct sim_store *store); /* of the value on top */
/* of the error on top */
const struct sim_reply *sim_lua_failure(struct lua_State *lua, struct sim_store *store, const char *sha1);

#endif
