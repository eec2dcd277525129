/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR among processes that are killed and stopped: strict order of arrival, and what a death costs the next one:
 * a waiter's nothing, a fresh holder's two windows at most. */
#include "support/child.h"
#include "support/late.h"
#include "support/queue.h"
#include "support/fixture.h"

enum { PLAYERS = QUEUE_PLAYERS, LEASE_MS = 6000, WINDOW_MS = QUEUE_WINDOW_MS };

static void set(struct queue *queue, struct fixture *fixture)
{
    *queue = (struct queue){.url = fixture->server->url, .name = "stock", .lease_ms = LEASE_MS};
    queue_set(queue);
}

/* What the dead left runs out by itself; the rest of the test need not wait for it. */
static void strike(struct queue *queue, struct fixture *fixture)
{
    queue_end(queue);
    redis_do(fixture->redis, "FLUSHALL");
}

/* The head of the queue dies: the next one has the lock in no more than a fraction of any time that is waited for here.
 * */
static void a_waiter_s_death_costs_nothing(void **state)
{
    enum { DEAD = 1 };
    struct queue queue;
    set(&queue, *state);
    child_kill(queue.pids[DEAD]);
    for (unsigned i = 0, next = 1; i < PLAYERS; i = next++) {
        struct late released;
        next += next == DEAD;
        queue_granted_us(&queue, i);
        for (unsigned later = i + 1; later < PLAYERS; later++)
            assert_false(queue_has_been_granted(&queue, later));
        released = late_mark();
        released.at_us = queue_let_go(&queue, i);
        if (next < PLAYERS)
            assert_true(queue_granted_us(&queue, next) < late_until_us(&released, (uint64_t)WINDOW_MS * 500));
    }
    strike(&queue, *state);
}

static void a_fresh_holder_s_death_costs_two_windows(void **state)
{
    struct queue queue;
    struct late released;
    set(&queue, *state);
    queue_dies_when_granted(&queue, 1);
    released = late_mark();
    released.at_us = queue_let_go(&queue, 0);
    assert_true(queue_granted_us(&queue, 2) > released.at_us + (uint64_t)WINDOW_MS * 900);
    assert_true(queue_granted_us(&queue, 2) < late_until_us(&released, (uint64_t)(2 * WINDOW_MS + WINDOW_MS / 2) * 1000));
    assert_false(queue_has_been_granted(&queue, 3));
    queue_let_go(&queue, 2);
    queue_granted_us(&queue, 3);
    queue_let_go(&queue, 3);
    child_kill(queue.pids[1]); /* only its body is left */
    strike(&queue, *state);
}

/* A process that stands still looks alive: it is granted the lock, which lapses with the window; no other waits longer. */
static void a_stopped_head_costs_two_windows_and_comes_back(void **state)
{
    struct queue queue;
    struct late released;
    set(&queue, *state);
    child_suspend(queue.pids[1]);
    released = late_mark();
    released.at_us = queue_let_go(&queue, 0);
    assert_true(queue_granted_us(&queue, 2) < late_until_us(&released, (uint64_t)(2 * WINDOW_MS + WINDOW_MS / 2) * 1000));
    child_resume(queue.pids[1]);
    while (redis_integer(((struct fixture *)*state)->redis, "ZCARD hilock:wait:{stock}") != 2) /* it finds that its grant has lapsed, and asks again */
        check_pause_ms(5);
    queue_let_go(&queue, 2);
    queue_granted_us(&queue, 1);
    assert_false(queue_has_been_granted(&queue, 3)); /* it kept its place */
    queue_let_go(&queue, 1);
    queue_granted_us(&queue, 3);
    queue_let_go(&queue, 3);
    strike(&queue, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_waiter_s_death_costs_nothing),
        FIXTURE_TEST(a_fresh_holder_s_death_costs_two_windows),
        FIXTURE_TEST(a_stopped_head_costs_two_windows_and_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
