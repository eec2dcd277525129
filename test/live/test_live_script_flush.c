/* SPDX-License-Identifier: BSD-3-Clause */
/* SCRIPT FLUSH at any moment: the server forgets the scripts, and only the counters show it. */
#include <stdio.h>

#include "support/fixture.h"

enum { BURST = 300, ROUNDS = 3 };

/* What met no script was sent, too; only the script that was missed is loaded. */
static void before_a_pair(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    long long loads;
    client_open(&client, fixture->server->url);
    client_connect(&client);
    handle_open(&stock, &client, "stock", NULL);
    loads = redis_calls(fixture->redis, "script|load");
    redis_do(fixture->redis, "SCRIPT FLUSH");
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(stock.acquired.attempts, 2);
    redis_do(fixture->redis, "SCRIPT FLUSH");
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    assert_int_equal(redis_calls(fixture->redis, "script|load") - loads, 2);
    assert_int_equal(client.disconnected, 0);
    handle_free(&stock);
    client_close(&client);
}

/* A row of requests on the wire at once: all meet a server without scripts. */
static void before_a_burst(void **state)
{
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
    for (unsigned round = 1; round <= ROUNDS; round++) {
        redis_do(fixture->redis, "SCRIPT FLUSH");
        for (unsigned i = 0; i < BURST; i++)
            handle_ask(&burst[i], HILOCK_TRY);
        for (unsigned i = 0; i < BURST; i++) {
            handle_until(&burst[i], &burst[i].acquired, round, "the grant");
            assert_int_equal(burst[i].acquired.status, HILOCK_OK);
        }
        assert_int_equal(redis_lock_keys(fixture->redis), BURST);
        redis_do(fixture->redis, "SCRIPT FLUSH");
        for (unsigned i = 0; i < BURST; i++)
            handle_release(&burst[i]);
        for (unsigned i = 0; i < BURST; i++) {
            handle_until(&burst[i], &burst[i].released, round, "the release");
            assert_int_equal(burst[i].released.status, HILOCK_OK);
        }
        assert_int_equal(redis_lock_keys(fixture->redis), 0);
    }
    assert_int_equal(client.disconnected, 0);
    for (unsigned i = 0; i < BURST; i++)
        handle_free(&burst[i]);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(before_a_pair),
        FIXTURE_TEST(before_a_burst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
