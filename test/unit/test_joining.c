/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers of one client that count on one share (share_local_ms): what it saves, what it costs a writer, and that each has its own result,
 * release, extend, validity and loss. */
#include "play.h"

#define READS(...) HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER, .share_local_ms = 200, __VA_ARGS__)

enum { READERS = 200, LEASE_MS = 3000 };

/* Acquires "stock", and the clients are quiet for a millisecond. */
static struct handle *comes(struct client *p, const char *tag, const struct hilock_lock_options *options)
{
    struct handle *handle = acquiring(handle_new(p, tag, "stock", options), HILOCK_FOREVER);
    run_ms(p->fixture, 1);
    return handle;
}

static struct handle *reads(struct client *p, const char *tag) { return comes(p, tag, READS(.lease_ms = LEASE_MS)); }

static struct handle *writes(struct client *p, const char *tag) { return comes(p, tag, NULL); }

static size_t asked_in_all(const struct fixture *s) { return asked(s, "mutex_acquire") + asked(s, "share_release"); }

/* One a millisecond. */
WITH_CLIENT(two_hundred_readers_cost_two_commands)
{
    struct handle *all[READERS];
    s->is_untold = 1;
    for (int i = 0; i < READERS; i++)
        all[i] = comes(p, "reader", READS(.lease_ms = LEASE_MS));
    for (int i = 0; i < READERS; i++) {
        HOLDS(s, is_held(all[i]) && all[i]->result.status == HILOCK_OK);
        SAME(s, all[i]->result.fencing_token, all[0]->result.fencing_token);
        release(all[i]);
    }
    run_ms(s, 1);
    for (int i = 0; i < READERS; i++)
        SAME(s, all[i]->calls, 2);
    SAME(s, asked_in_all(s), 2);
}

WITH_CLIENT(a_writer_waits_no_longer_than_that)
{
    struct handle *a = reads(p, "a"), *w = writes(fixture_connect(s, NULL), "w");
    run_ms(s, 190);
    struct handle *b = reads(p, "b"); /* passes the writer */
    run_ms(s, 10);
    struct handle *c = reads(p, "c"); /* does not */
    TELLS(s, "a:OK w:WAITING b:OK c:WAITING");
    release(a);
    TELLS_IN(s, 2, "a:released");
    release(b);
    TELLS_IN(s, 2, "w:OK b:released");
    release(w);
    TELLS_IN(s, 2, "c:OK w:released");
    release(c);
    TELLS_IN(s, 2, "c:released");
}

/* What was asked for long ago would let a reader pass whoever came meanwhile. */
WITH_CLIENT(a_share_that_was_pushed_is_not_joined)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w"), *a = reads(p, "a");
    release(w);
    run_ms(s, 2);
    struct handle *b = reads(p, "b");
    TELLS(s, "w:OK a:WAITING a:OK w:released b:OK");
    HOLDS(s, a->result.fencing_token < b->result.fencing_token);
    SAME(s, counts_of(p).shares, 2);
    release_quietly(a);
    release_quietly(b);
}

WITH_CLIENT(they_may_leave_in_any_order)
{
    struct handle *a = reads(p, "a"), *b = reads(p, "b"), *c = reads(p, "c");
    SAME(s, asked(s, "share_renew"), 0);
    release(b);
    release(a);
    TELLS_IN(s, 1, "a:OK b:OK c:OK b:released a:released");
    TEXT(s, a->detail, "other handles of this client still count on the share of \"stock\", which goes on");
    SAME(s, asked(s, "share_release"), 0);
    TELLS_IN(s, 10 * LEASE_MS, ""); /* it is renewed for the last one */
    HOLDS(s, is_held(c) && hilock_lock_remaining_ms(c->lock));
    acquire(a, HILOCK_FOREVER); /* that share is not open any more */
    TELLS_IN(s, 1, "a:OK");
    HOLDS(s, a->result.fencing_token > c->result.fencing_token);
    release(c);
    TELLS_IN(s, 1, "c:released");
    SAME(s, asked(s, "share_release"), 1);
    release_quietly(a);
}

WITH_CLIENT(a_loss_is_the_loss_of_all)
{
    struct handle *a = reads(p, "a"), *b = reads(p, "b"), *c = reads(p, "c");
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    TELLS_IN(s, LEASE_MS, "a:OK b:OK c:OK a:LOST TAKEN b:LOST TAKEN c:LOST TAKEN");
    SAME(s, c->event.fencing_token, a->result.fencing_token);
    HOLDS(s, !is_held(a) && !is_held(b) && !is_held(c));
    SAME(s, counts_of(p).lost_taken, 3);
    SAME(s, asked(s, "share_release"), 1);
}

static struct handle *other, *third;

static void end_others(struct handle *handle)
{
    (void)handle;
    handle_free(other);
    release(third);
}

/* Inside on_lost of one: the second is told no more, and the third hears it as the answer to its release. */
WITH_CLIENT(others_may_end_inside_on_lost)
{
    struct handle *a = reads(p, "a");
    other = reads(p, "b");
    third = reads(p, "c");
    when(a, "LOST TAKEN", end_others);
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    TELLS_IN(s, LEASE_MS, "a:OK b:OK c:OK a:LOST TAKEN c:release LOST");
    SAME(s, asked(s, "share_release"), 1);
}

/* A drop tells nobody, and the others go on. A free of the last one ends the share. */
WITH_CLIENT(a_drop_is_of_one_handle)
{
    struct handle *a = reads(p, "a"), *b = reads(p, "b");
    handle_drop(a);
    TELLS_IN(s, 10 * LEASE_MS, "a:OK b:OK");
    HOLDS(s, !is_held(a) && is_held(b));
    SAME(s, asked(s, "share_release"), 0);
    handle_free(b);
    TELLS_IN(s, 1, "");
    SAME(s, asked(s, "share_release"), 1);
}

WITH_CLIENT(a_close_ends_all)
{
    struct handle *a = reads(p, "a");
    reads(p, "b");
    reads(p, "c");
    client_close(p, 1000);
    release(a);
    TELLS_IN(s, 900, "a:OK b:OK c:OK a:released");
    TELLS_IN(s, 200, "b:LOST CLOSING c:LOST CLOSING closed");
    HOLDS(s, p->is_closed);
    SAME(s, asked(s, "share_release"), 1);
}

WITH_CLIENT(an_abandoned_client_forgets_all)
{
    reads(p, "a");
    reads(p, "b");
    TELLS(s, "a:OK b:OK");
    s->is_tampered = 1;
    client_abandon(p);
    TELLS_IN(s, 1, "");
}

/* Of the share as much must be left as each handle needs. */
WITH_CLIENT(each_has_its_own_min_validity)
{
    struct handle *a = reads(p, "a");
    run_ms(s, 100);
    struct handle *b = comes(p, "b", READS(.lease_ms = LEASE_MS, .min_validity_ms = LEASE_MS - 200)); /* that is left */
    run_ms(s, 60);
    struct handle *c = comes(p, "c", READS(.lease_ms = LEASE_MS, .min_validity_ms = LEASE_MS - 100)); /* that is not */
    TELLS(s, "a:OK b:OK c:OK");
    SAME(s, asked(s, "mutex_acquire"), 2);
    HOLDS(s, a->result.fencing_token == b->result.fencing_token && b->result.fencing_token < c->result.fencing_token);
    release_quietly(a);
    release_quietly(b);
    release_quietly(c);
}

WITH_CLIENT(a_share_is_open_until_its_time_is_over_to_the_microsecond)
{
    for (int late_us = 0; late_us <= 1; late_us++) {
        struct handle *a = reads(p, "a"), *b = handle_new(p, "b", "stock", READS(.lease_ms = LEASE_MS));
        run_to(s, sent_at_us(s, "mutex_acquire", -1) + 200000 - 1 + (uint64_t)late_us);
        acquire(b, HILOCK_FOREVER);
        TELLS_IN(s, 1, "a:OK b:OK");
        SAME(s, a->result.fencing_token == b->result.fencing_token, !late_us);
        release_quietly(a);
        release_quietly(b);
        run_ms(s, 5);
    }
}

/* To the microsecond: what is left is enough, or a microsecond too little. */
WITH_CLIENT(a_share_is_joined_as_long_as_enough_is_left)
{
    for (int late_us = 0; late_us <= 1; late_us++) {
        struct handle *a = reads(p, "a"), *b = handle_new(p, "b", "stock", READS(.lease_ms = LEASE_MS, .min_validity_ms = LEASE_MS - 100));
        run_to(s, sent_at_us(s, "mutex_acquire", -1) + LEASE_MS * 1000 - (LEASE_MS * 10 + 7000) - (LEASE_MS - 100) * 1000 + (uint64_t)late_us);
        acquire(b, HILOCK_FOREVER);
        TELLS_IN(s, 1, "a:OK b:OK");
        SAME(s, a->result.fencing_token == b->result.fencing_token, !late_us);
        release_quietly(a);
        release_quietly(b);
        run_ms(s, 5);
    }
}

/* An extend lasts for the whole share, and is answered to the handle that asked for it. */
WITH_CLIENT(each_may_extend)
{
    struct handle *a = comes(p, "a", READS(.lease_ms = LEASE_MS, .renew = HILOCK_RENEW_NEVER));
    struct handle *b = comes(p, "b", READS(.lease_ms = LEASE_MS, .renew = HILOCK_RENEW_NEVER));
    extend(b, 2 * LEASE_MS);
    extend(a, 3 * LEASE_MS);
    TELLS_IN(s, 2, "a:OK b:OK b:extended a:extended");
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 2 * LEASE_MS);
    extend(a, LEASE_MS);
    handle_drop(b);
    TELLS_IN(s, 2, "a:extended");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 2 * LEASE_MS);
    TELLS_IN(s, 3 * LEASE_MS, "a:LOST EXPIRED");
}

/* Of the two that hold as it happens; a third one comes later. */
WITH_CLIENT(each_hears_of_failing_renewals)
{
    struct handle *a = reads(p, "a"), *b = reads(p, "b");
    run_ms(s, 300);
    cut_off(s);
    unheard_ms(s, LEASE_MS - 600);
    SAME(s, a->event.kind, HILOCK_EVENT_RENEWAL_FAILED);
    SAME(s, b->event.kind, HILOCK_EVENT_RENEWAL_FAILED);
    SAME(s, a->calls, 2);
    SAME(s, b->calls, 2);
    TELLS_IN(s, 600, "a:LOST EXPIRED b:LOST EXPIRED");
}

static struct handle *beside;

static void release_the_other(struct handle *handle)
{
    (void)handle;
    release_quietly(beside);
}

/* There is nobody to tell any more. */
WITH_CLIENT(who_is_released_by_the_first_that_hears_of_failing_renewals_hears_nothing)
{
    struct handle *a = reads(p, "a");
    beside = reads(p, "b");
    when(a, "RENEWAL_FAILED", release_the_other);
    run_ms(s, 300);
    cut_off(s);
    unheard_ms(s, LEASE_MS - 600);
    SAME(s, a->calls, 2);
    SAME(s, beside->calls, 1);
    TELLS_IN(s, 600, "a:LOST EXPIRED");
}

static void release_the_other_aloud(struct handle *handle)
{
    (void)handle;
    release(beside);
}

/* Before it was told of the loss itself. */
WITH_CLIENT(who_is_released_by_the_first_that_hears_of_a_loss_is_answered_LOST)
{
    struct handle *a = reads(p, "a");
    beside = reads(p, "b");
    reads(p, "c");
    when(a, "LOST EXPIRED", release_the_other_aloud);
    run_ms(s, 300);
    cut_off(s);
    unheard_ms(s, LEASE_MS);
    SAME(s, beside->result.operation, HILOCK_OP_RELEASE);
    SAME(s, beside->result.status, HILOCK_LOST);
    HOLDS(s, strstr(beside->detail, "our hold of \"stock\""));
    SAME(s, counts_of(p).release_lost, 1);
}

WITH_CLIENT(each_has_its_own_validity)
{
    struct handle *a = reads(p, "a"), *b = reads(p, "b");
    hilock_validity *of_a = NULL, *of_b = NULL;
    SAME(s, hilock_lock_validity(a->lock, &of_a), HILOCK_OK);
    SAME(s, hilock_lock_validity(b->lock, &of_b), HILOCK_OK);
    release_quietly(a);
    run_ms(s, 2 * LEASE_MS);
    SAME(s, hilock_validity_remaining_ms(of_a), 0);
    SAME(s, hilock_validity_remaining_ms(of_b), hilock_lock_remaining_ms(b->lock)); /* it follows the renewals */
    HOLDS(s, hilock_validity_remaining_ms(of_b) > LEASE_MS / 2);
    hilock_validity_unref(of_a);
    hilock_validity_unref(of_b);
    release_quietly(b);
}

/* A handle that joins and is cancelled at once leaves the share to the others. */
WITH_CLIENT(a_grant_that_is_cancelled_ends_nothing)
{
    struct handle *a = reads(p, "a"), *b = handle_new(p, "b", "stock", READS(.lease_ms = LEASE_MS));
    acquire(b, HILOCK_TRY);
    cancel(b);
    TELLS_IN(s, 10 * LEASE_MS, "a:OK b:CANCELLED");
    HOLDS(s, is_held(a));
    SAME(s, asked_in_all(s), 1);
    SAME(s, counts_of(p).undone, 0);
    release_quietly(a);
}

/* The first one leaves before the second one was told of its grant: the share is the second one's. */
WITH_CLIENT(a_grant_that_is_cancelled_by_the_last_is_undone)
{
    struct handle *a = reads(p, "a"), *b = acquiring(handle_new(p, "b", "stock", READS(.lease_ms = LEASE_MS)), HILOCK_FOREVER);
    release(a);
    cancel(b); /* it had joined, and was not told */
    TELLS_IN(s, 2, "a:OK b:CANCELLED a:released");
    SAME(s, counts_of(p).undone, 1);
    SAME(s, store_left_ms(&s->store, "stock"), -2);
}

static void stand_still(struct handle *handle) { world_jump_us(&handle->fixture->world, 150000); }

/* The loop stood still between its grant and its report, until too little is left and its wait is over. */
WITH_CLIENT(who_joined_and_is_told_too_late_ends_in_time)
{
    reads(p, "a");
    struct handle *b = handle_new(p, "b", "stock", READS(.lease_ms = LEASE_MS));
    struct handle *c = handle_new(p, "c", "stock", READS(.lease_ms = LEASE_MS, .min_validity_ms = 2850));
    when(b, "OK", stand_still);
    acquire(b, HILOCK_FOREVER);
    acquire(c, 100);
    TELLS_IN(s, 500, "a:OK b:OK c:TIMED_OUT");
    SAME(s, c->result.waited_ms, 150);
}

/* The share is over before it was told that it has joined. */
WITH_CLIENT(who_joined_a_share_that_is_over_asks_for_its_own)
{
    struct handle *a = reads(p, "a"), *b = handle_new(p, "b", "stock", READS(.lease_ms = LEASE_MS));
    acquire(b, HILOCK_FOREVER);
    world_jump_us(&s->world, 5000000);
    TELLS_IN(s, 10, "a:OK a:LOST SUSPENDED b:OK");
    HOLDS(s, is_held(b) && b->result.fencing_token > a->result.fencing_token);
}

WITH_CLIENT(the_first_may_leave_before_the_second_is_told)
{
    struct handle *a = reads(p, "a"), *b = handle_new(p, "b", "stock", READS(.lease_ms = LEASE_MS));
    acquire(b, HILOCK_TRY);
    release(a);
    TELLS_IN(s, 10 * LEASE_MS, "a:OK b:OK a:released");
    HOLDS(s, is_held(b));
    SAME(s, asked_in_all(s), 1);
    release_quietly(b);
}

/* Another number, another lease, no option: a share of its own. */
WITH_CLIENT(only_the_like_join)
{
    struct handle *a = reads(p, "a");
    struct handle *b = comes(p, "b", READS(.lease_ms = LEASE_MS + 1));
    struct handle *c = comes(p, "c", HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER, .lease_ms = LEASE_MS + 1));
    struct handle *d = reads(fixture_connect(s, NULL), "d");
    TELLS(s, "a:OK b:OK c:OK d:OK");
    SAME(s, asked(s, "mutex_acquire"), 4);
    SAME(s, counts_of(p).shares, 3);
    release_quietly(a);
    release_quietly(b);
    release_quietly(c);
    release_quietly(d);
}

/* While the server is away, another one may take over that lacks the share. */
WITH_CLIENT(a_share_that_must_be_verified_is_not_joined)
{
    reads(p, "a");
    cut_off(s);
    run_ms(s, 1);
    struct handle *b = reads(p, "b");
    TELLS_IN(s, 150, "a:OK");
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_WAITING);
    TELLS_IN(s, LEASE_MS, "a:RENEWAL_FAILED a:LOST EXPIRED");
}

/* Nor one that was proved over the former link only, though in the very microsecond of its last answer. */
WITH_CLIENT(a_share_of_a_former_link_is_not_joined)
{
    s->net.there_us = s->net.back_us = 0;
    reads(p, "a");
    PLAN(s, .on = "share_renew", .fate.back_us = 100000);
    net_reset(&s->net, NULL, NET_COMMANDS);
    for (int i = 0; i < 150 && asked(s, "share_renew") == 0; i++)
        run_ms(s, 1);
    struct handle *b = acquiring(handle_new(p, "b", "stock", READS(.lease_ms = LEASE_MS)), HILOCK_FOREVER);
    TELLS_IN(s, 200, "a:OK b:OK");
    SAME(s, asked(s, "mutex_acquire"), 2);
    release_quietly(b);
}

/* `held` counts handles, `shares` what the store counts. */
WITH_CLIENT(handles_on_one_share_are_one_share)
{
    struct handle *a = reads(p, "a"), *b = reads(p, "b");
    struct hilock_stats stats = counts_of(p);
    SAME(s, stats.held, 2);
    SAME(s, stats.shares, 1);
    SAME(s, stats.permits, 0);
    SAME(s, stats.granted, 2);
    SAME(s, stats.granted_local, 1);
    release(a);
    TELLS_IN(s, 1, "a:OK b:OK a:released");
    SAME(s, counts_of(p).held, 1);
    SAME(s, counts_of(p).shares, 1);
    release(b);
    TELLS_IN(s, 1, "b:released");
    SAME(s, counts_of(p).shares, 0);
    SAME(s, counts_of(p).released, 2);
}

/* Whichever allocation of the second one's acquire fails: it is refused, or has a share by itself, or joins. The releases need none. */
WITH_CLIENT(releases_of_one_share_need_no_memory)
{
    enum { ALLOCATIONS = 10 };
    s->is_untold = 1;
    for (int failing = 1; failing <= ALLOCATIONS; failing++) {
        struct handle *a = reads(p, "a"), *b = handle_new(p, "b", "stock", READS(.lease_ms = LEASE_MS));
        s->memory.fail_at = s->memory.asked + (uint64_t)failing;
        s->memory.fails = 1;
        hilock_status status = acquire(b, HILOCK_FOREVER);
        HOLDS(s, status == HILOCK_OK || status == HILOCK_NO_MEMORY);
        s->memory.fail_at = 0;
        run_ms(s, 60);
        SAME(s, is_held(b), status == HILOCK_OK);
        s->memory.is_out = s->memory.spares_links = 1;
        SAME(s, release(a), HILOCK_OK);
        if (status == HILOCK_OK)
            SAME(s, release(b), HILOCK_OK);
        run_ms(s, 5);
        HOLDS(s, a->calls == 2 && a->result.status == HILOCK_OK && (status != HILOCK_OK || (b->calls == 2 && b->result.status == HILOCK_OK)));
        s->memory.is_out = 0;
        handle_free(a);
        handle_free(b);
        run_ms(s, 300);
    }
    HOLDS(s, counts_of(p).granted_local > 0);
}
