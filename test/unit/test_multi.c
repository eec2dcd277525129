/* SPDX-License-Identifier: BSD-3-Clause */
/* Several names at once: all or none. While it waits it keeps next to nothing behind another program, and all that it
 * has behind a holder that hands over. */
#include "play.h"
#include "stage.h"

static const char *const eight[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", NULL};
static const char *const cba[] = {"c", "b", "a", NULL};

static int has_all(struct fixture *s, const char *const *names)
{
    for (; *names; names++)
        if (!is_ours(s, *names))
            return 0;
    return 1;
}

static int has_none(struct fixture *s, const char *const *names)
{
    for (; *names; names++)
        if (is_ours(s, *names))
            return 0;
    return 1;
}

static struct handle *held_all(struct client *p, const char *tag, const char *const *names, const struct hilock_lock_options *options)
{
    struct handle *m = acquiring(multi_new(p, tag, names, options), HILOCK_FOREVER);
    run_ms(p->fixture, 1);
    HOLDS(p->fixture, is_held(m) && has_all(p->fixture, names));
    fixture_hush(p->fixture);
    return m;
}

WITH_CLIENT(a_multi_has_64_names_at_most)
{
    const char *names[65] = {NULL};
    char texts[64][8];
    for (unsigned i = 0; i < 64; i++)
        names[i] = (snprintf(texts[i], sizeof texts[i], "n%u", i), texts[i]); /* 65 are refused: see test_refusals.c */
    held_all(p, "m", names, NULL);
    handle_free(TAILQ_LAST(&s->handles, handles)); /* its names end here */
}

WITH_CLIENT(eight_free_names_take_one_round_trip)
{
    uint64_t begun_us = fixture_us(s);
    struct handle *m = acquiring(multi_new(p, "m", eight, NULL), HILOCK_FOREVER);
    TELLS_IN(s, 1, "m:OK");
    SAME(s, asked(s, "mutex_acquire"), 8);
    SAME(s, asked_at_us(s, "mutex_acquire", 0), asked_at_us(s, "mutex_acquire", 7));
    SAME(s, m->at_us - begun_us, s->net.there_us + s->net.back_us);
    SAME(s, m->result.attempts, 8);
    TEXT(s, m->detail, "granted");
    HOLDS(s, has_all(s, eight));
}

/* ---- granted ---- */

WITH_CLIENT(each_name_has_its_token_in_the_order_given)
{
    store_set_string(&s->store, "hilock:token:{a}", "1900000000000000"); /* that of no other name */
    struct handle *m = held_all(p, "m", cba, NULL);
    struct hilock_lock_info info = {.size = sizeof info};
    SAME(s, hilock_multi_token(m->lock, 2), 1900000000000001);
    for (size_t i = 0; cba[i]; i++)
        SAME(s, hilock_multi_token(m->lock, i), store_token(&s->store, cba[i], store_holder(&s->store, cba[i])));
    SAME(s, hilock_multi_token(m->lock, 3), 0);
    SAME(s, hilock_lock_token(m->lock), 0);
    SAME(s, m->result.fencing_token, 0);
    TEXT(s, hilock_lock_name(m->lock), "c");
    hilock_lock_describe(m->lock, &info);
    SAME(s, info.fencing_token, 0);
    SAME(s, info.state, HILOCK_STATE_HELD);
    release(m);
    TELLS_IN(s, 1, "m:released");
    HOLDS(s, has_none(s, abc));
    SAME(s, hilock_multi_token(m->lock, 0), 0);
}

WITH_CLIENT(it_is_renewed_by_one_watchdog_and_extended_as_one)
{
    struct handle *m = held_all(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    TELLS_IN(s, 10000, "");
    SAME(s, asked(s, "renew"), 3 * (10000 / 1000));
    extend(m, 60000);
    TELLS_IN(s, 5, "m:extended");
    SAME(s, m->result.attempts, 3);
    for (size_t i = 0; abc[i]; i++)
        HOLDS(s, store_left_ms(&s->store, abc[i]) > 59000);
    HOLDS(s, hilock_lock_remaining_ms(m->lock) > 59000);
}

/* ---- refused ---- */

WITH_CLIENT(who_has_which_name_is_told_at_the_end)
{
    store_take(&s->store, "b", "another", 60000);
    struct handle *m = acquiring(multi_new(p, "m", abc, NULL), HILOCK_TRY);
    TELLS_IN(s, 5, "m:TIMED_OUT");
    TEXT(s, m->holder, "another:1");
    HOLDS(s, strstr(m->detail, "\"b\" is held by") && has_none(s, abc));
    acquire(m, 1000);
    TELLS_IN(s, 1001, "m:WAITING m:TIMED_OUT");
    HOLDS(s, strstr(m->detail, "\"b\" was held by") && has_none(s, abc));
}

WITH_CLIENT(a_key_of_another_kind_ends_the_wait)
{
    store_set_string(&s->store, "b", "text");
    struct handle *m = acquiring(multi_new(p, "m", abc, NULL), HILOCK_FOREVER);
    TELLS_IN(s, 5, "m:WRONG_KIND");
    HOLDS(s, strstr(m->detail, "\"b\"") && has_none(s, abc));
}

WITH_CLIENT(that_it_waits_is_logged_once)
{
    store_take(&s->store, "b", "another", 60000);
    acquiring(multi_new(p, "m", abc, HILOCK_LOCK_OPTIONS(.wait_report_ms = 100)), HILOCK_FOREVER);
    run_ms(s, 350);
    TELLS(s, "m:WAITING m:WAITING m:WAITING");
    SAME(s, client_lines(p, "is held by another: waiting"), 1);
}

/* The third answer is on its way for ever. */
WITH_CLIENT(behind_a_server_that_is_silent_about_one_name_the_others_are_given_back)
{
    PLAN(s, .on = "mutex_acquire", .after = 2, .holds = 1);
    acquiring(multi_new(p, "m", abc, NULL), HILOCK_FOREVER);
    run_ms(s, 4000);
    HOLDS(s, asked(s, "mutex_release") >= 2);
}

/* ---- siblings ---- */

WITH_CLIENT(a_name_that_a_sibling_holds_is_not_asked_for)
{
    struct handle *one = held(p, "one", "b", NULL), *m = multi_new(p, "m", abc, NULL);
    acquire(m, HILOCK_FOREVER);
    acquiring(multi_new(p, "t", cba, NULL), HILOCK_TRY);
    TELLS_IN(s, 20, "m:WAITING t:TIMED_OUT");
    SAME(s, asked(s, "mutex_acquire"), 1);
    release(one);
    TELLS_IN(s, 5, "one:released m:OK");
}

WITH_CLIENT(it_does_not_overtake_siblings_that_wait)
{
    store_take(&s->store, "b", "another", 60000);
    struct handle *one = asking(p, "one", "b", NULL), *m = multi_new(p, "m", abc, NULL);
    run_ms(s, 5);
    acquire(m, HILOCK_FOREVER);
    run_ms(s, 5);
    store_free_name(&s->store, "b");
    TELLS_IN(s, 5, "one:WAITING m:WAITING one:OK");
    release(one);
    TELLS_IN(s, 5, "one:released m:OK");
}

static const struct hilock_lock_options seldom = {.size = sizeof seldom, .kind = HILOCK_SIMPLE};

/* "b" is another's, whose lease is over, and "one" has yet to learn that it is free. */
static struct handle *behind_a_lease_that_is_over(struct client *p)
{
    struct fixture *s = p->fixture;
    store_take_simple(&s->store, "b", "another", 1000);
    asking(p, "one", "b", &seldom);
    while (store_left_ms(&s->store, "b") > 0)
        run_us(s, 100);
    run_us(s, 900);
    TELLS(s, "one:WAITING");
    return multi_new(p, "m", abc, &seldom);
}

WITH_CLIENT(a_try_of_a_name_whose_holder_is_over_gets_the_others_too)
{
    acquiring(behind_a_lease_that_is_over(p), HILOCK_TRY);
    TELLS_IN(s, 5, "m:OK");
}

WITH_CLIENT(a_wait_for_a_name_whose_holder_is_over_overtakes_no_sibling)
{
    acquiring(behind_a_lease_that_is_over(p), HILOCK_FOREVER);
    TELLS_IN(s, 100, "m:WAITING one:OK");
}

/* ---- faults ---- */

WITH_CLIENT(lost_when_any_name_is_lost_and_the_others_are_released)
{
    struct handle *m = held_all(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    s->is_tampered = 1;
    store_take(&s->store, "b", "another", 60000);
    TELLS_IN(s, 1100, "m:LOST TAKEN");
    HOLDS(s, strstr(m->detail, "our hold of \"b\"; all 3 names"));
    HOLDS(s, has_none(s, abc));
    TEXT(s, store_holder(&s->store, "b"), "another:1");
    SAME(s, hilock_lock_state(m->lock), HILOCK_STATE_IDLE);
}

WITH_CLIENT(the_release_of_a_multi_that_lost_a_name_says_LOST)
{
    struct handle *m = held_all(p, "m", abc, NULL);
    s->is_tampered = 1;
    store_delete(&s->store, "c");
    release(m);
    TELLS_IN(s, 5, "m:release LOST");
    HOLDS(s, strstr(m->detail, "our hold of \"c\""));
    SAME(s, counts_of(p).release_lost, 1);
    HOLDS(s, has_none(s, abc));
}

WITH_CLIENT(renewals_that_fail_for_one_name_are_told)
{
    struct handle *m = held_all(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    PLAN(s, .on = "renew", .error = "OOM command not allowed", .after = 1);
    PLAN(s, .on = "renew", .error = "OOM command not allowed", .after = 2); /* the same name's again */
    TELLS_IN(s, 5000, "m:RENEWAL_FAILED m:RENEWED");
    release(m);
    TELLS_IN(s, 5, "m:released");
}

/* The one that came too late is asked for again, and the others are extended before it is granted. */
WITH_CLIENT(names_that_aged_are_made_whole_before_it_is_granted)
{
    struct handle *m = multi_new(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .min_validity_ms = 2500));
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 600000, .after = 2);
    acquire(m, HILOCK_FOREVER);
    TELLS_IN(s, 700, "m:OK");
    HOLDS(s, m->result.remaining_ms >= 2500 && has_all(s, abc));
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, asked(s, "renew"), 2);
}

/* What is left of the oldest is enough, or a microsecond too little. */
WITH_CLIENT(names_that_aged_just_so_much_are_not_extended)
{
    for (int late_us = 0; late_us <= 1; late_us++) {
        struct handle *m = multi_new(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .min_validity_ms = 2500));
        size_t before = asked(s, "renew");
        PLAN(s, .on = "mutex_acquire", .fate.back_us = 3000000 - 37000 - 2500000 - s->net.there_us - s->net.back_us + (uint64_t)late_us, .after = 1);
        acquire(m, HILOCK_FOREVER);
        TELLS_IN(s, 500, "m:OK");
        SAME(s, asked(s, "renew") > before, late_us);
        handle_free(m);
        run_ms(s, 5);
    }
}

/* Its first name was granted long before its last one. */
WITH_CLIENT(hold_max_counts_from_the_grant_of_all_names)
{
    struct handle *m = multi_new(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 1000, .hold_max_ms = 1500));
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 200000, .after = 2);
    acquire(m, HILOCK_FOREVER);
    TELLS_IN(s, 500, "m:OK");
    uint64_t granted_us = m->at_us;
    TELLS_IN(s, 1500, "m:LOST HOLD_MAX");
    SAME(s, m->at_us, granted_us + 1500000);
}

static void ended_while_under_way(struct fixture *s, void (*end)(struct handle *handle), const char *told)
{
    struct client *p = fixture_connect(s, NULL);
    for (unsigned at_us = 0; at_us < 1200; at_us += 50) {
        struct handle *m = multi_new(p, "m", abc, NULL);
        store_take(&s->store, "b", "another", 60000);
        acquire(m, HILOCK_FOREVER);
        run_us(s, at_us);
        fixture_hush(s);
        end(m);
        TELLS_IN(s, 10, told);
        HOLDS(s, has_none(s, abc));
        SAME(s, counts_of(p).waiting, 0);
        store_delete(&s->store, "b");
    }
}

static void cancel_it(struct handle *handle) { SAME(handle->fixture, cancel(handle), HILOCK_OK); }
static void cancel_and_drop(struct handle *handle)
{
    cancel_it(handle);
    handle_drop(handle);
}

A_PLAY(cancelled_at_any_moment_it_leaves_nothing) { ended_while_under_way(s, cancel_it, "m:CANCELLED"); }
A_PLAY(freed_at_any_moment_it_leaves_nothing) { ended_while_under_way(s, handle_free, ""); }
A_PLAY(dropped_at_any_moment_it_leaves_nothing) { ended_while_under_way(s, handle_drop, ""); }

A_PLAY(cancelled_and_dropped_at_any_moment_it_leaves_nothing) { ended_while_under_way(s, cancel_and_drop, ""); }

WITH_CLIENT(without_memory_it_returns_what_it_got_all_the_same)
{
    store_take(&s->store, "b", "another", 60000);
    acquiring(multi_new(p, "m", abc, NULL), HILOCK_FOREVER);
    s->memory.is_out = s->memory.spares_links = 1;
    run_ms(s, 10);
    HOLDS(s, has_none(s, abc));
    s->memory.is_out = 0;
    store_free_name(&s->store, "b");
    run_ms(s, 6000);
    HOLDS(s, has_all(s, abc));
}

/* Its answer has its memory; its members' requests have none. */
WITH_CLIENT(without_memory_for_its_members_it_asks_when_there_is_some)
{
    store_take(&s->store, "b", "another", 60000);
    struct handle *m = acquiring(multi_new(p, "m", abc, NULL), HILOCK_TRY);
    TELLS_IN(s, 5, "m:TIMED_OUT");
    store_delete(&s->store, "b");
    s->memory.is_out = s->memory.spares_links = 1;
    acquiring(m, 200);
    TELLS_IN(s, 200, "m:NO_MEMORY");
    HOLDS(s, has_none(s, abc));
    acquiring(m, HILOCK_FOREVER);
    run_ms(s, 200);
    s->memory.is_out = 0;
    TELLS_IN(s, 60, "m:OK");
    HOLDS(s, has_all(s, abc));
}

WITH_CLIENT(a_handle_that_outlives_its_client)
{
    struct hilock_lock_info info = {.size = sizeof info};
    struct handle *m = held_all(p, "m", abc, NULL);
    s->is_tampered = 1;
    client_abandon(p);
    SAME(s, hilock_lock_state(m->lock), HILOCK_STATE_IDLE);
    SAME(s, hilock_multi_token(m->lock, 0), 0);
    TEXT(s, hilock_lock_name(m->lock), "a");
    HOLDS(s, hilock_lock_user(m->lock) == m);
    hilock_lock_describe(m->lock, &info);
    TEXT(s, info.name, "a");
}

WITH_CLIENT(what_needs_one_holder_is_UNSUPPORTED)
{
    struct handle *m = multi_new(p, "m", abc, NULL);
    SAME(s, peek(m), HILOCK_UNSUPPORTED);
    TEXT(s, hilock_client_refusal(p->client), "a multi has no single holder: make a handle for one of its names");
    SAME(s, force(m, NULL), HILOCK_UNSUPPORTED);
}

/* A holder that hands over needs no pause: the multi keeps its other names while it waits in the queue for this one. */
A_PLAY(behind_a_holder_that_hands_over_it_keeps_what_it_has)
{
    gathering(fixture_connect(s, NULL), HILOCK_LOCK_OPTIONS(.lease_ms = 3000), "b", store_grant);
    for (int i = 0; i < 9000; i++) {
        run_ms(s, 1);
        HOLDS(s, is_ours(s, "a"));
    }
    HOLDS(s, !is_ours(s, "c"));
    store_free_name(&s->store, "b");
    TELLS_IN(s, 3000, "m:WAITING m:OK");
    HOLDS(s, has_all(s, abc));
}

/* Of the names that were given as c, b, a it waits for a first, and has none until then. */
WITH_CLIENT(the_order_is_that_of_the_bytes)
{
    static const char *const at[2] = {"b", "a"};
    struct handle *m = multi_new(p, "m", cba, NULL);
    store_take(&s->store, "b", "another", 600000);
    acquire(m, HILOCK_FOREVER);
    for (int i = 1; i < 4; i++) { /* it is refused so often that it takes one after the other */
        run_ms(s, 10);
        (i < 3 ? store_take : store_grant)(&s->store, at[i % 2], "another", 600000);
        store_free_name(&s->store, at[(i + 1) % 2]);
    }
    run_ms(s, 10);
    size_t before = asked(s, "mutex_acquire");
    for (int i = 0; i < 100; i++) {
        run_ms(s, 1);
        HOLDS(s, has_none(s, abc));
    }
    SAME(s, asked(s, "mutex_acquire"), before); /* as it keeps no name from others, it need not look who has "a" */
}

/* Another program may want the names in another order. */
WITH_CLIENT(behind_another_program_it_gives_back_what_it_has_within_40_ms)
{
    gathering(p, NULL, "c", store_grant);
    HOLDS(s, is_ours(s, "a") && is_ours(s, "b"));
    store_take(&s->store, "c", "another", 600000);
    run_ms(s, 41);
    HOLDS(s, has_none(s, abc));
}

/* Both names' requests wait for the login: the first refusal takes the other one back. */
A_PLAY(a_refused_login_ends_it_and_nothing_else)
{
    sim_store_set_password(s->store.core, "right");
    struct client *p = fixture_open(s, NULL);
    acquiring(multi_new(p, "m", abc, NULL), HILOCK_FOREVER);
    TELLS_IN(s, 1000, "m:DENIED");
    asking(p, "x", "alone", NULL);
    TELLS_IN(s, 5000, "x:DENIED");
}

/* A pushed window is as good as the lease. */
A_PLAY(the_last_name_completes_it_without_a_renewal)
{
    struct handle *one = held(fixture_connect(s, NULL), "one", "c", NULL);
    acquiring(multi_new(fixture_connect(s, NULL), "m", abc, NULL), HILOCK_FOREVER);
    TELLS_IN(s, 50, "m:WAITING");
    release_quietly(one);
    TELLS_IN(s, 1, "m:OK");
    SAME(s, asked(s, "renew"), 0);
}

/* At each name it is as old as its acquire: the single came to "b" before it, but asked later. */
A_PLAY(who_asked_first_is_next_at_every_name)
{
    struct handle *a = held(fixture_connect(s, NULL), "a", "a", NULL), *b = held(fixture_connect(s, NULL), "b", "b", NULL), *m;
    m = acquiring(multi_new(fixture_connect(s, NULL), "m", abc, NULL), HILOCK_FOREVER);
    run_ms(s, 5);
    acquiring(handle_new(fixture_connect(s, NULL), "one", "b", NULL), HILOCK_FOREVER);
    TELLS_IN(s, 5, "m:WAITING one:WAITING");
    release_quietly(a);
    run_ms(s, 5);
    release_quietly(b);
    TELLS_IN(s, 5, "m:OK");
    release(m);
    TELLS_IN(s, 5, "m:released one:OK");
}

WITH_CLIENT(each_acquire_stands_before_it_gathers)
{
    struct handle *m = gathering(p, NULL, "c", store_take);
    HOLDS(s, is_ours(s, "a"));
    store_free_name(&s->store, "c");
    run_ms(s, 5);
    release(m);
    TELLS_IN(s, 5, "m:WAITING m:OK m:released");
    store_take(&s->store, "c", "another", 60000);
    acquire(m, HILOCK_FOREVER);
    TELLS_IN(s, 5, "m:WAITING");
    HOLDS(s, has_none(s, abc));
}

/* They were asked for one by one; the answers to what makes them even are late. */
WITH_CLIENT(fixed_leases_are_asked_for_anew_before_it_is_granted)
{
    const struct hilock_lock_options *fixed = HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER);
    gathering(p, fixed, "c", store_grant);
    run_ms(s, 500);
    PLAN(s, .on = "renew", .fate.back_us = 50000, .times = PLAN_ALWAYS);
    store_free_name(&s->store, "c");
    fixture_hush(s);
    while (!is_ours(s, "c"))
        run_us(s, 10);
    TELLS_IN(s, 45, "");
    TELLS_IN(s, 10, "m:OK");
    SAME(s, store_left_ms(&s->store, "a"), store_left_ms(&s->store, "c"));
}

/* It does not wait for the answer that will not come: it gives all back, and asks for one after the other again. */
WITH_CLIENT(a_fixed_lease_that_cannot_be_made_even_is_asked_for_again_at_once)
{
    gathering(p, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER), "c", store_grant);
    run_ms(s, 500);
    PLAN(s, .on = "renew", .times = 3, .error = "OOM command not allowed");
    store_free_name(&s->store, "c");
    fixture_hush(s);
    TELLS_IN(s, 50, "m:OK");
    HOLDS(s, has_all(s, abc));
}

/* ---- in a cluster ---- */

/* Each server's tickets are drawn by its own clock. */
A_PLAY(a_ticket_of_another_server_is_not_brought_along)
{
    const char *const names[] = {cluster_name(0, 0), cluster_name(1, 0), NULL};
    cluster_set(s);
    world_clock_step(&store_at(s, 1)->clock, 3600000000);
    struct client *p = cluster_connect(s);
    struct handle *x = held(cluster_connect(s), "x", names[0], NULL), *y = held(cluster_connect(s), "y", names[1], NULL);
    asking(cluster_connect(s), "t", names[1], NULL);
    run_ms(s, 10);
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 1), .fate.back_us = 5000);
    acquiring(multi_new(p, "m", names, NULL), HILOCK_FOREVER);
    run_ms(s, 20);
    release_quietly(x);
    TELLS_IN(s, 20, "t:WAITING m:WAITING");
    release_quietly(y);
    TELLS_IN(s, 20, "t:OK");
}
