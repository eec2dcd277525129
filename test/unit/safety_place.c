/* SPDX-License-Identifier: BSD-3-Clause */
/* What keeps a place in the wait queue: its promise to ask again, the server's time, and a release that goes on until it
 * has found somebody who is ready. */
#include "safety.h"
#include "stage.h"

#define FAIR(...) HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, __VA_ARGS__)

/* It takes more than one script to pass so many. */
SAFETY(STEP_NOT_REPEATED, a_release_goes_on_behind_the_places_that_it_took_out, "is_held(living)")
{
    struct client *dead;
    struct handle *holder = held(fixture_connect(s, NULL), "a", "stock", FAIR(0)), *living;
    s->is_untold = 1;
    dead = fixture_connect(s, NULL);
    for (int i = 0; i < 200; i++)
        asking(dead, "w", "stock", FAIR(0));
    run_ms(s, 2);
    living = asking(fixture_connect(s, NULL), "b", "stock", FAIR(0));
    run_ms(s, 100);
    client_abandon(dead);
    run_ms(s, 5);
    release_quietly(holder);
    run_ms(s, 20);
    HOLDS(s, is_held(living));
}

/* The first of a queue promises three seconds. */
SAFETY(PROMISE_TOO_SHORT, who_asks_as_it_promised_is_not_passed_over, "counts_of(p).passed_over == 0")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = waits(fixture_connect(s, NULL), "a", "stock");
    waits(p, "b", "stock");
    for (uint64_t last_us = 0, now_us; ; last_us = now_us) { /* until just before a heartbeat */
        run_ms(s, 100);
        now_us = asked_at_us(s, "mutex_acquire", -1);
        if (last_us && now_us == last_us && fixture_us(s) - now_us > 2300000)
            break;
    }
    release_quietly(a);
    run_ms(s, 2);
    SAME(s, counts_of(p).passed_over, 0);
    TELLS(s, "b:OK");
}

/* It stood still between a heartbeat and the answer. */
SAFETY(PROMISE_FROM_ANSWER, a_promise_counts_from_the_question, "next_us - asked_us <= 3000000")
{
    struct client *p = fixture_connect(s, NULL);
    uint64_t asked_us, next_us;
    size_t questions;
    waits(fixture_connect(s, NULL), "a", "stock");
    waits(p, "b", "stock");
    for (questions = asked(s, "mutex_acquire"); asked(s, "mutex_acquire") == questions;)
        run_us(s, 20);
    asked_us = asked_at_us(s, "mutex_acquire", -1);
    frozen_ms(p, 1500);
    run_ms(s, 4000);
    next_us = asked_at_us(s, "mutex_acquire", (int)questions + 1);
    HOLDS(s, next_us - asked_us <= 3000000);
}

/* By the estimate from before, the question that follows would promise a time that is over: and one waits on with that. A
 * command that may take a minute is not late by that estimate, which would correct it as well. */
SAFETY(STAMPS_IGNORED, who_is_told_the_time_is_passed_over_once, "counts_of(p).passed_over + counts_of(q).passed_over == 2")
{
    struct handle *a = waits(fixture_connect(s, NULL), "a", "stock"), *b, *c;
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 60000));
    struct client *q = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 60000));
    b = waits(p, "b", "stock");
    c = waits(q, "c", "stock");
    run_ms(s, 100);
    world_clock_step(&s->store.clock, 45000000);
    release_quietly(a);
    run_ms(s, 100);
    HOLDS(s, is_held(b) != is_held(c));
    release_quietly(is_held(b) ? b : c);
    run_ms(s, 100);
    HOLDS(s, is_held(b) != is_held(c));
    SAME(s, counts_of(p).passed_over + counts_of(q).passed_over, 2);
    fixture_hush(s);
}

/* The message names one of the places that a release took out. */
SAFETY(ASKS_ALONE, a_message_to_ask_makes_every_place_of_the_client_ask, "asked(s, 'mutex_acquire') - questions == 3")
{
    struct client *p = fixture_connect(s, NULL);
    size_t questions;
    store_grant(&s->store, "stock", "x:9", 600000);
    for (int i = 0; i < 3; i++)
        waits(p, formatted("b%d", i), "stock");
    run_ms(s, 100);
    questions = asked(s, "mutex_acquire");
    store_publish(&s->store, formatted("hilock:grant:%s", p->uuid), formatted("F1 %s:1 0: stock", p->uuid));
    run_ms(s, 2);
    SAME(s, asked(s, "mutex_acquire") - questions, 3);
}
