/* SPDX-License-Identifier: BSD-3-Clause */
/* A place in the queue at the store: when it is requested, what a request says of it, and when the next one is sent. */
#include "standing.h"

/* ---- when it is requested ---- */

/* Otherwise waits that end faster than a slow store answers would leave more and more places behind. */
WITH_CLIENT(while_more_than_two_releases_are_unanswered_nobody_takes_a_place)
{
    struct handle *h = has(fixture_connect(s, NULL), "h"), *w[3], *b = fair(p, "b"), *c = fair(p, "c"), *t = fair(p, "t");
    struct plan *slow[3];
    for (int i = 0; i < 3; i++) {
        w[i] = stands(p, formatted("w%d", i));
        slow[i] = PLAN(s, .on = "mutex_release", .holds = 1);
    }
    size_t before = asked(s, "mutex_acquire");
    fixture_hush(s);
    cancel(w[0]);
    cancel(w[1]);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 1);
    SAME(s, asked(s, "mutex_acquire"), before + 1);
    cancel(w[2]);
    acquire(c, HILOCK_FOREVER);
    acquire(t, HILOCK_TRY); /* which takes none */
    TELLS_IN(s, 100, "w0:CANCELLED w1:CANCELLED w2:CANCELLED");
    SAME(s, asked(s, "mutex_acquire"), before + 2);
    plan_let_go(&s->plans, slow[0]);
    run_ms(s, 1);
    SAME(s, asked(s, "mutex_acquire"), before + 3);
    plan_let_go(&s->plans, slow[1]);
    plan_let_go(&s->plans, slow[2]);
    TELLS_IN(s, 1, "b:WAITING t:TIMED_OUT c:WAITING");
    release_quietly(h);
    TELLS_IN(s, 2, "b:OK");
    release_quietly(b);
    TELLS_IN(s, 2, "c:OK");
}

/* A repeated request of a wait that is over takes no place, but a grant takes out the one that it had. */
A_PLAY(each_request_names_the_place_that_its_id_may_have)
{
    struct client *p = fixture_connect(s, NULL);
    store_grant(&s->store, "stock", "x:9", 600000);
    struct handle *a = stands(p, "a");
    unheard_ms(s, 10);
    HOLDS(s, !strchr(store_line(&s->store, "mutex_acquire", 0)->text, ';')); /* the first request is no heartbeat */
    HOLDS(s, strstr(store_line(&s->store, "mutex_acquire", 1)->text, "; 2 "));
    PLAN(s, .on = "mutex_acquire", .error = "NOSCRIPT No matching script.", .fate.there_us = 5000);
    for (size_t before = s->net.requests; s->net.requests == before;)
        run_us(s, 100);
    store_forget(&s->store);
    cancel(a);
    TELLS_IN(s, 10, "a:CANCELLED");
    SAME(s, asked(s, "mutex_acquire"), 1);
    HOLDS(s, strstr(store_line(&s->store, "mutex_acquire", 0)->text, formatted(" 1 hilock:grant:%s ", p->uuid)));
}

/* It can hear no grant: the store must know, and waits for its polls. */
WITH_CLIENT(who_is_refused_its_grants_says_at_once_that_it_polls)
{
    PLAN(s, .on = "SUBSCRIBE", .error = "NOPERM No permissions to access a channel", .times = PLAN_ALWAYS);
    store_grant(&s->store, "stock", "x:9", 60000);
    stands(p, "a");
    TELLS_IN(s, 3, "a:WAITING");
    HOLDS(s, strstr(store_line(&s->store, "mutex_acquire", 1)->text, " ~ "));
}

static void ignore(void *arg, struct hl_reply *message)
{
    (void)arg;
    say_free(message);
}

/* Another program listens, and the release leaves the name to it for a moment. */
A_PLAY(a_try_of_a_free_name_that_is_kept_for_others_is_told_so)
{
    static const char *const subscribe[] = {"SUBSCRIBE", "redisson_lock__channel:{stock}"};
    static const size_t lengths[] = {9, 30};
    struct handle *a = has(fixture_connect(s, NULL), "a"), *t = handle_new(fixture_connect(s, NULL), "t", "stock", NULL);
    struct store_peer *other = store_connect(&s->store, ignore, NULL);
    say_free(store_execute(other, 2, subscribe, lengths));
    stands(fixture_connect(s, NULL), "b");
    release_quietly(a);
    run_us(s, 150);
    acquire(t, HILOCK_TRY);
    TELLS_IN(s, 20, "b:WAITING t:TIMED_OUT b:OK");
    TEXT(s, t->detail, "\"stock\" is reserved for waiters that were queued earlier");
    TEXT(s, t->holder, "");
    SAME(s, t->result.holders, 0);
    store_disconnect(other);
}

/* Each release counts who listens. Who never waits in a queue does not need that. */
A_PLAY(a_right_to_count_listeners_that_is_missing_is_named_as_soon_as_it_matters)
{
    PLAN(s, .on = "PUBSUB", .error = "NOPERM this user has no permissions to run the 'pubsub' command", .times = PLAN_ALWAYS);
    store_grant(&s->store, "stock", "x:9", 60000);
    struct client *p = fixture_connect(s, NULL);
    run_ms(s, 10);
    SAME(s, client_lines(p, "NUMSUB"), 0);
    stands(p, "a");
    TELLS_IN(s, 10, "a:WAITING");
    SAME(s, client_lines(p, "NUMSUB"), 1);
}

/* It sends its request by itself, so it is nobody else's turn that would remind it. */
WITH_CLIENT(a_try_that_had_no_memory_for_its_request_sends_it_when_there_is_some)
{
    unsigned tried = 0;
    for (uint64_t i = 1; i < 9; i++) {
        struct handle *t = handle_new(p, "t", formatted("name:%u", (unsigned)i), FAIR(0));
        s->memory.fail_at = s->memory.asked + i;
        s->memory.fails = 1;
        hilock_status status = acquire(t, HILOCK_TRY);
        s->memory.fail_at = 0;
        unheard_ms(s, 200);
        HOLDS(s, status == HILOCK_NO_MEMORY || is_held(t));
        tried += status == HILOCK_OK;
    }
    HOLDS(s, tried > 0);
}

/* ---- when it asks ---- */

/* It learns from its place how soon its turn may come. */
A_PLAY(who_polls_far_behind_asks_less_often)
{
    struct client *p[4];
    held(fixture_connect(s, NULL), "h", "stock", NULL);
    for (int i = 0; i < 4; i++) {
        p[i] = fixture_connect(s, NULL);
        asking(p[i], "w", "stock", FAIR(.wake = HILOCK_WAKE_POLL, .poll_min_ms = 100, .poll_jitter_ms = 1));
        run_ms(s, 5);
    }
    unheard_ms(s, 20000);
    store_forget(&s->store);
    run_ms(s, 10000);
    HOLDS(s, asked_by(s, p[0], "mutex_acquire") >= 95);
    HOLDS(s, asked_by(s, p[2], "mutex_acquire") <= 50 && asked_by(s, p[3], "mutex_acquire") <= 30);
}

/* The name is held for some milliseconds more: that is how long it is left to others, and the first looks in their midst. */
A_PLAY(the_first_asks_early_when_the_name_is_held_for_five_milliseconds)
{
    for (int left_ms = 4; left_ms <= 7; left_ms++) {
        struct client *p = fixture_connect(s, NULL);
        const char *name = formatted("stock:%d", left_ms);
        store_grant(&s->store, name, "x:9", 60000);
        struct handle *a = asking(p, "a", name, FAIR(0));
        unheard_ms(s, 100);
        size_t before = asked_by(s, p, "mutex_acquire");
        store_expire_ms(&s->store, name, left_ms);
        store_publish(&s->store, formatted("hilock:grant:%s", p->uuid), formatted("F1 %s:1 0: %s", p->uuid, name));
        run_us(s, 2600);
        SAME(s, asked_by(s, p, "mutex_acquire") - before, left_ms <= 5 ? 2 : 1);
        run_ms(s, 20);
        HOLDS(s, is_held(a));
        fixture_hush(s);
    }
}

/* As many as cost no more requests than one: nobody hurries. */
WITH_CLIENT(who_waits_for_three_hundred_names_keeps_its_promise_late)
{
    enum { NAMES = 300 };
    s->is_untold = 1;
    for (int i = 0; i < NAMES; i++)
        store_grant(&s->store, formatted("stock:%d", i), "x:9", 600000);
    for (int i = 0; i < NAMES; i++)
        asking(p, "a", formatted("stock:%d", i), NULL);
    run_ms(s, 100);
    store_forget(&s->store);
    run_ms(s, 2200);
    SAME(s, asked(s, "mutex_acquire"), 0);
    run_ms(s, 600);
    SAME(s, asked(s, "mutex_acquire"), NAMES);
}

/* What the place of the grant that was given back has measured is not true of the new one. */
A_PLAY(who_polls_again_behind_others_begins_with_the_usual_pause)
{
    struct handle *h = has(fixture_connect(s, NULL), "h");
    struct client *p = fixture_connect(s, NULL);
    asking(p, "a", "stock", FAIR(.lease_ms = 3000, .min_validity_ms = 2500, .wake = HILOCK_WAKE_POLL, .poll_min_ms = 100, .poll_jitter_ms = 1));
    run_ms(s, 1000);
    for (int i = 0; i < 3; i++)
        stands(fixture_connect(s, NULL), formatted("b%d", i));
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 600000);
    release_quietly(h);
    run_ms(s, 800);
    fixture_hush(s);
    SAME(s, asked_for(s, formatted("mutex_acquire 3 stock hilock:queue:{stock} hilock:token:{stock} %s:2 ", p->uuid)), 2); /* after 100 ms */
}

/* A holder with no more time than that may have a window, which another client looks after; else its lease ends, and all ask. */
A_PLAY(a_far_place_asks_at_the_end_of_a_lease_and_not_of_a_window)
{
    struct client *near = fixture_connect(s, NULL);
    s->is_untold = 1;
    for (int left_ms = 699; left_ms <= 702; left_ms++) {
        const char *name = formatted("stock:%d", left_ms);
        struct client *p = fixture_connect(s, NULL);
        store_grant(&s->store, name, "x:9", 600000);
        for (int i = 0; i < 8; i++)
            asking(near, "near", name, FAIR(0));
        run_ms(s, 10);
        asking(p, "far", name, FAIR(0));
        run_ms(s, 100);
        store_expire_ms(&s->store, name, left_ms);
        store_publish(&s->store, formatted("hilock:grant:%s", p->uuid), formatted("F1 %s:1 0: %s", p->uuid, name)); /* asks now */
        run_ms(s, 1);
        size_t before = asked_by(s, p, "mutex_acquire");
        run_ms(s, 900);
        SAME(s, asked_by(s, p, "mutex_acquire") - before, left_ms > 700);
    }
}
