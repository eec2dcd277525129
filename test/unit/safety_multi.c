/* SPDX-License-Identifier: BSD-3-Clause */
/* What a multi must not do to others: keep what it got while it waits, or overtake its siblings. */
#include "safety.h"

static const char *const abc[] = {"a", "b", "c", NULL};

static void a_refused_multi_keeps_nothing(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    store_take(&s->store, "c", "another", 60000);
    acquire(multi_new(p, "m", abc, NULL), HILOCK_FOREVER);
    run_ms(s, 20);
    TELLS(s, "m:WAITING");
    HOLDS(s, !is_ours(s, "a") && !is_ours(s, "b"));
}

/* "a" is taken when the message of "c" comes: it is asked for before, and after the subscription, and nothing else is. */
static void who_lost_asks_for_fewer_at_a_time(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    size_t before;
    store_take(&s->store, "c", "another", 60000);
    acquire(multi_new(p, "m", abc, NULL), HILOCK_FOREVER);
    run_ms(s, 20);
    before = asked(s, "mutex_acquire");
    store_take(&s->store, "a", "another", 60000);
    store_free_name(&s->store, "c");
    run_ms(s, 20);
    SAME(s, asked(s, "mutex_acquire") - before, 2);
    store_free_name(&s->store, "a");
    run_ms(s, 20);
    TELLS(s, "m:WAITING m:OK");
}

static void a_multi_stands_in_line_behind_its_siblings(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *one = held(p, "one", "b", NULL);
    acquire(multi_new(p, "m", abc, NULL), HILOCK_FOREVER);
    run_ms(s, 20);
    SAME(s, asked(s, "mutex_acquire"), 1);
    release(one);
    run_ms(s, 5);
    TELLS(s, "m:WAITING one:released m:OK");
}

static void fixed_leases_of_a_multi_end_together(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    PLAN(s, .on = "mutex_acquire", .act = PLAN_REFUSE, .error = "NOSCRIPT gone", .after = 1);
    PLAN(s, .on = "mutex_acquire", .act = PLAN_DELAY_REQUEST, .us = 400000, .after = 2);
    acquire(multi_new(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER)), HILOCK_FOREVER);
    run_ms(s, 500);
    TELLS(s, "m:OK");
    SAME(s, store_left_ms(&s->store, "a"), store_left_ms(&s->store, "b"));
}

/* "b" and "c" are never free together. */
static void a_multi_that_lost_often_keeps_what_it_has(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *m = multi_new(p, "m", abc, NULL);
    store_take(&s->store, "b", "another", 60000);
    acquire(m, HILOCK_FOREVER);
    run_ms(s, 20);
    for (int i = 0; i < 20 && hilock_lock_state(m->lock) != HILOCK_HELD; i++) {
        const char *taken = i % 2 ? "b" : "c", *freed = i % 2 ? "c" : "b";
        if (!is_ours(s, taken))
            store_take(&s->store, taken, "another", 60000);
        if (!is_ours(s, freed))
            store_free_name(&s->store, freed);
        run_ms(s, 50);
    }
    TELLS(s, "m:WAITING m:OK");
}

/* It has "a", and "b" is another's. */
static struct hand *keeping(struct scene *s, struct party *p, uint32_t lease_ms)
{
    struct hand *m = multi_new(p, "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = lease_ms));
    store_take(&s->store, "b", "another", 600000);
    acquire(m, HILOCK_FOREVER);
    run_ms(s, 20);
    for (int i = 0; i < 20 && !is_ours(s, "a"); i++) {
        store_take(&s->store, i % 2 ? "b" : "c", "another", 600000);
        store_free_name(&s->store, i % 2 ? "c" : "b");
        run_ms(s, 50);
    }
    HOLDS(s, is_ours(s, "a"));
    return m;
}

/* The store loses its data, and "a" goes to somebody else: what was kept there is not granted when the rest is got. */
static void what_is_kept_across_a_loss_of_data_is_asked_for_anew(struct scene *s)
{
    struct party *p = scene_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 0));
    struct hand *m = keeping(s, p, 30000);
    store_restart(&s->store, 0);
    store_take(&s->store, "a", "another", 600000);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 1000);
    HOLDS(s, hilock_lock_state(m->lock) != HILOCK_HELD);
    store_free_name(&s->store, "a");
    run_ms(s, 1000);
    HOLDS(s, hilock_lock_state(m->lock) == HILOCK_HELD && is_ours(s, "a"));
}

/* It keeps "a" for a quarter of its lease, then that goes back, though "b" is still another's. */
static void what_is_kept_goes_back_in_time(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    keeping(s, p, 8000);
    run_ms(s, 1800);
    HOLDS(s, is_ours(s, "a"));
    run_ms(s, 300);
    HOLDS(s, !is_ours(s, "a"));
    TELLS(s, "m:WAITING");
}

const struct safety safety_multi[] = {
    SAFETY(MULTI_KEEPS, a_refused_multi_keeps_nothing),
    SAFETY(MULTI_ALL_AT_ONCE, who_lost_asks_for_fewer_at_a_time),
    SAFETY(MULTI_KEEPS, what_is_kept_goes_back_in_time),
    SAFETY(MULTI_ADRIFT, what_is_kept_across_a_loss_of_data_is_asked_for_anew),
    SAFETY(MULTI_STARVES, a_multi_that_lost_often_keeps_what_it_has),
    SAFETY(MULTI_PASSES_SIBLINGS, a_multi_stands_in_line_behind_its_siblings),
    SAFETY(MULTI_UNEVEN, fixed_leases_of_a_multi_end_together),
    {NULL, {NULL, NULL}},
};
