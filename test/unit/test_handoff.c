/* SPDX-License-Identifier: BSD-3-Clause */
/* One hold, several handles of one client, one after the other: what it costs, whose turn it is, what each gets
 * reported, to whom it is handed on and to whom not; and what crosses a hand-off: a cancel, a close, an outage. */
#include "play.h"

/* ---- reports and costs ---- */

WITH_CLIENT(a_later_grant_has_a_higher_token_than_every_turn)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL), *c;
    world_clock_step(&s->store.clock, -5000000);
    release_quietly(a);
    run_ms(s, 1);
    release_quietly(b);
    run_ms(s, 1);
    c = held(q, "c", "stock", NULL);
    SAME(s, c->result.fencing_token, a->result.fencing_token + 16);
}

WITH_CLIENT(hold_max_counts_from_the_begin_of_the_turn)
{
    const struct hilock_lock_options *most = HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .hold_max_ms = 3000);
    struct handle *a = held(p, "a", "stock", most);
    asking(p, "b", "stock", most);
    run_ms(s, 900);
    release_quietly(a);
    TELLS_IN(s, 2990, "b:WAITING b:OK");
    TELLS_IN(s, 20, "b:LOST HOLD_MAX");
    run_ms(s, 10);
    HOLDS(s, !is_ours(s, "stock"));
}

/* ---- what belonged to the old turn ---- */

/* The one before slept until its end. */
HOLDING(the_next_turn_is_renewed_though_the_one_before_was_not, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER))
{
    asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    run_ms(s, 1);
    release_quietly(a);
    TELLS_IN(s, 10000, "b:WAITING b:OK");
    SAME(s, asked(s, "mutex_release"), 0);
    SAME(s, sent_at_us(s, "renew", 0), sent_at_us(s, "mutex_acquire", 0) + 1000000);
}

WITH_CLIENT(counts_end_with_their_turn)
{
    const struct hilock_lock_options *again = HILOCK_LOCK_OPTIONS(.reentrant = 1);
    struct handle *a = held(p, "a", "stock", again), *b = asking(p, "b", "stock", again);
    acquire(a, HILOCK_TRY);
    unheard_ms(s, 1);
    release(a);
    TELLS_IN(s, 1, "a:released");
    release(a);
    TELLS_IN(s, 1, "a:released b:OK");
    SAME(s, b->result.hold_count, 1);
    SAME(s, asked(s, "mutex_release"), 0);
}

/* Others, of other clients, have waited for long by then. */
WITH_CLIENT(no_turn_begins_after_a_third_of_the_lease)
{
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    asking(p, "c", "stock", NULL);
    run_ms(s, 9990);
    release_quietly(a);
    TELLS_IN(s, 20, "b:WAITING c:WAITING b:OK");
    SAME(s, asked(s, "mutex_release"), 0);
    release_quietly(b);
    TELLS_IN(s, 10, "c:OK");
    SAME(s, asked(s, "mutex_release"), 1);
}

WITH_CLIENT(the_last_turn_begins_a_microsecond_before_a_third_of_the_lease)
{
    for (int late_us = 0; late_us <= 1; late_us++) {
        struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
        size_t before = asked(s, "mutex_release");
        run_to(s, a->at_us + 10000000 - 1 + (uint64_t)late_us);
        release_quietly(a);
        TELLS_IN(s, 5, "b:WAITING b:OK");
        SAME(s, asked(s, "mutex_release") - before, late_us);
        handle_free(a);
        handle_free(b);
        run_ms(s, 5);
    }
}

/* A pushed grant is renewed after a third of its window, and then a new turn begins before the answer is there. */
A_PLAY(a_renewal_under_way_has_its_time_in_the_next_turn_too)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *h = held(fixture_connect(s, NULL), "h", "stock", NULL), *a = asking(q, "a", "stock", NULL);
    asking(q, "b", "stock", NULL);
    unheard_ms(s, 2);
    release_quietly(h);
    TELLS_IN(s, 2, "a:OK");
    s->net.back_us = 5000;
    for (int i = 0; i < 2000 && asked(s, "renew") == 0; i++)
        run_us(s, 100);
    release_quietly(a);
    TELLS_IN(s, 20, "b:OK");
    SAME(s, counts_of(q).renewals, 1);
    SAME(s, counts_of(q).renewals_failed, 0);
}

/* ---- beside others ---- */

/* That program gets its turn only when the name is free. */
WITH_CLIENT(beside_another_program_each_handle_frees_the_name)
{
    store_take(&s->store, "stock", "another", 60000);
    struct handle *a = asking(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    run_ms(s, 10);
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 10, "a:WAITING b:WAITING a:OK");
    release(a);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_release"), 1);
}

/* ---- who fits ---- */

A_PLAY(to_a_SIMPLE_lock_and_from_one_nothing_is_handed)
{
    static const hilock_kind kinds[] = {HILOCK_MUTEX, HILOCK_SIMPLE};
    for (size_t i = 0; i < 2; i++) {
        struct client *p = fixture_connect(s, NULL);
        struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = kinds[i]));
        struct handle *b = asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE));
        release_quietly(a);
        TELLS_IN(s, 200, "b:WAITING b:OK");
        SAME(s, asked(s, "mutex_release"), 1);
        SAME(s, asked(s, "SET"), 1 + 2 * i);
        SAME(s, b->result.fencing_token, 0);
        release(b);
        unheard_ms(s, 10);
    }
}

/* Its lease at the store is longer than the next one's own. */
A_PLAY(what_was_extended_is_not_handed_on)
{
    struct handle *a = held(the_client(s), "a", "stock", NULL);
    asking(the_client(s), "b", "stock", NULL);
    extend(a, 60000);
    run_ms(s, 10);
    release_quietly(a);
    run_ms(s, 1);
    SAME(s, asked(s, "mutex_release"), 1);
}

/* As soon as the store has it for no longer than a lease of the next one, which would begin now: with 1 % for the clocks. */
HOLDING(what_was_extended_is_handed_on_when_that_is_no_more_than_a_lease, NULL)
{
    for (int late_us = 0; late_us <= 1; late_us++) {
        struct handle *b = asking(p, "b", "stock", NULL);
        uint64_t asked_us = fixture_us(s);
        extend(a, 30500);
        unheard_ms(s, 10);
        size_t before = asked(s, "mutex_release");
        run_to(s, asked_us + 500000 + 5000 - 1 + (uint64_t)late_us);
        release_quietly(a);
        TELLS_IN(s, 5, "b:OK");
        SAME(s, asked(s, "mutex_release") - before, !late_us);
        a = b;
    }
}

/* Its first request may still be on its way: by a hand-off that would be forgotten. */
WITH_CLIENT(who_may_have_left_something_is_not_handed_to)
{
    struct handle *t = handle_new(p, "t", "stock", NULL), *b;
    PLAN(s, .on = "mutex_acquire", .after = 1, .fate.is_stray = 1, .fate.there_us = 2500000);
    acquire(t, HILOCK_TRY);
    b = asking(p, "b", "stock", NULL);
    run_ms(s, 10);
    net_reset(&s->net, NULL, NET_COMMANDS);
    TELLS_IN(s, 500, "t:OK b:WAITING");
    release_quietly(t);
    TELLS_IN(s, 2, "b:OK");
    SAME(s, asked(s, "mutex_release"), 1);
    release_quietly(b);
    run_ms(s, 2200);
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 1000);
    HOLDS(s, !is_ours(s, "stock"));
}

/* The server lies, grants the name twice, and is away when both are released. The first release takes b along, to whom
 * it cannot hand on; b is not handed the second hold as well. */
WITH_CLIENT(who_is_taken_along_by_one_release_is_not_handed_to_by_another)
{
    struct handle *first = handle_new(p, "first", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 60000)),
                  *second = handle_new(p, "second", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    s->is_tampered = 1;
    PLAN(s, .on = "mutex_acquire", .fate.refusal = say_integer(99), .times = 2);
    acquire(first, HILOCK_TRY);
    run_us(s, 150);
    s->net.back_us = 5000;
    acquire(second, HILOCK_TRY);
    TELLS_IN(s, 1, "first:OK");
    asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 10000));
    TELLS_IN(s, 10, "b:WAITING second:OK");
    cut_off(s);
    run_ms(s, 20);
    release(first);
    release(second);
    TELLS_IN(s, 30, "");
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 500, "first:release LOST second:release LOST b:OK");
    HOLDS(s, is_ours(s, "stock"));
    TELLS_IN(s, 5000, "");
}

/* ---- what crosses it ---- */

static struct handle *late;
static void release_late(struct handle *handle) { SAME(handle->fixture, release(late), HILOCK_OK); }

/* Two are granted by pushes that overtake the answers to their heartbeats. */
static void pushed_meanwhile(struct client *p, struct handle **handles)
{
    static const char *const names[] = {"stock", "shelf"};
    struct fixture *s = p->fixture;
    unsigned requests = s->net.requests;
    for (int i = 0; i < 2; i++) /* so that both ask at the same time */
        store_publish(&s->store, formatted("hilock:grant:%s", p->uuid), formatted("F1 %s:%d 0: %s", p->uuid, i + 1, names[i]));
    while (s->net.requests < requests + 2)
        run_us(s, 10);
    for (int i = 0; i < 2; i++) {
        const char *holder = formatted("%s:%d", p->uuid, i + 1);
        store_take(&s->store, names[i], holder, 3000);
        push_grant(p, names[i], i + 1, 2, 5, store_token(&s->store, names[i], holder));
    }
    late = handles[1];
}

static void both_ask(struct client *p, struct handle **handles)
{
    static const char *const names[] = {"stock", "shelf"};
    p->fixture->is_tampered = 1;
    for (int i = 0; i < 2; i++) {
        store_grant(&p->fixture->store, names[i], "x:9", 600000);
        handles[i] = asking(p, names[i], names[i], NULL);
    }
}

/* Both are lost in one turn, when their heartbeats find them under other tokens than were pushed: the second is
 * released before its loss is reported. */
WITH_CLIENT(a_hold_that_is_lost_is_not_handed_on)
{
    struct handle *handles[2], *c;
    both_ask(p, handles);
    c = asking(p, "c", "shelf", NULL);
    TELLS_IN(s, 10, "stock:WAITING shelf:WAITING c:WAITING");
    PLAN(s, .on = "mutex_acquire", .fate.refusal = say_integer(99), .times = 2);
    pushed_meanwhile(p, handles);
    s->net.back_us = 10000;
    TELLS_IN(s, 1, "stock:OK shelf:OK");
    when(handles[0], "LOST TAKEN", release_late);
    frozen_ms(p, 20);
    TELLS_IN(s, 1, "stock:LOST TAKEN shelf:release LOST");
    SAME(s, c->calls, 1);
    unheard_ms(s, 100); /* the place of that hold was left in the queue, by hand, and comes first */
    SAME(s, c->result.status, HILOCK_OK);
    HOLDS(s, is_ours(s, "shelf"));
}

/* The heartbeats have no answer when both are lost, the second one is released before its loss is reported, and each
 * id is released when its heartbeat is answered: that heartbeat has made its window a whole lease. */
GIVEN(what_is_lost_before_an_old_heartbeat_is_answered_is_released_then,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 10000)))
{
    struct handle *handles[2];
    both_ask(p, handles);
    TELLS_IN(s, 10, "stock:WAITING shelf:WAITING");
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 4500000, .times = 2);
    pushed_meanwhile(p, handles);
    TELLS_IN(s, 1, "stock:OK shelf:OK");
    TELLS_IN(s, 1500, "");
    SAME(s, counts_of(p).renewals_failed, 2); /* the first renewals were due, and could not be sent */
    late = handles[0];
    when(handles[1], "LOST SUSPENDED", release_late);
    frozen_ms(p, 2500);
    TELLS_IN(s, 1, "shelf:LOST SUSPENDED stock:release LOST");
    HOLDS(s, is_ours(s, "stock") && is_ours(s, "shelf"));
    SAME(s, asked(s, "mutex_release"), 0);
    TELLS_IN(s, 1000, "");
    SAME(s, asked(s, "mutex_release"), 2);
    HOLDS(s, !is_ours(s, "stock") && !is_ours(s, "shelf"));
}

/* Renewals of both fail for the second time in one turn. */
HOLDING(reports_of_the_former_turn_are_not_made_to_the_next, NULL)
{
    struct handle *c = held(p, "c", "other", NULL);
    late = a;
    asking(p, "b", "stock", NULL);
    run_ms(s, 1);
    PLAN(s, .on = "renew", .error = "BUSY", .times = 4);
    when(c, "RENEWAL_FAILED", release_late);
    for (int i = 0; i < 2; i++) {
        extend(c, 0);
        extend(a, 0);
        run_us(s, 10);
        frozen_ms(p, 5);
        run_ms(s, 1);
    }
    TELLS(s, "b:WAITING c:extend UNWRITABLE a:extend UNWRITABLE c:extend UNWRITABLE c:RENEWAL_FAILED a:extend LOST a:released b:OK");
}

static struct handle *other;
static void cancel_other(struct handle *handle) { SAME(handle->fixture, cancel(other), HILOCK_OK); }

/* One that failed in the former turn, and the first one of the next: its user hears of the second. */
HOLDING(failed_renewals_of_the_former_turn_do_not_count_in_the_next, NULL)
{
    asking(p, "b", "stock", NULL);
    unheard_ms(s, 10);
    struct plan *failing = PLAN(s, .on = "renew", .error = "LOADING Redis is loading the dataset in memory", .times = PLAN_ALWAYS);
    net_reset(&s->net, &p->loop, NET_COMMANDS); /* the hold is verified over the next link */
    while (failing->met < 1)
        run_ms(s, 1);
    release_quietly(a);
    TELLS_IN(s, 1, "b:OK");
    while (failing->met < 2)
        run_ms(s, 1);
    TELLS_IN(s, 1, "");
    while (failing->met < 3)
        run_ms(s, 1);
    TELLS_IN(s, 1, "b:RENEWAL_FAILED");
}

HOLDING(a_cancel_that_crosses_passes_it_on, NULL)
{
    uint64_t token = a->result.fencing_token;
    other = asking(p, "b", "stock", NULL);
    struct handle *c = asking(p, "c", "stock", NULL);
    unheard_ms(s, 1);
    when(a, "released", cancel_other);
    release(a);
    TELLS_IN(s, 1, "a:released b:CANCELLED c:OK");
    SAME(s, c->result.fencing_token, token + 2);
    SAME(s, asked(s, "mutex_acquire") + asked(s, "mutex_release"), 1);
    SAME(s, counts_of(p).undone, 0);
}

HOLDING(closing_hands_on_to_nobody, NULL)
{
    asking(the_client(s), "b", "stock", NULL);
    unheard_ms(s, 1);
    release(a);
    client_close(the_client(s), 1000);
    TELLS_IN(s, 10, "a:released b:CLOSED closed");
    HOLDS(s, !is_ours(s, "stock"));
}

HOLDING(a_store_that_is_away_does_not_stop_it, NULL)
{
    struct handle *b = asking(the_client(s), "b", "stock", NULL);
    run_ms(s, 1);
    cut_off(s);
    unheard_ms(s, 1);
    release(a);
    TELLS_IN(s, 1, "a:released b:OK");
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 5000, "");
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 20000);
}

/* ---- what went along, and may run yet: on a link that is lost, and by itself later ---- */

/* The release of a asks for b, too. */
static struct handle *goes_along_late(struct fixture *s, struct client **ret)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1, .command_timeout_ms = 1000));
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    PLAN(s, .on = "mutex_release", .fate.is_stray = 1, .fate.there_us = 400000);
    release_quietly(a);
    run_us(s, 10);
    net_reset(&s->net, NULL, NET_COMMANDS);
    *ret = p;
    return b;
}

static void runs_late_and_is_released(struct fixture *s)
{
    while (fixture_us(s) < 1000405000)
        run_ms(s, 1);
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 1500);
    HOLDS(s, !is_ours(s, "stock"));
}

A_PLAY(given_up_over_another_link_it_is_released_once_more)
{
    struct client *p;
    struct handle *b = goes_along_late(s, &p);
    struct plan *again = PLAN(s, .on = "mutex_release", .error = "OOM command not allowed");
    while (!again->met)
        run_us(s, 10);
    cancel(b);
    runs_late_and_is_released(s);
}

A_PLAY(asked_for_itself_over_another_link_it_is_released_once_more)
{
    struct client *p;
    struct handle *b = goes_along_late(s, &p);
    PLAN(s, .on = "mutex_release", .error = "OOM command not allowed");
    struct plan *own = PLAN(s, .on = "mutex_acquire", .fate.back_us = 5000);
    while (!own->met)
        run_us(s, 10);
    cancel(b);
    runs_late_and_is_released(s);
}
