/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - see <hilock/memory.h>: opens and closes the store, and breaks it on purpose. */
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"
#include "state.h"

/* The wall clock of the store when the loop's clock is 0. It is fixed, so that two runs that differ in nothing else get
 * the same tokens. */
static const uint64_t begun_us = UINT64_C(1700000000000000), day_us = UINT64_C(86400000000);

struct sim_store *sim_memory_now(const hilock_memory *memory)
{
    sim_store_set_time(memory->store, begun_us + memory->loop.now_us(memory->loop.clock) + memory->advanced_us);
    return memory->store;
}

/* ---- open ---- */

static hilock_status refuse(struct hilock_error *ret_error, hilock_status status, const char *text, const char *cause)
{
    if (ret_error)
        snprintf(ret_error->text, sizeof ret_error->text, "%s%s%s", text, *cause ? ": " : "", cause);
    return status;
}

static const char *bad_arguments(hilock_memory *const *ret_memory, const struct hilock_loop *loop,
                                 const struct hilock_memory_options *options)
{
    if (!ret_memory)
        return "ret_memory is NULL: pass where the store is to be put";
    if (!loop || loop->size < offsetof(struct hilock_loop, free_ctx) || !loop->now_us || !loop->watch_new ||
        !loop->watch_set || !loop->watch_free || !loop->timer_new || !loop->timer_start || !loop->timer_stop ||
        !loop->timer_free)
        return "loop is not complete: an adapter fills one (hilock_libevent_loop), with its size";
    if (options && options->size != sizeof *options)
        return "options has another size: use HILOCK_MEMORY_OPTIONS()";
    return NULL;
}

/* Makes a new directory for the socket, which only this user may enter. If TMPDIR is too long for a socket's address,
 * the directory is not made below it. */
static int directory_make(hilock_memory *memory)
{
    static const char pattern[] = "/hilock-memory-XXXXXX", name[] = "/store";
    const char *parent = getenv("TMPDIR");
    size_t room;
    if (!parent || *parent != '/' || strlen(parent) + sizeof pattern + sizeof name > sizeof memory->address.sun_path)
        parent = "/tmp";
    room = strlen(parent) + sizeof pattern;
    memory->directory = malloc(room);
    SIM_REQUIRE(memory->directory);
    snprintf(memory->directory, room, "%s%s", parent, pattern);
    if (!mkdtemp(memory->directory)) {
        free(memory->directory);
        memory->directory = NULL;
        return -1;
    }
    snprintf(memory->address.sun_path, sizeof memory->address.sun_path, "%s%s", memory->directory, name);
    return 0;
}

static int address_choose(hilock_memory *memory, const char *path)
{
    memory->address.sun_family = AF_UNIX;
    if (!path)
        return directory_make(memory);
    if (*path == '/' && strlen(path) < sizeof memory->address.sun_path) {
        strcpy(memory->address.sun_path, path);
        return 0;
    }
    errno = *path == '/' ? ENAMETOOLONG : EINVAL;
    return -1;
}

static char *url_of(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~",
                      scheme[] = "unix://";
    char *url = malloc(sizeof scheme + 3 * strlen(path)), *at;
    SIM_REQUIRE(url);
    at = url + sprintf(url, "%s", scheme);
    for (; *path; path++)
        at += sprintf(at, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
    return url;
}

/* Removes the socket only if this store has made it. */
static void memory_free(hilock_memory *memory, int has_socket)
{
    sim_links_unlisten(memory);
    if (has_socket)
        unlink(memory->address.sun_path);
    if (memory->directory)
        rmdir(memory->directory);
    sim_request_done(&memory->request);
    sim_store_free(memory->store);
    free(memory->directory);
    free(memory->url);
    free(memory);
}

static hilock_memory *memory_new(const struct hilock_loop *loop, const char *password)
{
    hilock_memory *memory = calloc(1, sizeof *memory);
    SIM_REQUIRE(memory);
    memcpy(&memory->loop, loop, loop->size < sizeof memory->loop ? loop->size : sizeof memory->loop);
    memory->fd = -1;
    memory->store = sim_store_new(&sim_links_events, memory);
    (void)sim_memory_now(memory);
    sim_store_set_started(memory->store, memory->store->keys.now_us - day_us);
    sim_store_set_password(memory->store, password);
    return memory;
}

hilock_status hilock_memory_open(hilock_memory **ret_memory, const struct hilock_loop *loop,
                                 const struct hilock_memory_options *options, struct hilock_error *ret_error)
{
    const char *wrong = bad_arguments(ret_memory, loop, options), *path = options ? options->path : NULL;
    hilock_memory *memory;
    if (wrong)
        return refuse(ret_error, HILOCK_INVALID, wrong, "");
    memory = memory_new(loop, options ? options->password : NULL);
    if (address_choose(memory, path) != 0) {
        int cause = errno;
        memory_free(memory, 0);
        return path ? refuse(ret_error, HILOCK_INVALID,
                             "bad path: it must begin with / and fit the address of a unix socket", strerror(cause))
                    : refuse(ret_error, HILOCK_NO_MEMORY, "cannot make a directory for the socket: see to TMPDIR",
                             strerror(cause));
    }
    if (sim_links_listen(memory) != 0) {
        int cause = errno;
        memory_free(memory, memory->directory != NULL);
        return refuse(ret_error, HILOCK_NO_MEMORY, "cannot listen on a unix socket", strerror(cause));
    }
    memory->url = url_of(memory->address.sun_path);
    *ret_memory = memory;
    return HILOCK_OK;
}

void hilock_memory_close(hilock_memory *memory)
{
    void (*free_ctx)(void *ctx) = memory ? memory->loop.free_ctx : NULL;
    void *ctx = memory ? memory->loop.ctx : NULL;
    if (memory)
        memory_free(memory, 1);
    if (free_ctx)
        free_ctx(ctx);
}

const char *hilock_memory_url(const hilock_memory *memory) { return memory ? memory->url : NULL; }

/* ---- leases ---- */

static struct sim_key *key_of(const hilock_memory *memory, const char *name)
{
    return memory && name ? sim_key_find(&sim_memory_now(memory)->keys, name, strlen(name)) : NULL;
}

hilock_status hilock_memory_expire(hilock_memory *memory, const char *name)
{
    struct sim_key *key = key_of(memory, name);
    if (!memory || !name)
        return HILOCK_INVALID;
    if (!key)
        return HILOCK_NOT_HELD;
    sim_key_delete(&memory->store->keys, key);
    return HILOCK_OK;
}

hilock_status hilock_memory_take(hilock_memory *memory, hilock_kind kind, const char *name, const char *holder,
                                 uint32_t lease_ms)
{
    int is_simple = kind == HILOCK_SIMPLE;
    struct sim_keyspace *keys;
    struct sim_key *key;
    char spelt[1200]; /* longer than any holder id that can be given */
    if (!memory || !name || !*name || !holder || !*holder || !lease_ms ||
        (!is_simple && kind != HILOCK_MUTEX && kind != HILOCK_FAIR))
        return HILOCK_INVALID;
    (void)hilock_memory_expire(memory, name);
    keys = &memory->store->keys;
    key = sim_key_new(keys, name, strlen(name), is_simple ? SIM_STRING : SIM_HASH);
    if (is_simple)
        sim_item_add(key, NULL, sim_bytes_new(holder, strlen(holder)), 0);
    else {
        snprintf(spelt, sizeof spelt, "%.1024s:1", holder);
        holder = strchr(holder, ':') ? holder : spelt;
        sim_item_add(key, sim_bytes_new(holder, strlen(holder)), sim_bytes_new("1", 1), 0);
    }
    if (lease_ms != HILOCK_FOREVER)
        sim_key_expire(keys, key, sim_keyspace_now_ms(keys) + lease_ms);
    return HILOCK_OK;
}

void hilock_memory_lose(hilock_memory *memory)
{
    if (memory)
        sim_keyspace_clear(&memory->store->keys);
}

void hilock_memory_advance(hilock_memory *memory, uint32_t ms)
{
    if (memory)
        memory->advanced_us += (uint64_t)ms * 1000;
}

/* ---- links ---- */

void hilock_memory_disconnect(hilock_memory *memory)
{
    if (memory)
        sim_links_end(memory);
}

/* Ends all links: a client that has connected again verifies its holds. */
void hilock_memory_verify(hilock_memory *memory) { hilock_memory_disconnect(memory); }

void hilock_memory_restart(hilock_memory *memory, int keeps_data)
{
    if (!memory)
        return;
    sim_links_end(memory);
    sim_store_restart(sim_memory_now(memory), keeps_data);
}

void hilock_memory_delay(hilock_memory *memory, uint32_t ms)
{
    if (memory)
        memory->delay_ms = ms;
}

void hilock_memory_hang(hilock_memory *memory, int hangs)
{
    if (memory)
        sim_links_hang(memory, hangs);
}

hilock_status hilock_memory_refuse(hilock_memory *memory, uint32_t count, const char *error)
{
    if (!memory || (count && (!error || !*error || strlen(error) >= sizeof memory->refusal || strpbrk(error, "\r\n"))))
        return HILOCK_INVALID;
    memory->refusals = count;
    if (count)
        strcpy(memory->refusal, error);
    return HILOCK_OK;
}

/* ---- questions ---- */

/* The set with the end of each share of a shared name, named as the library names it; NULL: the name is not shared. */
static const struct sim_key *shares_of(hilock_memory *memory, const struct sim_key *key)
{
    static const char word[] = "hilock:share";
    const struct sim_item *mode = key && key->type == SIM_HASH ? sim_item_find(key, "mode", 4) : NULL;
    const struct sim_key *shares;
    char *name;
    int has_tag;
    if (!mode || strcmp(mode->value->at, "shared") != 0)
        return NULL;
    name = malloc(sizeof word + 3 + key->length);
    SIM_REQUIRE(name);
    has_tag = memchr(key->name, '{', key->length) != NULL;
    int length = sprintf(name, has_tag ? "%s=%.*s" : "%s:{%.*s}", word, (int)key->length, key->name);
    shares = sim_key_find(&memory->store->keys, name, (size_t)length);
    free(name);
    return shares && shares->type == SIM_ZSET ? shares : NULL;
}

static int is_over(const hilock_memory *memory, const struct sim_item *share)
{
    return share->score <= (double)memory->store->keys.now_us;
}

const char *hilock_memory_holder(hilock_memory *memory, const char *name)
{
    const struct sim_key *key = key_of(memory, name), *shares = shares_of(memory, key);
    if (key && key->type == SIM_STRING)
        return sim_item_first(key)->value->at;
    if (!key || key->type != SIM_HASH)
        return "";
    if (shares && shares->items.count)
        return sim_item_at(shares, shares->items.count - 1)->name->at;
    for (const struct sim_item *item = sim_item_first(key); item; item = sim_item_next(item))
        if (strcmp(item->name->at, "mode") != 0)
            return item->name->at;
    return "";
}

uint32_t hilock_memory_holders(hilock_memory *memory, const char *name)
{
    const struct sim_key *key = key_of(memory, name), *shares = shares_of(memory, key);
    uint32_t holders = 0;
    if (!key || key->type != SIM_HASH)
        return key != NULL;
    for (const struct sim_item *item = sim_item_first(key); item; item = sim_item_next(item)) {
        const struct sim_item *share = shares ? sim_item_find(shares, item->name->at, item->name->length) : NULL;
        holders += strcmp(item->name->at, "mode") != 0 && !(share && is_over(memory, share));
    }
    return holders;
}

uint32_t hilock_memory_remaining_ms(hilock_memory *memory, const char *name)
{
    const struct sim_key *key = key_of(memory, name);
    int64_t left_ms = !key                  ? 0
                      : key->expires_ms < 0 ? HILOCK_FOREVER
                                            : key->expires_ms - sim_keyspace_now_ms(&memory->store->keys);
    return left_ms == HILOCK_FOREVER || left_ms < INT32_MAX ? (uint32_t)left_ms : INT32_MAX;
}

uint32_t hilock_memory_links(const hilock_memory *memory) { return memory ? memory->links_count : 0; }

uint64_t hilock_memory_commands(const hilock_memory *memory) { return memory ? sim_store_commands(memory->store) : 0; }
