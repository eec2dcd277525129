/* SPDX-License-Identifier: BSD-3-Clause */
/* To whom a hold is handed on and to whom not; and what crosses a hand-off: a cancel, a free, a close, a pause, an outage. */
#include <string.h>

#include "play.h"

static const struct hilock_lock_options three_seconds = {.size = sizeof three_seconds, .lease_ms = 3000};
static const struct hilock_lock_options fixed = {.size = sizeof fixed, .lease_ms = 3000, .renew = HILOCK_RENEW_NEVER};

static uint64_t undone(struct client *p)
{
    struct hilock_stats stats = {.size = sizeof stats};
    hilock_client_stats(p->client, &stats);
    return stats.undone;
}

static void release_it(struct handle *handle) { release_quietly(handle); }

/* ---- who fits ---- */

A_PLAY(too_little_for_the_next_is_released)
{
    struct handle *a = held(the_client(s), "a", "stock", &three_seconds);
    struct handle *b = asking(the_client(s), "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .min_validity_ms = 2500));
    run_ms(s, 900);
    release_quietly(a);
    run_ms(s, 1);
    SAME(s, asked(s, "mutex_release"), 1);
    HOLDS(s, b->result.remaining_ms > 2900);
}

A_PLAY(another_kind_is_never_handed_to)
{
    struct handle *a = held(the_client(s), "a", "stock", NULL);
    asking(the_client(s), "b", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE));
    release_quietly(a);
    run_ms(s, 1);
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, asked(s, "SET"), 1);
}

A_PLAY(a_SIMPLE_hold_is_released)
{
    struct client *p = fixture_connect(s, NULL);
    const struct hilock_lock_options *simple = HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE);
    struct handle *a = held(p, "a", "stock", simple), *b = asking(p, "b", "stock", simple);
    release_quietly(a);
    run_ms(s, 200);
    SAME(s, asked(s, "SET"), 2);
    SAME(s, b->result.fencing_token, 0);
}

A_PLAY(a_shorter_lease_is_granted_anew)
{
    struct handle *a = held(the_client(s), "a", "stock", NULL);
    asking(the_client(s), "b", "stock", &three_seconds);
    release_quietly(a);
    run_ms(s, 1);
    SAME(s, asked(s, "mutex_release"), 1);
    HOLDS(s, store_left_ms(&s->store, "stock") <= 3000);
}

A_PLAY(a_longer_lease_is_asked_for_at_once)
{
    struct handle *a = held(the_client(s), "a", "stock", &three_seconds);
    struct handle *b = asking(the_client(s), "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 60000, .min_validity_ms = 1000));
    uint64_t handed_us;
    run_ms(s, 100);
    handed_us = fixture_us(s);
    release_quietly(a);
    run_ms(s, 1);
    SAME(s, sent_at_us(s, "renew", 0), handed_us);
    BELIEVES(s, b, handed_us + 60000000 - 607000);
    SAME(s, asked(s, "mutex_release"), 0);
    run_ms(s, 18000);
    SAME(s, asked(s, "renew"), 1);
}

/* What was extended may stand at the store until the next one's own lease would have ended, to the microsecond. */
static void handed_on_after_an_extend(struct fixture *s, uint64_t early_us, size_t releases)
{
    enum { EXTENDED_US = 60000000 + 607000, OWN_US = 55000000 + 557000 };
    struct handle *a = held(the_client(s), "a", "stock", NULL);
    asking(the_client(s), "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 55000));
    extend(a, 60000);
    run_ms(s, 10);
    run_to(s, sent_at_us(s, "renew", 0) + EXTENDED_US - OWN_US - early_us);
    release_quietly(a);
    run_ms(s, 1);
    SAME(s, asked(s, "mutex_release"), releases);
}

A_PLAY(what_was_extended_ends_with_the_next_ones_lease) { handed_on_after_an_extend(s, 0, 0); }
A_PLAY(what_was_extended_ends_behind_the_next_ones_lease) { handed_on_after_an_extend(s, 1, 1); }

A_PLAY(a_fixed_lease_is_asked_for_once)
{
    struct handle *a = held(the_client(s), "a", "stock", &fixed), *b = asking(the_client(s), "b", "stock", &fixed);
    uint64_t handed_us;
    run_ms(s, 800);
    handed_us = fixture_us(s);
    release_quietly(a);
    run_ms(s, 1);
    SAME(s, sent_at_us(s, "renew", 0), handed_us);
    BELIEVES(s, b, handed_us + 3000000 - 37000);
    run_ms(s, 2900);
    TELLS(s, "b:WAITING b:OK");
    run_ms(s, 100);
    TELLS(s, "b:LOST EXPIRED");
    SAME(s, asked(s, "renew"), 1);
}

A_PLAY(a_fixed_lease_that_was_refused_is_asked_for_again)
{
    struct handle *a = held(the_client(s), "a", "stock", &fixed), *b = asking(the_client(s), "b", "stock", &fixed);
    PLAN(s, .on = "renew", .act = PLAN_REFUSE, .error = "LOADING Redis is loading the dataset in memory");
    run_ms(s, 10);
    release_quietly(a);
    run_ms(s, 500);
    SAME(s, asked(s, "renew"), 1);
    BELIEVES(s, b, sent_at_us(s, "renew", 0) + 3000000 - 37000);
}

/* The second turn begins while the first one's renewal is out: that one does not count for it. */
A_PLAY(turns_that_are_shorter_than_a_round_trip_have_their_own_lease_each)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &fixed), *b = asking(p, "b", "stock", &fixed), *c = asking(p, "c", "stock", &fixed);
    run_ms(s, 10);
    PLAN(s, .on = "renew", .act = PLAN_DELAY_ANSWER, .us = 50000);
    release_quietly(a);
    run_ms(s, 10);
    release_quietly(b);
    run_ms(s, 100);
    SAME(s, asked(s, "renew"), 2);
    HOLDS(s, sent_at_us(s, "renew", 1) >= c->at_us);
    BELIEVES(s, c, sent_at_us(s, "renew", 1) + 3000000 - 37000);
}

A_PLAY(who_asks_already_is_not_handed_to)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *t = handle_new(p, "t", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .after = 1, .act = PLAN_DELAY_ANSWER, .us = 5000);
    acquire(t, HILOCK_TRY);
    asking(p, "b", "stock", NULL);
    when(t, "OK", release_it);
    run_ms(s, 10);
    TELLS(s, "t:OK b:WAITING b:OK");
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, asked(s, "mutex_acquire"), 3);
}

/* Its first request may still be on its way: by a hand-off that would be forgotten. */
A_PLAY(who_may_have_left_something_is_not_handed_to)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *t = handle_new(p, "t", "stock", NULL), *b;
    PLAN(s, .on = "mutex_acquire", .after = 1, .act = PLAN_STRAY, .us = 2500000);
    acquire(t, HILOCK_TRY);
    b = asking(p, "b", "stock", NULL);
    run_ms(s, 10);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 500);
    TELLS(s, "t:OK b:WAITING");
    release_quietly(t);
    run_ms(s, 2);
    TELLS(s, "b:OK");
    SAME(s, asked(s, "mutex_release"), 1);
    release_quietly(b);
    run_ms(s, 2200);
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 1000);
    HOLDS(s, !is_ours(s, "stock"));
}

/* ---- what crosses it ---- */

static struct handle *other;
static void cancel_other(struct handle *handle) { SAME(handle->fixture, cancel(other), HILOCK_OK); }
static void free_other(struct handle *handle) { (void)handle, handle_free(other); }

A_PLAY(a_cancel_that_crosses_passes_it_on)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", NULL), *c;
    uint64_t token = a->result.fencing_token;
    other = asking(p, "b", "stock", NULL);
    c = asking(p, "c", "stock", NULL);
    run_ms(s, 1);
    fixture_hush(s);
    when(a, "released", cancel_other);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released b:CANCELLED c:OK");
    SAME(s, c->result.fencing_token, token + 2);
    SAME(s, asked(s, "mutex_acquire") + asked(s, "mutex_release"), 1);
    SAME(s, undone(p), 0);
}

A_PLAY(a_free_that_crosses_releases_it)
{
    struct handle *a = held(the_client(s), "a", "stock", NULL);
    other = asking(the_client(s), "b", "stock", NULL);
    run_ms(s, 1);
    fixture_hush(s);
    when(a, "released", free_other);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released");
    HOLDS(s, !is_ours(s, "stock"));
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, undone(the_client(s)), 1);
}

static void block(struct handle *handle) { world_jump_us(&handle->fixture->world, 2000000); }

A_PLAY(what_aged_on_the_way_is_given_back_and_asked_for_again)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    run_ms(s, 1);
    fixture_hush(s);
    when(a, "released", block);
    release(a);
    run_ms(s, 1);
    run_ms(s, 10);
    TELLS(s, "a:released b:OK");
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, b->result.attempts, 1);
    HOLDS(s, b->result.remaining_ms > 2900);
    SAME(s, hilock_lock_token(b->lock), store_token(&s->store, "stock", store_holder(&s->store, "stock")));
}

/* Handed a hold it needed no place in the queue; asking again it needs one. (The first in line has brought one, the second has not.) */
A_PLAY(what_aged_on_the_way_stands_in_the_queue)
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL), *r = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *first = asking(p, "first", "stock", &three_seconds), *c;
    asking(p, "second", "stock", &three_seconds);
    c = asking(q, "c", "stock", &three_seconds);
    run_ms(s, 1);
    release_quietly(a);
    run_ms(s, 1);
    fixture_hush(s);
    when(first, "released", block);
    release(first);
    run_ms(s, 1);
    run_ms(s, 10);
    TELLS(s, "first:released c:OK");
    asking(r, "d", "stock", &three_seconds);
    run_ms(s, 10);
    fixture_hush(s);
    release_quietly(c);
    run_ms(s, 10);
    TELLS(s, "second:OK");
}

/* The answer that says so is read between the hand-off and its telling. */
A_PLAY(what_was_taken_before_it_is_told_is_waited_for)
{
    struct handle *a = held(the_client(s), "a", "stock", &fixed);
    asking(the_client(s), "b", "stock", &fixed);
    run_ms(s, 1);
    fixture_hush(s);
    s->is_tampered = 1;
    store_take(&s->store, "stock", "another", 2000);
    extend(a, 0);
    run_us(s, 150);
    world_jump_us(&s->world, 100);
    release(a);
    run_ms(s, 1000);
    TELLS(s, "a:extend LOST a:released");
    run_ms(s, 1500);
    TELLS(s, "b:OK");
}

A_PLAY(closing_hands_on_to_nobody)
{
    struct handle *a = held(the_client(s), "a", "stock", NULL);
    asking(the_client(s), "b", "stock", NULL);
    run_ms(s, 1);
    fixture_hush(s);
    release(a);
    client_close(the_client(s), 1000);
    run_ms(s, 10);
    TELLS(s, "a:released b:CLOSED closed");
    HOLDS(s, !is_ours(s, "stock"));
}

A_PLAY(a_store_that_is_away_does_not_stop_it)
{
    struct handle *a = held(the_client(s), "a", "stock", NULL), *b = asking(the_client(s), "b", "stock", NULL);
    run_ms(s, 1);
    cut_off(s);
    run_ms(s, 1);
    fixture_hush(s);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released b:OK");
    s->place->mood = NET_LISTENS;
    run_ms(s, 5000);
    TELLS(s, "");
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 20000);
}

/* The grant's own request was asked twice: the copy may run until not_after, in any later turn. */
A_PLAY(the_last_turn_is_released_twice_if_the_first_was_asked_twice)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000));
    struct handle *a = asking(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .act = PLAN_LOSE_ANSWER);
    when(a, "OK", release_it);
    when(b, "OK", release_it);
    run_ms(s, 5000);
    TELLS(s, "a:OK b:OK");
    SAME(s, asked(s, "mutex_acquire"), 2);
    SAME(s, asked(s, "mutex_release"), b->at_us < asked_at_us(s, "mutex_acquire", 0) + 1010000 ? 2 : 1);
    HOLDS(s, !is_ours(s, "stock"));
}

/* Its turn is found lost before its report. */
A_PLAY(a_turn_that_is_lost_untold_asks_again)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    asking(p, "c", "stock", &three_seconds);
    run_ms(s, 10);
    release_quietly(a);
    run_ms(s, 10);
    HOLDS(s, hilock_lock_state(b->lock) == HILOCK_STATE_HELD);
    fixture_hush(s);
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    PLAN(s, .on = "renew", .act = PLAN_DELAY_ANSWER, .us = 5000);
    extend(b, 0);
    run_us(s, 4500);
    p->loop.late_us = 2000;
    release_quietly(b);
    run_us(s, 1000);
    p->loop.late_us = 0;
    run_ms(s, 10);
    TELLS(s, "b:extend LOST c:OK");
}
