/* SPDX-License-Identifier: BSD-3-Clause */
/* What ends a wait: the release, whose one command grants to the first in the queue; the end of a dead holder's lease; and, where its message
 * was missed, what does not depend on it. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/child.h"
#include "support/ledger.h"
#include "support/proxy.h"
#include "support/fixture.h"

/* What is pushed is renewed after so long. How soon a wait ends is for plays in exact time (unit/safety_wait.c); here questions are counted. */
enum { RENEWAL_US = 1000000 };

struct calls { struct redis *redis; long long count; };

static int has_called(void *arg)
{
    const struct calls *calls = arg;
    return redis_calls(calls->redis, "evalsha") >= calls->count;
}

static void until_called(struct client *client, struct redis *redis, long long count)
{
    client_until(client, has_called, &(struct calls){redis, count}, "so many commands");
}

/* One holder, and `clients` others with `each` waiting handles; all asleep: each client has asked twice, and listens. */
struct sleepers {
    struct client holding;
    struct handle holder;
    struct client clients[3];
    struct handle handles[3][4];
    unsigned count, each;
};

static void open_sleepers(struct sleepers *sleepers, struct fixture *fixture, unsigned count, unsigned each)
{
    sleepers->count = count;
    sleepers->each = each;
    client_open(&sleepers->holding, fixture->server->url);
    handle_open(&sleepers->holder, &sleepers->holding, "stock", NULL);
    assert_int_equal(handle_acquire(&sleepers->holder, HILOCK_TRY), HILOCK_OK);
    for (unsigned i = 0; i < count; i++) {
        client_open_on(&sleepers->clients[i], sleepers->holding.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
        client_connect(&sleepers->clients[i]);
    }
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < each; j++) {
            handle_open(&sleepers->handles[i][j], &sleepers->clients[i], "stock", NULL);
            handle_ask(&sleepers->handles[i][j], HILOCK_FOREVER);
        }
    until_called(&sleepers->holding, fixture->redis, 2 * count);
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < each; j++)
            handle_until(&sleepers->handles[i][j], &sleepers->handles[i][j].waiting, 1, "the wait");
}

static void close_sleepers(struct sleepers *sleepers)
{
    for (unsigned i = 0; i < sleepers->count; i++) {
        for (unsigned j = 0; j < sleepers->each; j++)
            handle_free(&sleepers->handles[i][j]);
        client_close(&sleepers->clients[i]);
    }
    handle_free(&sleepers->holder);
    client_close(&sleepers->holding);
}

/* The first of all handles that has it; NULL: none. */
static struct handle *winner(struct sleepers *sleepers)
{
    for (unsigned i = 0; i < sleepers->count; i++)
        for (unsigned j = 0; j < sleepers->each; j++)
            if (hilock_lock_state(sleepers->handles[i][j].lock) == HILOCK_STATE_HELD)
                return &sleepers->handles[i][j];
    return NULL;
}

static int somebody_has_it(void *arg) { return winner(arg) != NULL; }

static unsigned woken(struct sleepers *sleepers)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sleepers->count; i++)
        count += (unsigned)client_stats(&sleepers->clients[i]).wakeups;
    return count;
}

/* The release grants it to the first in the queue, and notifies no other. */
static void by_the_release_alone(struct fixture *fixture, unsigned clients, unsigned each)
{
    struct sleepers sleepers;
    uint64_t begun_us = check_now_us(), more;
    open_sleepers(&sleepers, fixture, clients, each);
    assert_int_equal(redis_channels(fixture->redis), 0); /* no listener needs to know that it is free */
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    handle_release(&sleepers.holder);
    client_until(&sleepers.holding, somebody_has_it, &sleepers, "a grant");
    more = (check_now_us() - begun_us) / RENEWAL_US; /* 0, but on a machine that stood still */
    assert_in_range(redis_calls(fixture->redis, "evalsha"), 1, 1 + more * clients);
    assert_int_equal(redis_calls(fixture->redis, "subscribe"), 0);
    assert_int_equal(woken(&sleepers), 1);
    close_sleepers(&sleepers);
}

static void one_waiter(void **state) { by_the_release_alone(*state, 1, 1); }

static void many_handles_of_a_client(void **state) { by_the_release_alone(*state, 1, 4); }

static void three_clients(void **state) { by_the_release_alone(*state, 3, 4); }

static void listens_no_longer_than_needed(void **state)
{
    struct fixture *fixture = *state;
    struct sleepers sleepers;
    open_sleepers(&sleepers, fixture, 2, 2);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < 2; j++)
            hilock_lock_drop(sleepers.handles[i][j].lock);
    fixture_until_unsubscribed(fixture, &sleepers.holding);
    assert_int_equal(handle_give(&sleepers.holder), HILOCK_OK);
    close_sleepers(&sleepers);
}

/* ---- a dead holder ---- */

struct victim { const char *url; struct ledger *ledger; };

static void hold_for_ever(void *arg)
{
    struct victim *victim = arg;
    struct client client;
    struct handle stock;
    client_open(&client, victim->url);
    handle_open(&stock, &client, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    CHECK(handle_acquire(&stock, HILOCK_TRY) == HILOCK_OK);
    atomic_store(ledger_word(victim->ledger, 0), stock.acquired.token);
    client_until(&client, somebody_has_it, &(struct sleepers){.count = 0}, "to be killed");
}

static int is_held(void *arg) { return atomic_load(ledger_word(arg, 0)) != 0; }

static void after_the_lease_of_a_killed_holder(void **state)
{
    struct fixture *fixture = *state;
    struct victim victim = {fixture->server->url, ledger_new(1, 1)};
    struct client client;
    struct handle waiter;
    uint64_t looked_us;
    long long left_ms;
    pid_t pid = child_start(hold_for_ever, &victim);
    check_until(is_held, victim.ledger, "the child's hold");
    client_open(&client, fixture->server->url);
    handle_open(&waiter, &client, "stock", NULL);
    handle_ask(&waiter, HILOCK_FOREVER);
    handle_until(&waiter, &waiter.waiting, 1, "the wait");
    client_for_ms(&client, 1500); /* a renewal: it lives */
    assert_int_equal(waiter.acquired.count, 0);
    child_kill(pid);
    looked_us = check_now_us();
    left_ms = redis_integer(fixture->redis, "PTTL stock");
    assert_true(left_ms > 0);
    handle_until(&waiter, &waiter.acquired, 1, "the grant");
    assert_int_equal(waiter.acquired.status, HILOCK_OK);
    assert_true(waiter.acquired.at_us + 10000 >= looked_us + (uint64_t)left_ms * 1000); /* not while the dead one's lease lasts */
    assert_true(waiter.acquired.token > atomic_load(ledger_word(victim.ledger, 0)));
    assert_int_equal(client_stats(&client).wakeups, 0); /* there was no message */
    handle_free(&waiter);
    client_close(&client);
    ledger_free(victim.ledger);
}

/* ---- a missed message ---- */

static int has_no_sleeper(void *arg) { return redis_channels(arg) == 0; }

/* The subscription link dies, and the lock is freed before it is back: its message was lost. */
static void though_nobody_listened(void **state)
{
    struct fixture *fixture = *state;
    struct sleepers sleepers;
    struct handle *waiter = &sleepers.handles[0][0];
    open_sleepers(&sleepers, fixture, 1, 1);
    redis_do(fixture->redis, "CLIENT KILL TYPE pubsub");
    redis_do(fixture->redis, "DEL stock");
    assert_int_equal(redis_integer(fixture->redis, "PUBLISH redisson_lock__channel:{stock} 0"), 0);
    handle_until(waiter, &waiter->acquired, 1, "the grant");
    assert_int_equal(waiter->acquired.status, HILOCK_OK);
    assert_int_equal(client_stats(&sleepers.clients[0]).wakeups, 0);
    hilock_lock_drop(waiter->lock);
    close_sleepers(&sleepers);
}

/* The command link dies, too, so no message can be relied on: all waiters ask again when it is back. */
static void though_the_command_link_died(void **state)
{
    struct fixture *fixture = *state;
    struct sleepers sleepers;
    struct handle *waiter = &sleepers.handles[0][0];
    open_sleepers(&sleepers, fixture, 1, 1);
    redis_do(fixture->redis, "CLIENT KILL TYPE normal SKIPME yes");
    redis_do(fixture->redis, "DEL stock");
    handle_until(waiter, &waiter->acquired, 1, "the grant");
    assert_int_equal(waiter->acquired.status, HILOCK_OK);
    /* the holder's link died, too: if it is back first, its key is gone, and the release of that id hands the free name over */
    assert_true(client_stats(&sleepers.clients[0]).wakeups <= sleepers.holder.lost.count);
    assert_true(client_stats(&sleepers.clients[0]).disconnects > 0);
    hilock_lock_drop(waiter->lock);
    close_sleepers(&sleepers);
}

static int was_woken_once(void *arg) { return client_stats(arg).wakeups >= 1 && !client_stats(arg).inflight; }
static int was_woken(void *arg) { return client_stats(arg).wakeups >= 3; }

static int listens_to_others(void *arg) { return redis_integer(arg, "PUBLISH redisson_lock__channel:{stock} 0") == 1; }

/* Behind another program: the waiter's question was answered "held" before the name was freed, but its answer comes after the message: it is no
 * reason to sleep. */
static void though_the_message_overtook_an_answer(void **state)
{
    struct fixture *fixture = *state;
    struct proxy *proxy = proxy_start(fixture->server);
    struct client waiting;
    struct handle waiter;
    long long before;
    redis_do(fixture->redis, "HSET stock another 1");
    redis_do(fixture->redis, "PEXPIRE stock 600000");
    client_open(&waiting, proxy_url(proxy));
    client_connect(&waiting);
    handle_open(&waiter, &waiting, "stock", NULL);
    handle_ask(&waiter, HILOCK_FOREVER);
    handle_until(&waiter, &waiter.waiting, 1, "the wait");
    client_until(&waiting, listens_to_others, fixture->redis, "the subscription");
    client_until(&waiting, was_woken_once, &waiting, "the answer after its first message");
    proxy_hold(proxy, PROXY_COMMANDS, PROXY_REPLIES);
    before = redis_calls(fixture->redis, "evalsha");
    assert_int_equal(redis_integer(fixture->redis, "PUBLISH redisson_lock__channel:{stock} 0"), 1); /* a false alarm: it asks */
    until_called(&waiting, fixture->redis, before + 1);
    redis_do(fixture->redis, "DEL stock");
    assert_int_equal(redis_integer(fixture->redis, "PUBLISH redisson_lock__channel:{stock} 0"), 1);
    client_until(&waiting, was_woken, &waiting, "the messages");
    proxy_pass(proxy);
    handle_until(&waiter, &waiter.acquired, 1, "the grant");
    assert_int_equal(waiter.acquired.status, HILOCK_OK);
    assert_true(redis_calls(fixture->redis, "evalsha") >= before + 2); /* it asked again */
    handle_free(&waiter);
    client_close(&waiting);
    proxy_end(proxy);
}

/* The link stands, but swallows what the server says: only the heartbeat is left (the holder's lease lasts for a minute). */
static void though_the_message_was_swallowed(void **state)
{
    struct fixture *fixture = *state;
    struct proxy *proxy = proxy_start(fixture->server);
    struct client holding, waiting;
    struct handle holder, waiter;
    client_open(&holding, fixture->server->url);
    client_open_on(&waiting, holding.base, HILOCK_CLIENT_OPTIONS(.url = proxy_url(proxy)));
    client_connect(&waiting);
    handle_open(&holder, &holding, "stock", NULL);
    handle_open(&waiter, &waiting, "stock", NULL);
    assert_int_equal(handle_acquire(&holder, HILOCK_TRY), HILOCK_OK);
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    handle_ask(&waiter, HILOCK_FOREVER);
    until_called(&waiting, fixture->redis, 2);
    proxy_drop(proxy, PROXY_SUBSCRIPTIONS, PROXY_REPLIES);
    assert_int_equal(handle_give(&holder), HILOCK_OK);
    handle_until(&waiter, &waiter.acquired, 1, "the grant");
    assert_int_equal(waiter.acquired.status, HILOCK_OK);
    assert_int_equal(client_stats(&waiting).wakeups, 0);
    assert_true(proxy_dropped(proxy) > 0);
    proxy_pass(proxy);
    handle_free(&holder);
    handle_free(&waiter);
    client_close(&waiting);
    client_close(&holding);
    proxy_end(proxy);
}

/* The link is killed repeatedly, at any moment of subscribing, asking and sleeping: no waiter is left asleep. */
static void though_links_die_all_the_time(void **state)
{
    enum { ROUNDS = 60, HANDLES = 6 };
    struct fixture *fixture = *state;
    struct sleepers sleepers;
    unsigned random = 12345, grants = 0;
    open_sleepers(&sleepers, fixture, 3, 2);
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
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(client_stats(&sleepers.clients[i]).failed, 0);
    close_sleepers(&sleepers);
    check_until(has_no_sleeper, fixture->redis, "the subscriptions to end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(one_waiter),
        FIXTURE_TEST(many_handles_of_a_client),
        FIXTURE_TEST(three_clients),
        FIXTURE_TEST(listens_no_longer_than_needed),
        FIXTURE_TEST(after_the_lease_of_a_killed_holder),
        FIXTURE_TEST(though_nobody_listened),
        FIXTURE_TEST(though_the_command_link_died),
        FIXTURE_TEST(though_the_message_overtook_an_answer),
        FIXTURE_TEST(though_the_message_was_swallowed),
        FIXTURE_TEST(though_links_die_all_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
