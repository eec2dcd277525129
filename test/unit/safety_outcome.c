/* SPDX-License-Identifier: BSD-3-Clause */
/* R2: fresh ids. R3: no answer is not failure. R4: what came too late is undone, before the next try. */
#include "safety.h"

SAFETY(R2_ID_REUSED, every_acquisition_has_an_id_of_its_own, "strcmp(first, store_holder(&s->store, 'stock')) != 0")
{
    struct client *p = fixture_connect(s, NULL);
    char first[FIXTURE_TEXT];
    struct handle *a = held(p, "a", "stock", NULL);
    snprintf(first, sizeof first, "%s", store_holder(&s->store, "stock"));
    HOLDS(s, is_ours(s, "stock"));
    release(a);
    SAME(s, acquire(a, HILOCK_FOREVER), HILOCK_OK); /* its release is not answered */
    TELLS_IN(s, 2, "a:released a:OK");
    HOLDS(s, asked_at_us(s, "mutex_acquire", 1) > asked_at_us(s, "mutex_release", 0));
    HOLDS(s, is_ours(s, "stock"));
    HOLDS(s, strcmp(first, store_holder(&s->store, "stock")) != 0);
}

SAFETY_WITH_CLIENT(R4_UNDO_UNORDERED, the_next_in_line_asks_behind_the_undo_of_the_first, "a:CANCELLED")
{
    struct handle *a = asking(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 20000);
    run_ms(s, 5);
    cancel(a);
    PLAN(s, .on = "mutex_release", .fate.back_us = 30000);
    TELLS_IN(s, 40, "a:CANCELLED");
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, asked(s, "mutex_acquire"), 1);
    TELLS_IN(s, 20, "b:OK");
    HOLDS(s, asked_at_us(s, "mutex_acquire", 1) >= asked_at_us(s, "mutex_release", 0) + 30000);
}

/* The request is overtaken by its own undoing: it runs when all think it lost, and makes a hold that nobody knows of. */
ALSO(R3_UNKNOWN_IS_FAILURE, a_ghost_is_released_once_its_request_can_no_longer_run, "asked(s, 'mutex_release') == 1")
SAFETY(UNANSWERED_FORGOTTEN, a_ghost_is_released_once_its_request_can_no_longer_run, "asked(s, 'mutex_release') == 2")
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000));
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    PLAN(s, .on = "mutex_acquire", .fate.is_stray = 1, .fate.there_us = 300000);
    acquire(a, 50);
    TELLS_IN(s, 100, "a:UNREACHABLE");
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 150);
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, asked(s, "mutex_acquire"), 0);
    run_ms(s, 150);
    SAME(s, asked(s, "mutex_acquire"), 1);
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 1000);
    SAME(s, asked(s, "mutex_release"), 2);
    HOLDS(s, !is_ours(s, "stock"));
}

/* Asked twice, for the link had died; somebody ends that hold; and then the first request runs. A kind without a queue: of one that has, every
 * id whose hold was taken is released, for it may stand there. */
SAFETY(UNANSWERED_LEFT_BY_LOSS, a_ghost_of_a_hold_that_was_taken_is_released, "!is_ours(s, 'stock')")
{
    asking(fixture_connect(s, NULL), "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .lease_ms = 3000));
    PLAN(s, .on = "SET", .fate.is_stray = 1, .fate.there_us = 2500000);
    run_ms(s, 10);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 400);
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    TELLS_IN(s, 1600, "a:OK a:LOST TAKEN");
    SAME(s, asked(s, "SET"), 1);
    run_ms(s, 600);
    SAME(s, asked(s, "SET"), 2);
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 500);
    HOLDS(s, !is_ours(s, "stock"));
}

/* Given up, lease and all, while its script is being loaded again; granted after that. */
ALSO(R4_NO_UNDO, a_grant_is_undone_however_late_it_comes, "!is_ours(s, 'stock')")
SAFETY(GRANT_KEPT_AFTER_GIVEN_UP, a_grant_is_undone_however_late_it_comes, "!is_ours(s, 'stock')")
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000));
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 150));
    sim_store_flush_scripts(s->store.core);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 900000);
    PLAN(s, .on = "mutex_acquire", .fate.there_us = 800000);
    acquire(a, HILOCK_TRY); /* which is never put into a queue, where it would count as alive for longer than its lease */
    run_ms(s, 50);
    cancel(a);
    TELLS_IN(s, 1640, "a:CANCELLED");
    SAME(s, asked(s, "mutex_acquire"), 1);
    run_ms(s, 60);
    SAME(s, asked(s, "mutex_acquire"), 2);
    HOLDS(s, !is_ours(s, "stock"));
}

/* The loop is so late that nobody looks after the link; a sibling's try finds the loss. The hold is given up, and then its renewal is answered. */
SAFETY(RENEWAL_KEPT_AFTER_GIVEN_UP, a_renewal_answered_after_the_end_is_released, "asked(s, 'mutex_release') == 1")
{
    struct handle *a = held(the_client(s), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    PLAN(s, .on = "renew", .fate.back_us = 20000000);
    run_ms(s, 1010);
    SAME(s, asked(s, "renew"), 1);
    frozen_ms(the_client(s), 4000);
    TELLS_IN(s, 10, "a:LOST SUSPENDED");
    frozen_ms(the_client(s), 15950); /* its release would be given up meanwhile */
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_release"), 0);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
    run_ms(s, 10000);
    SAME(s, asked(s, "mutex_release"), 1);
}

/* Its lease is over while the script is loaded again, and then it is to be said in another way. */
SAFETY(GIVEN_UP_UNSETTLED, a_release_that_was_given_up_keeps_no_sibling_waiting, "a:release UNKNOWN a:SETTLED b:OK")
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000));
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 150));
    PLAN(s, .on = "mutex_release", .error = "NOSCRIPT No matching script.", .fate.back_us = 900000);
    PLAN(s, .on = "mutex_release", .error = "TRYAGAIN Multiple keys request during rehashing of slot", .fate.back_us = 900000);
    release(a);
    asking(p, "b", "stock", NULL);
    TELLS_IN(s, 2000, "a:release UNKNOWN a:SETTLED b:OK");
    SAME(s, asked(s, "free"), 0);
}

SAFETY(SCRIPT_RELOADED_ONCE, a_script_forgotten_again_is_loaded_again, "a:OK")
{
    struct handle *a = handle_new(the_client(s), "a", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .error = "NOSCRIPT No matching script.", .times = 2);
    acquire(a, 500);
    TELLS_IN(s, 10, "a:OK");
}
