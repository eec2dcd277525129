/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that dies and comes back on the same address: empty, it has forgotten every hold, and everybody learns it; with
 * its data kept, holds and waits go on as if nothing had been. */
#include "support/fixture.h"

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

static void restart(struct fixture *fixture)
{
    redis_close(fixture->redis);
    server_kill(fixture->server);
    server_restart(fixture->server);
    fixture->redis = redis_open(fixture->server);
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
    restart(trial.fixture);
    handle_until(&trial.second, &trial.second.acquired, 1, "the waiter's grant");
    handle_until(&trial.first, &trial.first.lost, 1, "the holder's loss");
    assert_int_equal(trial.first.lost.reason, HILOCK_REASON_TAKEN);
    assert_true(trial.first.lost.token == trial.first.acquired.token);
    assert_int_equal(trial.first.renewal_failed.count, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(what_was_forgotten_is_lost_and_granted_anew),
        FIXTURE_TEST(with_data_kept_all_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
