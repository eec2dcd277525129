/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to a place in the queue: which of them makes its waiter the holder, and until when; what crosses them; and what
 * becomes of those that are for nobody any more. */
#include "standing.h"

/* ---- which grant is one ---- */

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

/* A message may be of the link before. So a request counts only if it was sent after both links were up, and not in the same
 * microsecond. */
A_PLAY(a_push_that_counts_from_the_moment_of_the_reconnect_is_no_grant)
{
    s->is_tampered = 1;
    for (int late_us = 0; late_us <= 1; late_us++) {
        struct client *p = fixture_connect(s, NULL);
        const char *name = formatted("stock:%d", late_us);
        handle_new(p, "x", "other", FAIR(0)); /* for its grants it listens from here on */
        run_ms(s, 10);
        store_grant(&s->store, name, "x:9", 600000);
        struct handle *a = handle_new(p, "a", name, FAIR(0));
        unsigned links = s->net.links;
        net_reset(&s->net, &p->loop, NET_STREAMS);
        while (s->net.links == links)
            run_us(s, 1);
        while (s->net.links < links)
            run_us(s, 1);
        run_us(s, s->net.connect_us + s->net.there_us + s->net.back_us + (uint64_t)late_us); /* and its login */
        acquire(a, HILOCK_FOREVER);
        run_ms(s, 1);
        push_without_its_time(p, name, 1, 1);
        TELLS_IN(s, 2, late_us ? "a:WAITING a:OK" : "a:WAITING");
        handle_free(a);
        run_ms(s, 5);
    }
}

/* ---- what crosses what ---- */

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

/* The answer on its way may be older than the news. */
A_PLAY(a_message_beside_a_heartbeat_is_asked_after_behind_its_answer)
{
    struct client *p = fixture_connect(s, NULL);
    store_grant(&s->store, "stock", "x:9", 600000);
    stands(p, "a");
    unheard_ms(s, 10);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 5000);
    size_t before = asked(s, "mutex_acquire");
    while (asked(s, "mutex_acquire") == before)
        run_us(s, 100);
    store_publish(&s->store, formatted("hilock:grant:%s", p->uuid), formatted("F1 %s:1 0: stock", p->uuid));
    run_ms(s, 4);
    SAME(s, asked(s, "mutex_acquire"), before + 1);
    run_ms(s, 2);
    SAME(s, asked(s, "mutex_acquire"), before + 2);
}

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

/* It stood still, so its other places for the name may have been taken out as well. */
WITH_CLIENT(a_push_that_lapsed_makes_every_place_of_the_name_ask)
{
    store_grant(&s->store, "stock", "x:9", 600000);
    stands(p, "a");
    stands(p, "b");
    unheard_ms(s, 1000);
    size_t before = asked(s, "mutex_acquire");
    uint64_t then_us = store_us(&s->store) - 900000;
    store_publish(&s->store, formatted("hilock:grant:%s", p->uuid),
                  formatted("G1 %s:1 2 %u 100 17 %u %06u: stock", p->uuid, (unsigned)then_us, (unsigned)(then_us / 1000000), (unsigned)(then_us % 1000000)));
    TELLS_IN(s, 5, "a:PASSED_OVER");
    SAME(s, asked(s, "mutex_acquire"), before + 2);
}

/* ---- for nobody ---- */

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
    uint64_t undone = counts_of(q).undone;
    push_grant(q, "stock", 1, 1, 5, 17);
    run_ms(s, 30);
    SAME(s, asked(s, "mutex_release"), 3);
    SAME(s, counts_of(q).undone, undone + 1);
    HOLDS(s, strstr(store_line(&s->store, "mutex_release", 2)->text, formatted(" %s:1 ", q->uuid)));
    release_quietly(a);
}

/* It stood still, or its release is late: its other places for that name may be gone. */
WITH_CLIENT(a_push_to_a_wait_that_ended_makes_the_other_places_ask)
{
    store_grant(&s->store, "stock", "x:9", 600000);
    struct handle *a = stands(p, "a");
    stands(p, "b");
    cancel(a);
    unheard_ms(s, 100);
    size_t before = asked(s, "mutex_acquire");
    push_grant(p, "stock", 1, 1, 5, 17);
    run_us(s, 300);
    SAME(s, asked(s, "mutex_acquire"), before + 1);
    fixture_hush(s);
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

/* Whoever published it took one name for another. */
WITH_CLIENT(a_push_of_another_name_is_no_grant_of_this_one)
{
    s->is_tampered = 1;
    store_grant(&s->store, "stock", "x:9", 600000);
    stands(p, "a");
    unheard_ms(s, 10);
    push_grant(p, "stick", 1, 2, 0, 17);
    TELLS_IN(s, 5, "");
    SAME(s, asked_for(s, "mutex_release 3 stick "), 1);
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

/* A heartbeat without an answer may still be executed, so the id is released a second time when that is over. The grant shows
 * that it was executed. */
A_PLAY(a_push_to_a_wait_that_is_released_again_later_is_released_now)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(q, "b");
    PLAN(s, .on = "mutex_acquire", .fate.is_lost = 1);
    for (unsigned requests = s->net.requests; s->net.requests == requests;)
        run_ms(s, 1);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_us(s, 100);
    cancel(b);
    unheard_ms(s, 500);
    SAME(s, asked(s, "mutex_release"), 1);
    push_grant(q, "stock", 1, 1, 5, 17);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_release"), 2);
    release_quietly(a);
}

/* Its user lost the right to the queue, and its place is still there. It polls, with the id that is granted the name. */
WITH_CLIENT(a_push_to_a_waiter_that_gave_up_its_place_ends_nothing)
{
    struct handle *h = held(fixture_connect(s, NULL), "h", "stock", NULL);
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.poll_min_ms = 5000));
    run_ms(s, 10);
    PLAN(s, .on = "mutex_acquire", .error = "NOPERM this user has no permissions to run the 'zadd' command");
    while (!strstr(p->log, "the wait queue is refused"))
        run_us(s, 10);
    release_quietly(h);
    TELLS_IN(s, 10, "a:WAITING a:OK");
    run_ms(s, 1000);
    HOLDS(s, is_ours(s, "stock"));
    SAME(s, asked_for(s, formatted("mutex_release 3 stock hilock:queue:{stock} hilock:token:{stock} %s:1 ", p->uuid)), 0);
}

/* Nor is it news for nobody: the waiter asks again, and once more if its request was on the way. */
WITH_CLIENT(a_push_to_a_waiter_that_gave_up_its_place_makes_it_ask)
{
    store_grant(&s->store, "stock", "x:9", 600000);
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.poll_min_ms = 5000));
    run_ms(s, 10);
    PLAN(s, .on = "mutex_acquire", .error = "NOPERM this user has no permissions to run the 'zadd' command");
    while (!strstr(p->log, "the wait queue is refused"))
        run_ms(s, 1);
    unheard_ms(s, 10);
    size_t before = asked(s, "mutex_acquire");
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 20000);
    push_grant(p, "stock", 1, 1, 5, 17);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_acquire"), before + 1);
    push_grant(p, "stock", 1, 1, 5, 17);
    run_ms(s, 50);
    SAME(s, asked(s, "mutex_acquire"), before + 2);
}

/* So many a second: whatever is said, it costs no more. */
WITH_CLIENT(of_unknown_grants_256_a_second_are_released)
{
    stands(p, "a");
    for (int second = 0; second < 2; second++) {
        size_t before = asked(s, "mutex_release");
        uint64_t begun_us = fixture_us(s);
        for (int i = 0; i < 300; i++)
            push_grant(p, formatted("name:%d", i), 1, 1, 5, 17);
        run_ms(s, 100);
        SAME(s, asked(s, "mutex_release") - before, 256);
        run_to(s, begun_us + 1000000); /* that second is not over */
        push_grant(p, "one", 1, 1, 5, 17);
        run_ms(s, 10);
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
