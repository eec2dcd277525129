/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that dies and comes back on the same address: empty, it has forgotten every hold, everybody learns it, and
 * with a restart guard nothing is granted before that is over; with its data kept, holds and waits go on as if nothing
 * had been. And what its INFO says besides: that it may evict. */
#include <string.h>

#include "support/fixture.h"

enum { GUARD_MS = 3000 };

struct trial {
    struct fixture *fixture;
    struct client holding, waiting;
    struct handle first, second;
};

/* One holds, the other waits. */
static void begin(struct trial *trial, void **state)
{
    trial->fixture = *state;
    client_open(&trial->holding, trial->fixture->server->url);
    client_open(&trial->waiting, trial->fixture->server->url);
    handle_open(&trial->first, &trial->holding, "stock:42", NULL);
    handle_open(&trial->second, &trial->waiting, "stock:42", NULL);
    assert_int_equal(handle_acquire(&trial->first, 20000), HILOCK_OK);
    handle_ask(&trial->second, HILOCK_FOREVER);
    handle_until(&trial->second, &trial->second.waiting, 1, "WAITING");
}

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

static void end(struct trial *trial)
{
    assert_int_equal(trial->second.acquired.status, HILOCK_OK);
    assert_true(trial->second.acquired.token > trial->first.acquired.token);
    assert_int_equal(handle_give(&trial->second), HILOCK_OK);
    assert_int_equal(redis_lock_keys(trial->fixture->redis), 0); /* what was forgotten was not made again */
    handle_free(&trial->first);
    handle_free(&trial->second);
    client_close(&trial->holding);
    client_close(&trial->waiting);
}

/* The waiter may have it before the holder learns of the loss: data was lost, and the token protects against that. */
static void what_was_forgotten_is_lost_and_granted_anew(void **state)
{
    struct trial trial;
    begin(&trial, state);
    trial.holding.watched = "restarted";
    restart(trial.fixture);
    handle_until(&trial.second, &trial.second.acquired, 1, "the waiter's grant");
    handle_until(&trial.first, &trial.first.lost, 1, "the holder's loss");
    assert_int_equal(trial.first.lost.reason, HILOCK_REASON_TAKEN);
    assert_true(trial.first.lost.token == trial.first.acquired.token);
    assert_int_equal(trial.first.renewal_failed.count, 0);
    assert_true(trial.holding.watched_count == 1 && trial.holding.other_events == 1); /* STORE_RESTARTED */
    end(&trial);
}

static int has_renewed(void *client) { return client_stats(client).renewals > 0; }

static int listens_again(void *redis) { return redis_grants(redis) >= 1; }

static void with_data_kept_all_goes_on(void **state)
{
    struct trial trial;
    begin(&trial, state);
    redis_do(trial.fixture->redis, "SAVE");
    restart(trial.fixture);
    client_until(&trial.waiting, listens_again, trial.fixture->redis, "a new subscription");
    client_until(&trial.holding, has_renewed, &trial.holding, "the renewal that verifies the hold");
    assert_true(trial.holding.connected >= 2);
    assert_int_equal(trial.first.lost.count + trial.first.renewal_failed.count + trial.second.acquired.count, 0);
    assert_true(hilock_lock_token(trial.first.lock) == trial.first.acquired.token);
    assert_int_equal(handle_give(&trial.first), HILOCK_OK);
    handle_until(&trial.second, &trial.second.acquired, 1, "the grant");
    end(&trial);
}

/* The holder is cut off, so to speak: it does not renew, and hears of nothing. */
static void with_a_guard_nobody_is_let_in_while_a_forgotten_holder_believes(void **state)
{
    struct fixture *fixture = *state;
    const struct hilock_client_options guarded = {.size = sizeof guarded, .url = fixture->server->url,
                                                  .restart_guard_ms = GUARD_MS, .lease_ms = GUARD_MS};
    struct client holding, waiting;
    struct handle old, new;
    uint64_t died_us;
    client_open_with(&holding, &guarded);
    handle_open(&old, &holding, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = GUARD_MS, .renew = HILOCK_RENEW_NEVER));
    assert_int_equal(handle_acquire(&old, 20000), HILOCK_OK);
    died_us = restart(fixture);
    client_open_with(&waiting, &guarded);
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
        FIXTURE_TEST(what_was_forgotten_is_lost_and_granted_anew),
        FIXTURE_TEST(with_data_kept_all_goes_on),
        FIXTURE_TEST(with_a_guard_nobody_is_let_in_while_a_forgotten_holder_believes),
        FIXTURE_TEST(a_policy_that_evicts_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
