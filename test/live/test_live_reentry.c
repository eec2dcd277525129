/* SPDX-License-Identifier: BSD-3-Clause */
/* Re-entry costs no command, however deep, and needs as many releases; every other handle, and a handle that is not reentrant, is refused or
 * waits. */
#include <string.h>

#include "support/fixture.h"

static const struct hilock_lock_options again = {.size = sizeof again, .lease_ms = 60000, .reentrant = 1};

enum { DEEP = 1000 };

static void a_thousand_deep_without_a_command(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    long long at_the_server;
    uint64_t commands;
    client_open(&client, fixture->server->url);
    handle_open(&held, &client, "stock", &again);
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    at_the_server = redis_calls(fixture->redis, "evalsha");
    commands = client_stats(&client).commands;
    for (unsigned i = 2; i <= DEEP; i++) {
        assert_int_equal(handle_acquire(&held, HILOCK_TRY), HILOCK_OK);
        assert_int_equal(held.acquired.hold_count, i);
        assert_int_equal(held.acquired.attempts, 0);
    }
    for (unsigned i = DEEP; i > 1; i--) {
        assert_int_equal(handle_give(&held), HILOCK_OK);
        assert_int_equal(held.released.hold_count, i - 1);
        assert_int_equal(held.released.state, HILOCK_STATE_HELD);
    }
    assert_int_equal(client_stats(&client).commands, commands);
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), at_the_server);
    assert_int_equal(client_stats(&client).reentered, DEEP - 1);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock"), 1);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    assert_int_equal(held.released.hold_count, 0);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock"), 0);
    assert_int_equal(hilock_release(held.lock, NULL, NULL), HILOCK_NOT_HELD);
    handle_free(&held);
    client_close(&client);
}

/* The handle of another client waits until the last release, not the first. */
static void others_wait_for_the_last_release(void **state)
{
    struct fixture *fixture = *state;
    struct client ours, theirs;
    struct handle held, waits;
    client_open(&ours, fixture->server->url);
    client_open(&theirs, fixture->server->url);
    handle_open(&held, &ours, "stock", &again);
    handle_open(&waits, &theirs, "stock", &again);
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    handle_ask(&waits, HILOCK_FOREVER);
    handle_until(&waits, &waits.waiting, 1, "the wait");
    assert_int_equal(handle_give(&held), HILOCK_OK);
    client_for_ms(&theirs, 300);
    assert_int_equal(waits.acquired.count, 0);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    handle_until(&waits, &waits.acquired, 1, "the grant");
    assert_int_equal(waits.acquired.status, HILOCK_OK);
    assert_int_equal(waits.acquired.hold_count, 1);
    assert_int_equal(handle_give(&waits), HILOCK_OK);
    handle_free(&held);
    handle_free(&waits);
    client_close(&ours);
    client_close(&theirs);
}

static void a_loss_ends_all_counts(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    client_open(&client, fixture->server->url);
    handle_open(&held, &client, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .reentrant = 1));
    for (int i = 0; i < 3; i++)
        assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    redis_do(fixture->redis, "DEL stock");
    handle_until(&held, &held.lost, 1, "the loss");
    assert_int_equal(held.lost.reason, HILOCK_REASON_TAKEN);
    assert_int_equal(hilock_lock_state(held.lock), HILOCK_STATE_IDLE);
    assert_int_equal(hilock_release(held.lock, NULL, NULL), HILOCK_NOT_HELD); /* by a handle that lost it */
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(held.acquired.hold_count, 1);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock"), 0);
    handle_free(&held);
    client_close(&client);
}

static void nothing(const struct hilock_result *result, void *user) { (void)result, (void)user; }

static void check_in_use(struct client *client, struct handle *handle, const char *why)
{
    assert_int_equal(hilock_acquire(handle->lock, 1000, nothing, NULL), HILOCK_IN_USE);
    assert_non_null(strstr(hilock_client_refusal(client->hilock), why));
}

static void a_handle_that_is_not_reentrant_is_IN_USE_while_it_waits_or_holds(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle holds, waits, enters;
    client_open(&client, fixture->server->url);
    handle_open(&holds, &client, "stock", NULL);
    handle_open(&waits, &client, "stock", NULL);
    handle_open(&enters, &client, "stock", &again);
    assert_int_equal(handle_acquire(&holds, HILOCK_FOREVER), HILOCK_OK);
    handle_ask(&waits, HILOCK_FOREVER);
    handle_ask(&enters, HILOCK_FOREVER);
    check_in_use(&client, &holds, "handle of \"stock\" already holds: make one handle per would-be holder, or set reentrant");
    check_in_use(&client, &waits, "handle of \"stock\" already waits: make one handle per would-be holder, or set reentrant");
    check_in_use(&client, &enters, "handle of \"stock\" already waits: it can be entered again once it holds");
    handle_free(&waits);
    handle_free(&enters);
    assert_int_equal(handle_give(&holds), HILOCK_OK);
    handle_free(&holds);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_thousand_deep_without_a_command),
        FIXTURE_TEST(others_wait_for_the_last_release),
        FIXTURE_TEST(a_loss_ends_all_counts),
        FIXTURE_TEST(a_handle_that_is_not_reentrant_is_IN_USE_while_it_waits_or_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
