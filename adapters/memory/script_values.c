/* SPDX-License-Identifier: BSD-3-Clause */
/* script_values - see script_values.h.
 *
 *   server to Lua:  nil false; integer number; string string; status {ok=}; error {err=}; array table
 *   Lua to server:  nil, false nil; true 1; number integer, cut off; string string; {err=} error; {ok=} status;
 *                   table array, up to its first nil */
#include "script_values.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_number(const struct sim_store *store, double number, char text[40])
{
    const double exact = 9007199254740992.0; /* 2^53: up to this number %.17g prints an integer without an exponent */
    int64_t whole = number > -exact && number < exact ? (int64_t)number : 0;
    if (store->keys.lie == SIM_LIE_SCRIPT_DIGITS)
        snprintf(text, 40, "%.14g", number);
    else if ((double)whole <= number && (double)whole >= number)
        snprintf(text, 40, "%" PRId64, whole);
    else
        snprintf(text, 40, "%.17g", number);
}

int sim_lua_arguments(lua_State *lua, struct sim_call *call, const struct sim_reply **ret_error)
{
    struct sim_replies *replies = &call->store->replies;
    int argc = lua_gettop(lua);
    const char **argv = sim_replies_take(replies, (size_t)argc * sizeof *argv);
    size_t *lengths = sim_replies_take(replies, (size_t)argc * sizeof *lengths);
    for (int i = 0; i < argc; i++) {
        if (lua_type(lua, i + 1) == LUA_TNUMBER) {
            char *text = sim_replies_take(replies, 40);
            write_number(call->store, lua_tonumber(lua, i + 1), text);
            argv[i] = text;
            lengths[i] = strlen(text);
        } else if (lua_type(lua, i + 1) == LUA_TSTRING)
            argv[i] = lua_tolstring(lua, i + 1, &lengths[i]);
        else {
            *ret_error = sim_reply_error(replies, "ERR Lua redis lib command arguments must be strings or integers");
            return 0;
        }
    }
    if (argc == 0)
        *ret_error = sim_reply_error(replies, "ERR Please specify at least one argument for this redis lib call");
    call->argc = argc;
    call->argv = argv;
    call->lengths = lengths;
    return argc > 0;
}

static void push_table(lua_State *lua, const char *field, const char *bytes, size_t length)
{
    lua_createtable(lua, 0, 1);
    lua_pushstring(lua, field);
    lua_pushlstring(lua, bytes, length);
    lua_rawset(lua, -3);
}

/* An error that is a single word has no error code, so it gets the code ERR. */
static void push_error(lua_State *lua, const struct sim_reply *error)
{
    if (memchr(error->bytes, ' ', error->length))
        push_table(lua, "err", error->bytes, error->length);
    else {
        lua_pushliteral(lua, "ERR ");
        lua_pushlstring(lua, error->bytes, error->length);
        lua_concat(lua, 2);
        push_table(lua, "err", lua_tostring(lua, -1), lua_objlen(lua, -1));
        lua_remove(lua, -2);
    }
}

void sim_lua_push(lua_State *lua, const struct sim_reply *reply)
{
    luaL_checkstack(lua, 4, "too deep");
    switch (reply->type) {
    case SIM_REPLY_NIL:
        lua_pushboolean(lua, 0);
        break;
    case SIM_REPLY_INTEGER:
        lua_pushnumber(lua, (double)reply->integer);
        break;
    case SIM_REPLY_STRING:
        lua_pushlstring(lua, reply->bytes, reply->length);
        break;
    case SIM_REPLY_STATUS:
        push_table(lua, "ok", reply->bytes, reply->length);
        break;
    case SIM_REPLY_ERROR:
        push_error(lua, reply);
        break;
    case SIM_REPLY_ARRAY:
        lua_createtable(lua, (int)reply->count, 0);
        for (size_t i = 0; i < reply->count; i++) {
            sim_lua_push(lua, &reply->items[i]);
            lua_rawseti(lua, -2, (int)i + 1);
        }
        break;
    }
}

static int64_t cut(const struct sim_store *store, double number)
{
    if (store->keys.lie == SIM_LIE_SCRIPT_ROUNDS)
        number = round(number);
    return number >= -9223372036854775808.0 && number < 9223372036854775808.0 ? (int64_t)number : INT64_MIN;
}

/* Replaces line breaks, because they would end a status or an error on the wire. */
static const struct sim_reply *one_line(struct sim_replies *replies, enum sim_reply_type type, const char *bytes,
                                        size_t length)
{
    struct sim_reply *reply;
    while (type == SIM_REPLY_ERROR && length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
        length--;
    reply = sim_reply(replies, type, bytes, length);
    for (char *at = (char *)reply->bytes; at < reply->bytes + length; at++)
        if (*at == '\r' || *at == '\n')
            *at = ' ';
    return reply;
}

/* Returns a string member of the table on top of the stack, or NULL. The string lives as long as the table. */
static const char *member(lua_State *lua, const char *field, size_t *ret_length)
{
    const char *text;
    lua_pushstring(lua, field);
    lua_rawget(lua, -2);
    text = lua_type(lua, -1) == LUA_TSTRING ? lua_tolstring(lua, -1, ret_length) : NULL;
    lua_pop(lua, 1);
    return text;
}

static const struct sim_reply *array_of(lua_State *lua, struct sim_store *store)
{
    struct sim_reply *array;
    size_t count = lua_objlen(lua, -1), i = 0;
    while (store->keys.lie != SIM_LIE_SCRIPT_NIL_SKIPPED) {
        int is_nil;
        lua_rawgeti(lua, -1, (int)i + 1);
        is_nil = lua_isnil(lua, -1);
        lua_pop(lua, 1);
        if (is_nil)
            break;
        count = ++i;
    }
    if (i == 0 && store->keys.lie != SIM_LIE_SCRIPT_NIL_SKIPPED)
        count = 0;
    array = sim_reply_array(&store->replies, count);
    for (i = 0; i < count; i++) {
        lua_rawgeti(lua, -1, (int)i + 1);
        sim_reply_set(array, i, *sim_lua_answer(lua, store));
        lua_pop(lua, 1);
    }
    return array;
}

static const struct sim_reply *table_answer(lua_State *lua, struct sim_store *store)
{
    size_t length;
    const char *text = member(lua, "err", &length);
    if (text)
        return one_line(&store->replies, SIM_REPLY_ERROR, text, length);
    text = member(lua, "ok", &length);
    if (text)
        return one_line(&store->replies, SIM_REPLY_STATUS, text, length);
    return array_of(lua, store);
}

const struct sim_reply *sim_lua_answer(lua_State *lua, struct sim_store *store)
{
    size_t length;
    const char *bytes;
    if (!lua_checkstack(lua, 4))
        return sim_reply_error(&store->replies, "ERR reached lua stack limit");
    switch (lua_type(lua, -1)) {
    case LUA_TSTRING:
        bytes = lua_tolstring(lua, -1, &length);
        return sim_reply(&store->replies, SIM_REPLY_STRING, bytes, length);
    case LUA_TBOOLEAN:
        return lua_toboolean(lua, -1) ? &sim_one : &sim_nil;
    case LUA_TNUMBER:
        return sim_reply_integer(&store->replies, cut(store, lua_tonumber(lua, -1)));
    case LUA_TTABLE:
        return table_answer(lua, store);
    default:
        return &sim_nil;
    }
}

const struct sim_reply *sim_lua_failure(lua_State *lua, struct sim_store *store, const char *sha1)
{
    const char *text, *source, *line;
    lua_getfield(lua, -1, "err");
    lua_getfield(lua, -2, "source");
    lua_getfield(lua, -3, "line");
    text = lua_tostring(lua, -3);
    source = lua_tostring(lua, -2);
    line = lua_tostring(lua, -1);
    if (source && line)
        lua_pushfstring(lua, "%s script: %s, on %s:%s.", text ? text : "", sha1, source, line);
    else
        lua_pushstring(lua, text ? text : "");
    return one_line(&store->replies, SIM_REPLY_ERROR, lua_tostring(lua, -1), lua_objlen(lua, -1));
}
