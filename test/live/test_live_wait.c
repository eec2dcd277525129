/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a held lock: it ends with the lock, or at its time with who has it; in between it is said once, or as often as asked for. */
#include <stdio.h>
#include <string.h>

#include "support/fixture.h"

struct two { struct client theirs, ours; struct handle holder; }; /* on one base; theirs holds "stock" */

static void open_two(struct two *two, struct fixture *fixture)
{
    client_open(&two->theirs, fixture->server->url);
    client_open_on(&two->ours, two->theirs.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    client_connect(&two->ours);
    handle_open(&two->holder, &two->theirs, "stock", NULL);
    assert_int_equal(handle_acquire(&two->holder, HILOCK_TRY), HILOCK_OK);
}

static void close_two(struct two *two)
{
    handle_free(&two->holder);
    client_close(&two->ours);
    client_close(&two->theirs);
}

static void times_out_and_names_the_holder(void **state)
{
    enum { WAIT_MS = 300 };
    struct two two;
    struct handle waiter;
    char holder[128], shown[64];
    open_two(&two, *state);
    handle_open(&waiter, &two.ours, "stock", NULL);
    assert_int_equal(handle_acquire(&waiter, WAIT_MS), HILOCK_TIMED_OUT);
    snprintf(holder, sizeof holder, "%s:1:live", hilock_client_uuid(two.theirs.hilock));
    snprintf(shown, sizeof shown, "%.8s..:1:live", holder);
    assert_string_equal(waiter.acquired.holder, holder);
    assert_true(waiter.acquired.at_us - waiter.asked_us >= WAIT_MS * 1000);
    assert_true(waiter.acquired.waited_ms >= WAIT_MS);
    assert_true(waiter.acquired.attempts >= 2); /* at once, and again when it listens */
    assert_in_range(waiter.acquired.holder_remaining_ms, 1, 60000);
    assert_non_null(strstr(waiter.acquired.detail, shown));
    assert_non_null(strstr(waiter.acquired.detail, "for the whole"));
    assert_null(strstr(waiter.acquired.detail, holder));
    assert_int_equal(waiter.acquired.state, HILOCK_STATE_IDLE);
    assert_int_equal(waiter.waiting.count, 1);
    assert_string_equal(waiter.waiting.holder, holder);
    assert_true(waiter.waiting.at_us <= waiter.acquired.at_us);
    assert_int_equal(client_stats(&two.ours).timed_out, 1);
    assert_int_equal(client_stats(&two.ours).waiting, 0);
    handle_free(&waiter);
    fixture_until_unsubscribed(*state, &two.ours);
    close_two(&two);
}

/* Only the first in line asks, but each gets its reports at its own time, with the same content. */
static void times_out_in_line(void **state)
{
    enum { LINE = 5 };
    struct two two;
    struct handle line[LINE];
    open_two(&two, *state);
    for (int i = 0; i < LINE; i++) {
        handle_open(&line[i], &two.ours, "stock", NULL);
        handle_ask(&line[i], 600 - (uint32_t)i * 100);
    }
    for (int i = 0; i < LINE; i++) {
        handle_until(&line[i], &line[i].acquired, 1, "its end");
        assert_int_equal(line[i].acquired.status, HILOCK_TIMED_OUT);
        assert_int_equal(line[i].waiting.count, 1);
        assert_true(line[i].acquired.at_us - line[i].asked_us >= (600 - (uint64_t)i * 100) * 1000);
        assert_memory_equal(line[i].acquired.holder, hilock_client_uuid(two.theirs.hilock), 36);
        handle_free(&line[i]);
    }
    close_two(&two);
}

static void times_out_behind_a_sibling(void **state)
{
    struct two two;
    struct handle waiter;
    char holder[128];
    uint64_t commands;
    open_two(&two, *state);
    handle_open(&waiter, &two.theirs, "stock", NULL);
    commands = client_stats(&two.theirs).commands;
    assert_int_equal(handle_acquire(&waiter, 100), HILOCK_TIMED_OUT);
    snprintf(holder, sizeof holder, "%s:1:live", hilock_client_uuid(two.theirs.hilock));
    assert_int_equal(waiter.acquired.attempts, 0);
    assert_int_equal(client_stats(&two.theirs).commands, commands);
    assert_int_equal(waiter.waiting.count, 1);
    assert_string_equal(waiter.waiting.holder, holder);
    assert_non_null(strstr(waiter.acquired.detail, "another handle of this client"));
    handle_free(&waiter);
    close_two(&two);
}

static void waits_for_ever(void **state)
{
    struct two two;
    struct handle waiter;
    open_two(&two, *state);
    handle_open(&waiter, &two.ours, "stock", NULL);
    handle_ask(&waiter, HILOCK_FOREVER);
    handle_until(&waiter, &waiter.waiting, 1, "the wait");
    client_for_ms(&two.ours, 500);
    assert_int_equal(waiter.acquired.count, 0);
    assert_int_equal(hilock_lock_state(waiter.lock), HILOCK_STATE_WAITING);
    assert_int_equal(handle_give(&two.holder), HILOCK_OK);
    handle_until(&waiter, &waiter.acquired, 1, "the grant");
    assert_int_equal(waiter.acquired.status, HILOCK_OK);
    assert_true(waiter.acquired.token > two.holder.acquired.token);
    assert_true(waiter.acquired.at_us >= two.holder.asked_us); /* of the release */
    assert_int_equal(waiter.waiting.count, 1);
    assert_int_equal(handle_give(&waiter), HILOCK_OK);
    handle_free(&waiter);
    close_two(&two);
}

static void reports_the_wait_as_often_as_asked_for(void **state)
{
    struct two two;
    struct handle waiter;
    open_two(&two, *state);
    handle_open(&waiter, &two.ours, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 60000, .wait_report_ms = 50));
    handle_ask(&waiter, HILOCK_FOREVER);
    handle_until(&waiter, &waiter.waiting, 4, "four reports");
    assert_true(waiter.waiting.waited_ms >= 150);
    assert_memory_equal(waiter.waiting.holder, hilock_client_uuid(two.theirs.hilock), 36);
    assert_int_equal(handle_give(&two.holder), HILOCK_OK);
    handle_until(&waiter, &waiter.acquired, 1, "the grant");
    assert_int_equal(waiter.acquired.status, HILOCK_OK);
    handle_free(&waiter);
    close_two(&two);
}

/* A line of handles in each of three clients: all are served, and one client's line in its order. */
static void serves_every_line_in_order(void **state)
{
    enum { LINE = 6 };
    struct fixture *fixture = *state;
    struct two two;
    struct client third;
    struct handle lines[2][LINE];
    open_two(&two, fixture);
    client_open_on(&third, two.ours.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    for (int i = 0; i < LINE; i++) {
        handle_open(&lines[0][i], &two.ours, "stock", NULL);
        handle_open(&lines[1][i], &third, "stock", NULL);
        lines[0][i].on_acquired = lines[1][i].on_acquired = handle_release;
        handle_ask(&lines[0][i], HILOCK_FOREVER);
        handle_ask(&lines[1][i], HILOCK_FOREVER);
    }
    handle_until(&lines[0][LINE - 1], &lines[0][LINE - 1].waiting, 1, "the wait");
    handle_until(&lines[1][LINE - 1], &lines[1][LINE - 1].waiting, 1, "the wait");
    assert_int_equal(handle_give(&two.holder), HILOCK_OK);
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < LINE; i++) {
            handle_until(&lines[l][i], &lines[l][i].released, 1, "its turn");
            assert_int_equal(lines[l][i].released.status, HILOCK_OK);
            assert_int_equal(lines[l][i].acquired.status, HILOCK_OK);
            assert_true(i == 0 || lines[l][i].acquired.token > lines[l][i - 1].acquired.token);
            handle_free(&lines[l][i]);
        }
    client_close(&third);
    close_two(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(times_out_and_names_the_holder),
        FIXTURE_TEST(times_out_in_line),
        FIXTURE_TEST(times_out_behind_a_sibling),
        FIXTURE_TEST(waits_for_ever),
        FIXTURE_TEST(reports_the_wait_as_often_as_asked_for),
        FIXTURE_TEST(serves_every_line_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
