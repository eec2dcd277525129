/* SPDX-License-Identifier: BSD-3-Clause */
/* R1: until when we believe. R11: what comes after the deadline extends nothing. */
#include "safety.h"

static const struct hilock_lock_options short_lease = {.size = sizeof short_lease, .lease_ms = 3000};

enum { LEASE_US = 3000000, DRIFT_US = 30000 + 2000 + 5000 };

SAFETY(R1_DEADLINE_FROM_REPLY, a_grant_counts_from_its_send, "a handle believes in no more than the server has")
{
    struct handle *a = asking(the_client(s), "a", "stock", &short_lease);
    uint64_t sent_us = fixture_us(s);
    PLAN(s, .on = "mutex_acquire", .act = PLAN_DELAY_ANSWER, .us = 400000);
    TELLS_IN(s, 500, "a:OK");
    BELIEVES(s, a, sent_us + LEASE_US - DRIFT_US);
}

SAFETY(R1_DEADLINE_FROM_REPLY, a_renewal_counts_from_its_own_send, "a handle believes in no more than the server has")
{
    struct handle *a = held(the_client(s), "a", "stock", &short_lease);
    PLAN(s, .on = "renew", .act = PLAN_DELAY_ANSWER, .us = 700000);
    run_ms(s, 1990);
    SAME(s, asked(s, "renew"), 1);
    SAME(s, sent_at_us(s, "renew", 0), sent_at_us(s, "mutex_acquire", 0) + LEASE_US / 3);
    BELIEVES(s, a, sent_at_us(s, "renew", 0) + LEASE_US - DRIFT_US);
}

SAFETY(R1_NO_DRIFT, belief_ends_before_a_server_whose_clock_is_fast, "a handle believes in no more than the server has")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a;
    world_clock_set_rate(&s->store.clock, 9000);
    a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    while (store_left_ms(&s->store, "stock") >= 0) {
        run_us(s, 500);
        HOLDS(s, store_left_ms(&s->store, "stock") >= 0 || !hilock_lock_remaining_ms(a->lock));
    }
    TELLS(s, "a:LOST EXPIRED");
}

/* Frozen before the answer can be read, thawed behind the deadline: the server has renewed, but we did not know it in time. */
ALSO(R5_SILENT_END, an_answer_behind_the_deadline_revives_nothing, "!is_ours(s, 'stock')")
SAFETY(R11_RESURRECT, an_answer_behind_the_deadline_revives_nothing, "a:LOST SUSPENDED")
{
    struct handle *a = held(the_client(s), "a", "stock", &short_lease);
    uint64_t sent_us = sent_at_us(s, "mutex_acquire", 0);
    run_to(s, sent_us + LEASE_US / 3 + 150);
    SAME(s, asked(s, "renew"), 1);
    world_freeze(&the_client(s)->loop.lane);
    run_to(s, sent_us + 3500000);
    SAME(s, hilock_lock_remaining_ms(a->lock), 0);
    HOLDS(s, store_left_ms(&s->store, "stock") > 0);
    world_thaw(&s->world, &the_client(s)->loop.lane);
    TELLS_IN(s, 5, "a:LOST SUSPENDED");
    SAME(s, hilock_lock_remaining_ms(a->lock), 0);
    HOLDS(s, !is_ours(s, "stock"));
}
