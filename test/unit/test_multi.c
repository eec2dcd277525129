/* SPDX-License-Identifier: BSD-3-Clause */
/* Several names at once: all or none. While it waits it keeps next to nothing behind another program, and all that it
 * has behind a holder that hands over. */
#include "play.h"

static const char *const abc[] = {"a", "b", "c", NULL}, *const cba[] = {"c", "b", "a", NULL};

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

/* ---- granted ---- */

WITH_CLIENT(each_name_has_its_token_in_the_order_given)
{
    struct handle *m = held_all(p, "m", cba, NULL);
    struct hilock_lock_info info = {.size = sizeof info};
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

/* ---- refused ---- */

WITH_CLIENT(who_has_which_name_is_told_at_the_end)
{
    struct handle *m = multi_new(p, "m", abc, NULL);
    store_take(&s->store, "b", "another", 60000);
    acquire(m, HILOCK_TRY);
    TELLS_IN(s, 5, "m:TIMED_OUT");
    TEXT(s, m->holder, "another");
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

/* ---- siblings ---- */

WITH_CLIENT(a_name_that_a_sibling_holds_is_not_asked_for)
{
    struct handle *one = held(p, "one", "b", NULL), *m = multi_new(p, "m", abc, NULL), *t = multi_new(p, "t", cba, NULL);
    acquire(m, HILOCK_FOREVER);
    acquire(t, HILOCK_TRY);
    TELLS_IN(s, 20, "t:TIMED_OUT m:WAITING");
    SAME(s, asked(s, "mutex_acquire"), 1 + 1); /* for "a" */
    release(one);
    TELLS_IN(s, 5, "one:released m:OK");
}

WITH_CLIENT(it_does_not_overtake_siblings_that_wait)
{
    struct handle *one = handle_new(p, "one", "b", NULL), *m = multi_new(p, "m", abc, NULL);
    store_take(&s->store, "b", "another", 60000);
    acquire(one, HILOCK_FOREVER);
    run_ms(s, 5);
    acquire(m, HILOCK_FOREVER);
    run_ms(s, 5);
    store_free_name(&s->store, "b");
    TELLS_IN(s, 5, "one:WAITING m:WAITING one:OK");
    release(one);
    TELLS_IN(s, 5, "one:released m:OK");
}

/* ---- faults ---- */

WITH_CLIENT(lost_when_any_name_is_lost_and_the_others_are_released)
{
    struct handle *m = held_all(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    s->is_tampered = 1;
    store_take(&s->store, "b", "another", 60000);
    TELLS_IN(s, 1100, "m:LOST TAKEN");
    HOLDS(s, strstr(m->detail, "\"b\" is not ours any more; all 3 names"));
    HOLDS(s, has_none(s, abc));
    TEXT(s, store_holder(&s->store, "b"), "another");
    SAME(s, hilock_lock_state(m->lock), HILOCK_STATE_IDLE);
}

WITH_CLIENT(renewals_that_fail_for_one_name_are_told)
{
    struct handle *m = held_all(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    PLAN(s, .on = "renew", .act = PLAN_REFUSE, .error = "OOM command not allowed", .after = 1);
    PLAN(s, .on = "renew", .act = PLAN_REFUSE, .error = "OOM command not allowed", .after = 2); /* the same name's again */
    TELLS_IN(s, 5000, "m:RENEWAL_FAILED m:RENEWED");
    extend(m, 60000);
    TELLS_IN(s, 5, "m:extended");
    HOLDS(s, hilock_lock_remaining_ms(m->lock) > 59000);
    release(m);
    TELLS_IN(s, 5, "m:released");
}

/* The one that came too late is asked for again, and the others are extended before it is granted. */
WITH_CLIENT(names_that_aged_are_made_whole_before_it_is_granted)
{
    struct handle *m = multi_new(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .min_validity_ms = 2500));
    PLAN(s, .on = "mutex_acquire", .act = PLAN_DELAY_ANSWER, .us = 600000, .after = 2);
    acquire(m, HILOCK_FOREVER);
    TELLS_IN(s, 700, "m:OK");
    HOLDS(s, m->result.remaining_ms >= 2500 && has_all(s, abc));
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, asked(s, "renew"), 2);
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
        store_delete(&s->store, "b");
    }
}

static void cancel_it(struct handle *handle) { SAME(handle->fixture, cancel(handle), HILOCK_OK); }
A_PLAY(cancelled_at_any_moment_it_leaves_nothing) { ended_while_under_way(s, cancel_it, "m:CANCELLED"); }
A_PLAY(freed_at_any_moment_it_leaves_nothing) { ended_while_under_way(s, handle_free, ""); }
A_PLAY(dropped_at_any_moment_it_leaves_nothing) { ended_while_under_way(s, handle_drop, ""); }

WITH_CLIENT(a_handle_that_outlives_its_client)
{
    struct handle *m = held_all(p, "m", abc, NULL);
    s->is_tampered = 1;
    client_abandon(p);
    SAME(s, hilock_lock_state(m->lock), HILOCK_STATE_IDLE);
    SAME(s, hilock_multi_token(m->lock, 0), 0);
    TEXT(s, hilock_lock_name(m->lock), "a");
}

WITH_CLIENT(what_needs_one_holder_is_UNSUPPORTED)
{
    struct handle *m = multi_new(p, "m", abc, NULL);
    SAME(s, peek(m), HILOCK_UNSUPPORTED);
    TEXT(s, hilock_client_refusal(p->client), "a multi has no single holder: make a handle for one of its names");
    SAME(s, force(m, NULL), HILOCK_UNSUPPORTED);
}

/* ---- what it keeps while it waits ---- */

/* Here a round trip takes 20 ms, and nobody says that the name is free. */
A_PLAY(its_pauses_are_64_round_trips_at_most)
{
    s->net.there_us = s->net.back_us = 10000;
    struct handle *m = multi_new(fixture_open(s, NULL), "m", abc, NULL);
    run_ms(s, 1000);
    s->is_untold = 1;
    for (int i = 0; i < 8; i++) {
        store_take(&s->store, "b", "another", 600000);
        acquire(m, HILOCK_FOREVER);
        run_ms(s, 10000);
        store_delete(&s->store, "b");
        run_ms(s, 64 * 20 + 200);
        HOLDS(s, is_held(m));
        release_quietly(m);
        run_ms(s, 100);
    }
}
