/* SPDX-License-Identifier: BSD-3-Clause */
/* One hold, several handles of one client, one after the other: what it costs, whose turn it is, what each gets reported, and when it ends. */
#include <stdio.h>
#include <string.h>

#include "play.h"

static const struct hilock_lock_options three_seconds = {.size = sizeof three_seconds, .lease_ms = 3000};

static struct hilock_stats stats_of(struct client *p)
{
    struct hilock_stats stats = {.size = sizeof stats};
    hilock_client_stats(p->client, &stats);
    return stats;
}

static void release_it(struct handle *handle) { release_quietly(handle); }

/* ---- reports and costs ---- */

A_PLAY(a_release_hands_on_with_no_command)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    uint64_t token = a->result.fencing_token, granted_us = sent_at_us(s, "mutex_acquire", 0);
    run_ms(s, 10);
    fixture_hush(s);
    release(a);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
    SAME(s, hilock_lock_remaining_ms(a->lock), 0);
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_WAITING);
    run_us(s, 1);
    TELLS(s, "a:released b:OK");
    SAME(s, a->result.attempts, 0);
    TEXT(s, a->detail, "handed to the next handle of this client that waited for \"stock\", with no command");
    SAME(s, b->result.attempts, 0);
    SAME(s, b->result.fencing_token, token + 1);
    SAME(s, b->result.state, HILOCK_STATE_HELD);
    BELIEVES(s, b, granted_us + 3000000 - 37000);
    SAME(s, asked(s, "mutex_acquire"), 1);
    SAME(s, asked(s, "mutex_release"), 0);
    SAME(s, stats_of(p).granted, 2);
    SAME(s, stats_of(p).granted_local, 1);
    SAME(s, stats_of(p).released, 1);
    SAME(s, release(a), HILOCK_NOT_HELD);
}

A_PLAY(all_in_line_have_their_turn_in_order)
{
    struct handle *a = held(the_client(s), "a", "stock", NULL), *line[4];
    char tag[2] = "b";
    for (int i = 0; i < 4; i++, tag[0]++) {
        line[i] = asking(the_client(s), tag, "stock", NULL);
        when(line[i], "OK", release_it);
    }
    run_ms(s, 10);
    fixture_hush(s);
    release_quietly(a);
    run_ms(s, 1);
    TELLS(s, "b:OK c:OK d:OK e:OK");
    for (int i = 0; i < 4; i++)
        SAME(s, line[i]->result.fencing_token, a->result.fencing_token + (uint64_t)i + 1);
    SAME(s, asked(s, "mutex_acquire"), 1);
    SAME(s, asked(s, "mutex_release"), 1);
}

A_PLAY(a_later_grant_has_a_higher_token_than_every_turn)
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL), *c;
    world_clock_step(&s->store.clock, -5000000);
    release_quietly(a);
    run_ms(s, 1);
    release_quietly(b);
    run_ms(s, 1);
    c = held(q, "c", "stock", NULL);
    SAME(s, c->result.fencing_token, a->result.fencing_token + 16);
}

A_PLAY(the_hold_is_renewed_as_if_it_had_one_owner)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    uint64_t granted_us = sent_at_us(s, "mutex_acquire", 0);
    run_ms(s, 500);
    release_quietly(a);
    run_ms(s, 600);
    SAME(s, sent_at_us(s, "renew", 0), granted_us + 1000000);
    BELIEVES(s, b, granted_us + 4000000 - 37000);
    run_ms(s, 9000);
    TELLS(s, "b:WAITING b:OK");
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 1000);
    SAME(s, hilock_lock_token(b->lock), a->result.fencing_token + 1);
}

A_PLAY(hold_max_counts_from_the_begin_of_the_turn)
{
    struct client *p = fixture_connect(s, NULL);
    const struct hilock_lock_options *most = HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .hold_max_ms = 3000);
    struct handle *a = held(p, "a", "stock", most);
    asking(p, "b", "stock", most);
    run_ms(s, 900);
    release_quietly(a);
    run_ms(s, 2990);
    TELLS(s, "b:WAITING b:OK");
    run_ms(s, 20);
    TELLS(s, "b:LOST HOLD_MAX");
    run_ms(s, 10);
    HOLDS(s, !is_ours(s, "stock"));
}

A_PLAY(a_loss_is_told_to_whose_turn_it_is)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    release_quietly(a);
    run_ms(s, 1);
    s->is_tampered = 1;
    store_take(&s->store, "stock", "another", 60000);
    run_ms(s, 1100);
    TELLS(s, "b:WAITING b:OK b:LOST TAKEN");
    SAME(s, b->event.fencing_token, a->result.fencing_token + 1);
}

A_PLAY(a_try_is_denied_all_the_while)
{
    struct handle *a = held(the_client(s), "a", "stock", NULL), *t = handle_new(the_client(s), "t", "stock", NULL);
    asking(the_client(s), "b", "stock", NULL);
    run_ms(s, 1);
    fixture_hush(s);
    release_quietly(a);
    acquire(t, HILOCK_TRY);
    run_us(s, 1);
    TELLS(s, "b:OK t:TIMED_OUT");
    acquire(t, HILOCK_TRY);
    run_us(s, 1);
    TELLS(s, "t:TIMED_OUT");
    SAME(s, asked(s, "mutex_acquire"), 1);
}

static void acquire_it(struct handle *handle) { SAME(handle->fixture, acquire(handle, HILOCK_FOREVER), HILOCK_OK); }

A_PLAY(the_old_handle_may_stand_in_line_again)
{
    struct handle *a = held(the_client(s), "a", "stock", NULL), *b = asking(the_client(s), "b", "stock", NULL);
    run_ms(s, 1);
    fixture_hush(s);
    when(a, "released", acquire_it);
    release(a);
    run_us(s, 1);
    TELLS(s, "a:released b:OK a:WAITING");
    release_quietly(b);
    run_us(s, 1);
    TELLS(s, "a:OK");
    SAME(s, asked(s, "mutex_acquire"), 1);
}

/* ---- what belonged to the old turn ---- */

A_PLAY(a_validity_ends_with_its_turn)
{
    struct handle *a = held(the_client(s), "a", "stock", NULL), *b = asking(the_client(s), "b", "stock", NULL);
    hilock_validity *old = NULL, *next = NULL;
    SAME(s, hilock_lock_validity(a->lock, &old), HILOCK_OK);
    release_quietly(a);
    SAME(s, hilock_validity_remaining_ms(old), 0);
    run_ms(s, 1);
    SAME(s, hilock_lock_validity(b->lock, &next), HILOCK_OK);
    HOLDS(s, next != old && hilock_validity_remaining_ms(next) > 29000);
    SAME(s, hilock_validity_remaining_ms(old), 0);
    hilock_validity_unref(old);
    hilock_validity_unref(next);
}

A_PLAY(counts_end_with_their_turn)
{
    struct client *p = fixture_connect(s, NULL);
    const struct hilock_lock_options *again = HILOCK_LOCK_OPTIONS(.reentrant = 1);
    struct handle *a = held(p, "a", "stock", again), *b = asking(p, "b", "stock", again);
    acquire(a, HILOCK_TRY);
    run_ms(s, 1);
    fixture_hush(s);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released");
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released b:OK");
    SAME(s, b->result.hold_count, 1);
    SAME(s, asked(s, "mutex_release"), 0);
}

A_PLAY(an_extended_hold_is_released)
{
    struct handle *a = held(the_client(s), "a", "stock", &three_seconds);
    asking(the_client(s), "b", "stock", &three_seconds);
    extend(a, 60000);
    run_ms(s, 1);
    fixture_hush(s);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released b:OK");
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, asked(s, "mutex_acquire"), 1);
}

A_PLAY(an_extend_under_way_is_LOST_and_the_hold_goes_on)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds);
    uint64_t extended_us;
    run_ms(s, 1);
    fixture_hush(s);
    extended_us = fixture_us(s);
    extend(a, 0);
    run_us(s, 50);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:extend LOST a:released b:OK");
    BELIEVES(s, b, extended_us + 3000000 - 37000); /* its answer proves what it did before */
    SAME(s, asked(s, "mutex_release"), 0);
}

A_PLAY(a_renewal_under_way_proves_nothing_of_a_longer_lease)
{
    struct handle *a = held(the_client(s), "a", "stock", &three_seconds);
    struct handle *b = asking(the_client(s), "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 60000, .min_validity_ms = 1000));
    run_ms(s, 10);
    extend(a, 0);
    run_us(s, 50);
    release_quietly(a);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_release"), 1);
    BELIEVES(s, b, sent_at_us(s, "mutex_release", 0) + 60000000 - 607000);
}

/* ---- the bound ---- */

A_PLAY(it_serves_so_many_and_is_released)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 3)), *q = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", NULL);
    char tag[2] = "b";
    for (int i = 0; i < 4; i++, tag[0]++)
        when(asking(p, tag, "stock", NULL), "OK", release_it);
    asking(q, "q", "stock", NULL);
    run_ms(s, 10);
    fixture_hush(s);
    release_quietly(a);
    run_ms(s, 1);
    TELLS(s, "b:OK c:OK q:OK");
    release_quietly(TAILQ_LAST(&s->handles, handles));
    run_ms(s, 10);
    TELLS(s, "d:OK e:OK");
}

A_PLAY(none_begins_when_a_third_of_the_lease_is_over)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", &three_seconds), *b = asking(p, "b", "stock", &three_seconds), *c = asking(p, "c", "stock", &three_seconds);
    uint64_t granted_us = a->at_us;
    run_to(s, granted_us + 999999);
    release_quietly(a);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_release"), 0);
    SAME(s, b->result.status, HILOCK_OK);
    release_quietly(b);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, c->result.attempts, 1);
}

A_PLAY(one_turn_is_no_hand_off)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1));
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    release_quietly(a);
    run_ms(s, 1);
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, asked(s, "mutex_acquire"), 1);
}

/* ---- a release that takes the next along ---- */

A_PLAY(others_in_the_queue_come_before_who_goes_along)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1)), *q = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", NULL), *other;
    asking(p, "b", "stock", NULL);
    other = asking(q, "q", "stock", NULL);
    run_ms(s, 10);
    fixture_hush(s);
    store_forget(&s->store);
    release_quietly(a);
    run_ms(s, 2);
    TELLS(s, "q:OK");
    release_quietly(other);
    run_ms(s, 2);
    TELLS(s, "b:OK");
    SAME(s, asked(s, "mutex_acquire"), 1); /* as its channel was confirmed */
}

A_PLAY(who_gives_up_on_the_way_leaves_nothing)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1, .command_timeout_ms = 1000));
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    PLAN(s, .on = "mutex_release", .act = PLAN_DELAY_ANSWER, .us = 5000);
    release_quietly(a);
    run_ms(s, 1);
    HOLDS(s, is_ours(s, "stock"));
    cancel(b);
    run_ms(s, 10);
    TELLS(s, "b:WAITING b:CANCELLED");
    TEXT(s, store_holder(&s->store, "stock"), "");
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2);
    TELLS(s, "a:OK");
}

/* It is granted by a push before the answer comes that says that it waits. */
A_PLAY(a_push_may_overtake_the_answer)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1)), *q = fixture_connect(s, NULL);
    struct handle *a, *b, *other;
    handle_new(p, "x", "other", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR)); /* for its grants it listens already */
    a = held(p, "a", "stock", NULL);
    b = asking(p, "b", "stock", NULL);
    other = asking(q, "q", "stock", NULL);
    run_ms(s, 10);
    fixture_hush(s);
    PLAN(s, .on = "mutex_release", .act = PLAN_DELAY_ANSWER, .us = 5000);
    release_quietly(a);
    run_ms(s, 1);
    release_quietly(other);
    run_ms(s, 1);
    TELLS(s, "q:OK b:OK");
    run_ms(s, 10);
    TELLS(s, "");
    release_quietly(b);
    run_ms(s, 10);
    TEXT(s, store_holder(&s->store, "stock"), "");
}
