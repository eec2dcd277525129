/* SPDX-License-Identifier: BSD-3-Clause */
/* The line of one name: who asks, when, how often; who is told what; and R7 in times. */
#include <stdio.h>
#include <string.h>

#include "play.h"

#define CHANNEL "redisson_lock__channel:{stock}"

/* Without hand-off: each release is one at the store. */
static const struct hilock_client_options alone = {.size = sizeof alone, .turns_max = 1};

static struct hand *waiting(struct party *p, const char *tag, uint32_t wait_ms)
{
    struct hand *hand = hand_new(p, tag, "stock", NULL);
    acquire(hand, wait_ms);
    return hand;
}

static void subscribe_confirm_ask_again_sleep(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a = hand_new(p, "a", "stock", NULL);
    uint64_t begun_us;
    store_take(&s->store, "stock", "another", 60000);
    run_ms(s, 1); /* for its subscription link */
    begun_us = scene_us(s);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 4000);
    TELLS(s, "a:WAITING");
    SAME(s, asked(s, "mutex_acquire"), 2);
    SAME(s, sent_at_us(s, "mutex_acquire", 0), begun_us);
    SAME(s, sent_at_us(s, "SUBSCRIBE", 0), begun_us + 200);
    SAME(s, sent_at_us(s, "mutex_acquire", 1), begun_us + 400);
    TEXT(s, store_line(&s->store, "SUBSCRIBE", 0)->text, "SUBSCRIBE " CHANNEL);
}

static void a_message_wakes_within_one_round_trip(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a;
    uint64_t freed_us;
    store_take(&s->store, "stock", "another", 60000);
    a = waiting(p, "a", HILOCK_FOREVER);
    run_ms(s, 700);
    freed_us = scene_us(s);
    store_free_name(&s->store, "stock");
    run_ms(s, 1);
    TELLS(s, "a:WAITING a:OK");
    SAME(s, a->at_us, freed_us + 100 + 200); /* the message, and one request */
    SAME(s, a->result.attempts, 3);
}

static void the_end_of_the_holders_lease_wakes(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a;
    uint64_t taken_us = scene_us(s);
    store_take(&s->store, "stock", "another", 1500);
    a = waiting(p, "a", HILOCK_FOREVER);
    run_ms(s, 3000);
    TELLS(s, "a:WAITING a:OK");
    SAME(s, asked(s, "mutex_acquire"), 3);
    /* its last millisecond is still his: one round trip behind PTTL + 1, counted from the latest answer, is the soonest that is right */
    HOLDS(s, a->at_us >= taken_us + 1501000 && a->at_us <= taken_us + 1502000);
}

static void a_holder_that_never_publishes_is_polled_every_five_seconds(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    store_take(&s->store, "stock", "another", 60000);
    waiting(p, "a", HILOCK_FOREVER);
    run_ms(s, 100);
    store_delete(&s->store, "stock");
    run_ms(s, 4800);
    TELLS(s, "a:WAITING");
    run_ms(s, 200);
    TELLS(s, "a:OK");
    SAME(s, sent_at_us(s, "mutex_acquire", 2), sent_at_us(s, "mutex_acquire", 1) + 200 + 5000000);
}

static void a_holder_without_an_expiry_is_polled_every_five_seconds(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    store_take(&s->store, "stock", "another", 0);
    waiting(p, "a", HILOCK_FOREVER);
    run_ms(s, 20010);
    SAME(s, asked(s, "mutex_acquire"), 2 + 4);
}

static void who_may_not_subscribe_polls(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct plan *denied = PLAN(s, .on = "SUBSCRIBE", .act = PLAN_REFUSE, .error = "NOPERM No permissions to access a channel", .times = PLAN_ALWAYS);
    store_take(&s->store, "stock", "another", 60000);
    waiting(p, "a", HILOCK_FOREVER);
    run_ms(s, 12000);
    HOLDS(s, asked(s, "mutex_acquire") >= 120 && asked(s, "mutex_acquire") <= 240);
    SAME(s, denied->met, 1);
    store_delete(&s->store, "stock");
    run_ms(s, 101);
    TELLS(s, "a:WAITING a:OK");
    HOLDS(s, strstr(p->log, "SUBSCRIBE refused: NOPERM"));
}

static void a_new_subscription_link_makes_all_try_again(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    store_take(&s->store, "stock", "another", 60000);
    waiting(p, "a", HILOCK_FOREVER);
    run_ms(s, 100);
    SAME(s, asked(s, "mutex_acquire"), 2);
    SAME(s, net_reset(&s->net, NULL, NET_STREAMS), 1);
    store_delete(&s->store, "stock"); /* the message that nobody heard */
    run_ms(s, 200);
    TELLS(s, "a:WAITING a:OK");
    SAME(s, asked(s, "SUBSCRIBE"), 2);
    HOLDS(s, asked_at_us(s, "mutex_acquire", 2) > asked_at_us(s, "SUBSCRIBE", 1));
}

static void only_the_head_of_the_line_asks(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    store_take(&s->store, "stock", "another", 60000);
    for (int i = 0; i < 10; i++)
        waiting(p, "w", HILOCK_FOREVER);
    run_ms(s, 4000);
    SAME(s, asked(s, "mutex_acquire"), 2);
    SAME(s, asked(s, "SUBSCRIBE"), 1);
    TELLS(s, "w:WAITING w:WAITING w:WAITING w:WAITING w:WAITING w:WAITING w:WAITING w:WAITING w:WAITING w:WAITING");
}

static void release_it(struct hand *hand) { release_quietly(hand); }

static void the_line_is_first_come_first_served(struct scene *s)
{
    struct party *p = scene_connect(s, &alone);
    struct hand *a = held(p, "a", "stock", NULL), *b = waiting(p, "b", HILOCK_FOREVER), *c = waiting(p, "c", HILOCK_FOREVER);
    run_ms(s, 10);
    TELLS(s, "b:WAITING c:WAITING");
    when(b, "OK", release_it);
    when(c, "OK", release_it);
    release_quietly(a);
    run_ms(s, 10);
    TELLS(s, "b:OK c:OK");
    SAME(s, asked(s, "mutex_acquire"), 3);
    SAME(s, asked(s, "mutex_release"), 3);
}

static void the_next_in_line_asks_when_the_head_gives_up(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a, *b;
    store_take(&s->store, "stock", "another", 60000);
    a = waiting(p, "a", HILOCK_FOREVER);
    b = waiting(p, "b", HILOCK_FOREVER);
    run_ms(s, 10);
    cancel(a);
    run_ms(s, 10);
    store_free_name(&s->store, "stock");
    run_ms(s, 10);
    TELLS(s, "a:WAITING b:WAITING a:CANCELLED b:OK");
    HOLDS(s, b->result.attempts >= 1);
}

static void who_waits_behind_a_sibling_is_told_his_holder(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *b;
    char holder[SCENE_TEXT];
    held(p, "a", "stock", NULL);
    b = waiting(p, "b", 1000);
    run_ms(s, 10);
    TELLS(s, "b:WAITING");
    TEXT(s, b->holder, store_holder(&s->store, "stock"));
    snprintf(holder, sizeof holder, "%s", b->holder);
    SAME(s, b->event.waited_ms, 0);
    run_ms(s, 1000);
    TELLS(s, "b:TIMED_OUT");
    SAME(s, b->result.attempts, 0);
    TEXT(s, b->detail, "\"stock\" is held by another handle of this client, 51000001..:1, for 28692 ms at least");
    SAME(s, asked(s, "mutex_acquire"), 1);
}

static void WAITING_is_told_once_or_as_often_as_asked(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *b = hand_new(p, "b", "stock", HILOCK_LOCK_OPTIONS(.wait_report_ms = 300));
    store_take(&s->store, "stock", "another", 60000);
    waiting(p, "a", HILOCK_FOREVER);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 1000);
    TELLS(s, "a:WAITING b:WAITING b:WAITING b:WAITING b:WAITING");
    SAME(s, b->event.waited_ms, 900);
    TEXT(s, b->holder, "another");
}

static void others_who_listen_get_their_turn_after_a_release(struct scene *s)
{
    struct party *p = scene_connect(s, &alone), *q = scene_connect(s, NULL);
    struct hand *a = held(p, "a", "stock", NULL);
    waiting(p, "b", HILOCK_FOREVER);
    waiting(q, "c", HILOCK_FOREVER);
    run_ms(s, 10);
    TELLS(s, "b:WAITING c:WAITING");
    release_quietly(a);
    run_ms(s, 10);
    TELLS(s, "c:OK");
    /* not before two round trips, at least a millisecond, have passed since the answer to the release */
    HOLDS(s, sent_at_us(s, "mutex_acquire", -1) >= asked_at_us(s, "mutex_release", 0) + 100 + 1000);
}

static void acquire_it(struct hand *hand) { acquire(hand, HILOCK_FOREVER); }

static void so_they_do_when_we_ask_again_only_in_the_releases_callback(struct scene *s)
{
    struct party *p = scene_connect(s, NULL), *q = scene_connect(s, NULL);
    struct hand *a = held(p, "a", "stock", NULL);
    int again = 1;
    waiting(q, "c", HILOCK_FOREVER);
    run_ms(s, 10);
    scene_hush(s);
    when(a, "released", acquire_it);
    release(a);
    run_ms(s, 10);
    TELLS(s, "a:released c:OK a:WAITING");
    while (again < 10 && !strstr(store_line(&s->store, "mutex_acquire", again)->text, p->uuid))
        again++;
    HOLDS(s, again < 10 && sent_at_us(s, "mutex_acquire", again) >= asked_at_us(s, "mutex_release", 0) + 100 + 1000);
}

static struct hand *beside;
static void drop_beside_and_acquire_it(struct hand *hand)
{
    hand_drop(beside);
    acquire(hand, HILOCK_FOREVER);
}

static void so_they_do_when_nobody_of_us_waited_for_a_moment(struct scene *s)
{
    struct party *p = scene_connect(s, &alone), *q = scene_connect(s, NULL);
    struct hand *a = held(p, "a", "stock", NULL);
    beside = waiting(p, "b", HILOCK_FOREVER);
    waiting(q, "c", HILOCK_FOREVER);
    run_ms(s, 10);
    scene_hush(s);
    when(a, "released", drop_beside_and_acquire_it);
    release(a);
    run_ms(s, 10);
    TELLS(s, "a:released c:OK a:WAITING");
    HOLDS(s, sent_at_us(s, "mutex_acquire", -1) >= asked_at_us(s, "mutex_release", 0) + 100 + 1000);
}

static void our_own_lingering_subscription_is_nobody_else(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a = hand_new(p, "a", "stock", NULL);
    store_take(&s->store, "stock", "another", 60000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    store_free_name(&s->store, "stock");
    run_ms(s, 10);
    scene_hush(s);
    when(a, "released", acquire_it);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released a:OK");
    SAME(s, a->at_us, asked_at_us(s, "mutex_release", 0) + 100 + 200);
}

static void nobody_is_waited_for_when_nobody_listens(struct scene *s)
{
    struct party *p = scene_connect(s, &alone);
    struct hand *a = held(p, "a", "stock", NULL), *b;
    b = waiting(p, "b", HILOCK_FOREVER);
    run_ms(s, 10);
    release_quietly(a);
    run_ms(s, 1);
    TELLS(s, "b:WAITING b:OK");
    SAME(s, b->at_us, asked_at_us(s, "mutex_release", 0) + 100 + 200);
}

static void our_own_subscription_is_nobody_else(struct scene *s)
{
    struct party *p = scene_connect(s, &alone);
    struct hand *a, *b;
    store_take(&s->store, "stock", "another", 60000);
    a = waiting(p, "a", HILOCK_FOREVER);
    b = waiting(p, "b", HILOCK_FOREVER);
    run_ms(s, 10);
    store_free_name(&s->store, "stock");
    run_ms(s, 1);
    TELLS(s, "a:WAITING b:WAITING a:OK");
    SAME(s, store_listeners(&s->store, CHANNEL), 1);
    release_quietly(a);
    run_ms(s, 1);
    TELLS(s, "b:OK");
    SAME(s, b->at_us, asked_at_us(s, "mutex_release", 0) + 100 + 200);
}

static void the_subscription_lingers_for_a_second(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a;
    store_take(&s->store, "stock", "another", 60000);
    a = waiting(p, "a", 100);
    run_ms(s, 1000);
    TELLS(s, "a:WAITING a:TIMED_OUT");
    SAME(s, asked(s, "UNSUBSCRIBE"), 0);
    acquire(a, 200); /* heard at once, but what came between is lost: it asks twice */
    run_ms(s, 150);
    SAME(s, asked(s, "SUBSCRIBE"), 1);
    SAME(s, asked(s, "mutex_acquire"), 4);
    run_ms(s, 1000);
    SAME(s, asked(s, "UNSUBSCRIBE"), 0);
    run_ms(s, 100);
    SAME(s, asked(s, "UNSUBSCRIBE"), 1);
    SAME(s, store_listeners(&s->store, CHANNEL), 0);
}

static void any_message_is_a_hint_and_no_more(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    store_take(&s->store, "stock", "another", 60000);
    waiting(p, "a", HILOCK_FOREVER);
    run_ms(s, 10);
    store_publish(&s->store, CHANNEL, "");
    run_ms(s, 10);
    store_publish(&s->store, CHANNEL, "1");
    run_ms(s, 10);
    store_publish(&s->store, CHANNEL, "granted to you, token 7");
    run_ms(s, 10);
    TELLS(s, "a:WAITING");
    SAME(s, asked(s, "mutex_acquire"), 2 + 3);
}

static void nothing(const struct hilock_result *result, void *user) { (void)result, (void)user; }

static hilock_lock *lock_of(struct scene *s, struct party *p, unsigned i)
{
    char name[32];
    hilock_lock *lock = NULL;
    snprintf(name, sizeof name, "order:%u", i);
    SAME(s, hilock_lock_create(&lock, p->client, name, HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)), HILOCK_OK);
    SAME(s, hilock_acquire(lock, HILOCK_FOREVER, nothing, NULL), HILOCK_OK);
    return lock;
}

/* Each is held, waited for, handed on and waited for in vain; every tenth by another client too. */
static void names_that_nobody_wants_any_more_leave_nothing(struct scene *s)
{
    enum { NAMES = 10000 };
    struct party *p = scene_connect(s, NULL);
    size_t blocks = 0, bytes = 0;
    run_ms(s, 10);
    s->store.is_unrecorded = 1;
    for (unsigned i = 0; i < 2 * NAMES; i++) {
        hilock_lock *first, *second, *third;
        if (i == NAMES) {
            run_ms(s, 2000); /* until no subscription lingers */
            blocks = s->memory.blocks;
            bytes = s->memory.bytes;
        }
        if (i % 10 == 0) {
            char name[32];
            snprintf(name, sizeof name, "order:%u", i);
            store_take(&s->store, name, "another", 50);
        }
        first = lock_of(s, p, i);
        second = lock_of(s, p, i);
        third = lock_of(s, p, i);
        run_ms(s, i % 10 == 0 ? 60 : 1);
        hilock_lock_free(first);
        run_ms(s, 1);
        hilock_lock_free(third);
        hilock_lock_free(second);
    }
    run_ms(s, 2000);
    SAME(s, s->memory.blocks, blocks);
    SAME(s, s->memory.bytes, bytes);
}

/* ---- pauses of a multi ---- */

static const char *const ab[] = {"a", "b", NULL};

/* It got "a", which many wait for, three times, and not "b": then that is free. */
static uint64_t served_after_us(struct scene *s, struct hand *m)
{
    uint64_t freed_us;
    store_take(&s->store, "b", "another", 600000);
    acquire(m, HILOCK_FOREVER);
    run_ms(s, 3000);
    store_publish(&s->store, "redisson_lock__channel:{b}", "0");
    run_ms(s, 200);
    freed_us = scene_us(s);
    store_free_name(&s->store, "b");
    run_ms(s, 6000);
    HOLDS(s, hilock_lock_state(m->lock) == HILOCK_HELD);
    release(m);
    run_ms(s, 2000);
    return asked_at_us(s, "mutex_acquire", -1) - freed_us;
}

/* Twenty milliseconds there and back; each release says that forty listen. */
static void serve_eight(struct scene *s, uint64_t within_us)
{
    struct party *p;
    s->is_untold = 1;
    s->net.there_us = s->net.back_us = 10000;
    p = scene_open(s, NULL);
    run_ms(s, 1000);
    hand_new(p, "k", within_us < 1000000 ? "c" : "b", NULL); /* how many want that one is not forgotten */
    PLAN(s, .on = "mutex_release", .act = PLAN_ANSWER, .times = PLAN_ALWAYS, .reply = say_integer(40));
    for (int i = 0; i < 8; i++) {
        struct hand *m = multi_new(p, "m", ab, NULL);
        HOLDS(s, served_after_us(s, m) < within_us);
        hand_free(m);
    }
}

static void the_pause_of_a_multi_is_cut_by_a_message(struct scene *s) { serve_eight(s, 100000); }
static void the_pause_of_a_multi_among_many_is_a_second_at_most(struct scene *s) { serve_eight(s, 1100000); }

static const struct play plays[] = {
    PLAY(subscribe_confirm_ask_again_sleep),
    PLAY(a_message_wakes_within_one_round_trip),
    PLAY(the_end_of_the_holders_lease_wakes),
    PLAY(a_holder_that_never_publishes_is_polled_every_five_seconds),
    PLAY(a_holder_without_an_expiry_is_polled_every_five_seconds),
    PLAY(who_may_not_subscribe_polls),
    PLAY(a_new_subscription_link_makes_all_try_again),
    PLAY(only_the_head_of_the_line_asks),
    PLAY(the_line_is_first_come_first_served),
    PLAY(the_next_in_line_asks_when_the_head_gives_up),
    PLAY(who_waits_behind_a_sibling_is_told_his_holder),
    PLAY(WAITING_is_told_once_or_as_often_as_asked),
    PLAY(others_who_listen_get_their_turn_after_a_release),
    PLAY(so_they_do_when_we_ask_again_only_in_the_releases_callback),
    PLAY(so_they_do_when_nobody_of_us_waited_for_a_moment),
    PLAY(our_own_lingering_subscription_is_nobody_else),
    PLAY(nobody_is_waited_for_when_nobody_listens),
    PLAY(our_own_subscription_is_nobody_else),
    PLAY(the_subscription_lingers_for_a_second),
    PLAY(any_message_is_a_hint_and_no_more),
    PLAY(names_that_nobody_wants_any_more_leave_nothing),
    PLAY(the_pause_of_a_multi_is_cut_by_a_message),
    PLAY(the_pause_of_a_multi_among_many_is_a_second_at_most),
};

int main(void) { return PLAYS_RUN(plays); }
