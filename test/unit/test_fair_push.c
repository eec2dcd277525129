/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR: what is pushed, and what crosses it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "play.h"

static struct handle *fair(struct client *p, const char *tag)
{
    return handle_new(p, tag, "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 30000));
}

static struct handle *waits(struct client *p, const char *tag)
{
    struct handle *handle = fair(p, tag);
    acquire(handle, HILOCK_FOREVER);
    run_ms(p->fixture, 2);
    return handle;
}

static struct handle *holds(struct client *p, const char *tag)
{
    struct handle *handle = waits(p, tag);
    HOLDS(p->fixture, hilock_lock_state(handle->lock) == HILOCK_STATE_HELD);
    fixture_hush(p->fixture);
    return handle;
}

/* The server's clock was set back since the waiter's heartbeat. */
A_PLAY(a_clock_that_steps_back_holds_up_nobody)
{
    struct handle *a = holds(fixture_connect(s, NULL), "a"), *b = waits(fixture_connect(s, NULL), "b");
    world_clock_step(&s->store.clock, -50000);
    release_quietly(a);
    run_ms(s, 1);
    TELLS(s, "b:WAITING b:OK");
    HOLDS(s, b->result.remaining_ms > 29000); /* the push proves nothing: by a heartbeat */
    run_ms(s, 10000);
    TELLS(s, "");
}

/* Two are remembered: what an earlier one proves is not known any more. */
A_PLAY(a_push_that_names_an_old_heartbeat_is_confirmed_first)
{
    struct client *p = fixture_connect(s, NULL);
    char holder[64];
    size_t sent;
    store_grant(&s->store, "stock", "x:9", 600000);
    waits(p, "b");
    run_ms(s, 6500);
    sent = asked(s, "mutex_acquire");
    HOLDS(s, sent >= 3);
    snprintf(holder, sizeof holder, "%s:1", p->uuid);
    store_take(&s->store, "stock", holder, 3000);
    SAME(s, push_grant(p, "stock", 1, (int)sent - 2, 5, store_token(&s->store, "stock", holder)), 1);
    run_us(s, 150);
    TELLS(s, "b:WAITING");
    run_ms(s, 1);
    TELLS(s, "b:OK");
    SAME(s, asked(s, "mutex_acquire"), sent + 1);
}

A_PLAY(a_guarded_store_s_push_is_not_believed)
{
    struct client *q = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 60000));
    struct handle *b;
    store_grant(&s->store, "stock", "x:9", 600000);
    b = waits(q, "b");
    store_restart(&s->store, 1);
    net_reset(&s->net, &q->loop, NET_ALL);
    run_ms(s, 10000);
    TELLS(s, "b:WAITING");
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    acquire(fair(fixture_connect(s, NULL), "t"), HILOCK_TRY); /* a client that finds it free grants it, to any waiter */
    run_ms(s, 100);
    HOLDS(s, hilock_lock_state(b->lock) == HILOCK_STATE_WAITING);
    fixture_hush(s);
    run_ms(s, 55000);
    TELLS(s, "b:OK");
}

static void extend_it(struct handle *handle) { extend(handle, 60000); }

/* It has one request, which a heartbeat still is; that one's answer, though good news, was not asked for so much. */
A_PLAY(an_extend_beside_a_heartbeat_is_asked_for_behind_it)
{
    struct handle *a = holds(fixture_connect(s, NULL), "a"), *b = waits(fixture_connect(s, NULL), "b");
    PLAN(s, .on = "mutex_acquire", .act = PLAN_DELAY_REQUEST, .us = 50000);
    run_ms(s, 3000);
    SAME(s, asked(s, "mutex_acquire"), 3);
    when(b, "OK", extend_it);
    release_quietly(a);
    run_ms(s, 100);
    SAME(s, asked(s, "mutex_acquire"), 4);
    TELLS(s, "b:WAITING b:OK b:extended");
    SAME(s, asked(s, "renew"), 1);
}

/* It was left to others just as a heartbeat was answered that it is held. */
A_PLAY(a_yield_that_crosses_a_heartbeat_is_not_forgotten)
{
    struct client *p = fixture_connect(s, NULL);
    char channel[64], text[100];
    struct plan *late;
    store_grant(&s->store, "stock", "x:9", 600000);
    waits(p, "b");
    late = PLAN(s, .on = "mutex_acquire", .act = PLAN_DELAY_ANSWER, .us = 50000);
    for (int i = 0; i < 5000 && !late->met; i++)
        run_ms(s, 1);
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    snprintf(channel, sizeof channel, "hilock:grant:%s", p->uuid);
    snprintf(text, sizeof text, "F %s:1 5", p->uuid);
    store_publish(&s->store, channel, text);
    run_ms(s, 100);
    TELLS(s, "b:WAITING b:OK");
}

/* It runs when the hold that the push gave is over, and finds the name free. */
A_PLAY(a_heartbeat_that_was_lost_beside_a_push_leaves_no_ghost)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = holds(fixture_connect(s, NULL), "a"), *b = waits(p, "b");
    struct plan *stray = PLAN(s, .on = "mutex_acquire", .act = PLAN_STRAY, .us = 2000000);
    for (int i = 0; i < 5000 && !stray->met; i++)
        run_ms(s, 1);
    release_quietly(a);
    run_ms(s, 1);
    net_reset(&s->net, &p->loop, NET_COMMANDS);
    run_ms(s, 500);
    release_quietly(b);
    run_ms(s, 500);
    TELLS(s, "b:WAITING b:OK");
    TEXT(s, store_holder(&s->store, "stock"), "");
    run_ms(s, 1000);
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 1200);
    TEXT(s, store_holder(&s->store, "stock"), "");
}
