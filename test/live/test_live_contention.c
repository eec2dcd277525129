/* SPDX-License-Identifier: BSD-3-Clause */
/* 8 processes want 50 locks at once: no two ever hold the same one, tokens rise in the order of the grants, and everybody is served. */
#include <stdatomic.h>
#include <stdio.h>

#include "support/child.h"
#include "support/ledger.h"
#include "support/fixture.h"

enum { PROCESSES = 8, LOCKS = 50, ROUNDS = 10, TWIN_ROUNDS = 3, READY = 0, DONE = 1 };

struct contest {
    const char *url;
    struct ledger *ledger;
};

struct contender {
    struct handle handle;
    struct contest *contest;
    unsigned lock, rounds_left;
    size_t grant;
    struct event *timer;
};

static void give_up_turn(evutil_socket_t fd, short what, void *arg)
{
    struct contender *contender = arg;
    (void)fd;
    (void)what;
    ledger_end(contender->contest->ledger, contender->grant);
    handle_release(&contender->handle);
}

/* Held for a moment, or released in the very callback. */
static void on_acquired(struct handle *handle)
{
    struct contender *contender = handle->user;
    struct timeval hold = {0, (contender->lock * 37 + contender->rounds_left * 11) % 400};
    if (handle->acquired.status != HILOCK_OK)
        check_fail("acquire ended %s: %s", hilock_status_name(handle->acquired.status), handle->acquired.detail);
    contender->grant = ledger_begin(contender->contest->ledger, contender->lock, handle->acquired.token);
    if (contender->lock % 5 == 0)
        give_up_turn(-1, 0, contender);
    else
        event_add(contender->timer, &hold);
}

static void on_released(struct handle *handle)
{
    struct contender *contender = handle->user;
    if (handle->released.status != HILOCK_OK)
        check_fail("release ended %s: %s", hilock_status_name(handle->released.status), handle->released.detail);
    if (--contender->rounds_left)
        handle_ask(handle, HILOCK_FOREVER);
}

static void on_lost(struct handle *handle) { check_fail("a hold was lost: %s", handle->lost.detail); }

static void enter(struct contender *contender, struct client *client, struct contest *contest, unsigned lock, unsigned rounds)
{
    char name[32];
    snprintf(name, sizeof name, "stock:%u", lock);
    handle_open(&contender->handle, client, name, NULL);
    contender->handle.on_acquired = on_acquired;
    contender->handle.on_released = on_released;
    contender->handle.on_lost = on_lost;
    contender->handle.user = contender;
    contender->contest = contest;
    contender->lock = lock;
    contender->rounds_left = rounds;
    contender->timer = event_new(client->base, -1, 0, give_up_turn, contender);
    CHECK(contender->timer != NULL);
}

static int everybody_is_ready(void *arg)
{
    const struct contest *contest = arg;
    return atomic_load(ledger_word(contest->ledger, READY)) == PROCESSES;
}

/* Each lock by two handles, so that the local line is part of it. */
static int all_are_through(void *arg)
{
    const struct contender *contenders = arg;
    for (unsigned i = 0; i < 2 * LOCKS; i++)
        if (contenders[i].rounds_left)
            return 0;
    return 1;
}

static void contend(void *arg)
{
    static struct contender contenders[2 * LOCKS];
    struct contest *contest = arg;
    struct client client;
    struct hilock_stats stats;
    client_open(&client, contest->url);
    client_connect(&client);
    atomic_fetch_add(ledger_word(contest->ledger, READY), 1);
    client_until(&client, everybody_is_ready, contest, "all processes");
    for (unsigned i = 0; i < 2 * LOCKS; i++) {
        enter(&contenders[i], &client, contest, i % LOCKS, i < LOCKS ? ROUNDS : TWIN_ROUNDS);
        handle_ask(&contenders[i].handle, HILOCK_FOREVER);
    }
    client_until(&client, all_are_through, contenders, "all rounds");
    stats = client_stats(&client);
    CHECK(stats.granted == LOCKS * (ROUNDS + TWIN_ROUNDS) && stats.released == stats.granted);
    CHECK(stats.failed == 0 && stats.timed_out == 0 && stats.held == 0 && stats.waiting == 0);
    for (unsigned i = 0; i < 2 * LOCKS; i++) {
        handle_free(&contenders[i].handle);
        event_free(contenders[i].timer);
    }
    client_close(&client);
    atomic_fetch_add(ledger_word(contest->ledger, DONE), 1);
}

static void never_overlap(void **state)
{
    struct fixture *fixture = *state;
    struct contest contest = {fixture->server->url, ledger_new(LOCKS, PROCESSES * LOCKS * (ROUNDS + TWIN_ROUNDS))};
    struct verdict verdict;
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        pids[i] = child_start(contend, &contest);
    for (int i = 0; i < PROCESSES; i++)
        child_join(pids[i]);
    verdict = ledger_judge(contest.ledger);
    print_message("%zu grants, %zu of them after one of another process\n", verdict.grants, verdict.changes);
    assert_int_equal(atomic_load(ledger_word(contest.ledger, DONE)), PROCESSES);
    assert_int_equal(verdict.grants, PROCESSES * LOCKS * (ROUNDS + TWIN_ROUNDS));
    assert_int_equal(verdict.open, 0);
    assert_int_equal(verdict.overlaps, 0);
    assert_int_equal(verdict.met, 0);
    assert_int_equal(verdict.backward, 0);
    assert_true(verdict.changes > verdict.grants / 10); /* else nobody contended, and all this proves nothing */
    ledger_free(contest.ledger);
}

/* The judge gets two holders at once, and a token that falls: it must see both. */
static void judge_sees_what_is_wrong(void **state)
{
    struct ledger *ledger = ledger_new(2, 8);
    struct verdict verdict;
    size_t first, second;
    (void)state;
    first = ledger_begin(ledger, 0, 10);
    check_pause_ms(2);
    second = ledger_begin(ledger, 0, 11);
    check_pause_ms(2);
    ledger_end(ledger, first);
    ledger_end(ledger, second);
    ledger_end(ledger, ledger_begin(ledger, 1, 20));
    check_pause_ms(2);
    ledger_end(ledger, ledger_begin(ledger, 1, 19));
    check_pause_ms(2);
    ledger_begin(ledger, 1, 21);
    verdict = ledger_judge(ledger);
    assert_int_equal(verdict.grants, 5);
    assert_int_equal(verdict.overlaps, 1);
    assert_true(verdict.met >= 1);
    assert_int_equal(verdict.backward, 1);
    assert_int_equal(verdict.open, 1);
    ledger_free(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judge_sees_what_is_wrong),
        FIXTURE_TEST(never_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
