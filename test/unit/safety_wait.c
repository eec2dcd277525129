/* SPDX-License-Identifier: BSD-3-Clause */
/* R7: no way to sleep through a release. R8: a grant is checked again behind every queue. */
#include "safety.h"

static void released_before_the_subscription_stood_it_is_still_noticed(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a = hand_new(p, "a", "stock", NULL);
    s->is_tampered = 1;
    store_take(&s->store, "stock", "another", 60000);
    acquire(a, HILOCK_FOREVER);
    run_us(s, 250); /* told that it is held; SUBSCRIBE is on its way */
    SAME(s, asked(s, "mutex_acquire"), 1);
    SAME(s, asked(s, "SUBSCRIBE"), 0);
    store_free_name(&s->store, "stock");
    run_ms(s, 2);
    TELLS(s, "a:WAITING a:OK");
}

/* The message is heard, the answer that is older than it comes after. */
static void a_message_between_question_and_answer_counts(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a = hand_new(p, "a", "stock", NULL);
    s->is_tampered = 1;
    store_take(&s->store, "stock", "another", 60000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 4);
    TELLS(s, "a:WAITING");
    PLAN(s, .on = "mutex_acquire", .act = PLAN_DELAY_ANSWER, .us = 5000);
    store_publish(&s->store, "redisson_lock__channel:{stock}", "0"); /* for nothing: asks again, and is told "held" in 5 ms */
    run_ms(s, 2);
    store_free_name(&s->store, "stock");
    run_ms(s, 5);
    TELLS(s, "a:OK");
}

/* Deaf (it may not subscribe), it learns of the reconnect alone that things may have changed. */
static void who_waits_tries_again_when_the_link_is_back(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a = hand_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.wake = HILOCK_WAKE_POLL, .poll_min_ms = 20000)); /* it sleeps for long */
    s->is_tampered = 1;
    store_take(&s->store, "stock", "another", 60000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    TELLS(s, "a:WAITING");
    net_reset(&s->net, NULL, NET_ALL);
    store_delete(&s->store, "stock");
    run_ms(s, 100);
    TELLS(s, "a:OK");
}

static void block_for_two_seconds(struct hand *hand) { world_jump_us(&hand->scene->world, 2000000); }

/* Two grants arrive together; what is done in the first callback takes long. */
static void a_grant_that_aged_in_the_queue_is_not_handed_over(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a = hand_new(p, "a", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    struct hand *b = hand_new(p, "b", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .min_validity_ms = 1500));
    acquire(a, HILOCK_FOREVER);
    acquire(b, HILOCK_FOREVER);
    when(a, "OK", block_for_two_seconds);
    run_ms(s, 10);
    run_ms(s, 10);
    TELLS(s, "a:OK b:OK");
    HOLDS(s, b->result.remaining_ms >= 1500);
    SAME(s, b->result.attempts, 2);
}

/* A process that was stopped while it asked for the time measures the stop as a round trip. */
static void a_slow_round_trip_does_not_hold_back_for_long(struct scene *s)
{
    struct party *p = scene_open(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1)), *q;
    struct hand *a, *b, *c;
    PLAN(s, .on = "TIME", .act = PLAN_DELAY_ANSWER, .us = 2000000);
    run_ms(s, 2500);
    q = scene_connect(s, NULL);
    a = held(p, "a", "stock", NULL);
    b = hand_new(p, "b", "stock", NULL);
    c = hand_new(q, "c", "stock", NULL);
    acquire(b, HILOCK_FOREVER);
    acquire(c, HILOCK_FOREVER);
    run_ms(s, 10);
    TELLS(s, "b:WAITING c:WAITING");
    release_quietly(a);
    run_ms(s, 10);
    TELLS(s, "c:OK");
    release_quietly(c);
    run_ms(s, 600);
    TELLS(s, "b:OK");
}

static void release_and_ask_again(struct hand *hand)
{
    release_quietly(hand);
    acquire(hand, HILOCK_FOREVER);
}

/* All are woken by one message, and always in the same order; the last of them would lose against whoever comes back. */
static void of_three_who_want_it_all_the_time_each_has_his_turn(struct scene *s)
{
    struct hand *hands[3];
    for (int i = 0; i < 3; i++) {
        hands[i] = hand_new(scene_connect(s, NULL), (const char *[]){"a", "b", "c"}[i], "stock", NULL);
        acquire(hands[i], HILOCK_FOREVER);
        run_ms(s, 20);
    }
    scene_hush(s);
    for (int turn = 0; turn < 6; turn++) {
        release_and_ask_again(hands[turn % 3]);
        run_ms(s, 20);
    }
    TELLS(s, "b:OK a:WAITING c:OK b:WAITING a:OK c:WAITING b:OK a:WAITING c:OK b:WAITING a:OK c:WAITING");
}

/* Its turn comes when there is no memory, and nothing that is heard later would make it ask. */
static void who_had_no_memory_asks_when_there_is_some(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a = hand_new(p, "a", "stock", NULL), *b = hand_new(p, "b", "stock", NULL);
    store_take(&s->store, "stock", "another", 2000);
    acquire(a, HILOCK_FOREVER);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 10);
    scene_hush(s);
    s->memory.is_out = s->memory.spares_links = 1;
    cancel(a);
    run_ms(s, 10);
    s->memory.is_out = 0;
    run_ms(s, 5000);
    TELLS(s, "a:CANCELLED b:OK");
}

const struct safety safety_wait[] = {
    SAFETY(SHORTAGE_FOREVER, who_had_no_memory_asks_when_there_is_some),
    SAFETY(HOLD_BACK_ONCE, of_three_who_want_it_all_the_time_each_has_his_turn),
    SAFETY(HOLD_BACK_UNBOUNDED, a_slow_round_trip_does_not_hold_back_for_long),
    SAFETY(R7_NO_SECOND_TRY, released_before_the_subscription_stood_it_is_still_noticed),
    SAFETY(R7_NO_RETRY_AT_RECONNECT, who_waits_tries_again_when_the_link_is_back),
    SAFETY(R8_NO_CHECK_AFTER_QUEUE, a_grant_that_aged_in_the_queue_is_not_handed_over),
    SAFETY(R7_NEWS_FORGOTTEN, a_message_between_question_and_answer_counts),
    {NULL, {NULL, NULL}},
};
