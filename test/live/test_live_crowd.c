/* SPDX-License-Identifier: BSD-3-Clause */
/* Ten thousand locks held and ten thousand waited for, and their client closes at once: each is reported exactly once, never more than a thousand of
 * them in one turn of the loop, so that the program's own events are not starved; and afterwards nothing is left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture.h"

enum { MANY = 10000, BATCH_MAX = 1000 };

struct crowd {
    struct client client;
    hilock_lock *holders[MANY], *waiters[MANY];
    unsigned granted, lost, closed, others, ends, after_end;
    unsigned in_turn, in_turn_most; /* callbacks, losses excepted: those never wait for the next turn */
};

static void note(struct crowd *crowd) { crowd->after_end += crowd->ends; }

static void on_result(const struct hilock_result *result, void *user)
{
    struct crowd *crowd = user;
    note(crowd);
    if (++crowd->in_turn > crowd->in_turn_most)
        crowd->in_turn_most = crowd->in_turn;
    crowd->granted += result->status == HILOCK_OK;
    crowd->closed += result->status == HILOCK_CLOSED;
    crowd->others += result->status != HILOCK_OK && result->status != HILOCK_CLOSED;
}

static void on_lost(const struct hilock_event *event, void *user)
{
    struct crowd *crowd = user;
    note(crowd);
    crowd->lost += event->reason == HILOCK_REASON_CLOSING;
    crowd->others += event->reason != HILOCK_REASON_CLOSING;
}

static void on_closed(void *user)
{
    struct crowd *crowd = user;
    crowd->ends++;
    crowd->client.hilock = NULL;
}

/* One turn, and what it called. */
static void turn(struct crowd *crowd)
{
    crowd->in_turn = 0;
    assert_true(event_base_loop(crowd->client.base, EVLOOP_ONCE) >= 0);
}

static hilock_lock *ask(struct crowd *crowd, const char *name)
{
    hilock_lock *lock = NULL;
    assert_int_equal(hilock_lock_create(&lock, crowd->client.hilock, name, HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = crowd, .lease_ms = 120000)), HILOCK_OK);
    assert_int_equal(hilock_acquire(lock, HILOCK_FOREVER, on_result, crowd), HILOCK_OK);
    return lock;
}

/* Half of the waiters want what this client holds, half what another program holds. */
static void gather(struct crowd *crowd, struct fixture *fixture)
{
    char name[32];
    client_open_with(&crowd->client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .command_timeout_ms = 60000));
    redis_do(fixture->redis, "EVAL %s 0", "for i = 0, 4999 do redis.call('HSET', 'foreign:' .. i, 'another', 1) end");
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "own:%u", i);
        crowd->holders[i] = ask(crowd, name);
    }
    while (crowd->granted < MANY)
        turn(crowd);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%s:%u", i % 2 ? "own" : "foreign", i / 2);
        crowd->waiters[i] = ask(crowd, name);
    }
    while (redis_channels(fixture->redis) < MANY / 2)
        turn(crowd);
    assert_int_equal(client_stats(&crowd->client).held, MANY);
    assert_int_equal(client_stats(&crowd->client).waiting, MANY);
}

static void disperse(struct crowd *crowd, struct fixture *fixture)
{
    for (unsigned i = 0; i < MANY; i++) {
        hilock_lock_free(crowd->holders[i]);
        hilock_lock_free(crowd->waiters[i]);
    }
    redis_do(fixture->redis, "EVAL %s 0", "for i = 0, 4999 do redis.call('DEL', 'foreign:' .. i) end");
    assert_int_equal(redis_lock_keys(fixture->redis), 0);
    client_close(&crowd->client);
    free(crowd);
}

static void closes_at_once(void **state)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);
    assert_non_null(crowd);
    gather(crowd, *state);
    crowd->in_turn_most = 0;
    assert_int_equal(hilock_client_close(crowd->client.hilock, 0, on_closed, crowd), HILOCK_OK);
    assert_int_equal(crowd->lost + crowd->closed, 0);
    while (!crowd->ends)
        turn(crowd);
    assert_int_equal(crowd->lost, MANY);
    assert_int_equal(crowd->closed, MANY);
    assert_int_equal(crowd->others + crowd->after_end, 0);
    assert_true(crowd->in_turn_most <= BATCH_MAX);
    disperse(crowd, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(closes_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
