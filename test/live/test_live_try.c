/* SPDX-License-Identifier: BSD-3-Clause */
/* A try asks once, or not at all where the client knows the answer. */
#include <stdio.h>
#include <string.h>

#include "support/fixture.h"

struct two { struct client ours, theirs; };

static void open_two(struct two *two, struct fixture *fixture)
{
    client_open(&two->ours, fixture->server->url);
    client_open(&two->theirs, fixture->server->url);
    client_connect(&two->ours);
    client_connect(&two->theirs);
    redis_do(fixture->redis, "CONFIG RESETSTAT");
}

static void close_two(struct two *two)
{
    client_close(&two->ours);
    client_close(&two->theirs);
}

/* "<first 8 of the uuid>..:<id>:<label>": enough to find it in CLIENT LIST, and no more. */
static void check_names_holder(const struct told *told, const char *holder)
{
    char shown[64];
    snprintf(shown, sizeof shown, "%.8s..%s", holder, strchr(holder, ':'));
    assert_string_equal(told->holder, holder);
    assert_non_null(strstr(told->detail, shown));
    assert_null(strstr(told->detail, holder));
}

static void held_by_another_client(void **state)
{
    struct fixture *fixture = *state;
    struct two two;
    struct handle ours, theirs;
    char holder[128];
    open_two(&two, fixture);
    handle_open(&theirs, &two.theirs, "stock", NULL);
    handle_open(&ours, &two.ours, "stock", NULL);
    assert_int_equal(handle_acquire(&theirs, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_acquire(&ours, HILOCK_TRY), HILOCK_TIMED_OUT);
    snprintf(holder, sizeof holder, "%s:1:live", hilock_client_uuid(two.theirs.hilock));
    check_names_holder(&ours.acquired, holder);
    assert_int_equal(ours.acquired.attempts, 1);
    assert_int_equal(ours.acquired.state, HILOCK_STATE_IDLE);
    assert_int_equal(ours.acquired.token, 0);
    assert_in_range(ours.acquired.holder_remaining_ms, 1, 60000);
    assert_non_null(strstr(ours.acquired.detail, "stock"));
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 2);
    assert_int_equal(redis_calls(fixture->redis, "subscribe"), 0); /* a try need not listen */
    assert_int_equal(handle_give(&theirs), HILOCK_OK);
    assert_int_equal(handle_acquire(&ours, HILOCK_TRY), HILOCK_OK);
    assert_true(ours.acquired.token > theirs.acquired.token);
    assert_int_equal(handle_give(&ours), HILOCK_OK);
    assert_int_equal(client_stats(&two.ours).timed_out, 1);
    handle_free(&ours);
    handle_free(&theirs);
    close_two(&two);
}

static void held_by_a_sibling(void **state)
{
    struct fixture *fixture = *state;
    struct two two;
    struct handle first, second;
    open_two(&two, fixture);
    handle_open(&first, &two.ours, "stock", NULL);
    handle_open(&second, &two.ours, "stock", NULL);
    assert_int_equal(handle_acquire(&first, HILOCK_TRY), HILOCK_OK);
    handle_ask(&second, HILOCK_TRY);
    assert_int_equal(second.acquired.count, 0); /* never inside the call, known or not */
    handle_until(&second, &second.acquired, 1, "the refusal");
    assert_int_equal(second.acquired.status, HILOCK_TIMED_OUT);
    assert_int_equal(second.acquired.attempts, 0);
    assert_non_null(strstr(second.acquired.detail, "another handle of this client"));
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 1);
    assert_int_equal(handle_give(&first), HILOCK_OK);
    assert_int_equal(handle_acquire(&second, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_give(&second), HILOCK_OK);
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 4);
    handle_free(&first);
    handle_free(&second);
    close_two(&two);
}

/* A sibling waits, and knows that it is held: so does the try. */
static void held_as_a_waiting_sibling_knows(void **state)
{
    struct fixture *fixture = *state;
    struct two two;
    struct handle holder, waiter, ours;
    open_two(&two, fixture);
    handle_open(&holder, &two.theirs, "stock", NULL);
    handle_open(&waiter, &two.ours, "stock", NULL);
    handle_open(&ours, &two.ours, "stock", NULL);
    assert_int_equal(handle_acquire(&holder, HILOCK_TRY), HILOCK_OK);
    handle_ask(&waiter, HILOCK_FOREVER);
    handle_until(&waiter, &waiter.waiting, 1, "the wait");
    assert_int_equal(handle_acquire(&ours, HILOCK_TRY), HILOCK_TIMED_OUT);
    assert_int_equal(ours.acquired.attempts, 0);
    assert_string_equal(ours.acquired.holder, waiter.waiting.holder);
    handle_free(&waiter);
    assert_int_equal(handle_give(&holder), HILOCK_OK);
    handle_free(&ours);
    handle_free(&holder);
    close_two(&two);
}

/* Right after open: a try neither fails at once nor hangs, it connects. */
static void before_the_first_connection(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    client_open(&client, fixture->server->url);
    assert_int_equal(hilock_client_is_connected(client.hilock), 0);
    handle_open(&stock, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(client.connected, 1);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
}

static void many_tries_of_one_turn(void **state)
{
    enum { TRIES = 50 };
    struct fixture *fixture = *state;
    struct two two;
    struct handle tries[TRIES];
    unsigned granted = 0, denied = 0;
    open_two(&two, fixture);
    for (int i = 0; i < TRIES; i++) {
        handle_open(&tries[i], &two.ours, "stock", NULL);
        handle_ask(&tries[i], HILOCK_TRY);
    }
    for (int i = 0; i < TRIES; i++) {
        handle_until(&tries[i], &tries[i].acquired, 1, "an answer");
        granted += tries[i].acquired.status == HILOCK_OK;
        denied += tries[i].acquired.status == HILOCK_TIMED_OUT;
    }
    assert_int_equal(granted, 1);
    assert_int_equal(denied, TRIES - 1);
    for (int i = 0; i < TRIES; i++)
        handle_free(&tries[i]);
    close_two(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(held_by_another_client),       FIXTURE_TEST(held_by_a_sibling),      FIXTURE_TEST(held_as_a_waiting_sibling_knows),
        FIXTURE_TEST(before_the_first_connection), FIXTURE_TEST(many_tries_of_one_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
