/* SPDX-License-Identifier: BSD-3-Clause */
/* A release grants to the first of the queue and notifies no other; links that die at any moment leave nobody asleep.
 * How soon a wait ends is for plays in exact time (unit/gate, unit/safety_wait.c). */
#include <stdlib.h>

#include "support/fixture.h"

enum { CLIENTS = 3, EACH = 2, HANDLES = CLIENTS * EACH, RENEWAL_US = 1000000 /* what is pushed is renewed after so long */ };

/* One holder, and clients with two waiting handles each. */
struct sleepers {
    struct client holding, clients[CLIENTS];
    struct handle holder, handles[HANDLES];
    struct redis *redis;
};

static int all_have_asked_twice(void *arg) { return redis_calls(((struct sleepers *)arg)->redis, "evalsha") >= 2 * CLIENTS; }

static void begin(struct sleepers *sleepers, struct fixture *fixture)
{
    sleepers->redis = fixture->redis;
    client_open(&sleepers->holding, fixture->server->url);
    handle_open(&sleepers->holder, &sleepers->holding, "stock", NULL);
    assert_int_equal(handle_acquire(&sleepers->holder, HILOCK_TRY), HILOCK_OK);
    for (unsigned i = 0; i < CLIENTS; i++) {
        client_open_on(&sleepers->clients[i], sleepers->holding.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
        client_connect(&sleepers->clients[i]);
    }
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    for (unsigned i = 0; i < HANDLES; i++) {
        handle_open(&sleepers->handles[i], &sleepers->clients[i % CLIENTS], "stock", NULL);
        handle_ask(&sleepers->handles[i], HILOCK_FOREVER);
    }
    client_until(&sleepers->holding, all_have_asked_twice, sleepers, "each client's two questions");
    for (unsigned i = 0; i < HANDLES; i++)
        handle_until(&sleepers->handles[i], &sleepers->handles[i].waiting, 1, "the wait");
}

static void end(struct sleepers *sleepers)
{
    for (unsigned i = 0; i < HANDLES; i++)
        handle_free(&sleepers->handles[i]);
    for (unsigned i = 0; i < CLIENTS; i++)
        client_close(&sleepers->clients[i]);
    handle_free(&sleepers->holder);
    client_close(&sleepers->holding);
}

/* NULL: none has it. */
static struct handle *winner(struct sleepers *sleepers)
{
    for (unsigned i = 0; i < HANDLES; i++)
        if (hilock_lock_state(sleepers->handles[i].lock) == HILOCK_STATE_HELD)
            return &sleepers->handles[i];
    return NULL;
}

static int somebody_has_it(void *arg) { return winner(arg) != NULL; }

static void by_one_command(void **state)
{
    struct fixture *fixture = *state;
    struct sleepers sleepers;
    uint64_t begun_us = check_now_us(), more, woken = 0;
    begin(&sleepers, fixture);
    assert_int_equal(redis_channels(fixture->redis), 0); /* no listener needs to know that it is free */
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    handle_release(&sleepers.holder);
    client_until(&sleepers.holding, somebody_has_it, &sleepers, "a grant");
    more = (check_now_us() - begun_us) / RENEWAL_US; /* 0, but on a machine that stood still */
    assert_in_range(redis_calls(fixture->redis, "evalsha"), 1, 1 + more * CLIENTS);
    assert_int_equal(redis_calls(fixture->redis, "subscribe"), 0);
    for (unsigned i = 0; i < CLIENTS; i++)
        woken += client_stats(&sleepers.clients[i]).wakeups;
    assert_int_equal(woken, 1);
    end(&sleepers);
}

/* The subscriptions are killed repeatedly, at any moment of subscribing, asking and sleeping. */
static void though_links_die_all_the_time(void **state)
{
    enum { ROUNDS = 60 };
    struct fixture *fixture = *state;
    struct sleepers sleepers;
    unsigned random = 12345, grants = 0;
    begin(&sleepers, fixture);
    handle_release(&sleepers.holder);
    while (grants < ROUNDS) {
        struct handle *handle;
        random = random * 1103515245 + 12345;
        if (random >> 16 & 1)
            redis_do(fixture->redis, "CLIENT KILL TYPE pubsub");
        for (unsigned turns = random >> 20 & 7; turns; turns--)
            client_turn(&sleepers.holding);
        if ((handle = winner(&sleepers)) == NULL) {
            client_until(&sleepers.holding, somebody_has_it, &sleepers, "anybody's grant");
            continue;
        }
        grants++;
        assert_int_equal(handle_give(handle), HILOCK_OK);
        handle_ask(handle, HILOCK_FOREVER);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        assert_int_equal(client_stats(&sleepers.clients[i]).failed, 0);
    end(&sleepers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(by_one_command),
        FIXTURE_TEST(though_links_die_all_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
