/* SPDX-License-Identifier: BSD-3-Clause */
/* script_values - converts values between Lua and the server. */
#ifndef SIM_STORE_SCRIPT_VALUES_H
#define SIM_STORE_SCRIPT_VALUES_H

#include "state.h"

struct lua_State;

/* Makes everything on Lua's stack the arguments of a command. The strings still belong to Lua. Returns 0 and
 * *ret_error if a value cannot be an argument. */
int sim_lua_arguments(struct lua_State *lua, struct sim_call *call, const struct sim_reply **ret_error);
void sim_lua_push(struct lua_State *lua, const struct sim_reply *reply);
/* Makes an answer from the value on top of the stack. */
const struct sim_reply *sim_lua_answer(struct lua_State *lua, struct sim_store *store);
/* Makes an answer from the error on top of the stack. */
const struct sim_reply *sim_lua_failure(struct lua_State *lua, struct sim_store *store, const char *sha1);

#endif
