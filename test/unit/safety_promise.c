/* SPDX-License-Identifier: BSD-3-Clause */
/* What is accepted is answered once, also at the end of a client, and never so much in a turn of the loop that the program's own events
 * starve. */
#include "safety.h"

static void block_for_ten_seconds(struct handle *handle) { world_jump_us(&handle->fixture->world, 10000000); }

static unsigned told(const struct fixture *s)
{
    const struct handle *handle;
    unsigned calls = 0;
    TAILQ_FOREACH(handle, &s->handles, entry)
        calls += (unsigned)handle->calls;
    return calls;
}

/* An answer from the server comes while the timer for the rest is due, in the same turn. */
SAFETY(BATCH_UNBOUNDED, a_turn_with_many_events_tells_one_batch, "told(s) == 1000")
{
    struct handle *last = handle_new(the_client(s), "last", "other", NULL);
    s->is_untold = 1;
    for (int i = 0; i < 2500; i++) {
        const char *name = formatted("n%d", i);
        cancel(asking(the_client(s), name, name, NULL));
    }
    acquire(last, HILOCK_FOREVER);
    the_client(s)->loop.late_us = 1000; /* but not the wake that has been asked for */
    run_us(s, 100);
    SAME(s, told(s), 1000);
    run_us(s, 800);
    HOLDS(s, is_ours(s, "other"));
    SAME(s, told(s), 1000);
    run_ms(s, 3);
    SAME(s, told(s), 2501);
}

SAFETY(CLOSED_UNREPORTED, a_client_that_closes_tells_all_first_however_long_it_takes,
       "c:CLOSED b:CLOSED a:CLOSED d:release UNKNOWN closed")
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000));
    struct handle *d = held(p, "d", "other", NULL);
    store_take(&s->store, "stock", "another", 60000);
    asking(p, "a", "stock", NULL);
    struct handle *b = asking(p, "b", "stock", NULL), *c = asking(p, "c", "stock", NULL);
    unheard_ms(s, 10);
    s->place->mood = NET_IS_SILENT;
    net_reset(&s->net, NULL, NET_ALL);
    release(d);
    when(c, "CLOSED", block_for_ten_seconds);
    when(b, "CLOSED", block_for_ten_seconds);
    client_close(p, 0);
    for (int i = 0; i < 4; i++)
        run_ms(s, 1000);
    TELLS(s, "c:CLOSED b:CLOSED a:CLOSED d:release UNKNOWN closed");
}

/* Both renewals fail for the second time at once; during a's report the drain ends, and b's report is still pending. */
SAFETY_WITH_CLIENT(DRAIN_HALF_BLIND, a_drain_that_ends_takes_what_has_something_else_to_tell,
       "a:RENEWAL_FAILED b:LOST CLOSING a:LOST CLOSING closed")
{
    struct handle *b = held(p, "b", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 60000)), *a = held(p, "a", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    struct plan *refused = PLAN(s, .on = "renew", .error = "BUSY", .times = 2);
    struct plan *unanswered = PLAN(s, .on = "renew", .holds = 1, .times = PLAN_ALWAYS);
    while (refused->met < 2 || unanswered->met < 2)
        run_ms(s, 1);
    client_close(p, 5000);
    when(a, "RENEWAL_FAILED", block_for_ten_seconds);
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 20000);
    net_reset(&s->net, NULL, NET_COMMANDS);
    for (int i = 0; i < 4; i++)
        run_ms(s, 1000);
    TELLS(s, "a:RENEWAL_FAILED b:LOST CLOSING a:LOST CLOSING closed");
}
