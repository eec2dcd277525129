/* SPDX-License-Identifier: BSD-3-Clause */
/* Who made a waiter the holder looks after that grant once, when its window is over: not if it holds the name itself by then, and an end of
 * the client waits for that look no longer than it takes. */
#include "play.h"
#include "wire/kind.h"

#define FAIR HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR)

enum { WINDOW_MS = 600 }; /* a window is over by then, and so is the look that follows it */

/* A handle of a client of its own waits for "stock". */
static struct handle *waits(struct fixture *s, const char *tag)
{
    struct handle *handle = asking(fixture_connect(s, NULL), tag, "stock", NULL);
    run_ms(s, 2);
    return handle;
}

HOLDING(a_grant_is_looked_after_once_and_then_nothing_is_left_to_wait_for, NULL)
{
    waits(s, "b");
    release_quietly(a);
    TELLS_IN(s, WINDOW_MS, "b:WAITING b:OK");
    SAME(s, asked(s, "mutex_release"), 2);
    client_close(p, 5000);
    TELLS_IN(s, 1, "closed");
    SAME(s, asked(s, "mutex_release"), 2);
}

HOLDING(a_close_ends_when_the_last_look_is_answered, NULL)
{
    waits(s, "b");
    release_quietly(a);
    run_ms(s, 10);
    client_close(p, 5000);
    TELLS_IN(s, WINDOW_MS, "b:WAITING b:OK closed");
    SAME(s, asked(s, "mutex_release"), 2);
    SAME(s, p->closed_at_us, asked_at_us(s, "mutex_release", 1) + s->net.back_us);
}

/* The answer to its release comes behind the push by which the next handle of the same client has the name. */
HOLDING(a_grant_to_the_same_client_needs_no_look, FAIR)
{
    asking(p, "b", "stock", FAIR);
    run_ms(s, 2);
    PLAN(s, .on = "mutex_release", .fate.back_us = 1000);
    release_quietly(a);
    TELLS_IN(s, 2 * WINDOW_MS, "b:WAITING b:OK");
    SAME(s, asked(s, "mutex_release"), 1);
}

/* In between this client had the name itself, and so it had stopped waiting for the end of the first window. */
HOLDING(a_later_grant_is_looked_after_as_the_first_one, NULL)
{
    struct handle *b = waits(s, "b"), *c, *d;
    release_quietly(a);
    run_ms(s, 10);
    release_quietly(b);
    run_ms(s, 10);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2);
    HOLDS(s, is_held(a));
    c = waits(s, "c");
    d = waits(s, "d");
    world_freeze(&c->client->loop.lane);
    release_quietly(a);
    TELLS_IN(s, WINDOW_MS, "b:WAITING b:OK a:OK c:WAITING d:WAITING d:OK");
    SAME(s, asked(s, "mutex_release"), 4);
    release_quietly(d);
    world_thaw(&s->world, &c->client->loop.lane);
    run_ms(s, 10);
}

/* A grant of before was used, and its client may have others that wait: the look is not about them. */
A_PLAY(a_look_names_only_the_grant_that_it_looks_after)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER)), *b = waits(s, "b"), *c;
    release_quietly(a);
    run_ms(s, 2);
    release_quietly(b);
    run_ms(s, 2);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2);
    c = waits(s, "c");
    release_quietly(a);
    TELLS_IN(s, WINDOW_MS, "b:WAITING b:OK a:OK c:WAITING c:OK");
    const char *last = store_line(&s->store, "mutex_release", -1)->text;
    HOLDS(s, strstr(last, c->client->uuid) && !strstr(last, b->client->uuid));
}

/* How often that client asked after the grant of this handle. */
static int looks_after(const struct client *p, const struct handle *handle)
{
    struct fixture *s = p->fixture;
    int looks = 0;
    for (int i = 0; i < (int)asked(s, "mutex_release"); i++) {
        const char *by = strstr(store_line(&s->store, "mutex_release", i)->text, p->uuid);
        looks += by && strstr(by, handle->client->uuid);
    }
    return looks;
}

/* A reader of p shares the name: at its end b gets it, and a moment later, when p has read and ended again, c. The end of b's window comes while
 * the answer about c is under way, and that of c's window while the look after b is unanswered: one more look follows then. If by that time p has
 * the name for itself, it does not. */
static void a_window_ends_during_a_look(struct fixture *s, int has_it_itself)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER)), *b = waits(s, "b"), *c;
    release_quietly(a);
    uint64_t released_us = fixture_us(s);
    run_ms(s, 2);
    release_quietly(b);
    run_ms(s, 2);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2);
    c = waits(s, "c");
    if (has_it_itself)
        asking(p, "d", "stock", FAIR);
    run_to(s, released_us + 320000);
    PLAN(s, .on = "mutex_release", .fate.back_us = 650000);
    PLAN(s, .on = "share_release", .fate.back_us = 100000);
    release_quietly(a);
    run_ms(s, 150);
    SAME(s, asked(s, "mutex_release"), 2); /* of b, and the look after it */
    if (has_it_itself)
        release_quietly(c);
    run_ms(s, 2000);
    SAME(s, looks_after(p, c), !has_it_itself);
    fixture_hush(s);
}

A_PLAY(a_window_that_ends_during_a_look_is_looked_after_behind_it) { a_window_ends_during_a_look(s, 0); }
A_PLAY(who_has_the_name_itself_looks_no_more) { a_window_ends_during_a_look(s, 1); }

/* The downgrade let a reader in that stands still, and its client ended the hold before the answer to that. */
A_PLAY(who_is_let_in_by_a_downgrade_is_looked_after_though_its_hold_has_ended)
{
    struct handle *w = held(fixture_connect(s, NULL), "w", "stock", NULL), *x;
    struct handle *a = asking(fixture_connect(s, NULL), "a", "stock", HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER));
    run_ms(s, 2);
    x = waits(s, "x");
    world_freeze(&a->client->loop.lane);
    downgrade(w);
    release(w);
    TELLS_IN(s, WINDOW_MS, "a:WAITING x:WAITING w:downgrade LOST w:released x:OK");
    release_quietly(x);
    world_thaw(&s->world, &a->client->loop.lane);
    run_ms(s, 10);
}

/* Without memory for that the waiter has its grant all the same. One that fails is for the alarms of many looks. */
A_PLAY(a_release_that_finds_no_memory_to_look_leaves_nothing_behind)
{
    enum { LOOKS = 16, ALLOCATIONS = 6 };
    s->is_untold = 1;
    for (int failing = 1; failing <= ALLOCATIONS; failing++) {
        struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
        struct handle *a[LOOKS + 1], *b = NULL;
        for (int i = 0; i <= LOOKS; i++) {
            const char *name = formatted("%d %d", failing, i);
            a[i] = asking(p, "a", name, NULL);
            run_ms(s, 1);
            b = asking(q, "b", name, NULL);
        }
        run_ms(s, 5);
        for (int i = 0; i < LOOKS; i++)
            release_quietly(a[i]);
        run_ms(s, 5);
        release_quietly(a[LOOKS]);
        run_us(s, 50);
        s->memory.fail_at = s->memory.asked + (uint64_t)failing;
        s->memory.fails = 1;
        run_us(s, 500);
        s->memory.fail_at = 0;
        run_ms(s, WINDOW_MS);
        HOLDS(s, is_held(b));
    }
}

/* Each is granted the name, stands still, and is passed over; the look names those that were passed over, up to so many, and each once. */
HOLDING(a_look_names_no_more_clients_than_a_script_takes, NULL)
{
    enum { STILL = HL_LAPSED_MAX + 2 };
    struct handle *still[STILL], *last;
    for (int i = 0; i < STILL; i++)
        still[i] = waits(s, "w");
    last = waits(s, "z");
    for (int i = 0; i < STILL; i++)
        world_freeze(&still[i]->client->loop.lane);
    release_quietly(a);
    run_ms(s, 100);
    for (int i = 0; i < 100 * STILL && !is_held(last); i++)
        run_ms(s, 10);
    HOLDS(s, is_held(last));
    for (int i = 0; i < (int)asked(s, "mutex_release"); i++) {
        const char *named = strstr(store_line(&s->store, "mutex_release", i)->text, "  400 ");
        int words = 0;
        for (; named && *named; named++)
            words += *named == ' ';
        HOLDS(s, words <= 3 + 2 * HL_LAPSED_MAX - 1);
    }
    for (int i = 0; i < STILL; i++)
        world_thaw(&s->world, &still[i]->client->loop.lane);
    release_quietly(last);
    run_ms(s, 2000);
    fixture_hush(s);
}

/* By the clock that was known before it, the next request would run too late, and be sent twice. */
HOLDING(the_time_in_an_answer_tells_of_a_clock_that_was_set_forward, NULL)
{
    waits(s, "b");
    s->is_tampered = 1;
    world_clock_step(&s->store.clock, 20000000);
    TELLS_IN(s, 4000, "b:WAITING"); /* it has asked again meanwhile */
    release_quietly(a);
    run_ms(s, 5);
    size_t before = asked(s, "mutex_acquire");
    acquiring(handle_new(p, "c", "other", NULL), HILOCK_FOREVER);
    TELLS_IN(s, 2, "b:OK c:OK");
    SAME(s, asked(s, "mutex_acquire"), before + 1);
}
