/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR in virtual time: the queue, pushed grants and what becomes of them, heartbeats, deaths, and other kinds on the same name. */
#include "lock/locks.h"
#include "standing.h"

#define MARGIN_US(us) ((us) / 100 + 7000)

/* ---- the plain way ---- */

A_PLAY(handed_over_by_one_script_and_one_push)
{
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(fixture_connect(s, NULL), "b");
    uint64_t token = a->result.fencing_token;
    TELLS(s, "b:WAITING");
    SAME(s, b->event.position, 1);
    SAME(s, b->event.waiters, 1);
    store_forget(&s->store);
    release(a);
    TELLS_IN(s, 1, "b:OK a:released");
    SAME(s, asked(s, NULL), 1);
    SAME(s, counts_of(b->client).wakeups, 1);
    HOLDS(s, b->result.fencing_token > token);
    HOLDS(s, b->result.remaining_ms > 300 && b->result.remaining_ms < 400);
}

/* Two waiters of one client, for two names; their ids are found in the same bucket, the other's first. */
WITH_CLIENT(a_push_finds_its_own_waiter)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *a = has(q, "a"), *t = handle_new(p, "t", "free", FAIR(.lease_ms = 30000));
    struct handle *c = asking(q, "c", "other", FAIR(.lease_ms = 30000)), *d = handle_new(p, "d", "other", FAIR(.lease_ms = 30000));
    stands(p, "b");
    for (int i = 1; i < HL_PLACE_BUCKETS; i++) {
        acquire(t, HILOCK_TRY);
        run_ms(s, 1);
        release(t);
        run_ms(s, 1);
    }
    acquire(d, HILOCK_FOREVER);
    run_ms(s, 2);
    HOLDS(s, hilock_lock_state(c->lock) == HILOCK_STATE_HELD);
    fixture_hush(s);
    release(a);
    TELLS_IN(s, 1, "b:OK a:released");
    HOLDS(s, hilock_lock_state(d->lock) == HILOCK_STATE_WAITING);
}

/* A heartbeat was faster than the push. */
WITH_CLIENT(a_push_of_what_is_held_already_is_no_news)
{
    struct handle *a = has(p, "a");
    held(fixture_connect(s, NULL), "h", "other", NULL);
    asking(p, "c", "other", NULL); /* so it listens */
    run_ms(s, 5);
    SAME(s, push_grant(p, "stock", 1, 1, 1, hilock_lock_token(a->lock)), 1);
    TELLS_IN(s, 100, "c:WAITING");
    SAME(s, asked(s, "mutex_release"), 0);
    HOLDS(s, is_held(a) && is_ours(s, "stock"));
}

/* ---- who waits ---- */

WITH_CLIENT(the_place_is_told)
{
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(p, "b"), *c = handle_new(p, "c", "stock", FAIR(.wait_report_ms = 1000));
    run_ms(s, 2);
    acquire(c, 1500);
    TELLS_IN(s, 1010, "b:WAITING c:WAITING c:WAITING");
    SAME(s, c->event.position, 2);
    SAME(s, c->event.waiters, 2);
    TEXT(s, c->holder, formatted("%s:1", a->client->uuid));
    TELLS_IN(s, 500, "c:TIMED_OUT");
    SAME(s, c->result.position, 2);
    SAME(s, c->result.waiters, 2);
    HOLDS(s, strstr(c->detail, "; place 2 of 2 in its queue") != NULL);
    acquire(c, HILOCK_TRY);
    TELLS_IN(s, 1, "c:TIMED_OUT");
    HOLDS(s, !strstr(c->detail, "place") && strstr(c->detail, "; 1 waits for it"));
    peek(b);
    run_ms(s, 1);
    SAME(s, b->result.position, 1);
    SAME(s, b->result.waiters, 1);
}

WITH_CLIENT(the_first_WAITING_tells_the_place_though_the_name_was_known_to_be_held)
{
    has(fixture_connect(s, NULL), "a");
    stands(p, "b");
    struct handle *c = acquiring(fair(p, "c"), HILOCK_FOREVER);
    TELLS_IN(s, 1, "b:WAITING c:WAITING");
    SAME(s, c->event.position, 2);
    SAME(s, c->event.waiters, 2);
}

A_PLAY(a_try_takes_no_place_and_jumps_nobody)
{
    struct handle *a = has(fixture_connect(s, NULL), "a"), *t = fair(fixture_connect(s, NULL), "t");
    stands(fixture_connect(s, NULL), "b");
    acquire(t, HILOCK_TRY);
    TELLS_IN(s, 1, "b:WAITING t:TIMED_OUT");
    SAME(s, t->result.position, 0);
    SAME(s, t->result.waiters, 1);
    SAME(s, t->result.attempts, 1);
    s->is_tampered = 1;
    store_delete(&s->store, "stock"); /* free, without a message */
    acquire(t, HILOCK_TRY);
    TELLS_IN(s, 1, "b:OK t:TIMED_OUT");
    handle_free(a);
}

/* The name is free, and the store leaves it to programs of another kind for 3 ms. */
WITH_CLIENT(a_try_of_a_free_name_that_is_left_to_others_is_told_so)
{
    struct handle *t = handle_new(p, "t", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .fate.refusal = say_array(6, say_integer(1), say_string(""), say_integer(3), say_integer(0), say_integer(0), say_integer(1)));
    acquire(t, HILOCK_TRY);
    TELLS_IN(s, 1, "t:TIMED_OUT");
    TEXT(s, t->detail, "\"stock\" is reserved for waiters that were queued earlier");
}

A_PLAY(a_peek_says_how_many_wait_and_how_many_of_them_are_ready)
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    struct handle *h = held(p, "h", "stock", NULL);
    stands(q, "a");
    stands(fixture_connect(s, NULL), "b");
    client_abandon(q);
    run_ms(s, 5);
    peek(h);
    run_ms(s, 1);
    SAME(s, h->result.waiters, 2);
    SAME(s, h->result.waiters_ready, 1);
}

/* With a pause it is for that waiter alone, because the name is left to others for a moment. */
A_PLAY(a_message_for_nobody_makes_the_others_ask_if_it_has_no_pause)
{
    struct client *p = fixture_connect(s, NULL);
    store_grant(&s->store, "stock", "x:9", 60000);
    stands(p, "a");
    run_ms(s, 100);
    for (int pause_ms = 5; pause_ms >= 0; pause_ms -= 5) {
        size_t before = asked(s, "mutex_acquire");
        store_publish(&s->store, formatted("hilock:grant:%s", p->uuid), formatted("F1 %s:99 %d: stock", p->uuid, pause_ms));
        run_ms(s, 100);
        SAME(s, asked(s, "mutex_acquire"), before + !pause_ms);
    }
}

/* An error between two answers is no release that nobody told of. */
A_PLAY(after_an_error_it_does_not_look_for_silent_releases)
{
    struct client *p = fixture_connect(s, NULL);
    store_take(&s->store, "stock", "another", 600000);
    stands(p, "a");
    run_ms(s, 100);
    PLAN(s, .on = "mutex_acquire", .error = "LOADING Redis is loading the dataset in memory", .times = 1);
    run_ms(s, 5000);
    size_t before = asked(s, "mutex_acquire");
    run_ms(s, 10000);
    HOLDS(s, asked(s, "mutex_acquire") - before <= 5);
}

/* A MUTEX behind a sibling of kind FAIR has a place of its own, which lapses unless it asks. */
GIVEN(a_place_behind_a_sibling_of_another_kind_is_kept, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1)))
{
    struct handle *a = held(p, "a", "stock", NULL), *b = stands(p, "b"), *c = asking(p, "c", "stock", NULL), *d;
    fixture_hush(s);
    release_quietly(a); /* takes c along, behind b */
    TELLS_IN(s, 1, "c:WAITING b:OK");
    d = stands(fixture_connect(s, NULL), "d");
    unheard_ms(s, 60000);
    release_quietly(b);
    TELLS_IN(s, 1, "c:OK");
    release_quietly(c);
    TELLS_IN(s, 1, "d:OK");
    release_quietly(d);
}

/* A FAIR hold hands nothing on. So a MUTEX behind it in the same client must stand in the queue before later ones. */
WITH_CLIENT(a_sibling_of_another_kind_is_not_overtaken)
{
    struct handle *a = has(p, "a"), *b = asking(p, "b", "stock", NULL), *c = stands(fixture_connect(s, NULL), "c");
    TELLS(s, "b:WAITING c:WAITING");
    release_quietly(a);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 2, "b:OK a:WAITING");
    release_quietly(b);
    TELLS_IN(s, 2, "c:OK");
    release_quietly(c);
    TELLS_IN(s, 2, "a:OK");
}

/* Its process is gone: listeners are counted, and its place goes. Its ticket is for life: it stands in front again once it hears. */
A_PLAY(a_deaf_waiter_is_passed_over_and_keeps_its_ticket)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *a = has(fixture_connect(s, NULL), "a"), *c;
    stands(q, "b");
    c = stands(fixture_connect(s, NULL), "c");
    s->place->mood = NET_REFUSES;
    net_reset(&s->net, &q->loop, NET_STREAMS);
    fixture_hush(s);
    release_quietly(a);
    TELLS_IN(s, 1, "c:OK");
    s->place->mood = NET_LISTENS;
    release_quietly(c);
    TELLS_IN(s, 3010, "b:OK");
}

A_PLAY(who_waits_long_is_heard_of)
{
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(fixture_connect(s, NULL), "b");
    stands(fixture_connect(s, NULL), "c");
    store_forget(&s->store);
    TELLS_IN(s, 60000, "b:WAITING c:WAITING");
    HOLDS(s, asked(s, "mutex_acquire") >= 28 && asked(s, "mutex_acquire") <= 34); /* every 2.4 to 2.7 s, and every 8 to 9 s */
    release_quietly(a);
    TELLS_IN(s, 1, "b:OK");
    release_quietly(b);
    TELLS_IN(s, 1, "c:OK");
}

/* ---- what a push cannot give ---- */

A_PLAY(a_fixed_lease_is_got_whole)
{
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = handle_new(fixture_connect(s, NULL), "b", "stock", FAIR(.lease_ms = 10000, .renew = HILOCK_RENEW_NEVER));
    run_ms(s, 2);
    acquire(b, HILOCK_FOREVER);
    unheard_ms(s, 2);
    store_forget(&s->store);
    release_quietly(a);
    TELLS_IN(s, 1, "b:OK");
    SAME(s, asked(s, "mutex_acquire"), 1);
    BELIEVES(s, b, sent_at_us(s, "mutex_acquire", 0) + 10000000 - MARGIN_US(10000000));
    run_ms(s, 9000);
    SAME(s, asked(s, "renew"), 0);
}

/* It stood still for longer than the window: the lock went by, and the place was kept. */
A_PLAY(what_lapsed_meanwhile_comes_back_in_turn)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *a = has(fixture_connect(s, NULL), "a"), *c;
    stands(q, "b");
    c = stands(fixture_connect(s, NULL), "c");
    stands(fixture_connect(s, NULL), "d");
    fixture_hush(s);
    release_quietly(a);
    run_us(s, 150);
    world_freeze(&q->loop.lane);
    TELLS_IN(s, 410, "c:OK"); /* whoever made the grant looked again when its window was over */
    run_ms(s, 5000);
    world_thaw(&s->world, &q->loop.lane);
    run_ms(s, 10);
    SAME(s, client_lines(q, " lost its turn, because this loop stood still; it keeps its ticket"), 1);
    release_quietly(c);
    TELLS_IN(s, 20, "b:PASSED_OVER b:OK");
}

/* ---- ends ---- */

/* While a hash slot moves, likewise; through handles of both kinds. */
A_PLAY(a_forced_release_that_may_not_span_keys_names_one)
{
    static const char *const told[] = {"a:OK o:force OK a:release LOST", "a:OK o:force OK a:release LOST", "a:OK o:force UNWRITABLE a:released"};
    for (int i = 0; i < 3; i++) {
        struct handle *o = handle_new(fixture_connect(s, NULL), "o", "stock", HILOCK_LOCK_OPTIONS(.kind = i ? HILOCK_MUTEX : HILOCK_FAIR)),
                      *a = acquiring(fair(fixture_connect(s, NULL), "a"), HILOCK_FOREVER);
        run_ms(s, 2);
        s->is_tampered = 1;
        PLAN(s, .on = "mutex_force", .error = "TRYAGAIN Multiple keys request during rehashing of slot");
        if (i == 2) /* nor by one key */
            PLAN(s, .on = "mutex_force", .error = "TRYAGAIN Multiple keys request during rehashing of slot");
        force(o, NULL);
        run_ms(s, 2);
        HOLDS(s, i == 2 || strstr(store_line(&s->store, "mutex_force", i)->text, " 1 stock ")); /* the second one */
        release(a);
        TELLS_IN(s, 2, told[i]);
    }
}

A_PLAY(what_the_store_says_is_bounded)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *b = stands(q, "b");
    for (int i = 0; i < 5000; i++) {
        const char *text = push_text(q, formatted("name%d", i), 1, i, 5, 17);
        store_publish(&s->store, formatted("hilock:grant:%s", q->uuid), i % 2 ? text : "nonsense");
    }
    run_ms(s, 10);
    HOLDS(s, asked(s, "mutex_release") <= 256);
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_HELD);
}

/* Its first answer was lost with the link, and its next one comes behind that of a later one of the same client. */
WITH_CLIENT(the_first_of_a_client_hears_of_a_release_whenever_it_was_placed)
{
    store_take(&s->store, "stock", "java:1", 600000);
    PLAN(s, .on = "mutex_acquire", .fate.resets_after = 1);
    PLAN(s, .on = "mutex_acquire", .error = "NOSCRIPT No matching script.");
    stands(p, "a");
    stands(p, "b");
    unheard_ms(s, 1000);
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 5, "a:OK");
}

/* ---- what crosses a push ---- */

static void extend_it(struct handle *handle) { extend(handle, 60000); }

/* It has one request, which a heartbeat still is; that one's answer, though good news, was not asked for so much. */
A_PLAY(an_extend_beside_a_heartbeat_is_asked_for_behind_it)
{
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(fixture_connect(s, NULL), "b");
    PLAN(s, .on = "mutex_acquire", .fate.there_us = 50000);
    for (unsigned requests = s->net.requests; s->net.requests == requests;)
        run_us(s, 100);
    SAME(s, asked(s, "mutex_acquire"), 3);
    when(b, "OK", extend_it);
    release_quietly(a);
    run_ms(s, 100);
    SAME(s, asked(s, "mutex_acquire"), 4);
    TELLS(s, "b:WAITING b:OK b:extended");
    SAME(s, asked(s, "renew"), 1);
}

/* That answer makes the window a lease, before the first renewal is due. */
A_PLAY(the_answer_to_a_heartbeat_beside_a_push_is_a_renewal)
{
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(fixture_connect(s, NULL), "b");
    PLAN(s, .on = "mutex_acquire", .fate.there_us = 50000);
    for (unsigned requests = s->net.requests; s->net.requests == requests;)
        run_us(s, 100);
    uint64_t sent_us = fixture_us(s);
    release_quietly(a);
    run_ms(s, 60);
    HOLDS(s, is_held(b) && hilock_lock_remaining_ms(b->lock) > 29000);
    SAME(s, asked(s, "renew"), 0);
    fixture_hush(s);
    run_to(s, sent_us + 9900000);
    SAME(s, asked(s, "renew"), 0);
}

/* The release goes behind the answer to the heartbeat, but the time of the call runs from the call on. */
A_PLAY(a_release_beside_a_heartbeat_is_answered_in_its_own_time)
{
    struct client *q = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500));
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(q, "b");
    PLAN(s, .on = "mutex_acquire", .fate.there_us = 50000, .fate.back_us = 200000);
    for (unsigned requests = s->net.requests; s->net.requests == requests;)
        run_us(s, 100);
    release_quietly(a);
    TELLS_IN(s, 5, "b:WAITING b:OK");
    uint64_t released_us = fixture_us(s);
    PLAN(s, .on = "mutex_release", .fate.back_us = 400000);
    release(b);
    run_ms(s, 240);
    SAME(s, asked(s, "mutex_release"), 1); /* of a */
    TELLS_IN(s, 300, "b:release UNKNOWN");
    SAME(s, b->at_us, released_us + 500000);
    TELLS_IN(s, 300, "b:SETTLED");
    SAME(s, b->event.waited_ms, (b->at_us - released_us) / 1000);
    SAME(s, counts_of(q).undone, 0); /* it was granted in time, and released by its user */
}

/* It may have run just before its answer left, or just before it was given up: what it asked for may last from then on. */
static void settled_behind_a_heartbeat(struct fixture *s, struct net_fate fate)
{
    struct client *q = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500));
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = asking(q, "b", "stock", FAIR(.lease_ms = 20000));
    run_ms(s, 5);
    PLAN(s, .on = "mutex_acquire", .fate = fate);
    for (unsigned requests = s->net.requests; s->net.requests == requests;)
        run_us(s, 100);
    uint64_t over_us = fixture_us(s) + (fate.is_lost ? 500000 : fate.there_us + fate.back_us + s->net.there_us + s->net.back_us);
    release_quietly(a);
    TELLS_IN(s, 5, "b:WAITING b:OK");
    PLAN(s, .on = "mutex_release", .fate.is_lost = 1);
    release(b);
    run_ms(s, 400);
    s->place->mood = NET_REFUSES;
    run_ms(s, 95);
    if (!fate.is_lost)
        cut_off(s);
    TELLS_IN(s, 30000, "b:release UNKNOWN b:SETTLED");
    uint64_t settles_us = over_us + 20000000 + MARGIN_US(20000000) + 500000;
    HOLDS(s, b->at_us <= settles_us && b->at_us > settles_us - 100);
}

A_PLAY(an_unknown_release_behind_a_heartbeat_is_settled_when_that_is_over)
{
    settled_behind_a_heartbeat(s, (struct net_fate){.there_us = 50000, .back_us = 150000});
}

A_PLAY(an_unknown_release_behind_a_lost_heartbeat_is_settled_when_that_is_over) { settled_behind_a_heartbeat(s, (struct net_fate){.is_lost = 1}); }

/* The heartbeat finds that the grant has lapsed, and takes a place again. */
A_PLAY(a_release_beside_a_late_heartbeat_removes_the_place_that_this_takes)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(q, "b"), *c = stands(fixture_connect(s, NULL), "c");
    PLAN(s, .on = "mutex_acquire", .fate.there_us = 900000);
    for (unsigned requests = s->net.requests; s->net.requests == requests;)
        run_us(s, 100);
    release_quietly(a);
    TELLS_IN(s, 5, "b:WAITING c:WAITING b:OK");
    release(b);
    TELLS_IN(s, 700, "c:OK");
    TELLS_IN(s, 700, "b:released");
    release_quietly(c);
    run_ms(s, 100);
    SAME(s, counts_of(q).undone, 0);
}

/* The heartbeat stands behind another request when the push comes, and is not sent. */
A_PLAY(a_push_makes_a_heartbeat_needless_that_was_not_sent)
{
    struct client *q = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.inflight_max = 1));
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(q, "b");
    run_ms(s, 2600);
    size_t before = asked(s, "mutex_acquire");
    PLAN(s, .on = "mutex_acquire", .fate.there_us = 300000);
    asking(q, "c", "other", NULL);
    run_ms(s, 150);
    release_quietly(a);
    TELLS_IN(s, 5, "b:WAITING b:OK");
    TELLS_IN(s, 1500, "c:OK");
    SAME(s, asked(s, "mutex_acquire"), before + 1);
    SAME(s, counts_of(q).renewals_failed, 0);
    HOLDS(s, is_held(b));
    release_quietly(b);
}

/* It runs when the hold that the push gave is over, and finds the name free. */
WITH_CLIENT(a_heartbeat_that_was_lost_beside_a_push_leaves_no_ghost)
{
    struct handle *a = has(fixture_connect(s, NULL), "a"), *b = stands(p, "b");
    struct plan *stray = PLAN(s, .on = "mutex_acquire", .fate.is_stray = 1, .fate.there_us = 2000000);
    for (int i = 0; i < 5000 && !stray->met; i++)
        run_ms(s, 1);
    release_quietly(a);
    run_ms(s, 1);
    net_reset(&s->net, &p->loop, NET_COMMANDS);
    run_ms(s, 500);
    release_quietly(b);
    TELLS_IN(s, 500, "b:WAITING b:OK");
    TEXT(s, store_holder(&s->store, "stock"), "");
    run_ms(s, 1000);
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 1200);
    TEXT(s, store_holder(&s->store, "stock"), "");
}

/* Our own hold was what it waited for, and the next one is another client's: the store is well, so nobody is said to be silent. */
WITH_CLIENT(whose_wait_ends_after_a_release_of_ours_is_told_that_it_was_held)
{
    struct handle *a = has(p, "a"), *c = stands(fixture_connect(s, NULL), "c"), *b = fair(p, "b");
    acquire(b, 500);
    run_ms(s, 100);
    fixture_hush(s);
    release_quietly(a);
    TELLS_IN(s, 1, "c:OK");
    TELLS_IN(s, 400, "b:TIMED_OUT");
    HOLDS(s, strstr(b->detail, "was held by another handle of this client until a moment ago") != NULL);
    release_quietly(c);
}
