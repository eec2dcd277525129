/* SPDX-License-Identifier: BSD-3-Clause */
/* What votes must be good for: more than half, each for its own lease, given back when they were too few, and healed in time. */
#include <string.h>

#include "safety.h"

static struct party *quorum(struct scene *s, unsigned count)
{
    static const char *urls[SCENE_MASTERS_MAX + 1];
    for (unsigned i = 0; i <= count; i++)
        urls[i] = i < count ? scene_urls[i] : NULL;
    scene_masters(s, count);
    return scene_connect(s, HILOCK_CLIENT_OPTIONS(.quorum_urls = urls));
}

static void half_of_the_votes_are_too_few(struct scene *s)
{
    struct party *p = quorum(s, 4);
    struct hand *a = hand_new(p, "a", "stock", NULL);
    run_ms(s, 1);
    store_take(store_at(s, 0), "stock", "another", 60000);
    store_take(store_at(s, 1), "stock", "another", 60000);
    acquire(a, HILOCK_TRY);
    run_ms(s, 5);
    TELLS(s, "a:TIMED_OUT");
}

static void too_few_votes_are_given_back(struct scene *s)
{
    struct party *p = quorum(s, 3);
    struct hand *a = hand_new(p, "a", "stock", NULL);
    run_ms(s, 1);
    store_take(store_at(s, 0), "stock", "another", 60000);
    store_take(store_at(s, 1), "stock", "another", 60000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 1);
    s->is_tampered = 1;
    run_ms(s, 500);
    TELLS(s, "a:WAITING");
    HOLDS(s, !strstr(store_holder(store_at(s, 2), "stock"), p->uuid));
}

/* The third master's vote is on its way when the attempt is lost. */
static void the_next_try_is_not_blocked_by_the_votes_of_the_last(struct scene *s)
{
    struct party *p = quorum(s, 3);
    struct hand *a = hand_new(p, "a", "stock", NULL);
    run_ms(s, 1);
    store_take(store_at(s, 0), "stock", "another", 60000);
    store_take(store_at(s, 1), "stock", "another", 60000);
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 2), .act = PLAN_DELAY_ANSWER, .us = 1000);
    acquire(a, HILOCK_TRY);
    run_us(s, 250);
    store_delete(store_at(s, 1), "stock");
    acquire(a, HILOCK_TRY);
    run_ms(s, 5);
    TELLS(s, "a:TIMED_OUT a:OK");
}

static void a_hanging_master_is_not_asked_again(struct scene *s)
{
    struct party *p = quorum(s, 3);
    struct hand *a = hand_new(p, "a", "stock", NULL);
    run_ms(s, 1);
    world_freeze(&store_at(s, 2)->lane);
    for (int i = 0; i < 3; i++) {
        acquire(a, HILOCK_TRY);
        run_ms(s, 1);
        SAME(s, a->result.attempts, i < 1 ? 3 : 2);
        release(a);
        run_ms(s, 200);
    }
    TELLS(s, "a:OK a:released a:OK a:released a:OK a:released");
}

static void an_empty_master_is_healed(struct scene *s)
{
    struct party *p = quorum(s, 3);
    run_ms(s, 1);
    held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    for (unsigned i = 0; i < 3; i++) {
        store_restart(store_at(s, i), 0);
        net_reset_at(&s->net, &s->net.places[i]);
        run_ms(s, 2000);
    }
    TELLS(s, "");
}

/* A request to heal is lost with its link and runs all the same, between a refusal and the release. */
static void a_master_that_refuses_to_be_healed_is_released_too(struct scene *s)
{
    struct party *p = quorum(s, 3);
    struct plan *stray;
    struct hand *a;
    run_ms(s, 1);
    a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    stray = PLAN(s, .on = "mutex_acquire", .at = store_at(s, 2), .act = PLAN_STRAY, .us = 500000);
    store_restart(store_at(s, 2), 0);
    net_reset_at(&s->net, &s->net.places[2]);
    for (int i = 0; i < 4000 && !stray->met; i++)
        run_ms(s, 1);
    store_take(store_at(s, 2), "stock", "another", 60000);
    net_reset_at(&s->net, &s->net.places[2]);
    run_ms(s, 400);
    SAME(s, store_count(store_at(s, 2), "mutex_acquire"), 2);
    store_delete(store_at(s, 2), "stock");
    run_ms(s, 200);
    HOLDS(s, strstr(store_holder(store_at(s, 2), "stock"), p->uuid));
    release(a);
    run_ms(s, 5);
    TELLS(s, "a:released");
    TEXT(s, store_holder(store_at(s, 2), "stock"), "");
}

static void a_late_answer_moves_the_deadline_by_what_it_was_asked(struct scene *s)
{
    struct party *p = quorum(s, 3);
    struct hand *a;
    run_ms(s, 1);
    a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    PLAN(s, .on = "renew", .at = store_at(s, 0), .act = PLAN_DELAY_ANSWER, .us = 500000);
    PLAN(s, .on = "renew", .at = store_at(s, 2), .act = PLAN_REFUSE, .error = "OOM command not allowed", .after = 1);
    run_ms(s, 3100);
    extend(a, 30000);
    run_ms(s, 900);
    TELLS(s, "a:extend UNWRITABLE");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) < 9000);
}

/* The first master is still another's, so the free ones are left alone, for a while: he may be about to have them. */
static void who_is_woken_asks_one_master_before_the_others(struct scene *s)
{
    struct party *p = quorum(s, 3);
    run_ms(s, 1);
    for (unsigned i = 0; i < 3; i++)
        store_take(store_at(s, i), "stock", "another", 60000);
    acquire(hand_new(p, "a", "stock", NULL), HILOCK_FOREVER);
    run_ms(s, 20);
    store_free_name(store_at(s, 1), "stock");
    store_free_name(store_at(s, 2), "stock");
    run_ms(s, 1);
    HOLDS(s, !*store_holder(store_at(s, 1), "stock") && !*store_holder(store_at(s, 2), "stock"));
    run_ms(s, 50);
    TELLS(s, "a:WAITING a:OK");
}

const struct safety safety_quorum[] = {
    SAFETY(QUORUM_OF_HALF, half_of_the_votes_are_too_few),
    SAFETY(MULTI_KEEPS, too_few_votes_are_given_back),
    SAFETY(QUORUM_NO_BREAKER, a_hanging_master_is_not_asked_again),
    SAFETY(QUORUM_BLOCKS_ITSELF, the_next_try_is_not_blocked_by_the_votes_of_the_last),
    SAFETY(BALLOT_ALL_AT_ONCE, who_is_woken_asks_one_master_before_the_others),
    SAFETY(QUORUM_UNHEALED, an_empty_master_is_healed),
    SAFETY(QUORUM_HAUNT_FORGOTTEN, a_master_that_refuses_to_be_healed_is_released_too),
    SAFETY(QUORUM_STRAGGLER, a_late_answer_moves_the_deadline_by_what_it_was_asked),
    {NULL, {NULL, NULL}},
};
