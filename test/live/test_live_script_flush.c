/* SPDX-License-Identifier: BSD-3-Clause */
/* SCRIPT FLUSH at any moment: the server forgets the scripts, and only the counters show it. */
#include <stdio.h>

#include "support/fixture.h"

static void between_pairs(void **state)
{
    enum { PAIRS = 20 };
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    long long loads;
    client_open(&client, fixture->server->url);
    client_connect(&client);
    handle_open(&stock, &client, "stock", NULL);
    loads = redis_calls(fixture->redis, "script|load");
    for (int i = 0; i < PAIRS; i++) {
        redis_do(fixture->redis, "SCRIPT FLUSH");
        assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_OK);
        assert_int_equal(stock.acquired.attempts, 2); /* what met no script was sent, too */
        redis_do(fixture->redis, "SCRIPT FLUSH");
        assert_int_equal(handle_give(&stock), HILOCK_OK);
    }
    assert_int_equal(redis_calls(fixture->redis, "script|load") - loads, 2 * PAIRS); /* each time the one that was missed */
    assert_int_equal(client.disconnected, 0);
    handle_free(&stock);
    client_close(&client);
}

/* A row of requests on the wire at once: all meet a server without scripts. */
static void before_a_burst(void **state)
{
    enum { BURST = 300 };
    static struct handle burst[BURST];
    struct fixture *fixture = *state;
    struct client client;
    char name[16];
    client_open(&client, fixture->server->url);
    client_connect(&client);
    for (unsigned i = 0; i < BURST; i++) {
        snprintf(name, sizeof name, "name%u", i);
        handle_open(&burst[i], &client, name, NULL);
    }
    for (int round = 0; round < 3; round++) {
        redis_do(fixture->redis, "SCRIPT FLUSH");
        for (unsigned i = 0; i < BURST; i++)
            handle_ask(&burst[i], HILOCK_TRY);
        for (unsigned i = 0; i < BURST; i++) {
            handle_until(&burst[i], &burst[i].acquired, (unsigned)round + 1, "the grant");
            assert_int_equal(burst[i].acquired.status, HILOCK_OK);
        }
        assert_int_equal(redis_lock_keys(fixture->redis), BURST);
        redis_do(fixture->redis, "SCRIPT FLUSH");
        for (unsigned i = 0; i < BURST; i++)
            handle_release(&burst[i]);
        for (unsigned i = 0; i < BURST; i++) {
            handle_until(&burst[i], &burst[i].released, (unsigned)round + 1, "the release");
            assert_int_equal(burst[i].released.status, HILOCK_OK);
        }
        assert_int_equal(redis_lock_keys(fixture->redis), 0);
    }
    assert_int_equal(client.disconnected, 0);
    for (unsigned i = 0; i < BURST; i++)
        handle_free(&burst[i]);
    client_close(&client);
}

/* Flushed all the time, at any moment of renewing, waiting and handing on. */
static void during_renewals_and_waits(void **state)
{
    enum { RENEWALS = 2, ROUNDS_LEAST = 100 };
    struct fixture *fixture = *state;
    struct client holding, waiting;
    struct handle held, next;
    unsigned grants = 0;
    client_open(&holding, fixture->server->url);
    client_open_on(&waiting, holding.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&held, &holding, "kept", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    for (; client_stats(&holding).renewals < RENEWALS || grants < ROUNDS_LEAST; grants++) {
        struct handle blocker;
        handle_open(&blocker, &holding, "passed on", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
        handle_open(&next, &waiting, "passed on", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
        assert_int_equal(handle_acquire(&blocker, HILOCK_FOREVER), HILOCK_OK);
        redis_do(fixture->redis, "SCRIPT FLUSH");
        handle_ask(&next, HILOCK_FOREVER);
        handle_until(&next, &next.waiting, 1, "the wait");
        redis_do(fixture->redis, "SCRIPT FLUSH");
        handle_release(&blocker);
        handle_until(&next, &next.acquired, 1, "the grant");
        assert_int_equal(next.acquired.status, HILOCK_OK);
        redis_do(fixture->redis, "SCRIPT FLUSH");
        assert_int_equal(handle_give(&next), HILOCK_OK);
        handle_until(&blocker, &blocker.released, 1, "the release");
        assert_int_equal(blocker.released.status, HILOCK_OK);
        handle_free(&blocker);
        handle_free(&next);
    }
    print_message("%u hand-overs, %u renewals\n", grants, (unsigned)client_stats(&holding).renewals);
    assert_int_equal(held.lost.count, 0);
    assert_int_equal(held.renewal_failed.count, 0);
    assert_int_equal(client_stats(&holding).renewals_failed, 0);
    assert_int_equal(client_stats(&waiting).failed + client_stats(&holding).failed, 0);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    handle_free(&held);
    client_close(&waiting);
    client_close(&holding);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(between_pairs),
        FIXTURE_TEST(before_a_burst),
        FIXTURE_TEST(during_renewals_and_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
