/* SPDX-License-Identifier: BSD-3-Clause */
/* R5: only "not yours" is loss before the deadline, and every other end is followed by a release. R6: loss comes first. */
#include "safety.h"

SAFETY(R5_ERROR_IS_LOSS, an_error_reply_to_a_renewal_costs_nobody_his_lock, "hilock_lock_remaining_ms(a->lock) > 2000")
{
    static const char *const errors[] = {
        "READONLY You can't write against a read only replica.", "LOADING Redis is loading the dataset in memory", "NOPERM no",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", "OOM command not allowed",
        "NOREPLICAS Not enough good replicas to write.", "MISCONF disk", "MASTERDOWN Link with MASTER is down", "NOAUTH Authentication required.",
        "CLUSTERDOWN The cluster is down", "TRYAGAIN Multiple keys", "MOVED 1 10.0.0.1:1", "ERR whatever", ""};
    struct handle *a = held(the_client(s), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct plan *refusal = PLAN(s, .on = "renew", .error = errors[i]);
        for (int ms = 0; ms < 1500 && !refusal->met; ms++)
            run_ms(s, 1);
        SAME(s, refusal->met, 1);
        run_ms(s, 300);
        HOLDS(s, hilock_lock_remaining_ms(a->lock) > 2000);
    }
    TELLS(s, "");
}

SAFETY(R5_TAKEN_IGNORED, what_the_store_says_is_not_ours_is_lost_at_once, "a:LOST TAKEN")
{
    struct handle *a = held(the_client(s), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    s->is_tampered = 1;
    store_take(&s->store, "stock", "another", 60000);
    run_to(s, sent_at_us(s, "mutex_acquire", 0) + 1000200);
    TELLS(s, "a:LOST TAKEN");
    SAME(s, hilock_lock_remaining_ms(a->lock), 0);
    run_ms(s, 5000);
    SAME(s, asked(s, "renew"), 1);
    SAME(s, asked(s, "mutex_release"), 1); /* a store that forgot it may have it in its queue still */
    TEXT(s, store_holder(&s->store, "stock"), "another:1");
}

ALSO(R6_LOSS_IN_LINE, losses_of_all_holds_are_told_before_the_first_answer,
     "a:LOST SUSPENDED b:LOST SUSPENDED d:LOST SUSPENDED w:OK")
SAFETY_WITH_CLIENT(R6_NO_SWEEP, losses_of_all_holds_are_told_before_the_first_answer,
       "a:LOST SUSPENDED b:LOST SUSPENDED d:LOST SUSPENDED w:OK")
{
    held(p, "a", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    held(p, "b", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    held(p, "c", "three", HILOCK_LOCK_OPTIONS(.lease_ms = 100000));
    held(p, "d", "four", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    acquiring(handle_new(p, "w", "five", NULL), 5000);
    run_us(s, 110);
    frozen_ms(p, 10000);
    TELLS_IN(s, 5, "a:LOST SUSPENDED b:LOST SUSPENDED d:LOST SUSPENDED w:OK");
}

/* Its lease is longer: renewed shortly before. */
SAFETY_WITH_CLIENT(HOLD_MAX_UNSWEPT, on_waking_the_end_of_hold_max_is_told_before_anything_else, "a:LOST HOLD_MAX b:OK")
{
    held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .hold_max_ms = 4500));
    struct handle *b = handle_new(p, "b", "other", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    run_ms(s, 4100);
    acquire(b, HILOCK_FOREVER);
    run_us(s, 150);
    frozen_ms(p, 1000);
    TELLS_IN(s, 5, "a:LOST HOLD_MAX b:OK");
}

/* The operator clicks late: the named holder is gone, another holds. */
SAFETY_WITH_CLIENT(FORCE_OF_WHOEVER, a_late_force_release_ends_nobody_elses_hold, OVERBELIEF)
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000)), *b = handle_new(p, "b", "stock", NULL);
    force(b, "51000001-aaaa-4bbb-8ccc-0123456789ab:7");
    TELLS_IN(s, 1500, "b:force LOST");
    HOLDS(s, is_ours(s, "stock") && hilock_lock_remaining_ms(a->lock) > 0);
}

/* Two who read: one of them is named. */
SAFETY(FORCE_UNCHECKED, a_force_release_ends_no_lock_that_others_share, "b:force WRONG_KIND")
{
    struct handle *b = handle_new(fixture_connect(s, NULL), "b", "stock", NULL);
    store_take(&s->store, "stock", "java:57", 30000);
    store_join(&s->store, "stock", "java:58");
    force(b, "java:57");
    TELLS_IN(s, 2, "b:force WRONG_KIND");
    HOLDS(s, store_token(&s->store, "stock", "java:57") && store_token(&s->store, "stock", "java:58"));
}

SAFETY(FIXED_UNVERIFIED, what_a_restart_forgot_is_known_of_a_fixed_lease_too, "a:LOST TAKEN")
{
    held(the_client(s), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 60000, .renew = HILOCK_RENEW_NEVER));
    s->is_tampered = 1;
    store_restart(&s->store, 0);
    net_reset(&s->net, NULL, NET_COMMANDS);
    TELLS_IN(s, 1000, "a:LOST TAKEN");
}
