/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers: every sentence of loop.h about them, but for a suspend, which each adapter's own tests simulate. */
#include "conformance.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Early by a loop's cached time at most: libevent's clock ticks each 10 ms at the longest. */
enum { MANY = 10000, WAKES = 300, BEAT_US = 50000, EARLY_US = 20000 };

static void *timer_make(struct fixture *fixture, hilock_fire_fn *fire, void *arg)
{
    void *timer = fixture->loop.timer_new(fixture->loop.ctx, fire, arg);
    assert_non_null(timer);
    return timer;
}

CONFORMS(fires_once_and_never_inside_the_call)
{
    struct seen seen = {0};
    void *timer = timer_make(fixture, on_fire_count, &seen);
    turn_past(fixture, 1000);
    assert_int_equal(seen.count, 0);
    fixture->loop.timer_start(timer, 1000);
    turn_until(fixture, &seen, 1);
    turn_past(fixture, 5000);
    assert_int_equal(seen.count, 1);
    seen.is_inside_call = 1;
    fixture->loop.timer_start(timer, 0);
    seen.is_inside_call = 0;
    turn_until(fixture, &seen, 2);
    fixture->loop.timer_free(timer);
}

struct again {
    struct fixture *fixture;
    void *timer;
    struct seen seen;
    int starts;
};

static void on_fire_again(void *arg)
{
    struct again *again = arg;
    on_fire_count(&again->seen);
    again->seen.is_inside_call = 1;
    again->fixture->loop.timer_start(again->timer, 0);
    again->seen.is_inside_call = 0;
}

/* 0 fires on a later turn, always: a timer that starts itself again fires once a turn at most, and does not keep a descriptor waiting. */
CONFORMS(start_of_zero_inside_fire_waits_for_a_later_turn)
{
    struct again again = {.fixture = fixture};
    const struct pair pair = pair_open();
    struct seen seen = {0};
    void *watch = again.fixture->loop.watch_new(again.fixture->loop.ctx, pair.near, on_ready_count, &seen);
    again.timer = timer_make(again.fixture, on_fire_again, &again);
    again.fixture->loop.timer_start(again.timer, 0);
    for (int i = 0; i < 100 || again.seen.count < 20; i++) {
        const int before = again.seen.count;
        turn(again.fixture);
        assert_in_range(again.seen.count, before, before + 1);
    }
    assert_int_equal(again.fixture->loop.watch_set(watch, HILOCK_WRITABLE), 0);
    turn_until(again.fixture, &seen, 3);
    again.fixture->loop.timer_free(again.timer);
    again.fixture->loop.watch_free(watch);
    pair_close(&pair);
}

struct drum {
    struct fixture *fixture;
    void *timer;
    uint64_t due_us;
    int beats;
};

static void start_beat(struct drum *drum)
{
    const struct hilock_loop *loop = &drum->fixture->loop;
    drum->due_us = loop->now_us(loop->clock) + BEAT_US;
    loop->timer_start(drum->timer, BEAT_US);
}

static void on_fire_beat(void *arg)
{
    struct drum *drum = arg;
    const struct hilock_loop *loop = &drum->fixture->loop;
    assert_true(loop->now_us(loop->clock) + EARLY_US >= drum->due_us);
    drum->beats++;
    start_beat(drum);
}

/* A delay counts from where it is started, inside fire too. */
CONFORMS(does_not_fire_much_too_early)
{
    struct drum drum = {.fixture = fixture};
    drum.timer = timer_make(drum.fixture, on_fire_beat, &drum);
    start_beat(&drum);
    while (drum.beats < 4)
        turn(drum.fixture);
    drum.fixture->loop.timer_free(drum.timer);
}

CONFORMS(start_replaces_a_pending_start)
{
    struct seen later = {0}, sooner = {0};
    void *to_later = timer_make(fixture, on_fire_count, &later), *to_sooner = timer_make(fixture, on_fire_count, &sooner);
    fixture->loop.timer_start(to_later, 1000);
    fixture->loop.timer_start(to_later, UINT64_C(3600000000));
    fixture->loop.timer_start(to_sooner, UINT64_C(3600000000));
    fixture->loop.timer_start(to_sooner, 1000);
    turn_until(fixture, &sooner, 1);
    turn_past(fixture, 5000);
    assert_int_equal(sooner.count, 1);
    assert_int_equal(later.count, 0);
    fixture->loop.timer_free(to_later);
    fixture->loop.timer_free(to_sooner);
}

CONFORMS(stop_is_idempotent_and_silences)
{
    struct seen seen = {0};
    void *timer = timer_make(fixture, on_fire_count, &seen);
    fixture->loop.timer_stop(timer);
    for (uint64_t delay_us = 0; delay_us <= 1000; delay_us += 1000) {
        fixture->loop.timer_start(timer, delay_us);
        fixture->loop.timer_stop(timer);
        fixture->loop.timer_stop(timer);
        turn_past(fixture, 5000);
        assert_int_equal(seen.count, 0);
    }
    fixture->loop.timer_start(timer, 0);
    turn_until(fixture, &seen, 1);
    fixture->loop.timer_stop(timer);
    fixture->loop.timer_free(timer);
}

CONFORMS(longest_delay_is_far_away)
{
    static const uint64_t delays_us[] = {UINT64_MAX, UINT64_MAX - 1, INT64_MAX, UINT64_C(1) << 60, UINT64_C(86400000000)};
    struct seen seen = {0};
    for (size_t i = 0; i < sizeof delays_us / sizeof *delays_us; i++) {
        void *timer = timer_make(fixture, on_fire_count, &seen);
        fixture->loop.timer_start(timer, delays_us[i]);
        turn_past(fixture, 1000);
        assert_int_equal(seen.count, 0);
        fixture->loop.timer_free(timer);
    }
}

struct row {
    int order[4], count;
};

struct member {
    struct row *row;
    int number;
};

static void on_fire_row(void *arg)
{
    const struct member *member = arg;
    assert_true(member->row->count < 4);
    member->row->order[member->row->count++] = member->number;
}

CONFORMS(fire_in_the_order_of_their_times)
{
    static const int delays_ms[4] = {30, 10, 40, 20};
    struct row row = {.count = 0};
    struct member members[4];
    void *timers[4];
    for (int i = 0; i < 4; i++) {
        members[i] = (struct member){&row, delays_ms[i]};
        timers[i] = timer_make(fixture, on_fire_row, &members[i]);
        fixture->loop.timer_start(timers[i], (uint64_t)delays_ms[i] * 1000);
    }
    while (row.count < 4)
        turn(fixture);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(row.order[i], 10 * (i + 1));
        fixture->loop.timer_free(timers[i]);
    }
}

struct friends {
    struct fixture *fixture;
    void (*end)(void *timer); /* timer_free, or timer_stop */
    void *timers[3];
    struct seen seen;
};

static void on_fire_end_all(void *arg)
{
    struct friends *friends = arg;
    on_fire_count(&friends->seen);
    for (size_t i = 0; i < 3; i++)
        friends->end(friends->timers[i]);
}

/* All are due in one turn; the first that fires frees or stops all, itself too: nothing more may fire. */
CONFORMS(free_and_stop_inside_fire)
{
    for (int is_free = 0; is_free < 2; is_free++) {
        struct friends friends = {.fixture = fixture,
                                  .end = is_free ? fixture->loop.timer_free : fixture->loop.timer_stop};
        for (size_t i = 0; i < 3; i++) {
            friends.timers[i] = timer_make(fixture, on_fire_end_all, &friends);
            friends.fixture->loop.timer_start(friends.timers[i], 0);
        }
        turn_until(friends.fixture, &friends.seen, 1);
        turn_past(friends.fixture, 5000);
        assert_int_equal(friends.seen.count, 1);
        for (size_t i = 0; !is_free && i < 3; i++)
            friends.fixture->loop.timer_free(friends.timers[i]);
    }
}

/* ready may make and start timers too. A start of 0 replaced in each turn would never fire, so here there is one start for each fire. */
static void on_ready_start(unsigned ready, void *arg)
{
    struct again *again = arg;
    (void)ready;
    if (!again->timer)
        again->timer = timer_make(again->fixture, on_fire_count, &again->seen);
    if (again->starts == again->seen.count) {
        again->starts++;
        again->fixture->loop.timer_start(again->timer, 0);
    }
}

CONFORMS(start_inside_ready)
{
    struct again again = {.fixture = fixture};
    const struct pair pair = pair_open();
    void *watch = again.fixture->loop.watch_new(again.fixture->loop.ctx, pair.near, on_ready_start, &again);
    assert_int_equal(again.fixture->loop.watch_set(watch, HILOCK_WRITABLE), 0);
    turn_until(again.fixture, &again.seen, 3);
    again.fixture->loop.watch_free(watch);
    again.fixture->loop.timer_free(again.timer);
    pair_close(&pair);
}

/* Called by the program between turns: it fires once, soon, and not inside the call; stopped or freed before that, never. */
CONFORMS(hurried)
{
    struct seen seen = {0};
    void *timer = timer_make(fixture, on_fire_count, &seen);
    if (!fixture->loop.timer_hurry) {
        print_message("this loop has no timer_hurry: hilock starts the timer with 0 instead\n");
        fixture->loop.timer_free(timer);
        return;
    }
    for (int i = 1; i <= 3; i++) {
        seen.is_inside_call = 1;
        fixture->loop.timer_hurry(timer);
        seen.is_inside_call = 0;
        turn_until(fixture, &seen, i);
        turn_past(fixture, 1000);
        assert_int_equal(seen.count, i);
    }
    fixture->loop.timer_hurry(timer);
    fixture->loop.timer_stop(timer);
    turn_past(fixture, 1000);
    assert_int_equal(seen.count, 3);
    fixture->loop.timer_hurry(timer);
    fixture->loop.timer_start(timer, 1000);
    turn_until(fixture, &seen, 4);
    turn_past(fixture, 5000);
    assert_int_equal(seen.count, 4);
    fixture->loop.timer_hurry(timer);
    fixture->loop.timer_free(timer);
    turn_past(fixture, 1000);
    assert_int_equal(seen.count, 4);
}

struct waker { struct hilock_loop loop; void *timer; atomic_int wakes, may_go; };

static void *wake_on(void *arg)
{
    struct waker *waker = arg;
    for (int i = 0; i < WAKES; i++) {
        while (!atomic_exchange(&waker->may_go, 0))
            sched_yield();
        waker->loop.timer_wake(waker->timer);
        atomic_fetch_add(&waker->wakes, 1);
    }
    return NULL;
}

/* Each wake of another thread gets the loop to fire the timer; other timers keep their time, and nothing stays ready. */
CONFORMS(another_thread_wakes)
{
    struct waker waker = {.loop = fixture->loop};
    struct seen seen = {0}, later = {0};
    void *timer = timer_make(fixture, on_fire_count, &later);
    pthread_t thread;
    waker.timer = timer_make(fixture, on_fire_count, &seen);
    assert_int_equal(pthread_create(&thread, NULL, wake_on, &waker), 0);
    for (int i = 0; i < WAKES; i++) {
        const uint64_t due_us = fixture->loop.now_us(fixture->loop.clock) + (uint64_t)(i % 3) * 2000;
        const int count = later.count;
        fixture->loop.timer_start(timer, (uint64_t)(i % 3) * 2000);
        atomic_store(&waker.may_go, 1);
        turn_until(fixture, &seen, i + 1);
        turn_until(fixture, &later, count + 1);
        assert_true(fixture->loop.now_us(fixture->loop.clock) + EARLY_US >= due_us);
    }
    pthread_join(thread, NULL);
    turn_past(fixture, 1000);
    assert_int_equal(seen.count, WAKES);
    fixture->loop.timer_wake(waker.timer);
    fixture->loop.timer_free(waker.timer);
    turn_past(fixture, 5000);
    assert_int_equal(seen.count, WAKES);
    fixture->loop.timer_free(timer);
}

CONFORMS(many_timers)
{
    void **timers = calloc(MANY, sizeof *timers);
    struct seen seen = {0}, stopped = {0};
    assert_non_null(timers);
    for (size_t i = 0; i < MANY; i++) {
        timers[i] = timer_make(fixture, on_fire_count, i % 4 ? &seen : &stopped);
        fixture->loop.timer_start(timers[i], i * 7919 % 50000);
    }
    for (size_t i = 0; i < MANY; i += 4)
        fixture->loop.timer_stop(timers[i]);
    turn_until(fixture, &seen, MANY / 4 * 3);
    turn_past(fixture, 60000);
    assert_int_equal(seen.count, MANY / 4 * 3);
    assert_int_equal(stopped.count, 0);
    for (size_t i = 0; i < MANY; i++)
        fixture->loop.timer_free(timers[i]);
    free(timers);
}
