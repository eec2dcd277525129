/* SPDX-License-Identifier: BSD-3-Clause */
/* Does an adapter keep loop.h? These tests know no loop but through struct loop_runner, so each adapter runs the same
 * files. Here: the fixture, the clock. Tests wait for callbacks, never for time: a callback that must not come has
 * had its chance when a later timer fired. */
#include "conformance.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

void *runner_make(struct hilock_loop *ret_loop)
{
    void *native = loop_under_test.begin();
    return native && loop_under_test.table(ret_loop, native) == HILOCK_OK ? native : NULL;
}

int fixture_begin(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (!fixture)
        return -1;
    fixture->native = runner_make(&fixture->loop);
    *state = fixture;
    return fixture->native ? 0 : -1;
}

int fixture_end(void **state)
{
    struct fixture *fixture = *state;
    fixture->loop.free_ctx(fixture->loop.ctx);
    int is_empty = loop_under_test.is_empty(fixture->native);
    loop_under_test.end(fixture->native);
    free(fixture);
    threads_join();
    return is_empty ? 0 : -1;
}

void turn(struct fixture *fixture) { loop_under_test.turn(fixture->native); }

void turn_until(struct fixture *fixture, const struct seen *seen, int count)
{
    while (seen->count < count)
        turn(fixture);
}

void turn_past(struct fixture *fixture, uint64_t delay_us)
{
    struct seen seen = {0};
    void *timer = fixture->loop.timer_new(fixture->loop.ctx, on_fire_count, &seen);
    assert_non_null(timer);
    fixture->loop.timer_start(timer, delay_us);
    turn_until(fixture, &seen, 1);
    fixture->loop.timer_free(timer);
}

static uint64_t boottime_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* The clock goes on while the host is suspended: it reads what CLOCK_BOOTTIME reads. */
CONFORMS(clock_is_boottime)
{
    for (int i = 0; i < 1000; i++) {
        const uint64_t before_us = boottime_us(), now_us = fixture->loop.now_us(fixture->loop.clock);
        assert_in_range(now_us, before_us, boottime_us());
    }
}

/* It is no cached time: it moves within one callback. */
static void on_fire_clock(void *arg)
{
    const struct hilock_loop *loop = *(const struct hilock_loop *const *)arg;
    const uint64_t start_us = loop->now_us(loop->clock);
    while (loop->now_us(loop->clock) == start_us)
        ;
    *(const struct hilock_loop **)arg = NULL;
}

CONFORMS(clock_moves_within_a_callback)
{
    const struct hilock_loop *loop = &fixture->loop;
    void *timer = loop->timer_new(loop->ctx, on_fire_clock, &loop);
    loop->timer_start(timer, 0);
    while (loop)
        turn(fixture);
    fixture->loop.timer_free(timer);
}

static void *clock_reader(void *arg)
{
    const struct hilock_loop *loop = arg;
    uint64_t last_us = 0;
    for (int i = 0; i < 1000; i++) {
        const uint64_t now_us = loop->now_us(loop->clock);
        if (now_us < last_us)
            return NULL;
        last_us = now_us;
    }
    return arg;
}

/* Any thread may ask, also when ctx and the native loop are gone. */
TEST(clock_outlives_the_loop)
{
    pthread_t thread;
    void *fixture = NULL, *result;
    assert_int_equal(fixture_begin(&fixture), 0);
    struct hilock_loop loop = ((const struct fixture *)fixture)->loop;
    assert_int_equal(fixture_end(&fixture), 0);
    assert_int_equal(pthread_create(&thread, NULL, clock_reader, &loop), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &loop);
}

CONFORMS(table_is_whole)
{
    assert_int_equal(fixture->loop.size, sizeof(struct hilock_loop));
    assert_non_null(fixture->loop.resolve);
    assert_non_null(fixture->loop.resolve_cancel);
}
