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

SAFETY_WITH_CLIENT(POLL_OVERSLEEPS, who_polls_seldom_wakes_at_the_end_of_the_lease, "a:WAITING a:OK")
{
    struct handle *a = asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .poll_min_ms = 20000));
    uint64_t taken_us = fixture_us(s);
    store_take_simple(&s->store, "stock", "another", 1500);
    TELLS_IN(s, 3000, "a:WAITING a:OK");
    HOLDS(s, a->at_us >= taken_us + 1501000 && a->at_us <= taken_us + 1503000);
}
