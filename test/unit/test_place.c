/* SPDX-License-Identifier: BSD-3-Clause */
/* A place in the queue at the store: when it is requested and kept, what is made of the messages to it, and what becomes of
 * grants that nobody waits for any more. */
#include "play.h"

#define FAIR(...) HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, __VA_ARGS__)

static struct handle *fair(struct client *p, const char *tag) { return handle_new(p, tag, "stock", FAIR(.lease_ms = 30000)); }

/* Stands in the queue, and the clients are quiet. */
static struct handle *stands(struct client *p, const char *tag)
{
    struct handle *handle = acquiring(fair(p, tag), HILOCK_FOREVER);
    run_ms(p->fixture, 2);
    return handle;
}

static struct handle *has(struct client *p, const char *tag)
{
    struct handle *handle = stands(p, tag);
    HOLDS(p->fixture, is_held(handle));
    fixture_hush(p->fixture);
    return handle;
}

static size_t asked_by(struct fixture *s, const struct client *p, const char *word)
{
    size_t count = 0;
    for (size_t i = 0; i < s->store.lines_count; i++)
        count += strcmp(s->store.lines[i].word, word) == 0 && strstr(s->store.lines[i].text, p->uuid) != NULL;
    return count;
}

/* ---- grants that nobody waits for any more ---- */

/* Its own release is on the way: that ends the grant as well, and one more would only cost a command. */
A_PLAY(a_push_to_a_wait_that_ended_a_moment_ago_costs_no_second_release)
{
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(fixture_connect(s, NULL), "b");
    release_quietly(a);
    run_us(s, 150);
    cancel(b);
    TELLS_IN(s, 5, "b:WAITING b:CANCELLED");
    SAME(s, asked(s, "mutex_release"), 2);
    SAME(s, counts_of(b->client).undone, 0);
    TEXT(s, store_holder(&s->store, "stock"), "");
}

/* The release of one wait is on the way, and the grant is of another one, which ended long ago. */
A_PLAY(a_push_to_a_wait_that_ended_long_ago_is_released_whatever_else_ends)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(q, "b"), *c = stands(q, "c");
    cancel(b);
    run_ms(s, 10);
    PLAN(s, .on = "mutex_release", .fate.back_us = 20000);
    cancel(c);
    run_ms(s, 5);
    SAME(s, asked(s, "mutex_release"), 2);
    push_grant(q, "stock", 1, 1, 5, 17);
    run_ms(s, 30);
    SAME(s, asked(s, "mutex_release"), 3);
    HOLDS(s, strstr(store_line(&s->store, "mutex_release", 2)->text, formatted(" %s:1 ", q->uuid)));
    release_quietly(a);
}

/* Otherwise waits that end faster than a slow store answers would leave more and more places behind. */
WITH_CLIENT(while_more_than_two_releases_are_unanswered_nobody_takes_a_place)
{
    struct handle *h = has(fixture_connect(s, NULL), "h"), *w[3], *b = fair(p, "b"), *c = fair(p, "c");
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
    TELLS_IN(s, 100, "w0:CANCELLED w1:CANCELLED w2:CANCELLED");
    SAME(s, asked(s, "mutex_acquire"), before + 1);
    plan_let_go(&s->plans, slow[0]);
    run_ms(s, 1);
    SAME(s, asked(s, "mutex_acquire"), before + 2);
    plan_let_go(&s->plans, slow[1]);
    plan_let_go(&s->plans, slow[2]);
    TELLS_IN(s, 1, "b:WAITING c:WAITING");
    release_quietly(h);
    TELLS_IN(s, 2, "b:OK");
    release_quietly(b);
    TELLS_IN(s, 2, "c:OK");
}

/* ---- messages that are read at odd moments ---- */

/* The name is left to others for a moment; whoever stands there looks when that is over. */
A_PLAY(a_message_with_a_pause_makes_its_waiter_ask_a_moment_later)
{
    struct client *p = fixture_connect(s, NULL);
    store_grant(&s->store, "stock", "x:9", 60000);
    stands(p, "a");
    run_ms(s, 100);
    size_t before = asked(s, "mutex_acquire");
    store_publish(&s->store, formatted("hilock:grant:%s", p->uuid), formatted("F1 %s:1 5: stock", p->uuid));
    run_us(s, 1100);
    SAME(s, asked(s, "mutex_acquire"), before);
    run_us(s, 1200);
    SAME(s, asked(s, "mutex_acquire"), before + 1);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 5000);
    store_publish(&s->store, formatted("hilock:grant:%s", p->uuid), formatted("F1 %s:1 5: stock", p->uuid));
    run_us(s, 2300);
    SAME(s, asked(s, "mutex_acquire"), before + 2);
    store_publish(&s->store, formatted("hilock:grant:%s", p->uuid), formatted("F1 %s:1 5: stock", p->uuid)); /* beside that request */
    run_us(s, 2000);
    SAME(s, asked(s, "mutex_acquire"), before + 2);
    run_us(s, 4000);
    SAME(s, asked(s, "mutex_acquire"), before + 3); /* behind its answer */
}

/* A grant counts from the request that it names. Of an older one nobody remembers the time, and a later one was never sent. */
A_PLAY(a_push_that_names_another_request_than_the_latest_two_is_no_grant)
{
    static const int steps[] = {-2, 1, -3, 99};
    struct client *p = fixture_connect(s, NULL);
    size_t before;
    s->is_tampered = 1;
    store_grant(&s->store, "stock", "x:9", 600000);
    stands(p, "a");
    unheard_ms(s, 20000);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (before = asked(s, "mutex_acquire"); asked(s, "mutex_acquire") == before;) /* until a heartbeat */
            run_ms(s, 1);
        run_ms(s, 10);
        push_grant(p, "stock", 1, (int)before + 1 + steps[i], 5, 17);
        TELLS_IN(s, 10, "");
        SAME(s, asked(s, "mutex_acquire"), before + 2);
    }
}

/* ---- without pushes ---- */

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

/* ---- what crosses what ---- */

/* The place of a grant that was given back has no id until the release is answered. x makes its client listen. */
WITH_CLIENT(a_push_to_a_grant_that_was_given_back_is_no_news)
{
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .min_validity_ms = 2500));
    handle_new(p, "x", "other", FAIR(0));
    run_ms(s, 5);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 600000);
    acquire(a, HILOCK_FOREVER);
    PLAN(s, .on = "mutex_release", .fate.back_us = 5000);
    run_ms(s, 601);
    SAME(s, asked(s, "mutex_release"), 1);
    HOLDS(s, push_grant(p, "stock", 1, 1, 5, 17) == 1);
    TELLS_IN(s, 10, "a:OK");
    SAME(s, asked(s, "mutex_release"), 1);
}

/* It could end a hold of this client that is granted later. */
WITH_CLIENT(a_push_to_an_id_that_was_never_given_is_ignored)
{
    stands(p, "a");
    push_grant(p, "stock", 2, 1, 5, 17);
    push_grant(p, "other", 99, 1, 5, 17);
    TELLS_IN(s, 10, "a:OK");
    SAME(s, asked(s, "mutex_release"), 0);
}

/* The heartbeat was executed before the grant, and a fixed lease needs more than its window. */
A_PLAY(who_cannot_use_a_push_asks_behind_the_answer_that_is_older)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = handle_new(q, "b", "stock", FAIR(.lease_ms = 10000, .renew = HILOCK_RENEW_NEVER));
    acquire(b, HILOCK_FOREVER);
    unheard_ms(s, 10);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 5000);
    for (size_t before = asked(s, "mutex_acquire"); asked(s, "mutex_acquire") == before;)
        run_us(s, 100);
    release_quietly(a);
    TELLS_IN(s, 8, "b:OK");
}

/* A grant that leaves as much as is wanted will do, and one that is over when it is read was a turn: to the microsecond. Of
 * the one that is used the store knows nothing. */
A_PLAY(a_push_is_judged_by_what_it_leaves)
{
    static const struct { uint64_t left_us; const char *told; } rows[] = {{1000000, "a:OK a:LOST TAKEN"}, {999999, ""}, {1, ""}, {0, "a:PASSED_OVER"}};
    s->is_tampered = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct client *p = fixture_connect(s, NULL);
        const char *name = formatted("stock:%zu", i);
        struct handle *a = handle_new(p, "a", name, FAIR(.min_validity_ms = 1000));
        size_t before;
        store_grant(&s->store, name, "x:9", 600000);
        acquire(a, HILOCK_FOREVER);
        unheard_ms(s, 1000);
        for (before = asked_by(s, p, "mutex_acquire"); asked_by(s, p, "mutex_acquire") == before;) /* until a heartbeat */
            run_us(s, 100);
        uint64_t sent_us = sent_at_us(s, "mutex_acquire", -1), lease_us = 2920000 + 5000; /* of a window of 3 s, and 5 ms after that request */
        run_to(s, sent_us + lease_us - lease_us / 100 - 7000 - rows[i].left_us - s->net.back_us);
        push_grant(p, name, 1, (int)before + 1, 5, 17);
        TELLS_IN(s, 1, rows[i].told);
        handle_free(a);
        run_ms(s, 5);
    }
}

/* The server measured a span that is longer than ours by 1 % and 2 ms: so much clocks may differ, and not a microsecond more. */
A_PLAY(a_push_of_a_clock_that_was_set_is_no_grant)
{
    s->is_tampered = 1;
    for (int more_us = 0; more_us <= 1; more_us++) {
        struct client *p = fixture_connect(s, NULL);
        const char *name = formatted("stock:%d", more_us);
        store_grant(&s->store, name, "x:9", 600000);
        struct handle *a = asking(p, "a", name, FAIR(0));
        unheard_ms(s, 10);
        SAME(s, asked_by(s, p, "mutex_acquire"), 2);
        run_to(s, sent_at_us(s, "mutex_acquire", -1) + 100000 - s->net.back_us);
        store_publish(&s->store, formatted("hilock:grant:%s", p->uuid),
                      formatted("G1 %s:1 2 1700000000000000 3000 17 1700000000 %d: %s", p->uuid, 100000 + 1000 + 2000 + more_us, name));
        TELLS_IN(s, 1, more_us ? "" : "a:OK");
        handle_free(a);
        run_ms(s, 5);
    }
}

/* What tells of a grant at this moment, and not from which request on it counts. */
static void push_without_its_time(struct client *p, const char *name, int id, int number)
{
    uint64_t now_us = store_us(&p->fixture->store);
    store_publish(&p->fixture->store, formatted("hilock:grant:%s", p->uuid),
                  formatted("G1 %s:%d %d 0 3000 17 %u %06u: %s", p->uuid, id, number, (unsigned)(now_us / 1000000), (unsigned)(now_us % 1000000), name));
}

/* The first request that made its ticket was executed then; of a later one the message must say when. */
A_PLAY(a_push_that_says_no_time_counts_from_the_first_request_alone)
{
    s->is_tampered = 1;
    for (int number = 1; number <= 2; number++) {
        struct client *p = fixture_connect(s, NULL);
        const char *name = formatted("stock:%d", number);
        handle_new(p, "x", "other", FAIR(0)); /* for its grants it listens from here on */
        run_ms(s, 5);
        store_grant(&s->store, name, "x:9", 600000);
        struct handle *a = asking(p, "a", name, FAIR(0));
        TELLS_IN(s, 1, "a:WAITING");
        if (number == 2)
            store_publish(&s->store, formatted("hilock:grant:%s", p->uuid), formatted("F1 %s:1 0: %s", p->uuid, name)); /* asks again */
        run_ms(s, 1);
        push_without_its_time(p, name, 1, number);
        TELLS_IN(s, 2, number == 1 ? "a:OK" : "");
        SAME(s, asked_by(s, p, "mutex_acquire"), number == 1 ? 1 : 3);
        SAME(s, hilock_lock_token(a->lock), number == 1 ? 17 : 0);
        handle_free(a);
    }
}

A_PLAY(a_push_that_was_made_with_the_request_that_it_names_is_a_grant)
{
    struct client *p = fixture_connect(s, NULL);
    s->is_tampered = 1;
    store_grant(&s->store, "stock", "x:9", 600000);
    struct handle *a = stands(p, "a");
    unheard_ms(s, 10);
    push_grant(p, "stock", 1, 2, 0, 17);
    TELLS_IN(s, 1, "a:OK");
    SAME(s, hilock_lock_token(a->lock), 17);
}

/* The release of that hold is one command, and nothing of the id is left that would need another. */
A_PLAY(a_heartbeat_that_was_answered_beside_a_push_leaves_nothing)
{
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(fixture_connect(s, NULL), "b");
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 5000);
    for (size_t before = asked(s, "mutex_acquire"); asked(s, "mutex_acquire") == before;)
        run_us(s, 100);
    release_quietly(a);
    TELLS_IN(s, 10, "b:WAITING b:OK");
    release(b);
    TELLS_IN(s, 60000, "b:released");
    SAME(s, asked_for(s, formatted("mutex_release 3 stock hilock:queue:{stock} hilock:token:{stock} %s:", b->client->uuid)), 1);
}

/* It brings the ticket of its first name, which is older than its own first request here. */
WITH_CLIENT(a_push_that_says_no_time_is_no_grant_to_a_member_of_a_multi)
{
    static const char *const names[] = {"one", "stock", NULL};
    struct handle *h = held(fixture_connect(s, NULL), "h", "one", NULL);
    s->is_tampered = 1;
    handle_new(p, "x", "other", FAIR(0));
    run_ms(s, 5);
    store_grant(&s->store, "stock", "x:9", 600000);
    acquiring(multi_new(p, "m", names, NULL), HILOCK_FOREVER);
    run_us(s, 600);
    release_quietly(h);
    run_us(s, 850);
    HOLDS(s, strstr(store_line(&s->store, "mutex_acquire", -1)->text, formatted("stock} %s:5 ", p->uuid)));
    size_t before = asked(s, "mutex_acquire");
    push_without_its_time(p, "stock", 5, 1);
    TELLS_IN(s, 2, "m:WAITING");
    SAME(s, asked(s, "mutex_acquire"), before + 1);
}

static struct handle *leaver;

static void cancel_it_and_stand_still(struct handle *handle)
{
    cancel(leaver);
    world_jump_us(&handle->fixture->world, 150000);
}

/* Its report waits for the next turn. Before that come its push, and the end of its wait. */
WITH_CLIENT(a_wait_that_was_cancelled_is_CANCELLED_whatever_comes_before_that_is_told)
{
    for (int is_granted = 0; is_granted < 2; is_granted++) {
        struct handle *h = has(fixture_connect(s, NULL), "h"), *e = handle_new(p, "e", "free", NULL);
        leaver = fair(p, "b");
        acquire(leaver, is_granted ? 5000 : 105);
        unheard_ms(s, 5);
        when(e, "OK", cancel_it_and_stand_still);
        acquire(e, HILOCK_FOREVER);
        run_us(s, 50); /* its answer comes between the grant and the push */
        if (is_granted)
            release_quietly(h);
        TELLS_IN(s, 200, "e:OK b:CANCELLED");
        handle_free(h);
        handle_free(e);
        run_ms(s, 1000);
        TEXT(s, store_holder(&s->store, "stock"), "");
    }
}

/* Nothing that is said to it makes a try the holder. */
WITH_CLIENT(a_push_to_a_try_is_ignored)
{
    struct handle *t = fair(p, "t");
    s->is_tampered = 1;
    handle_new(p, "x", "other", FAIR(0)); /* for its grants it listens from here on */
    run_ms(s, 5);
    store_grant(&s->store, "stock", "x:9", 600000);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 5000);
    acquire(t, HILOCK_TRY);
    run_ms(s, 1);
    push_grant(p, "stock", 1, 1, 0, 17);
    TELLS_IN(s, 2, "");
    TELLS_IN(s, 10, "t:TIMED_OUT");
    SAME(s, asked(s, "mutex_release"), 0);
}

/* So many a second: whatever is said, it costs no more. */
WITH_CLIENT(of_unknown_grants_256_a_second_are_released)
{
    stands(p, "a");
    for (int second = 0; second < 2; second++) {
        size_t before = asked(s, "mutex_release");
        for (int i = 0; i < 300; i++)
            push_grant(p, formatted("name:%d", i), 1, 1, 5, 17);
        run_ms(s, 100);
        SAME(s, asked(s, "mutex_release") - before, 256);
        run_ms(s, 1000);
    }
    s->memory.is_out = s->memory.spares_links = 1; /* then none, and it lapses */
    size_t before = asked(s, "mutex_release");
    push_grant(p, "another", 1, 1, 5, 17);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_release"), before);
    fixture_hush(s);
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

/* ---- many names ---- */

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

/* ---- beside the queue ---- */

/* A repeated request of a wait that is over takes no place, but a grant takes out the one that it had. */
A_PLAY(each_request_names_the_place_that_its_id_may_have)
{
    struct client *p = fixture_connect(s, NULL);
    store_grant(&s->store, "stock", "x:9", 600000);
    struct handle *a = stands(p, "a");
    unheard_ms(s, 10);
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
