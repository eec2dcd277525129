/* SPDX-License-Identifier: BSD-3-Clause */
/* fixture - see fixture.h. The stage: time, the server, claims. Clients and handles are in fixture_client.c. */
#include "fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRINTED_MAX = 10, TURNS_MAX = 256 };

int fixture_is_quiet;
char *fixture_wound;
const char fixture_where[] = "127.0.0.1:6379";
const char *const fixture_urls[FIXTURE_MASTERS_MAX] = {"redis://127.0.0.1:6379", "redis://127.0.0.1:6380", "redis://127.0.0.1:6381", "redis://127.0.0.1:6382",
                                                  "redis://127.0.0.1:6383"};

void fixture_begin(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    world_init(&fixture->world);
    net_init(&fixture->net, &fixture->world);
    store_init(&fixture->store, &fixture->world);
    fixture->place = net_listen(&fixture->net, fixture_where, &fixture->store);
    fixture->masters_count = 1;
    fixture->memory.secret = FIXTURE_SECRET;
    plans_init(&fixture->plans, &fixture->net);
    TAILQ_INIT(&fixture->clients);
    TAILQ_INIT(&fixture->handles);
}

struct store *fixture_server(struct fixture *fixture, const char *where)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store || fixture->more_count == FIXTURE_SERVERS_MAX)
        abort();
    store_init(store, &fixture->world);
    net_listen(&fixture->net, where, store);
    return fixture->more[fixture->more_count++] = store;
}

struct store *store_at(struct fixture *fixture, unsigned i) { return i == 0 ? &fixture->store : fixture->more[i - 1]; }

void fixture_masters(struct fixture *fixture, unsigned count)
{
    for (; fixture->masters_count < count; fixture->masters_count++)
        fixture_server(fixture, fixture_urls[fixture->masters_count] + sizeof "redis://" - 1);
}

/* ---- claims ---- */

static void note_wound(const char *claim)
{
    size_t i = 0;
    for (; claim[i] && i + 1 < FIXTURE_WOUND_MAX; i++)
        fixture_wound[i] = claim[i] == '"' || claim[i] == '\\' ? '\'' : claim[i];
    fixture_wound[i] = '\0';
}

/* 1: the rest of the line is to be printed. */
static int say_broken(struct fixture *fixture, const char *claim, const char *file, int line)
{
    if (fixture_wound && !fixture->is_broken)
        note_wound(claim);
    if (fixture->is_broken++ >= PRINTED_MAX || fixture_is_quiet)
        return 0;
    fprintf(stderr, "%s:%d: at %" PRIu64 " us: ", file, line, fixture->world.now_us);
    return 1;
}

int fixture_claim(struct fixture *fixture, int holds, const char *claim, const char *file, int line)
{
    if (holds)
        return 1;
    if (say_broken(fixture, claim, file, line))
        fprintf(stderr, "does not hold: %s\n", claim);
    return 0;
}

int fixture_same(struct fixture *fixture, uint64_t is, uint64_t should, const char *claim, const char *file, int line)
{
    if (is == should)
        return 1;
    if (say_broken(fixture, claim, file, line))
        fprintf(stderr, "does not hold: %s (%" PRId64 ", not %" PRId64 ")\n", claim, (int64_t)is, (int64_t)should);
    return 0;
}

int fixture_text(struct fixture *fixture, const char *is, const char *should, const char *file, int line)
{
    if (strcmp(is, should) == 0)
        return 1;
    if (say_broken(fixture, *should ? should : "nothing is reported", file, line))
        fprintf(stderr, "is     \"%s\"\n  must be \"%s\"\n", is, should);
    return 0;
}

/* The rest is reported rounded down. */
int fixture_believes(struct fixture *fixture, const struct handle *handle, uint64_t deadline_us, const char *file, int line)
{
    uint64_t left_us = deadline_us - fixture->world.now_us;
    return fixture_same(fixture, hilock_lock_remaining_ms(handle->lock), left_us / 1000, "what is believed", file, line);
}

int fixture_tells(struct fixture *fixture, const char *story, const char *file, int line)
{
    int holds = fixture_text(fixture, fixture->story ? fixture->story : "", story, file, line);
    fixture_hush(fixture);
    return holds;
}

void fixture_hush(struct fixture *fixture)
{
    fixture->story_used = 0;
    if (fixture->story)
        *fixture->story = '\0';
}

void fixture_write(struct fixture *fixture, const char *tag, const char *what)
{
    size_t needed = strlen(tag) + strlen(what) + 3;
    if (fixture->is_untold)
        return;
    if (fixture->story_room < fixture->story_used + needed) {
        fixture->story_room = 2 * fixture->story_room + needed;
        fixture->story = realloc(fixture->story, fixture->story_room);
        if (!fixture->story)
            abort();
    }
    fixture->story_used += (size_t)snprintf(fixture->story + fixture->story_used, fixture->story_room - fixture->story_used, "%s%s%s%s",
                                          fixture->story_used ? " " : "", tag, *tag ? ":" : "", what);
}

const char *formatted(const char *format, ...)
{
    static char texts[32][FIXTURE_TEXT];
    static unsigned latest;
    char *text = texts[++latest % 32];
    va_list list;
    va_start(list, format);
    vsnprintf(text, FIXTURE_TEXT, format, list);
    va_end(list);
    return text;
}

/* ---- what must hold at every moment ---- */

/* token 0: any. The turns of a hold have its token and those behind it. */
static int is_kept(struct store *store, const struct handle *handle, const char *name, uint64_t token)
{
    const char *holder = store_holder(store, name);
    int64_t share_ms = token ? store_share_left_ms(store, name, handle->client->uuid, token) : -2;
    if (share_ms >= (int64_t)hilock_lock_remaining_ms(handle->lock))
        return 1;
    return strncmp(holder, handle->client->uuid, 36) == 0 && (!token || token - store_token(store, name, holder) < TURNS_MAX) &&
           store_left_ms(store, name) >= (int64_t)hilock_lock_remaining_ms(handle->lock);
}

/* Which of several servers decides about a name, a deployment knows, and it may change: one of them must have it. */
static int is_kept_somewhere(struct fixture *fixture, const struct handle *handle, const char *name, uint64_t token)
{
    for (unsigned i = 0; i <= fixture->more_count; i++)
        if (is_kept(store_at(fixture, i), handle, name, token))
            return 1;
    return 0;
}

static int is_kept_by_most(struct fixture *fixture, const struct handle *handle)
{
    unsigned votes = 0;
    for (unsigned i = 0; i < fixture->masters_count; i++)
        votes += is_kept(store_at(fixture, i), handle, hilock_lock_name(handle->lock), 0) != 0;
    return votes > fixture->masters_count / 2;
}

static int is_backed(struct fixture *fixture, const struct handle *handle)
{
    if (!hilock_lock_remaining_ms(handle->lock))
        return 1;
    if (fixture->masters_count > 1)
        return is_kept_by_most(fixture, handle);
    if (!handle->names)
        return is_kept_somewhere(fixture, handle, hilock_lock_name(handle->lock), hilock_lock_token(handle->lock));
    for (size_t i = 0; handle->names[i]; i++)
        if (!is_kept_somewhere(fixture, handle, handle->names[i], hilock_multi_token(handle->lock, i)))
            return 0;
    return 1;
}

static void check_belief(struct fixture *fixture)
{
    const struct handle *handle;
    if (fixture->is_tampered || fixture->is_broken || fixture->handles_count > 16)
        return;
    TAILQ_FOREACH(handle, &fixture->handles, entry)
        if (handle->lock && !is_backed(fixture, handle))
            fixture_claim(fixture, 0, OVERBELIEF, __FILE__, __LINE__);
}

/* ---- time ---- */

uint64_t fixture_us(const struct fixture *fixture) { return fixture->world.now_us; }

void run_to(struct fixture *fixture, uint64_t at_us)
{
    while (world_step(&fixture->world, at_us))
        check_belief(fixture);
    world_run_to(&fixture->world, at_us);
    check_belief(fixture);
}

void run_us(struct fixture *fixture, uint64_t span_us) { run_to(fixture, fixture_us(fixture) + span_us); }
void run_ms(struct fixture *fixture, uint64_t span_ms) { run_us(fixture, span_ms * 1000); }

void unheard_ms(struct fixture *fixture, uint64_t span_ms)
{
    run_ms(fixture, span_ms);
    fixture_hush(fixture);
}

int run_until_told(struct fixture *fixture, uint64_t most_ms)
{
    uint64_t ends_us = fixture_us(fixture) + most_ms * 1000;
    size_t told = fixture->story_used;
    while (fixture->story_used == told && world_step(&fixture->world, ends_us))
        check_belief(fixture);
    return fixture->story_used != told;
}

void cut_off(struct fixture *fixture)
{
    fixture->place->mood = NET_REFUSES;
    net_reset(&fixture->net, NULL, NET_ALL);
}

/* ---- the server's view ---- */

struct plan *plan(struct fixture *fixture, struct plan given) { return plan_add(&fixture->plans, given); }

const char *push_text(const struct client *client, const char *name, int id, int number, unsigned since_ms,
                      uint64_t token)
{
    return formatted("G1 %s:%d %d 1700000000000000 3000 %" PRIu64 " %u %u: %s", client->uuid, id, number, token,
                     1700000000 + since_ms / 1000, since_ms % 1000 * 1000, name);
}

unsigned push_grant(const struct client *client, const char *name, int id, int number, unsigned since_ms, uint64_t token)
{
    return store_publish(&client->fixture->store, formatted("hilock:grant:%s", client->uuid),
                         push_text(client, name, id, number, since_ms, token));
}

size_t asked(const struct fixture *fixture, const char *word) { return store_count(&fixture->store, word); }
uint64_t asked_at_us(const struct fixture *fixture, const char *word, int nth) { return store_line(&fixture->store, word, nth)->at_us; }
uint64_t sent_at_us(const struct fixture *fixture, const char *word, int nth) { return asked_at_us(fixture, word, nth) - fixture->net.there_us; }

size_t asked_for(const struct fixture *fixture, const char *text)
{
    size_t found = 0;
    for (size_t i = 0; i < fixture->store.lines_count; i++)
        found += strncmp(fixture->store.lines[i].text, text, strlen(text)) == 0;
    return found;
}

int is_ours(struct fixture *fixture, const char *name)
{
    const struct client *client;
    TAILQ_FOREACH(client, &fixture->clients, entry)
        if (strncmp(store_holder(&fixture->store, name), client->uuid, 36) == 0)
            return 1;
    return 0;
}
