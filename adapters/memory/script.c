/* SPDX-License-Identifier: BSD-3-Clause */
/* script - see script.h; conversions are in script_values.c. */
#include "script.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "script_values.h"
#include "sha1.h"
#include "state.h"

struct script {
    struct sim_table_entry entry;
    int function; /* the reference of the compiled function in Lua's registry */
    char sha1[SIM_SHA1_DIGITS + 1];
    size_t length;
    char text[];
};

static struct script *of(struct sim_table_entry *entry)
{
    return entry ? (struct script *)(void *)((char *)entry - offsetof(struct script, entry)) : NULL;
}

/* ---- redis.call and redis.pcall ---- */

static const struct sim_reply *script_error(const struct sim_call *call, const char *text)
{
    return sim_reply_error(&call->store->replies, "ERR %s", text);
}

/* Returns which right to the command the user lacks, in a real server's words; NULL: none is lacking. */
static const char *lacks_right(const struct sim_call *call, const struct sim_command *command)
{
    const struct sim_store *store = call->store;
    const char *prefix = store->denied_prefix;
    unsigned has_key = command->flags & (SIM_KEY | SIM_KEYS);
    if (store->denied_command && strcmp(command->name, store->denied_command) != 0)
        return NULL;
    if (!prefix)
        return store->denied_command ? "can't run this command or subcommand" : NULL;
    for (int i = 1; has_key && i < (has_key & SIM_KEYS ? call->argc : 2); i++)
        if (call->lengths[i] >= strlen(prefix) && memcmp(call->argv[i], prefix, strlen(prefix)) == 0)
            return "can't access at least one of the keys mentioned in the command arguments";
    return NULL;
}

static const struct sim_reply *execute(const struct sim_call *call)
{
    const struct sim_store *store = call->store;
    const struct sim_command *command = sim_command_find(store, call->argv[0], call->lengths[0]);
    const char *refused, *lacked;
    if (!command)
        return script_error(call, "Unknown Redis command called from script");
    if (!sim_command_fits(command, call->argc))
        return script_error(call, "Wrong number of args calling Redis command from script");
    if (command->flags & SIM_NOSCRIPT)
        return script_error(call, "This Redis command is not allowed from script");
    if (store->map && sim_map_refusal(call, command, store->scripts.is_asking))
        return script_error(call, "Script attempted to access a non local key in a cluster node");
    if ((lacked = lacks_right(call, command)) != NULL)
        return sim_reply_error(&call->store->replies, "ERR The user executing the script %s", lacked);
    if ((refused = sim_write_refusal(store, command)) != NULL)
        return sim_reply_error(&call->store->replies, "%s", refused);
    call->store->scripts.has_written |= (command->flags & SIM_WRITES) != 0;
    return sim_command_run(call, command);
}

static int call_redis(lua_State *lua, int is_protected)
{
    struct sim_store *store = lua_touserdata(lua, lua_upvalueindex(1));
    struct sim_mark mark = sim_replies_mark(&store->replies);
    const struct sim_reply *reply = NULL;
    struct sim_call call = {.store = store};
    int is_error;
    if (sim_lua_arguments(lua, &call, &reply))
        reply = execute(&call);
    is_error = reply->type == SIM_REPLY_ERROR;
    lua_settop(lua, 0);
    if (is_error && is_protected && store->keys.lie == SIM_LIE_PCALL_FALSE)
        reply = &sim_nil;
    sim_lua_push(lua, reply);
    sim_replies_rewind(&store->replies, mark);
    return is_error && !is_protected ? lua_error(lua) : 1;
}

static int redis_call(lua_State *lua) { return call_redis(lua, 0); }
static int redis_pcall(lua_State *lua) { return call_redis(lua, 1); }

/* This function exists in Redis 7 and later. */
static int acl_check_cmd(lua_State *lua)
{
    struct sim_store *store = lua_touserdata(lua, lua_upvalueindex(1));
    struct sim_mark mark = sim_replies_mark(&store->replies);
    struct sim_call call = {.store = store};
    const struct sim_reply *error = NULL;
    const struct sim_command *command = NULL;
    if (sim_lua_arguments(lua, &call, &error)) {
        command = sim_command_find(store, call.argv[0], call.lengths[0]);
        if (!command)
            error = script_error(&call, "Invalid command passed to redis.acl_check_cmd()");
    }
    if (error)
        sim_lua_push(lua, error);
    else
        lua_pushboolean(lua, lacks_right(&call, command) == NULL);
    sim_replies_rewind(&store->replies, mark);
    return error ? lua_error(lua) : 1;
}

static int text_table(lua_State *lua, const char *field)
{
    struct sim_store *store = lua_touserdata(lua, lua_upvalueindex(1));
    size_t length;
    const char *text;
    if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING)
        sim_lua_push(lua, sim_reply(&store->replies, SIM_REPLY_ERROR, "ERR wrong number or type of arguments", 37));
    else if (field[0] == 'o') {
        text = lua_tolstring(lua, 1, &length);
        sim_lua_push(lua, sim_reply(&store->replies, SIM_REPLY_STATUS, text, length));
    } else {
        text = lua_tolstring(lua, 1, &length);
        sim_lua_push(lua, sim_reply(&store->replies, SIM_REPLY_ERROR, text + (*text == '-'), length - (*text == '-')));
    }
    return 1;
}

static int error_reply(lua_State *lua) { return text_table(lua, "err"); }
static int status_reply(lua_State *lua) { return text_table(lua, "ok"); }

/* ---- the state ---- */

static int unknown_global(lua_State *lua)
{
    return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'", lua_tostring(lua, 2));
}

static int new_global(lua_State *lua) { return luaL_error(lua, "Attempt to modify a readonly table"); }

/* Works like Lua's own pcall, except that an error of redis.call is passed on as its text alone. */
static int protected_call(lua_State *lua)
{
    int is_error;
    luaL_checkany(lua, 1);
    is_error = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0) != 0;
    if (is_error && lua_istable(lua, -1)) {
        lua_getfield(lua, -1, "err");
        if (lua_isstring(lua, -1))
            lua_replace(lua, -2);
        else
            lua_pop(lua, 1);
    }
    lua_pushboolean(lua, !is_error);
    lua_insert(lua, 1);
    return lua_gettop(lua);
}

/* Makes a table {err, source, line} from any error. Runs where the error was raised, while that stack still exists. */
static int on_error(lua_State *lua)
{
    lua_Debug where;
    int is_known = lua_getstack(lua, 1, &where) && lua_getinfo(lua, "nSl", &where);
    if (is_known && strcmp(where.what, "C") == 0)
        is_known = lua_getstack(lua, 2, &where) && lua_getinfo(lua, "nSl", &where);
    if (!lua_istable(lua, 1)) {
        const char *text = lua_tostring(lua, 1);
        lua_createtable(lua, 0, 3);
        lua_pushfstring(lua, "ERR %s", text ? text : luaL_typename(lua, 1));
        lua_setfield(lua, -2, "err");
    }
    if (is_known) {
        lua_pushstring(lua, where.source);
        lua_setfield(lua, -2, "source");
        lua_pushinteger(lua, where.currentline);
        lua_setfield(lua, -2, "line");
    }
    return 1;
}

static void open_library(lua_State *lua, lua_CFunction open, const char *name)
{
    lua_pushcfunction(lua, open);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 0);
}

static void forget(lua_State *lua, const char *table, const char *const *names)
{
    lua_getfield(lua, LUA_GLOBALSINDEX, table);
    for (; *names; names++) {
        lua_pushnil(lua);
        lua_setfield(lua, -2, *names);
    }
    lua_pop(lua, 1);
}

static void open_redis(struct sim_store *store)
{
    static const luaL_Reg functions[] = {{"call", redis_call},
                                         {"pcall", redis_pcall},
                                         {"error_reply", error_reply},
                                         {"status_reply", status_reply},
                                         {"acl_check_cmd", acl_check_cmd}};
    lua_State *lua = store->scripts.lua;
    lua_newtable(lua);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        lua_pushlightuserdata(lua, store);
        lua_pushcclosure(lua, functions[i].func, 1);
        lua_setfield(lua, -2, functions[i].name);
    }
    lua_setglobal(lua, "redis");
}

static void open_lua(struct sim_store *store)
{
    lua_State *lua = store->scripts.lua = luaL_newstate();
    SIM_REQUIRE(lua);
    open_library(lua, luaopen_base, "");
    open_library(lua, luaopen_table, LUA_TABLIBNAME);
    open_library(lua, luaopen_string, LUA_STRLIBNAME);
    open_library(lua, luaopen_math, LUA_MATHLIBNAME);
    forget(lua, "_G", (const char *const[]){"dofile", "loadfile", "print", NULL});
    forget(lua, LUA_MATHLIBNAME, (const char *const[]){"random", "randomseed", NULL});
    open_redis(store);
    lua_register(lua, "pcall", protected_call);
    lua_newtable(lua);
    lua_pushcfunction(lua, unknown_global);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, new_global);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, LUA_GLOBALSINDEX);
    lua_pushcfunction(lua, on_error);
    store->scripts.on_error = luaL_ref(lua, LUA_REGISTRYINDEX);
}

void sim_scripts_init(struct sim_store *store)
{
    open_lua(store);
}

void sim_scripts_flush(struct sim_store *store)
{
    while (store->scripts.known.first) {
        struct script *script = of(store->scripts.known.first);
        sim_table_remove(&store->scripts.known, &script->entry);
        luaL_unref(store->scripts.lua, LUA_REGISTRYINDEX, script->function);
        free(script);
    }
}

void sim_scripts_done(struct sim_store *store)
{
    sim_scripts_flush(store);
    lua_close(store->scripts.lua);
}

uint64_t sim_scripts_digest(const struct sim_store *store)
{
    uint64_t sum = 0;
    for (struct sim_table_entry *entry = store->scripts.known.first; entry; entry = entry->behind)
        sum += entry->hash;
    return sum;
}

/* ---- commands ---- */

/* Finds a script by comparing texts. Every client that connects loads the same few scripts, and a comparison takes a
 * tenth of the time of a digest. */
static struct script *of_text(const struct sim_scripts *scripts, const char *text, size_t length)
{
    for (struct sim_table_entry *entry = scripts->known.first; entry; entry = entry->behind)
        if (of(entry)->length == length && memcmp(of(entry)->text, text, length) == 0)
            return of(entry);
    return NULL;
}

/* Returns the script whose text is argument i, and compiles it if it is not known yet. NULL: see *ret_error. */
static struct script *learn(const struct sim_call *call, int i, const struct sim_reply **ret_error)
{
    struct sim_scripts *scripts = &call->store->scripts;
    struct script *script;
    if ((script = of_text(scripts, call->argv[i], call->lengths[i])) != NULL)
        return script;
    if (luaL_loadbuffer(scripts->lua, call->argv[i], call->lengths[i], "@user_script") != 0) {
        *ret_error = sim_reply_error(&call->store->replies, "ERR Error compiling script (new function): %s",
                                     lua_tostring(scripts->lua, -1));
        lua_settop(scripts->lua, 0);
        return NULL;
    }
    script = malloc(sizeof *script + call->lengths[i]);
    SIM_REQUIRE(script);
    script->function = luaL_ref(scripts->lua, LUA_REGISTRYINDEX);
    script->length = call->lengths[i];
    memcpy(script->text, call->argv[i], script->length);
    sim_sha1_of(script->text, script->length, script->sha1);
    sim_table_add(&scripts->known, &script->entry, script->sha1, SIM_SHA1_DIGITS);
    return script;
}

static const struct sim_reply *load(const struct sim_call *call)
{
    const struct sim_reply *error;
    const struct script *script = learn(call, 2, &error);
    call->store->scripts.loads++;
    return script ? sim_reply(&call->store->replies, SIM_REPLY_STRING, script->sha1, SIM_SHA1_DIGITS) : error;
}

static struct script *named(const struct sim_call *call, int i)
{
    char sha1[SIM_SHA1_DIGITS];
    if (call->lengths[i] != SIM_SHA1_DIGITS)
        return NULL;
    for (size_t digit = 0; digit < SIM_SHA1_DIGITS; digit++) {
        char c = call->argv[i][digit];
        sha1[digit] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return of(sim_table_find(&call->store->scripts.known, sha1, SIM_SHA1_DIGITS));
}

static const struct sim_reply *script_exists(const struct sim_call *call)
{
    struct sim_reply *array = sim_reply_array(&call->store->replies, (size_t)call->argc - 2);
    for (int i = 2; i < call->argc; i++)
        sim_reply_set(array, (size_t)i - 2, named(call, i) ? sim_one : sim_zero);
    return array;
}

static const struct sim_reply *script_command(const struct sim_call *call)
{
    if (sim_argument_is(call, 1, "LOAD"))
        return call->argc == 3 ? load(call) : sim_wrong_arguments(call, "script|load");
    if (sim_argument_is(call, 1, "EXISTS"))
        return call->argc > 2 ? script_exists(call) : sim_wrong_arguments(call, "script|exists");
    if (!sim_argument_is(call, 1, "FLUSH"))
        return sim_unknown_subcommand(call, "SCRIPT");
    if (call->store->keys.lie != SIM_LIE_FLUSH_FORGETS_NOT)
        sim_scripts_flush(call->store);
    return &sim_ok;
}

static void set_strings(const struct sim_call *call, const char *global, int from, int to)
{
    lua_State *lua = call->store->scripts.lua;
    lua_pushstring(lua, global);
    lua_createtable(lua, to - from, 0);
    for (int i = from; i < to; i++) {
        lua_pushlstring(lua, call->argv[i], call->lengths[i]);
        lua_rawseti(lua, -2, i - from + 1);
    }
    lua_rawset(lua, LUA_GLOBALSINDEX);
}

/* Returns 0 and *ret_error if the arguments are wrong. */
static int read_keys(const struct sim_call *call, int *ret_keys, const struct sim_reply **ret_error)
{
    int64_t keys;
    if (!sim_argument_integer(call, 2, &keys, ret_error))
        return 0;
    *ret_keys = (int)keys;
    if (keys >= 0 && keys <= call->argc - 3)
        return 1;
    *ret_error = script_error(call, keys < 0 ? "Number of keys can't be negative"
                                             : "Number of keys can't be greater than number of args");
    return 0;
}

static const struct sim_reply *run(const struct sim_call *call, const struct script *script, int keys)
{
    struct sim_scripts *scripts = &call->store->scripts;
    const struct sim_reply *reply;
    scripts->has_written = 0;
    set_strings(call, "KEYS", 3, 3 + keys);
    set_strings(call, "ARGV", 3 + keys, call->argc);
    lua_rawgeti(scripts->lua, LUA_REGISTRYINDEX, scripts->on_error);
    lua_rawgeti(scripts->lua, LUA_REGISTRYINDEX, script->function);
    if (lua_pcall(scripts->lua, 0, 1, 1) != 0)
        reply = sim_lua_failure(scripts->lua, call->store, script->sha1);
    else
        reply = sim_lua_answer(scripts->lua, call->store);
    lua_settop(scripts->lua, 0);
    scripts->has_written = 0;
    return reply;
}

static const struct sim_reply *evalsha(const struct sim_call *call)
{
    const struct sim_reply *error;
    const struct script *script;
    int keys;
    if (!read_keys(call, &keys, &error))
        return error;
    script = named(call, 1);
    return script ? run(call, script, keys)
                  : sim_reply_error(&call->store->replies, "NOSCRIPT No matching script. Please use EVAL.");
}

static const struct sim_reply *eval(const struct sim_call *call)
{
    const struct sim_reply *error;
    const struct script *script;
    int keys;
    if (!read_keys(call, &keys, &error) || !(script = learn(call, 1, &error)))
        return error;
    return run(call, script, keys);
}

const struct sim_command sim_commands_script[] = {
    {"script", -2, SIM_NOSCRIPT, script_command},
    {"evalsha", -3, SIM_NOSCRIPT | SIM_COUNTED_KEYS, evalsha},
    {"eval", -3, SIM_NOSCRIPT | SIM_COUNTED_KEYS, eval},
    {0},
};
