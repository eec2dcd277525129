/* SPDX-License-Identifier: BSD-3-Clause */
/* What kind SIMPLE must not do to another's key, and how long who polls may sleep. */
#include "safety.h"

SAFETY(SIMPLE_RELEASES_BLINDLY, the_release_of_a_SIMPLE_lock_spares_another_holder, "a:release LOST")
{
    struct handle *a = held(the_client(s), "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE));
    s->is_tampered = 1;
    store_take_simple(&s->store, "stock", "another", 60000);
    release(a);
    TELLS_IN(s, 5, "a:release LOST");
    TEXT(s, store_holder(&s->store, "stock"), "another");
}

SAFETY(SIMPLE_RENEWS_BLINDLY, the_renewal_of_a_SIMPLE_lock_spares_another_holder, "a:LOST TAKEN")
{
    held(the_client(s), "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .lease_ms = 3000));
    s->is_tampered = 1;
    store_take_simple(&s->store, "stock", "another", 60000);
    TELLS_IN(s, 1500, "a:LOST TAKEN");
    TEXT(s, store_holder(&s->store, "stock"), "another");
    HOLDS(s, store_left_ms(&s->store, "stock") > 50000);
}

SAFETY(SIMPLE_RENEWS_BLINDLY, a_SIMPLE_lock_that_is_gone_is_not_made_anew, "a:LOST TAKEN")
{
    held(the_client(s), "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .lease_ms = 3000));
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    TELLS_IN(s, 1500, "a:LOST TAKEN");
    SAME(s, store_left_ms(&s->store, "stock"), -2);
}

SAFETY(POLL_OVERSLEEPS, who_polls_seldom_wakes_at_the_end_of_the_lease, "a:WAITING a:OK")
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .poll_min_ms = 20000));
    uint64_t taken_us = fixture_us(s);
    store_take_simple(&s->store, "stock", "another", 1500);
    TELLS_IN(s, 3000, "a:WAITING a:OK");
    HOLDS(s, a->at_us >= taken_us + 1501000 && a->at_us <= taken_us + 1503000);
}

static struct handle *held_natively(struct fixture *s)
{
    sim_store_learn(s->store.core, "delifeq");
    return held(fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 3000)), "a", "stock",
                HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .lease_ms = 9000));
}

SAFETY(SIMPLE_SHORTENS, an_extended_SIMPLE_lock_is_not_shortened_by_its_renewals,
       "a handle believes in no more than the server has")
{
    struct handle *a = held_natively(s);
    SAME(s, extend(a, 60000), HILOCK_OK);
    TELLS_IN(s, 20000, "a:extended");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 39000 && store_left_ms(&s->store, "stock") > 39000);
    HOLDS(s, asked(s, "simple_renew") >= 5);
}

/* The grant's own lease is the longer one, and nothing renews it. */
SAFETY(SIMPLE_SHORTENS, the_first_extend_of_a_SIMPLE_lock_to_less_takes_nothing_away,
       "a handle believes in no more than the server has")
{
    struct handle *a;
    sim_store_learn(s->store.core, "delifeq");
    a = held(fixture_connect(s, NULL), "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .lease_ms = 30000, .renew = HILOCK_RENEW_NEVER));
    SAME(s, extend(a, 1000), HILOCK_OK);
    TELLS_IN(s, 10, "a:extended");
    HOLDS(s, store_left_ms(&s->store, "stock") > 29000);
    TELLS_IN(s, 20000, "");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 9000);
}

/* Its bytes are still in a link that was given up, and set the lease to less than was extended meanwhile. */
SAFETY(SIMPLE_STRAYS_FORGOTTEN, an_extend_does_not_count_on_a_stray_renewal_to_be_gone,
       "a handle believes in no more than the server has")
{
    struct handle *a = held_natively(s);
    PLAN(s, .on = "SET", .act = PLAN_STRAY, .us = 1000000);
    run_ms(s, 3100);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 200);
    extend(a, 60000);
    run_ms(s, 1500); /* it runs behind the extend: what is believed must be less than what is left then */
    SAME(s, asked(s, "SET"), 3); /* the grant, the renewal of the new link, and the stray */
    TELLS(s, "a:extend UNKNOWN");
    run_ms(s, 3000);
    extend(a, 60000);
    TELLS_IN(s, 10, "a:extended");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 59000);
}
