/* SPDX-License-Identifier: BSD-3-Clause */
/* What a real server's INFO tells: a restart is noticed, nothing is granted before its guard is over and at once after, and a policy that
 * evicts is reported. (A user without the right to INFO: acl.) */
#include <string.h>

#include "support/fixture.h"

enum { GUARD_MS = 3000 };

/* When it died: what it granted was granted before. */
static uint64_t restart(struct fixture *fixture)
{
    uint64_t died_us;
    redis_close(fixture->redis);
    server_kill(fixture->server);
    died_us = check_now_us();
    server_restart(fixture->server);
    fixture->redis = redis_open(fixture->server);
    return died_us;
}

/* The holder is cut off, so to speak: it does not renew, and hears of nothing. */
static void nobody_is_let_in_while_a_forgotten_holder_believes(void **state)
{
    struct fixture *fixture = *state;
    struct client holding, waiting;
    struct handle old, new;
    uint64_t died_us;
    client_open_with(&holding, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .restart_guard_ms = GUARD_MS, .lease_ms = GUARD_MS));
    handle_open(&old, &holding, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = GUARD_MS, .renew = HILOCK_RENEW_NEVER));
    assert_int_equal(handle_acquire(&old, 20000), HILOCK_OK);
    died_us = restart(fixture);
    client_open_with(&waiting, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .restart_guard_ms = GUARD_MS, .lease_ms = GUARD_MS));
    handle_open(&new, &waiting, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = GUARD_MS));
    handle_ask(&new, HILOCK_FOREVER);
    handle_until(&new, &new.acquired, 1, "the grant");
    handle_until(&old, &old.lost, 1, "the loss");
    assert_int_equal(new.acquired.status, HILOCK_OK);
    assert_true(new.acquired.at_us - died_us >= (uint64_t)GUARD_MS * 1000);
    assert_int_equal(new.acquired.attempts, 1); /* it slept until then, and asked once */
    handle_free(&old);
    handle_free(&new);
    client_close(&holding);
    client_close(&waiting);
}

static int was_told(void *arg) { return strstr(arg, "restarted") != NULL; }

static void a_restart_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    client_open(&client, fixture->server->url);
    client_connect(&client);
    restart(fixture);
    client_until(&client, was_told, client.log, "STORE_RESTARTED");
    assert_int_equal(client.other_events, 1);
    client_close(&client);
}

static void a_policy_that_evicts_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    redis_do(fixture->redis, "CONFIG SET maxmemory-policy volatile-ttl");
    client_open(&client, fixture->server->url);
    client_connect(&client);
    assert_int_equal(client.other_events, 0);
    client_close(&client);
    redis_do(fixture->redis, "CONFIG SET maxmemory 1000000000");
    client_open(&client, fixture->server->url);
    client_connect(&client);
    client_turn(&client);
    assert_int_equal(client.other_events, 1);
    assert_non_null(strstr(client.log, "maxmemory-policy is volatile-ttl: the store may evict locks; set noeviction"));
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(nobody_is_let_in_while_a_forgotten_holder_believes),
        FIXTURE_TEST(a_restart_is_told),
        FIXTURE_TEST(a_policy_that_evicts_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
