/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a hold is reported truly and leaves nothing at the store: releases, their unknown outcomes, and undos. */
#include "play.h"

static const struct hilock_lock_options short_lease = {.size = sizeof short_lease, .lease_ms = 3000};

GIVEN(a_release_without_an_answer_is_UNKNOWN_and_settled_later,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    struct handle *a = held(p, "a", "stock", NULL);
    uint64_t token = hilock_lock_token(a->lock), released_us = fixture_us(s);
    cut_off(s);
    release(a);
    TELLS_IN(s, 1000, "a:release UNKNOWN");
    SAME(s, a->at_us, released_us + 500000);
    TEXT(s, a->detail, "the release of \"stock\" was not answered; it is repeated until its lease has run out");
    HOLDS(s, is_ours(s, "stock"));
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 3000, "a:SETTLED");
    SAME(s, a->event.fencing_token, token);
    SAME(s, a->event.waited_ms, (a->at_us - released_us) / 1000);
    HOLDS(s, strstr(a->detail, "the release of \"stock\" is confirmed after 1") && strstr(p->log, a->detail));
    HOLDS(s, !is_ours(s, "stock"));
    client_close(p, HILOCK_FOREVER);
    TELLS_IN(s, 10, "closed");
}

GIVEN(an_unknown_release_is_settled_when_the_lease_is_over,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    struct handle *a = held(p, "a", "stock", &short_lease);
    uint64_t released_us = fixture_us(s);
    cut_off(s);
    release(a);
    TELLS_IN(s, 9000, "a:release UNKNOWN a:SETTLED");
    SAME(s, a->at_us, released_us + 3000000 + 37000 + 500000);
    TEXT(s, a->detail, "the release of \"stock\" got no answer, but the lease has run out by now");
    HOLDS(s, strstr(p->log, a->detail));
    HOLDS(s, !is_ours(s, "stock"));
}

/* The renewal under way was answered in time, and lengthens nothing. */
GIVEN(an_unknown_release_behind_a_renewal_is_settled_when_the_lease_is_over,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    struct handle *a = held(p, "a", "stock", &short_lease);
    PLAN(s, .on = "renew", .fate.back_us = 100000);
    run_ms(s, 1010);
    PLAN(s, .on = "mutex_release", .fate.is_lost = 1);
    release(a);
    uint64_t released_us = fixture_us(s);
    run_ms(s, 200);
    cut_off(s);
    TELLS_IN(s, 9000, "a:release UNKNOWN a:SETTLED");
    SAME(s, a->at_us, released_us + 3000000 + 37000 + 500000);
}

/* It never arrived; it was executed and its answer is lost (the repetition finds nothing: ours, when the first was
 * sent in time); it was refused; it got a nonsense answer. */
A_PLAY(what_is_not_known_to_be_released_is_released_again)
{
    static const struct { struct plan plan; size_t executed; } cases[] = {
        {{.fate.resets_before = 1, .times = 1}, 1},
        {{.fate.resets_after = 1, .times = 1}, 2},
        {{.error = "READONLY You can't", .times = 4}, 1},
        {{.times = 2}, 1}, /* INT64_MIN is the answer */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client *p = fixture_connect(s, NULL);
        struct handle *a = held(p, "a", "stock", &short_lease);
        struct plan unknown = cases[i].plan, *added;
        store_forget(&s->store);
        unknown.on = "mutex_release";
        unknown.fate.refusal = i == 3 ? say_integer(INT64_MIN) : NULL;
        added = plan(s, unknown);
        release(a);
        TELLS_IN(s, 2500, "a:released");
        HOLDS(s, !is_ours(s, "stock"));
        SAME(s, added->met, cases[i].plan.times);
        SAME(s, asked(s, "mutex_release"), cases[i].executed);
        SAME(s, client_lines(p, "was refused; it is repeated until its lease has run out: READONLY"), i == 2);
    }
}

HOLDING(a_release_without_an_answer_is_UNKNOWN_though_its_lease_is_over_when_the_process_goes_on, &short_lease)
{
    PLAN(s, .on = "mutex_release", .fate.resets_before = 1);
    release(a);
    run_us(s, 10);
    frozen_ms(p, 100000);
    TELLS_IN(s, 10, "a:release UNKNOWN a:SETTLED");
}

/* The process stood still while the time of the call ran out. Then the renewal under way is answered: nothing is there any more. */
HOLDING(an_unknown_release_is_settled_when_a_renewal_finds_nothing, HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .lease_ms = 9000))
{
    PLAN(s, .on = "simple_renew", .fate.back_us = 3100000);
    s->is_tampered = 1;
    run_ms(s, 2990);
    store_delete(&s->store, "stock");
    run_ms(s, 20);
    SAME(s, asked(s, "simple_renew"), 1);
    release(a);
    run_us(s, 10);
    frozen_ms(p, 3500);
    TELLS_IN(s, 10, "a:release UNKNOWN a:SETTLED");
    SAME(s, asked(s, "simple_release"), 0);
}

HOLDING(a_release_whose_message_is_refused_is_a_release, NULL)
{
    sim_store_mute(s->store.core);
    for (int i = 0; i < 2; i++) { /* it is said once */
        release(a);
        TELLS_IN(s, 5, "a:released");
        HOLDS(s, !is_ours(s, "stock"));
        SAME(s, client_lines(p, "allow the user &redisson_lock__channel:*"), 1);
        acquire(a, HILOCK_FOREVER);
        TELLS_IN(s, 5, "a:OK");
    }
}

GIVEN(cancelled_before_it_left_nothing_is_asked, fixture_open(s, NULL))
{
    struct handle *a = asking(p, "a", "stock", NULL);
    SAME(s, cancel(a), HILOCK_OK);
    SAME(s, cancel(a), HILOCK_OK);
    SAME(s, acquire(a, HILOCK_FOREVER), HILOCK_IN_USE);
    TELLS_IN(s, 10, "a:CANCELLED");
    SAME(s, asked(s, "mutex_acquire"), 0);
    SAME(s, asked(s, "mutex_release"), 0);
    SAME(s, cancel(a), HILOCK_NOT_PENDING);
}

/* ---- R3: asked, not answered ---- */

HAVING(asked_again_with_the_same_id_a_grant_is_adopted, asking(the_client(s), "a", "stock", NULL))
{
    PLAN(s, .on = "mutex_acquire", .fate.resets_after = 1);
    run_ms(s, 1);
    uint64_t token = store_token(&s->store, "stock", store_holder(&s->store, "stock"));
    HOLDS(s, token != 0);
    TELLS_IN(s, 200, "a:OK");
    SAME(s, a->result.fencing_token, token);
    SAME(s, a->result.attempts, 2);
    SAME(s, asked(s, "mutex_acquire"), 2);
    /* believed from the second send, which set the lease again */
    BELIEVES(s, a, sent_at_us(s, "mutex_acquire", 1) + 30000000 - 307000);
}

/* That the first request may still run is no reason for an extend to wait. */
HAVING(a_grant_that_was_adopted_can_be_extended_at_once, asking(the_client(s), "a", "stock", NULL))
{
    PLAN(s, .on = "mutex_acquire", .fate.resets_after = 1);
    TELLS_IN(s, 200, "a:OK");
    extend(a, 60000);
    TELLS_IN(s, 2, "a:extended");
}

/* Up to the microsecond in which what was asked for without an answer can run no more. */
A_PLAY(a_second_release_is_sent_while_the_acquire_may_still_run)
{
    for (uint64_t early_us = 0; early_us < 2; early_us++) {
        struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000));
        struct handle *a = asking(p, "a", "stock", NULL);
        size_t released = asked(s, "mutex_release");
        struct plan *held_back = PLAN(s, .on = "mutex_release", .holds = 1);
        run_us(s, 150);
        cancel(a);
        net_reset(&s->net, &p->loop, NET_COMMANDS);
        uint64_t runs_until_us = sent_at_us(s, "mutex_acquire", -1) + 1010000 + s->net.there_us + s->net.back_us;
        run_to(s, runs_until_us - s->net.back_us - early_us);
        SAME(s, asked(s, "mutex_release"), released + 1);
        plan_let_go(&s->plans, held_back);
        TELLS_IN(s, 500, "a:CANCELLED");
        SAME(s, asked(s, "mutex_release"), released + 1 + early_us);
    }
}

/* The refusal that taught the server's time took long to get there: by so much the next request may run later. */
GIVEN(a_copy_of_what_was_LATE_before_is_released_when_it_can_run_no_more,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000)))
{
    world_clock_step(&s->store.clock, 5000000);
    PLAN(s, .on = "mutex_acquire", .fate.there_us = 900000);
    PLAN(s, .on = "mutex_acquire", .fate.is_stray = 1, .fate.there_us = 1800000);
    struct handle *a = asking(p, "a", "stock", NULL);
    run_ms(s, 910);
    cancel(a);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 1780);
    HOLDS(s, !is_ours(s, "stock"));
    run_ms(s, 20);
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 500);
    HOLDS(s, !is_ours(s, "stock"));
    TELLS(s, "a:CANCELLED");
}

/* What is given up while the server hangs may be granted yet, and is remembered: but no more of it than may wait. */
A_PLAY(what_is_given_up_while_the_server_hangs_is_bounded)
{
    enum { WAITERS = 50 };
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.waiters_max = WAITERS));
    unsigned accepted = 0;
    s->is_untold = 1;
    world_freeze(&s->store.lane);
    for (int i = 0; i < 2 * WAITERS; i++) {
        struct handle *handle = handle_new(p, "a", formatted("order:%d", i), NULL);
        accepted += acquire(handle, 1) == HILOCK_OK;
        run_ms(s, 2);
        handle_free(handle);
    }
    SAME(s, accepted, WAITERS);
    TEXT(s, hilock_client_refusal(p->client), "50 acquires already wait, or have ended and are still to be released at the store "
                                              "(waiters_max): shed load or raise it");
    world_thaw(&s->world, &s->store.lane);
    run_ms(s, 100);
    HOLDS(s, hilock_lock_state(held(p, "b", "stock", NULL)->lock) == HILOCK_STATE_HELD);
}

/* ---- another program's key of another type in the place of ours: that proves the loss ---- */

static const hilock_kind all_kinds[] = {HILOCK_MUTEX, HILOCK_FAIR, HILOCK_SIMPLE};

WITH_CLIENT(a_release_that_finds_another_type_is_LOST_at_once)
{
    for (size_t i = 0; i < sizeof all_kinds / sizeof *all_kinds; i++) {
        struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = all_kinds[i]));
        s->is_tampered = 1;
        store_delete(&s->store, "stock");
        if (all_kinds[i] == HILOCK_SIMPLE)
            store_take(&s->store, "stock", "another", 600000);
        else
            store_set_string(&s->store, "stock", "text");
        release(a);
        run_ms(s, all_kinds[i] == HILOCK_FAIR ? 60000 : 2); /* were it said again at once, it would never end */
        TELLS(s, "a:release LOST");
        SAME(s, asked(s, "free"), i < 2 ? i + 1 : 2);
        store_delete(&s->store, "stock");
    }
}

/* A key of the queue's is not the lock's: what is released in the other way is free. */
HOLDING(another_type_among_the_queues_keys_is_no_loss, HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR))
{
    PLAN(s, .on = "mutex_release", .error = "WRONGTYPE Operation against a key", .times = PLAN_ALWAYS);
    release(a);
    TELLS_IN(s, 2, "a:released");
    TEXT(s, store_holder(&s->store, "stock"), "");
}

/* For a minute the server's clock has run slower than ours, and no answer was a sample of it. */
A_PLAY(a_ghost_runs_no_longer_because_the_server_has_a_slow_clock)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000));
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    world_clock_set_rate(&s->store.clock, -9000);
    for (unsigned i = 0; i < 60; i++) {
        acquire(a, HILOCK_TRY);
        run_ms(s, 500);
        release(a);
        run_ms(s, 500);
    }
    SAME(s, asked(s, "TIME"), 1);
    fixture_hush(s);
    PLAN(s, .on = "mutex_acquire", .fate.is_stray = 1, .fate.there_us = 1300000);
    acquire(a, 50);
    run_ms(s, 100);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 2000);
    HOLDS(s, !is_ours(s, "stock"));
}

/* The server comes back with what it had before the release. Of a kind without a queue nothing but the lease can come back, and that ends. */
WITH_CLIENT(a_release_is_repeated_where_a_restart_undid_it)
{
    static const hilock_kind kinds[] = {HILOCK_MUTEX, HILOCK_SIMPLE};
    for (size_t i = 0; i < 2; i++) {
        struct store *before = fixture_server(s, formatted("10.0.0.%zu:1", i + 1));
        struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = kinds[i], .lease_ms = 3000));
        store_copy(before, &s->store);
        release(a);
        run_ms(s, 1500);
        store_copy(&s->store, before);
        store_restart(&s->store, 1);
        net_reset(&s->net, NULL, NET_ALL);
        TELLS_IN(s, 1000, "a:released");
        SAME(s, store_left_ms(&s->store, "stock") == -2, kinds[i] == HILOCK_MUTEX);
        size_t released = asked(s, "mutex_release");
        net_reset(&s->net, NULL, NET_ALL); /* it is repeated once */
        TELLS_IN(s, 500, "");
        SAME(s, asked(s, "mutex_release"), released);
        SAME(s, client_lines(p, "the store had acknowledged a release of \"stock\" and lost it in the failover: it is repeated"), 1);
        run_ms(s, 3000);
    }
    SAME(s, asked(s, "simple_release"), 1);
}

/* Nothing is found. Until the deadline that is a loss; from then on the lease has run out, after the release. */
A_PLAY(a_release_that_finds_nothing_after_the_deadline_is_no_loss)
{
    s->is_tampered = 1;
    for (uint64_t after_us = 0; after_us < 2; after_us++) {
        struct handle *a = held(the_client(s), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
        store_delete(&s->store, "stock");
        run_to(s, sent_at_us(s, "mutex_acquire", -1) + 3000000 - 37000 - s->net.there_us - s->net.back_us - 1 + after_us);
        release(a);
        TELLS_IN(s, 2, after_us ? "a:released" : "a:release LOST");
    }
}

/* Until the last microsecond of a place that the release may have left. The server is back sooner, and its answers are read then. */
A_PLAY(a_release_is_repeated_until_nothing_can_have_come_back)
{
    for (uint64_t late_us = 0; late_us < 2; late_us++) {
        struct client *p = fixture_connect(s, NULL);
        struct handle *a = held(p, "a", "stock", &short_lease);
        release(a);
        run_ms(s, 1500);
        uint64_t ends_us = a->at_us + 3000000 + 14000000;
        size_t greeted = asked(s, "TIME"), released = asked(s, "mutex_release");
        store_restart(&s->store, 1);
        net_reset(&s->net, &p->loop, NET_ALL);
        while (asked(s, "TIME") == greeted)
            run_us(s, 10);
        world_freeze(&p->loop.lane);
        run_to(s, ends_us + late_us - 1);
        run_us(s, 1);
        world_thaw(&s->world, &p->loop.lane);
        run_ms(s, 100);
        SAME(s, asked(s, "mutex_release"), released + 1 - late_us);
        client_close(p, 0);
        unheard_ms(s, 100);
    }
}

/* The process stood still until the lease was over. The renewal under way may have run just now, so it is over no more. */
HOLDING(a_renewal_that_is_answered_as_the_lease_ends_is_released, &short_lease)
{
    PLAN(s, .on = "renew", .fate.back_us = 100000);
    run_ms(s, 1010);
    release(a);
    uint64_t released_us = fixture_us(s);
    run_us(s, 10);
    world_freeze(&p->loop.lane);
    run_to(s, released_us + 3000000 + 37000 + 3000000);
    world_thaw(&s->world, &p->loop.lane);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_release"), 1);
    fixture_hush(s);
}

/* What may come back with a server is a place in the queue, too, which lasts for longer than a lease. */
WITH_CLIENT(a_release_that_a_restart_undid_is_repeated_for_as_long_as_a_place_may_stand)
{
    struct handle *a = held(p, "a", "stock", &short_lease);
    release(a);
    run_ms(s, 1500);
    store_restart(&s->store, 1);
    struct plan *refused = PLAN(s, .on = "mutex_release", .error = "READONLY You can't", .times = PLAN_ALWAYS);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 9000);
    HOLDS(s, refused->met > 8);
    plan_end(refused);
    run_ms(s, 1000);
    SAME(s, asked(s, "mutex_release"), 2);
    fixture_hush(s);
}

/* Whether it is answered or not: what it took is given back when nothing of it can be at the store. */
GIVEN(a_release_that_was_never_answered_leaves_no_memory, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    size_t before = 0;
    for (int i = 0; i < 3; i++) {
        struct handle *a = held(p, "a", "stock", &short_lease);
        struct plan *lost = PLAN(s, .on = "mutex_release", .times = PLAN_ALWAYS, .fate.resets_before = 1);
        release_quietly(a);
        run_ms(s, 9000);
        plan_end(lost);
        handle_free(a);
        run_ms(s, 2000);
        if (i)
            SAME(s, s->memory.blocks, before);
        before = s->memory.blocks;
    }
}

HOLDING(a_release_is_answered_in_words, NULL)
{
    release(a);
    TELLS_IN(s, 2, "a:released");
    TEXT(s, a->detail, hilock_status_text(HILOCK_OK));
}

static void release_beside(struct handle *handle) { release(TAILQ_NEXT(handle, entry)); }

/* Both are lost at the same moment, and the first that is told releases the second: that one's user did not end it. */
HOLDING(a_release_behind_the_loss_does_not_count_as_a_release, &short_lease)
{
    held(p, "b", "other", &short_lease);
    when(a, "LOST SUSPENDED", release_beside);
    world_jump_us(&s->world, 5000000);
    TELLS_IN(s, 5, "a:LOST SUSPENDED b:release LOST");
    SAME(s, counts_of(p).released, 0);
    SAME(s, counts_of(p).hold.count, 2);
}

/* A place stands for longer than a lease. It was found when nobody waited any more, and the release was refused for eight seconds. */
WITH_CLIENT(a_place_that_is_found_after_the_wait_is_given_back_for_as_long_as_it_stands)
{
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 1000));
    struct plan *refused = PLAN(s, .on = "mutex_release", .error = "ERR strange", .times = PLAN_ALWAYS);
    store_grant(&s->store, "stock", "x:9", 600000);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 50000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 1);
    cancel(a);
    unheard_ms(s, 8000);
    plan_end(refused);
    run_ms(s, 1000);
    SAME(s, asked(s, "mutex_release"), 1);
}
