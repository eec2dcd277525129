/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants that replicas must confirm: when they are reported, what happens if too few confirm, what all of it costs the
 * others, and beside what else there is: kinds of lock, other handles in line, multis, servers that change. */
#include "play.h"
#include "stage.h"

/* ---- reports ---- */

HAVING(it_is_told_when_replicas_have_it, asking(shop(s), "a", "stock", &confirmed))
{
    TELLS_IN(s, 6, "a:OK");
    SAME(s, a->at_us, asked_at_us(s, "WAIT", 0) + 5000 + s->net.back_us);
    BELIEVES(s, a, sent_at_us(s, "mutex_acquire", 0) + 30000000 - 307000);
    TEXT(s, store_line(&s->store, "WAIT", 0)->text, "WAIT 1 1000");
    SAME(s, store_line(&s->store, "WAIT", 0)->peer, store_line(&s->store, "mutex_acquire", 0)->peer);
    SAME(s, a->result.attempts, 1);
    release(a);
    TELLS_IN(s, 5, "a:released");
    HOLDS(s, store_line(&s->store, "mutex_release", 0)->peer != store_line(&s->store, "WAIT", 0)->peer);
}

/* At the end of a try; of a wait, though its WAIT is still out; and of one that ends between two attempts. */
HAVING(too_few_are_told_in_time_and_leave_nothing, handle_new(shop(s), "a", "stock", &confirmed))
{
    s->store.replicas_away = 1;
    size_t before = asked(s, "TIME");
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 999, "");
    SAME(s, asked(s, "TIME"), before + 1); /* by the link for it. Nobody takes a WAIT for silence */
    TELLS_IN(s, 5, "a:NOT_REPLICATED");
    TEXT(s, a->detail, "0 of 1 replicas confirmed within 1000 ms; the grant was undone");
    TEXT(s, store_holder(&s->store, "stock"), "");
    SAME(s, counts_of(p).undone, 1);
    uint64_t begun_us = fixture_us(s);
    acquire(a, 400);
    TELLS_IN(s, 410, "a:NOT_REPLICATED");
    SAME(s, a->at_us, begun_us + 400000);
    TEXT(s, a->detail, "fewer than 1 replicas had confirmed when the wait of 400 ms ended; the grant was undone");
    TEXT(s, store_holder(&s->store, "stock"), "");
    run_ms(s, 1000);
    acquire(a, 1020);
    TELLS_IN(s, 1100, "a:NOT_REPLICATED");
    TEXT(s, a->detail, "0 of 1 replicas confirmed within 1000 ms; the grant was undone");
}

A_PLAY(what_else_is_said_to_WAIT)
{
    const struct { struct plan plan; const char *story, *detail; } answers[] = {
        {{.error = "NOPERM User shop has no permissions to run the 'wait' command"}, "a:DENIED",
         "WAIT: +wait is missing"},
        {{.error = "UNBLOCKED force unblock from blocking operation, instance state changed"},
         "a:UNWRITABLE", "UNBLOCKED"},
        {{.error = "ERR WAIT cannot be used with replica instances. Please also note that ..."},
         "a:UNWRITABLE", "ERR WAIT"},
        {{.fate.refusal = say_string("many")}, "a:PROTOCOL", ""},
        {{.fate.refusal = say_integer(-1)}, "a:NOT_REPLICATED", ""},
    };
    struct handle *a = handle_new(shop(s), "a", "stock", &confirmed);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct plan *plan = plan_add(&s->plans, answers[i].plan);
        plan->on = "WAIT";
        acquire(a, HILOCK_TRY);
        TELLS_IN(s, 5, answers[i].story);
        HOLDS(s, strstr(a->detail, answers[i].detail));
        TEXT(s, store_holder(&s->store, "stock"), "");
    }
}

GIVEN(there_is_no_third_link_before_it_is_asked_for, shop(s))
{
    held(p, "a", "stock", NULL);
    handle_new(p, "b", "other", &confirmed);
    run_ms(s, 10);
    SAME(s, s->net.links, 2);
    asking(p, "c", "third", &confirmed);
    run_ms(s, 10);
    SAME(s, s->net.links, 3);
    asking(p, "d", "fourth", &confirmed);
    run_ms(s, 10);
    SAME(s, s->net.links, 3);
    TELLS(s, "c:OK d:OK");
}

enum { MANY = 12 };

GIVEN(many_go_with_one_WAIT, shop(s))
{
    s->is_untold = 1;
    struct handle *first = asking(p, "first", "first", &confirmed);
    run_ms(s, 4); /* its WAIT is out */
    SAME(s, asked(s, "WAIT"), 1);
    for (int i = 0; i < MANY; i++) {
        asking(p, "a", formatted("stock:%d", i), &confirmed);
        run_us(s, 10);
    }
    SAME(s, asked(s, "mutex_acquire"), 1);
    run_ms(s, 20);
    SAME(s, asked(s, "mutex_acquire"), MANY + 1);
    SAME(s, asked(s, "WAIT"), 2);
    SAME(s, hilock_lock_state(first->lock), HILOCK_STATE_HELD);
    for (int i = 0; i < MANY; i++)
        HOLDS(s, is_ours(s, formatted("stock:%d", i)));
}

HAVING(a_renewal_needs_no_WAIT, asking(shop(s), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .replicas = 1)))
{
    run_ms(s, 3000);
    HOLDS(s, asked(s, "renew") >= 2);
    extend(a, 3000);
    TELLS_IN(s, 10, "a:OK a:extended");
    SAME(s, asked(s, "WAIT"), 1);
}

/* One replica of two is away: handles that ask for one do not wait for those that ask for both. */
GIVEN(each_gets_as_many_as_it_asks_for, shop(s))
{
    struct handle *two = handle_new(p, "two", "stock", HILOCK_LOCK_OPTIONS(.replicas = 2, .replica_timeout_ms = 300));
    s->store.replicas = 2;
    s->store.replicas_away = 1;
    acquire(two, HILOCK_TRY);
    asking(p, "one", "other", &confirmed);
    TELLS_IN(s, 10, "one:OK");
    TELLS_IN(s, 310, "two:NOT_REPLICATED");
    TEXT(s, two->detail, "1 of 2 replicas confirmed within 300 ms; the grant was undone");
    s->store.replicas_away = 0;
    acquire(two, HILOCK_TRY);
    TELLS_IN(s, 10, "two:OK");
}

/* Both have it when the WAIT for one is answered: that says so, and nobody asks again. */
GIVEN(a_WAIT_that_finds_more_than_it_asked_for_is_enough, shop(s))
{
    s->store.replicas = 2;
    asking(p, "two", "stock", HILOCK_LOCK_OPTIONS(.replicas = 2));
    asking(p, "one", "other", &confirmed);
    TELLS_IN(s, 20, "two:OK one:OK");
    SAME(s, asked(s, "WAIT"), 1);
}

/* The replica is slow: who waits for longer is confirmed though the WAIT that was for less time has found nothing. */
GIVEN(each_waits_for_as_long_as_it_asks_for, shop(s))
{
    s->store.replica_us = 200000;
    acquiring(handle_new(p, "short", "stock", HILOCK_LOCK_OPTIONS(.replicas = 1, .replica_timeout_ms = 100)),
              HILOCK_TRY);
    acquiring(handle_new(p, "long", "other", HILOCK_LOCK_OPTIONS(.replicas = 1, .replica_timeout_ms = 300)),
              HILOCK_TRY);
    TELLS_IN(s, 110, "short:NOT_REPLICATED");
    TELLS_IN(s, 400, "long:OK");
    SAME(s, asked(s, "WAIT"), 2);
}

HAVING(a_WAIT_that_is_never_answered_ends_the_link, handle_new(shop(s), "a", "stock", &confirmed))
{
    PLAN(s, .on = "WAIT", .fate.answer_is_lost = 1);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 3900, "");
    TELLS_IN(s, 300, "a:OK");
    SAME(s, asked(s, "WAIT"), 2);
}

GIVEN(a_cancel_in_WAIT_leaves_nothing, shop(s))
{
    struct handle *a = asking(p, "a", "stock", &confirmed), *b;
    s->store.replicas_away = 1;
    run_ms(s, 10);
    SAME(s, asked(s, "WAIT"), 1);
    cancel(a);
    TELLS_IN(s, 1, "a:CANCELLED");
    TEXT(s, store_holder(&s->store, "stock"), "");
    s->store.replicas_away = 0;
    b = asking(p, "b", "stock", &confirmed);
    TELLS_IN(s, 900, ""); /* behind the WAIT that goes on */
    TELLS_IN(s, 200, "b:OK");
    HOLDS(s, b->result.fencing_token > 0);
}

/* ---- faults ---- */

HAVING(a_third_link_alone_that_is_away_is_told, handle_new(shop(s), "a", "stock", &confirmed))
{
    s->place->mood = NET_REFUSES;
    acquire(a, 500);
    TELLS_IN(s, 600, "a:UNREACHABLE");
    HOLDS(s, strstr(a->detail, "Connection refused") != NULL);
    s->place->mood = NET_LISTENS;
    acquire(a, 5000);
    TELLS_IN(s, 5000, "a:OK");
}

A_PLAY(the_guard_stands_before_the_third_link_too)
{
    s->store.replicas = 1;
    store_restart(&s->store, 0);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 30000));
    acquiring(handle_new(p, "a", "stock", &confirmed), HILOCK_TRY);
    TELLS_IN(s, 100, "a:UNWRITABLE");
    SAME(s, asked(s, "mutex_acquire"), 0);
}

GIVEN(a_hold_is_handed_to_who_asks_for_no_more, shop(s))
{
    struct handle *a = asking(p, "a", "stock", &confirmed);
    run_ms(s, 10);
    asking(p, "b", "stock", &confirmed);
    asking(p, "c", "stock", NULL);
    unheard_ms(s, 10);
    release_quietly(a);
    TELLS_IN(s, 1, "b:OK");
    SAME(s, asked(s, "WAIT"), 1);
    SAME(s, asked(s, "mutex_release"), 0);
}

GIVEN(who_stands_behind_is_told_that_it_is_held, shop(s))
{
    struct handle *b = handle_new(p, "b", "stock", NULL);
    asking(p, "a", "stock", &confirmed);
    s->store.replicas_away = 1;
    run_ms(s, 10);
    acquire(b, 500);
    TELLS_IN(s, 510, "b:TIMED_OUT");
    TEXT(s, b->detail, "\"stock\" is held by another handle of this client");
}

A_PLAY(all_parts_of_a_multi_are_confirmed)
{
    static const char *const names[] = {"one", "two", "three", NULL};
    struct handle *a = multi_new(shop(s), "a", names, HILOCK_LOCK_OPTIONS(.replicas = 1, .replica_timeout_ms = 200));
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 10, "a:OK");
    SAME(s, asked(s, "WAIT"), 1);
    release_quietly(a);
    run_ms(s, 10);
    s->store.replicas_away = 1;
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 250, "a:NOT_REPLICATED");
    for (int i = 0; names[i]; i++)
        TEXT(s, store_holder(&s->store, names[i]), "");
    acquire(a, 60000);
    run_ms(s, 1000);
    s->store.replicas_away = 0;
    TELLS_IN(s, 3000, "a:OK");
}

/* One is answered, and waits for its WAIT behind the other, when the link is lost. A WAIT over the next link would
 * answer for what was written there alone. */
GIVEN(a_grant_is_asked_for_again_when_its_link_ends_before_the_WAIT, shop(s))
{
    release_quietly(asking(p, "x", "x", &confirmed));
    unheard_ms(s, 100);
    size_t asked_before = asked(s, "mutex_acquire"), waited_before = asked(s, "WAIT"), times = asked(s, "TIME");
    PLAN(s, .on = "mutex_acquire", .after = 1, .fate.resets_before = 1, .fate.there_us = 500);
    asking(p, "a", "stock", &confirmed);
    asking(p, "b", "other", &confirmed);
    TELLS_IN(s, 200, "a:OK b:OK");
    SAME(s, asked(s, "mutex_acquire") - asked_before, 3);
    SAME(s, asked(s, "WAIT") - waited_before, 1);
    SAME(s, asked(s, "TIME") - times, 1 + 1); /* and by the link for commands: the server may be gone */
    SAME(s, store_line(&s->store, "WAIT", -1)->peer, store_line(&s->store, "mutex_acquire", -1)->peer);
}

/* ---- deployments ---- */

/* Only the third link is asked something: its node is to find out who serves by now. */
A_PLAY(a_server_that_stops_is_left_though_it_is_asked_over_the_third_link_alone)
{
    cluster_set(s);
    struct client *p = cluster_connect(s);
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        store_at(s, i)->replicas = 1;
    struct handle *a = asking(p, "a", cluster_name(1, 0), &confirmed);
    run_ms(s, 100);
    release(a);
    run_ms(s, 2000);
    world_freeze(&store_at(s, 1)->lane);
    acquire(a, 12000);
    run_ms(s, 1500);
    cluster_take_over(s, 1, 2, 0);
    TELLS_IN(s, 1000, "a:OK a:released a:OK"); /* before a command would have timed out */
    SAME(s, store_count(store_at(s, 2), "WAIT"), 1);
    world_thaw(&s->world, &store_at(s, 1)->lane);
}

/* It was not sent yet. */
A_PLAY(what_waits_for_the_third_link_goes_where_its_slot_goes)
{
    struct client *p = cluster_begin(s);
    store_at(s, 1)->replicas = store_at(s, 2)->replicas = 1;
    struct handle *a = asking(p, "a", cluster_name(1, 0), &confirmed);
    run_ms(s, 100);
    release(a);
    unheard_ms(s, 100);
    crash(s, 1);
    run_ms(s, 100);
    acquire(a, 10000);
    run_ms(s, 1000);
    cluster_take_over(s, 1, 2, 0);
    TELLS_IN(s, 1000, "a:OK");
    SAME(s, store_count(store_at(s, 2), "WAIT"), 1);
}

A_PLAY(links_that_nobody_needs_are_closed_in_a_cluster)
{
    cluster_set(s);
    struct client *p = cluster_connect(s);
    store_at(s, 1)->replicas = 1;
    struct handle *a = asking(p, "a", cluster_name(1, 0), NULL);
    run_ms(s, 100);
    release(a);
    run_ms(s, 200000);
    unsigned before = s->net.links;
    a = asking(p, "a", cluster_name(1, 0), &confirmed);
    run_ms(s, 100);
    SAME(s, s->net.links, before + 1);
    release(a);
    TELLS_IN(s, 200000, "a:OK a:released a:OK a:released");
    SAME(s, s->net.links, before);
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 100, "a:OK");
}

A_PLAY(a_master_that_is_read_only_is_left_over_the_third_link)
{
    sentinels_set(s);
    struct client *p = sentinels_connect(s);
    s->store.replicas = replica_of(s)->replicas = 1;
    struct handle *a = asking(p, "a", "other", &confirmed);
    TELLS_IN(s, 100, "a:OK");
    a = handle_new(p, "a", "stock", &confirmed);
    sentinels_fail_over(s, 3, 0, 1);
    acquire(a, 2000);
    run_ms(s, 3000);
    HOLDS(s, is_held(a) && is_at(replica_of(s), a));
}

/* Its WAIT found too few, and it pauses with nothing at the store. Meanwhile the next in line got the name. */
GIVEN(who_pauses_for_replicas_is_handed_the_hold_of_the_next, shop(s))
{
    size_t before, blocks = 0;
    for (int i = 0; i < 3; i++) {
        struct handle *a = asking(p, "a", "stock", &confirmed), *b = asking(p, "b", "stock", &confirmed);
        s->store.replicas_away = 1;
        run_ms(s, 1001);
        s->store.replicas_away = 0;
        TELLS_IN(s, 20, "b:OK");
        run_ms(s, 100);
        before = asked(s, NULL);
        release_quietly(b);
        TELLS_IN(s, 1, "a:OK");
        SAME(s, asked(s, NULL), before);
        HOLDS(s, a->result.fencing_token > b->result.fencing_token);
        handle_free(a);
        handle_free(b);
        run_ms(s, 2000);
        if (i == 1)
            blocks = s->memory.blocks;
    }
    SAME(s, s->memory.blocks, blocks); /* nothing is left of the hold with which it paused */
}

/* It asks over the link for WAIT if it needs replicas, and else not: the one that is silent is named. */
GIVEN(of_two_links_the_one_that_was_asked_is_said_to_be_away, shop(s))
{
    struct handle *a = handle_new(p, "a", "stock", &confirmed), *b = handle_new(p, "b", "stock", NULL);
    held(p, "x", "other", NULL);
    asking(p, "y", "third", &confirmed);
    unheard_ms(s, 10);
    PLAN(s, .on = "mutex_acquire", .fate.is_lost = 1);
    acquire(a, 700);
    TELLS_IN(s, 710, "a:UNREACHABLE");
    HOLDS(s, strstr(a->detail, "within 700 ms: it has not answered yet (1 attempt)"));
    run_ms(s, 10000);
    PLAN(s, .on = "mutex_acquire", .fate.is_lost = 1);
    acquire(b, 700);
    TELLS_IN(s, 710, "b:UNREACHABLE");
    HOLDS(s, strstr(b->detail, "within 700 ms: it is silent (1 attempt)"));
}

/* The latest answer to its client was that replicas are missing, which it does not need. Its own answer is on the way. */
GIVEN(who_needs_no_replicas_is_not_told_that_they_are_missing, shop(s))
{
    struct handle *b = handle_new(p, "b", "stock", NULL);
    s->store.replicas_away = 1;
    asking(p, "a", "stock", &confirmed);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 100000, .after = 1);
    acquire(b, 1050);
    TELLS_IN(s, 1060, "b:TIMED_OUT");
}

/* The try waits for the answer to a release. It is told that the name is held when it is, and not by a grant that is given back. */
GIVEN(a_grant_that_comes_too_late_answers_no_try, shop(s))
{
    struct handle *f = held(p, "f", "stock", NULL), *t = handle_new(p, "t", "stock", NULL);
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 3000, .min_validity_ms = 2500, .replicas = 1));
    asking(p, "x", "other", &confirmed); /* opens the link for replicas, which does not wait for that answer */
    unheard_ms(s, 10);
    PLAN(s, .on = "mutex_release", .fate.back_us = 1000000);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 600000);
    release_quietly(f);
    run_ms(s, 1);
    acquire(a, HILOCK_FOREVER);
    acquire(t, HILOCK_TRY);
    TELLS_IN(s, 700, "t:TIMED_OUT a:OK");
    SAME(s, t->at_us, a->at_us);
    SAME(s, a->result.attempts, 2);
}
