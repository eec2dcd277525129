/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out, at a real server: each play is played once for every allocation in it that may fail, those of
 * hiredis, libevent and libc included. Every refusal says so, every answer comes, nothing crashes, hangs or leaks, and
 * nothing is left at the server beyond its lease. Plays in which only hilock allocates: unit/torture. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torture.h"

static void pair(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL);
    have(p, a);
    give(p, a, HILOCK_OK);
}

static void wait_and_wake(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL);
    foreign_holds(p, "stock");
    ask(p, a, HILOCK_FOREVER);
    told(p, a, &a->waiting, "WAITING");
    foreign_leaves(p, "stock");
    answered(p, a, HILOCK_OK);
    give(p, a, HILOCK_OK);
}

/* The links end under a hold and a wait; the hold is asked for again and stays, the wait listens again. */
static void reconnect(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL), *b = handle_new(p, "other", NULL);
    have(p, a);
    foreign_holds(p, "other");
    ask(p, b, HILOCK_FOREVER);
    told(p, b, &b->waiting, "WAITING");
    cut_all(p);
    foreign_leaves(p, "other");
    answered(p, b, HILOCK_OK);
    CHECK(a->lost.count == 0);
    give(p, a, HILOCK_OK);
    give(p, b, HILOCK_OK);
}

static void forgotten_scripts(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL);
    have(p, a);
    at_store(p, "SCRIPT FLUSH");
    give(p, a, HILOCK_OK);
    at_store(p, "SCRIPT FLUSH");
    have(p, a);
    give(p, a, HILOCK_OK);
}

static void refused_by_the_server(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL);
    at_store(p, "SET stock something");
    ask(p, a, HILOCK_TRY);
    answered(p, a, HILOCK_WRONG_KIND);
    at_store(p, "DEL stock");
    at_store(p, "CONFIG SET maxmemory 1");
    ask(p, a, HILOCK_TRY);
    answered(p, a, HILOCK_UNWRITABLE);
    at_store(p, "CONFIG SET maxmemory 0");
    have(p, a);
    give(p, a, HILOCK_OK);
}

static void refused_user(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL);
    at_store(p, "ACL SETUSER torture -evalsha");
    ask(p, a, HILOCK_TRY);
    answered(p, a, HILOCK_DENIED);
    at_store(p, "ACL SETUSER torture +evalsha");
    have(p, a);
    give(p, a, HILOCK_OK);
}

static void many(struct play *p)
{
    struct handle *all[40];
    char name[16];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "stock:%d", i / 2);
        all[i] = handle_new(p, name, NULL);
        ask(p, all[i], HILOCK_FOREVER);
    }
    for (int i = 0; i < 40; i += 2) {
        answered(p, all[i], HILOCK_OK);
        give(p, all[i], HILOCK_OK);
    }
    for (int i = 1; i < 40; i += 2)
        answered(p, all[i], HILOCK_OK);
}

/* With what holds and what waits still there. */
static void leave(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL), *b = handle_new(p, "stock", NULL), *c = handle_new(p, "other", NULL);
    have(p, a);
    foreign_holds(p, "other");
    ask(p, b, HILOCK_FOREVER);
    ask(p, c, HILOCK_FOREVER);
    told(p, c, &c->waiting, "WAITING");
    foreign_leaves(p, "other");
}

static void abandon(struct play *p)
{
    leave(p);
    p->is_abandoned = 1;
}

static void before_the_connection(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL), *b = handle_new(p, "stock", NULL);
    ask(p, a, HILOCK_FOREVER);
    ask(p, b, HILOCK_TRY);
    handle_free(b);
    handle_free(a);
}

static void peek_and_force_release(struct play *p)
{
    struct handle *a = handle_new(p, "stock", NULL);
    struct outcome seen = {.told.count = 0}, ended = seen, late = seen;
    foreign_holds(p, "stock");
    if (!a->lock)
        return;
    (void)outcome_is(p, &seen, hilock_peek(a->lock, outcome_note, &seen), HILOCK_OK);
    if (outcome_is(p, &ended, hilock_force_release(a->lock, "another:1", outcome_note, &ended), HILOCK_OK))
        (void)outcome_is(p, &late, hilock_force_release(a->lock, NULL, outcome_note, &late), HILOCK_LOST);
    foreign_leaves(p, "stock");
    have(p, a);
}

/* Had, proved, given back; waited for by polling, and given back over a new link. */
static void simple(struct play *p)
{
    struct handle *a = handle_new(p, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 20000, .kind = HILOCK_SIMPLE, .poll_min_ms = 1, .poll_jitter_ms = 1));
    struct outcome proved = {.told.count = 0};
    have(p, a);
    if (has(a))
        (void)outcome_is(p, &proved, hilock_extend(a->lock, 30000, outcome_note, &proved), HILOCK_OK);
    give(p, a, HILOCK_OK);
    at_store(p, "SET stock another PX 20000");
    ask(p, a, HILOCK_FOREVER);
    told(p, a, &a->waiting, "WAITING");
    at_store(p, "DEL stock");
    answered(p, a, HILOCK_OK);
    cut_all(p);
    give(p, a, HILOCK_OK);
}

#define PLAY(text, ...) {.name = (text), .play = __VA_ARGS__}
static const struct torture tortures[] = {
    PLAY("pair", pair),
    PLAY("pair, by name, logged in", pair, .user = "torture:secret@", .is_by_name = 1),
    PLAY("wait and wake", wait_and_wake),
    PLAY("reconnect", reconnect),
    PLAY("forgotten scripts", forgotten_scripts),
    PLAY("refused by the server", refused_by_the_server),
    PLAY("refused user", refused_user, .user = "torture:secret@"),
    PLAY("many", many),
    PLAY("leave", leave),
    PLAY("abandon", abandon),
    PLAY("peek and force_release", peek_and_force_release),
    PLAY("SIMPLE", simple),
    PLAY("before the connection", before_the_connection),
};

static struct fixture fixture;

static int begin(void **state)
{
    (void)state;
    fixture.server = server_start_with_port(NULL);
    fixture.redis = redis_open(fixture.server);
    redis_do(fixture.redis, "ACL SETUSER torture on >secret ~* &* +@all");
    torture_begin(&fixture);
    return 0;
}

static int end(void **state)
{
    (void)state;
    redis_close(fixture.redis);
    server_end(fixture.server);
    return 0;
}

int main(void)
{
    struct CMUnitTest tests[sizeof tortures / sizeof *tortures];
    const char *only = getenv("TORTURE");
    size_t count = 0;
    for (size_t i = 0; i < sizeof tortures / sizeof *tortures; i++)
        if (!only || strcmp(only, tortures[i].name) == 0)
            tests[count++] = (struct CMUnitTest){tortures[i].name, torture_run, NULL, NULL, (void *)(uintptr_t)&tortures[i]};
    return _cmocka_run_group_tests("torture", tests, count, begin, end);
}
