/* SPDX-License-Identifier: BSD-3-Clause */
/* The restart guard: a store that forgot its grants makes no new ones before those are over. */
#include "quorum_stage.h"
#include "safety.h"

/* To such a fraction of the server's second. */
static void run_to_fraction(struct fixture *s, uint64_t us)
{
    run_us(s, (us + 1000000 - store_us(&s->store) % 1000000) % 1000000);
}

/* `a` hears nothing of it: it does not renew, and what asks for its lease when the link is back meets an error. */
static struct handle *hold_and_restart(struct fixture *s, uint32_t lease_ms)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = lease_ms, .lease_ms = lease_ms));
    struct handle *a;
    s->is_tampered = 1;
    run_to_fraction(s, 950000);
    a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = lease_ms, .renew = HILOCK_RENEW_NEVER));
    PLAN(s, .on = "renew", .times = PLAN_ALWAYS, .act = PLAN_REFUSE, .error = "LOADING Redis is loading the dataset in memory");
    store_restart(&s->store, 0);
    net_reset(&s->net, NULL, NET_ALL);
    run_to_fraction(s, 10000);
    return a;
}

/* An uptime of 1 s may be 10 ms. */
ALSO(GUARD_IGNORED, a_second_that_was_not_over_is_not_counted, "a:LOST EXPIRED b:OK")
SAFETY(GUARD_A_SECOND_SHORT, a_second_that_was_not_over_is_not_counted, "a:LOST EXPIRED b:OK")
{
    struct handle *a = hold_and_restart(s, 2000), *b;
    b = handle_new(fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 2000, .lease_ms = 2000)), "b", "stock",
                 HILOCK_LOCK_OPTIONS(.lease_ms = 2000, .renew = HILOCK_RENEW_NEVER));
    acquire(b, HILOCK_FOREVER);
    TELLS_IN(s, 3000, "a:LOST EXPIRED b:OK");
    HOLDS(s, a->at_us < b->at_us);
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
