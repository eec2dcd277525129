/* SPDX-License-Identifier: BSD-3-Clause */
/* Several handles that count on one share: the tenure of each ends by its own hold_max_ms, whether it was told of its grant or not, and the
 * share goes on for the others. */
#include "play.h"

#define READS(...) HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER, .share_local_ms = 200, __VA_ARGS__)

/* Acquires "stock", and the clients are quiet for a millisecond. */
static struct handle *comes(struct client *p, const char *tag, const struct hilock_lock_options *options)
{
    struct handle *handle = acquiring(handle_new(p, tag, "stock", options), HILOCK_FOREVER);
    run_ms(p->fixture, 1);
    return handle;
}

/* The time of each counts from its own grant, and the hold goes on for those whose time is not over. */
WITH_CLIENT(each_has_its_own_hold_max)
{
    struct handle *a = comes(p, "a", READS(.lease_ms = 1000, .hold_max_ms = 1500));
    run_ms(s, 150);
    struct handle *b = comes(p, "b", READS(.lease_ms = 1000, .hold_max_ms = 1500));
    TELLS_IN(s, 1340, "a:OK b:OK");
    SAME(s, hilock_lock_remaining_ms(a->lock) > 15, 0);
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 140);
    TELLS_IN(s, 20, "a:LOST HOLD_MAX");
    HOLDS(s, is_held(b));
    SAME(s, asked(s, "share_release"), 0);
    TELLS_IN(s, 150, "b:LOST HOLD_MAX");
    SAME(s, counts_of(p).renewals_failed, 0);
    SAME(s, counts_of(p).lost_hold_max, 2);
    SAME(s, asked(s, "share_release"), 1);
}

/* The end of one is no reason to renew for the others earlier. */
WITH_CLIENT(an_end_of_one_costs_no_command)
{
    struct handle *b;
    comes(p, "a", READS(.lease_ms = 3000, .hold_max_ms = 3500));
    run_ms(s, 100);
    b = comes(p, "b", READS(.lease_ms = 3000, .hold_max_ms = 3500));
    TELLS_IN(s, 3450, "a:OK b:OK a:LOST HOLD_MAX");
    SAME(s, asked(s, "share_renew"), 3);
    release_quietly(b);
}

/* A renewal under way does not fail because one of them has held for long enough. */
WITH_CLIENT(an_end_of_one_is_no_failure_of_a_renewal_under_way)
{
    struct handle *b;
    comes(p, "a", READS(.lease_ms = 1000, .hold_max_ms = 1000));
    run_ms(s, 100);
    b = comes(p, "b", READS(.lease_ms = 1000, .hold_max_ms = 1000));
    PLAN(s, .on = "share_renew", .after = 2, .fate.back_us = 50000);
    TELLS_IN(s, 910, "a:OK b:OK a:LOST HOLD_MAX");
    SAME(s, asked(s, "share_renew"), 3);
    HOLDS(s, is_held(b));
    TELLS_IN(s, 100, "b:LOST HOLD_MAX");
    SAME(s, counts_of(p).renewals, 3);
    SAME(s, counts_of(p).renewals_failed, 0);
}

static void jump_750_ms(struct handle *handle) { world_jump_us(&handle->fixture->world, 750000); }

static struct handle *joins;

static void jump_and_join(struct handle *handle)
{
    world_jump_us(&handle->fixture->world, 300000);
    acquire(joins, HILOCK_TRY);
}

/* The time of those that came first is over in one turn, before b (if it is there) was told of its grant; that of c, which came later, is
 * not. Nothing is lost but what was told: b asks anew. */
static void times_end_untold(struct fixture *s, struct client *p, int has_a, int has_b, const char *story)
{
    const struct hilock_lock_options *once =
        HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER, .share_local_ms = 333, .lease_ms = 1000, .hold_max_ms = 1000);
    struct handle *a = comes(p, "a", once), *x = handle_new(p, "x", "one", NULL), *y = handle_new(p, "y", "two", NULL);
    uint64_t token = a->result.fencing_token;
    joins = handle_new(p, "c", "stock", once);
    extend(a, 60000);
    TELLS_IN(s, 2, "a:OK a:extended");
    when(x, "CANCELLED", jump_and_join);
    when(y, "CANCELLED", jump_750_ms);
    acquire(x, HILOCK_FOREVER);
    acquire(y, HILOCK_FOREVER);
    cancel(x);
    cancel(y);
    if (has_b)
        acquire(handle_new(p, "b", "stock", once), HILOCK_FOREVER);
    if (!has_a)
        handle_drop(a);
    for (int i = 0; i < 3; i++) /* two of these end by a jump */
        run_ms(s, 2);
    TELLS(s, story);
    SAME(s, counts_of(p).lost_hold_max, has_a);
    if (!has_b)
        SAME(s, joins->result.fencing_token, token); /* it has the share of the others */
    release_quietly(joins);
}

WITH_CLIENT(a_tenure_that_is_over_untold_is_no_loss) { times_end_untold(s, p, 1, 1, "x:CANCELLED y:CANCELLED a:LOST HOLD_MAX b:OK c:OK"); }
WITH_CLIENT(a_tenure_that_is_over_untold_alone_is_no_loss) { times_end_untold(s, p, 0, 1, "x:CANCELLED y:CANCELLED b:OK c:OK"); }
WITH_CLIENT(the_end_of_one_tenure_takes_no_untold_grant_away) { times_end_untold(s, p, 1, 0, "x:CANCELLED y:CANCELLED a:LOST HOLD_MAX c:OK"); }

/* Nor does it hide that the renewal has failed, or that the time of the next one is over. */
WITH_CLIENT(an_end_of_one_leaves_the_alarms_of_the_others)
{
    comes(p, "a", READS(.lease_ms = 3000, .hold_max_ms = 3010));
    run_ms(s, 100);
    comes(p, "b", READS(.lease_ms = 3000, .hold_max_ms = 3010));
    PLAN(s, .on = "share_renew", .after = 2, .fate.is_lost = 1);
    TELLS_IN(s, 2950, "a:OK b:OK a:LOST HOLD_MAX");
    SAME(s, asked(s, "share_renew"), 2);
    TELLS_IN(s, 70, "b:LOST HOLD_MAX");
}

static struct handle *readers[2];

static void release_readers(struct handle *handle)
{
    (void)handle;
    release_quietly(readers[1]);
    release_quietly(readers[0]);
}

/* The times of c and of a are over in one turn. That of c is told first, and in that callback both readers leave their
 * share: it ends at the store, although the loss of one of them was not told. */
WITH_CLIENT(a_share_ends_though_a_loss_of_it_was_not_told_yet)
{
    const struct hilock_lock_options *once = READS(.lease_ms = 1000, .hold_max_ms = 1500);
    struct handle *c = acquiring(handle_new(p, "c", "lamp", once), HILOCK_TRY);
    readers[0] = comes(p, "a", once);
    run_ms(s, 150);
    readers[1] = comes(p, "b", once);
    when(c, "LOST HOLD_MAX", release_readers);
    run_ms(s, 1240);
    world_freeze(&p->loop.lane);
    run_ms(s, 130);
    world_thaw(&s->world, &p->loop.lane);
    run_ms(s, 20);
    SAME(s, store_left_ms(&s->store, "stock"), -2);
}

static void release_the_second(struct handle *handle)
{
    (void)handle;
    release_quietly(readers[1]);
}

/* The first has lost its time and was not told yet, so it is still on the share when the other one leaves. */
WITH_CLIENT(the_last_that_is_told_of_its_own_loss_ends_the_share)
{
    const struct hilock_lock_options *once = READS(.lease_ms = 1000, .hold_max_ms = 1500);
    struct handle *c = acquiring(handle_new(p, "c", "lamp", once), HILOCK_TRY);
    readers[0] = comes(p, "a", once);
    run_ms(s, 150);
    readers[1] = comes(p, "b", once);
    when(c, "LOST HOLD_MAX", release_the_second);
    unheard_ms(s, 1240);
    world_freeze(&p->loop.lane);
    run_ms(s, 130);
    world_thaw(&s->world, &p->loop.lane);
    TELLS_IN(s, 20, "c:LOST HOLD_MAX a:LOST HOLD_MAX");
    SAME(s, store_left_ms(&s->store, "stock"), -2);
}
