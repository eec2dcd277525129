/* SPDX-License-Identifier: BSD-3-Clause */
/* The restart guard: a store that forgot its grants makes no new ones before those are over. */
#include "quorum_stage.h"
#include "safety.h"

/* It comes to a server up for two seconds by its word, which may be one. Not a poll later: it asks in the very moment. */
ALSO(GUARD_IGNORED, who_waits_is_served_as_the_guard_ends, "nothing is reported")
SAFETY(GUARD_A_SECOND_SHORT, who_waits_is_served_as_the_guard_ends, "sent_at_us(s, 'mutex_acquire', 0) >= ends_us")
{
    struct handle *a;
    uint64_t ends_us;
    store_restart(&s->store, 0);
    run_us(s, 2000000 - store_us(&s->store) % 1000000);
    SAME(s, store_us(&s->store) / 1000000 - sim_store_started_us(s->store.core) / 1000000, 2);
    a = asking(fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 4000, .lease_ms = 2000)), "a", "stock", NULL);
    ends_us = asked_at_us(s, "INFO", 0) + 100 - 1000000 + 4000000;
    TELLS_IN(s, 2000, "");
    SAME(s, asked(s, "mutex_acquire"), 0);
    run_to(s, ends_us + 500);
    TELLS(s, "a:OK");
    SAME(s, asked(s, "mutex_acquire"), 1);
    HOLDS(s, sent_at_us(s, "mutex_acquire", 0) >= ends_us);
    SAME(s, a->result.attempts, 1);
}

/* Two have no guard left, and one of these had no memory when it was asked. */
SAFETY(GUARD_OF_THE_LAST, who_needs_no_guarded_master_does_not_wait_for_one, "a:OK")
{
    struct client *p = quorum_with(s, 3, *HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 60000));
    struct handle *a = handle_new(p, "a", "stock", NULL);
    run_ms(s, 10);
    restart_empty(s, 2);
    run_ms(s, 3000);
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 1), .act = PLAN_REFUSE, .error = "OOM command not allowed when used memory > 'maxmemory'.");
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 5000, "a:OK");
}
