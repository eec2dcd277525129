/* SPDX-License-Identifier: BSD-3-Clause */
/* What is accepted is answered once, also at the end of a client, and never so much in a turn of the loop that the program's own events
 * starve. */
#include <stdio.h>

#include "safety.h"

static void block_for_ten_seconds(struct hand *hand) { world_jump_us(&hand->scene->world, 10000000); }

static unsigned told(const struct scene *s)
{
    const struct hand *hand;
    unsigned calls = 0;
    TAILQ_FOREACH(hand, &s->hands, entry)
        calls += (unsigned)hand->calls;
    return calls;
}

/* An answer from the server comes while the timer for the rest is due, in the same turn. */
static void a_turn_with_many_events_tells_one_batch(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *last = hand_new(p, "last", "other", NULL);
    s->is_untold = 1;
    for (int i = 0; i < 2500; i++) {
        struct hand *hand;
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        hand = hand_new(p, name, name, NULL);
        acquire(hand, HILOCK_FOREVER);
        cancel(hand);
    }
    acquire(last, HILOCK_FOREVER);
    p->loop.late_us = 1000; /* but not the wake that has been asked for */
    run_us(s, 100);
    SAME(s, told(s), 1000);
    run_us(s, 800);
    HOLDS(s, is_ours(s, "other"));
    SAME(s, told(s), 1000);
    run_ms(s, 3);
    SAME(s, told(s), 2501);
}

static void a_client_that_closes_tells_all_first_however_long_it_takes(struct scene *s)
{
    struct party *p = scene_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000));
    struct hand *a = hand_new(p, "a", "stock", NULL), *b = hand_new(p, "b", "stock", NULL), *c = hand_new(p, "c", "stock", NULL);
    struct hand *d = held(p, "d", "other", NULL);
    store_take(&s->store, "stock", "another", 60000);
    acquire(a, HILOCK_FOREVER);
    acquire(b, HILOCK_FOREVER);
    acquire(c, HILOCK_FOREVER);
    run_ms(s, 10);
    scene_hush(s);
    s->place->mood = NET_IS_SILENT;
    net_reset(&s->net, NULL, NET_ALL);
    release(d);
    when(c, "CLOSED", block_for_ten_seconds);
    when(b, "CLOSED", block_for_ten_seconds);
    party_close(p, 0);
    for (int i = 0; i < 4; i++)
        run_ms(s, 1000);
    TELLS(s, "c:CLOSED b:CLOSED a:CLOSED d:release UNKNOWN closed");
}

/* Both renewals fail for the second time at once; while a is told so, the drain ends, and b still has that to be told. */
static void a_drain_that_ends_takes_what_has_something_else_to_tell(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *b = held(p, "b", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 60000)), *a = held(p, "a", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    struct plan *refused, *unanswered;
    refused = PLAN(s, .on = "renew", .act = PLAN_REFUSE, .error = "BUSY", .times = 2);
    unanswered = PLAN(s, .on = "renew", .act = PLAN_HOLD, .times = PLAN_ALWAYS);
    while (refused->met < 2 || unanswered->met < 2)
        run_ms(s, 1);
    party_close(p, 5000);
    when(a, "RENEWAL_FAILED", block_for_ten_seconds);
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 20000);
    net_reset(&s->net, NULL, NET_COMMANDS);
    for (int i = 0; i < 4; i++)
        run_ms(s, 1000);
    TELLS(s, "a:RENEWAL_FAILED b:LOST CLOSING a:LOST CLOSING closed");
}

const struct safety safety_promise[] = {
    SAFETY(BATCH_UNBOUNDED, a_turn_with_many_events_tells_one_batch),
    SAFETY(CLOSED_UNTOLD, a_client_that_closes_tells_all_first_however_long_it_takes),
    SAFETY(DRAIN_HALF_BLIND, a_drain_that_ends_takes_what_has_something_else_to_tell),
    {NULL, {NULL, NULL}},
};
