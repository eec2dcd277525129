/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR among processes that are killed and stopped: strict order of arrival; what a death costs the next one: a
 * waiter's nothing, a fresh holder's two windows at most; two commands a grant, however many wait. */
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

#include "support/child.h"
#include "support/ledger.h"
#include "support/late.h"
#include "support/queue.h"
#include "support/fixture.h"

enum { PLAYERS = QUEUE_PLAYERS, LEASE_MS = 6000, WINDOW_MS = QUEUE_WINDOW_MS, ROUNDS = 12 };

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

/* The head of the queue dies: the next one has the lock in no more than a fraction of any time that is waited for here. */
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

/* ---- a crowd ---- */

struct crowd {
    const char *url;
    struct ledger *ledger;
    unsigned processes;
    atomic_uint ready, is_on, through;
};

struct member {
    struct crowd *crowd;
    unsigned rounds_left;
    size_t grant;
    struct event *timer;
    struct handle *handle;
};

static void on_time_over(evutil_socket_t fd, short what, void *arg)
{
    struct member *member = arg;
    (void)fd, (void)what;
    ledger_end(member->crowd->ledger, member->grant);
    handle_release(member->handle);
}

static void on_member_granted(struct handle *handle)
{
    static const struct timeval hold = {0, 1000};
    struct member *member = handle->user;
    CHECK(handle->acquired.status == HILOCK_OK);
    member->grant = ledger_begin(member->crowd->ledger, 0, handle->acquired.token);
    event_add(member->timer, &hold);
}

static void on_member_released(struct handle *handle)
{
    struct member *member = handle->user;
    CHECK(handle->released.status == HILOCK_OK);
    if (--member->rounds_left)
        handle_ask(handle, HILOCK_FOREVER);
}

static int is_on(void *arg) { return atomic_load(&((struct crowd *)arg)->is_on) != 0; }
static int is_through(void *arg) { return ((struct member *)arg)->rounds_left == 0; }

static void join_in(void *arg)
{
    struct crowd *crowd = arg;
    struct client client;
    struct handle handle;
    struct member member = {crowd, ROUNDS, 0, NULL, &handle};
    client_open(&client, crowd->url);
    client_connect(&client);
    handle_open(&handle, &client, "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    handle.on_acquired = on_member_granted;
    handle.on_released = on_member_released;
    handle.user = &member;
    member.timer = event_new(client.base, -1, 0, on_time_over, &member);
    CHECK(member.timer != NULL);
    client_for_ms(&client, 50);
    atomic_fetch_add(&crowd->ready, 1);
    client_until(&client, is_on, crowd, "the start");
    handle_ask(&handle, HILOCK_FOREVER);
    client_until(&client, is_through, &member, "all rounds");
    event_free(member.timer);
    atomic_fetch_add(&crowd->through, 1);
    handle_free(&handle);
    client_close(&client);
}

static int all_are_ready(void *arg)
{
    const struct crowd *crowd = arg;
    return atomic_load(&crowd->ready) == crowd->processes;
}

static void two_commands_a_grant(void **state)
{
    enum { PROCESSES = 32 };
    struct fixture *fixture = *state;
    struct crowd *crowd = mmap(NULL, sizeof *crowd, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pids[PROCESSES];
    struct verdict verdict;
    long long commands;
    assert_true(crowd != MAP_FAILED);
    crowd->url = fixture->server->url;
    crowd->ledger = ledger_new(1, (size_t)PROCESSES * ROUNDS);
    crowd->processes = PROCESSES;
    for (unsigned i = 0; i < PROCESSES; i++)
        pids[i] = child_start(join_in, crowd);
    check_until(all_are_ready, crowd, "the crowd");
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    atomic_store(&crowd->is_on, 1);
    for (unsigned i = 0; i < PROCESSES; i++)
        child_join(pids[i]);
    commands = redis_calls(fixture->redis, "evalsha");
    verdict = ledger_judge(crowd->ledger);
    print_message("%u processes: %zu grants, %.2f commands for each\n", PROCESSES, verdict.grants, (double)commands / (double)verdict.grants);
    assert_int_equal(verdict.grants, (size_t)PROCESSES * ROUNDS);
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward + verdict.open, 0);
    assert_true((unsigned long long)commands * 10 <= verdict.grants * 22);
    ledger_free(crowd->ledger);
    munmap(crowd, sizeof *crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_waiter_s_death_costs_nothing),
        FIXTURE_TEST(a_fresh_holder_s_death_costs_two_windows),
        FIXTURE_TEST(a_stopped_head_costs_two_windows_and_comes_back),
        FIXTURE_TEST(two_commands_a_grant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
