/* SPDX-License-Identifier: BSD-3-Clause */
/* No answer is not a no. An acquire that was carried out is adopted or undone, a release is repeated, a renewal is asked for again; and what an
 * old link still carries makes no holder that nobody knows of. Where a test waits for a key to go, it is kept from running out first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "support/belief.h"
#include "support/proxy.h"
#include "support/fixture.h"

static const char token_at_store[] = "for _, v in ipairs(redis.call('HVALS', KEYS[1])) do if v ~= 'mutex' then return v end end";

static int is_granted(void *arg) { return redis_integer(arg, "EXISTS stock:42") == 1; }

static int is_free(void *arg) { return redis_lock_keys(arg) == 0; }

struct trial {
    struct fixture *fixture;
    struct proxy *proxy;
    struct client client;
    struct handle stock;
};

static void begin(struct trial *trial, void **state, uint32_t command_timeout_ms, uint32_t lease_ms)
{
    trial->fixture = *state;
    trial->proxy = proxy_start(trial->fixture->server);
    client_open_with(&trial->client, HILOCK_CLIENT_OPTIONS(.url = proxy_url(trial->proxy), .command_timeout_ms = command_timeout_ms));
    client_connect(&trial->client);
    handle_open(&trial->stock, &trial->client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = lease_ms));
}

static void end(struct trial *trial)
{
    handle_free(&trial->stock);
    client_close(&trial->client);
    proxy_end(trial->proxy);
}

static void grant_is_adopted(void **state)
{
    struct trial trial;
    char token[32];
    begin(&trial, state, 0, 0);
    proxy_lose_reply(trial.proxy, "stock:42");
    assert_int_equal(handle_acquire(&trial.stock, 20000), HILOCK_OK);
    assert_int_equal(trial.stock.acquired.attempts, 2);
    assert_int_equal(redis_integer(trial.fixture->redis, "HLEN stock:42"), 2);
    snprintf(token, sizeof token, "%llu", (unsigned long long)trial.stock.acquired.token);
    assert_string_equal(redis_text(trial.fixture->redis, "EVAL %s 1 stock:42", token_at_store), token);
    assert_int_equal(redis_calls(trial.fixture->redis, "hset"), 1);
    assert_int_equal(handle_give(&trial.stock), HILOCK_OK);
    end(&trial);
}

static void request_is_repeated(void **state)
{
    struct trial trial;
    begin(&trial, state, 0, 0);
    proxy_lose_request(trial.proxy, "stock:42");
    assert_int_equal(handle_acquire(&trial.stock, 20000), HILOCK_OK);
    assert_int_equal(redis_calls(trial.fixture->redis, "hset"), 1);
    assert_int_equal(handle_give(&trial.stock), HILOCK_OK);
    end(&trial);
}

static void grant_past_the_wait_is_undone(void **state) { assert_string_equal(rule_unknown_grant_is_undone(*state, NULL), ""); }

/* The grant is there, its answer is lost, and no way leads to the server. */
static void begin_unknown(struct trial *trial, void **state)
{
    begin(trial, state, 0, 0);
    proxy_refuse(trial->proxy, 1);
    proxy_lose_reply(trial->proxy, "stock:42");
    handle_ask(&trial->stock, HILOCK_FOREVER);
    client_until(&trial->client, is_granted, trial->fixture->redis, "the grant at the server");
    redis_do(trial->fixture->redis, "PERSIST stock:42");
}

static void end_unknown(struct trial *trial)
{
    proxy_refuse(trial->proxy, 0);
    client_until(&trial->client, is_free, trial->fixture->redis, "the undoing");
    end(trial);
}

static void cancelled_meanwhile(void **state)
{
    struct trial trial;
    begin_unknown(&trial, state);
    assert_int_equal(hilock_cancel(trial.stock.lock), HILOCK_OK);
    handle_until(&trial.stock, &trial.stock.acquired, 1, "the answer");
    assert_int_equal(trial.stock.acquired.status, HILOCK_CANCELLED);
    assert_true(is_granted(trial.fixture->redis));
    end_unknown(&trial);
}

static void freed_meanwhile(void **state)
{
    struct trial trial;
    begin_unknown(&trial, state);
    handle_free(&trial.stock);
    end_unknown(&trial);
    assert_int_equal(trial.stock.acquired.count, 0);
}

/* To the handle it is another acquisition; what the dropped one left at the store does not stand in its way for long. */
static void asked_anew_meanwhile(void **state)
{
    struct trial trial;
    begin_unknown(&trial, state);
    hilock_lock_drop(trial.stock.lock);
    handle_ask(&trial.stock, HILOCK_FOREVER);
    proxy_refuse(trial.proxy, 0);
    handle_until(&trial.stock, &trial.stock.acquired, 1, "the grant");
    assert_int_equal(trial.stock.acquired.status, HILOCK_OK);
    assert_int_equal(redis_integer(trial.fixture->redis, "HLEN stock:42"), 2);
    assert_int_equal(handle_give(&trial.stock), HILOCK_OK);
    end(&trial);
}

static void release_is_repeated(void **state)
{
    struct trial trial;
    begin(&trial, state, 0, 0);
    assert_int_equal(handle_acquire(&trial.stock, 20000), HILOCK_OK);
    proxy_lose_reply(trial.proxy, "stock:42");
    assert_int_equal(handle_give(&trial.stock), HILOCK_OK);
    assert_int_equal(redis_lock_keys(trial.fixture->redis), 0);
    assert_int_equal(redis_calls(trial.fixture->redis, "hdel"), 3); /* the holder, `mode`, and the holder again */

    assert_int_equal(handle_acquire(&trial.stock, 20000), HILOCK_OK);
    proxy_lose_request(trial.proxy, "stock:42");
    assert_int_equal(handle_give(&trial.stock), HILOCK_OK);
    assert_int_equal(redis_lock_keys(trial.fixture->redis), 0);
    end(&trial);
}

static void unknown_release_is_settled(void **state)
{
    struct trial trial;
    struct handle *stock = &trial.stock;
    begin(&trial, state, 500, 0);
    assert_int_equal(handle_acquire(stock, 20000), HILOCK_OK);
    redis_do(trial.fixture->redis, "PERSIST stock:42");
    server_suspend(trial.fixture->server);
    assert_int_equal(handle_give(stock), HILOCK_UNKNOWN);
    assert_int_equal(stock->released.state, HILOCK_STATE_IDLE);
    assert_int_equal(stock->settled.count, 0);
    server_resume(trial.fixture->server);
    handle_until(stock, &stock->settled, 1, "RELEASE_SETTLED");
    assert_true(stock->settled.token == stock->acquired.token);
    assert_int_equal(redis_lock_keys(trial.fixture->redis), 0);
    assert_int_equal(stock->released.count, 1);
    end(&trial);
}

/* No answer ever comes: it is over when the lease is over at the server, even if a request got through. */
static void unknown_release_is_settled_by_time(void **state)
{
    struct trial trial;
    struct handle *stock = &trial.stock;
    struct belief belief = {0, 0};
    begin(&trial, state, 500, 3000);
    assert_int_equal(handle_acquire(stock, 20000), HILOCK_OK);
    belief_look(&belief, stock);
    server_suspend(trial.fixture->server);
    assert_int_equal(handle_give(stock), HILOCK_UNKNOWN);
    handle_until(stock, &stock->settled, 1, "RELEASE_SETTLED");
    assert_true(stock->settled.at_us > belief.from_us && stock->settled.at_us >= stock->asked_us + 3000000);
    server_resume(trial.fixture->server);
    assert_int_equal(handle_acquire(stock, 20000), HILOCK_OK);
    assert_int_equal(handle_give(stock), HILOCK_OK);
    end(&trial);
}

static int has_renewed(void *arg) { return client_stats(arg).renewals > 0; }

static void renewal_is_asked_for_again(void **state)
{
    struct trial trial;
    begin(&trial, state, 0, 9000);
    assert_int_equal(handle_acquire(&trial.stock, 20000), HILOCK_OK);
    proxy_lose_reply(trial.proxy, "stock:42");
    client_until(&trial.client, has_renewed, &trial.client, "a renewal");
    assert_false(proxy_is_armed(trial.proxy));
    assert_int_equal(client_stats(&trial.client).renewals_failed, 1);
    assert_int_equal(trial.stock.lost.count + trial.stock.renewal_failed.count + trial.stock.renewed.count, 0);
    assert_int_equal(handle_give(&trial.stock), HILOCK_OK);
    end(&trial);
}

static int is_held_back(void *arg) { return proxy_held(arg, PROXY_REQUESTS) > 0; }

static int nothing_is_held_back(void *arg) { return proxy_held(arg, PROXY_BOTH) == 0; }

/* The request waits in the old link until long after its wait is over, and reaches the server then. */
static void late_request_makes_no_holder(void **state)
{
    struct trial trial;
    begin(&trial, state, 500, 0);
    proxy_hold(trial.proxy, PROXY_COMMANDS, PROXY_REQUESTS);
    handle_ask(&trial.stock, 1000);
    client_until(&trial.client, is_held_back, trial.proxy, "the request on its way");
    handle_until(&trial.stock, &trial.stock.acquired, 1, "the end of the wait");
    assert_int_equal(trial.stock.acquired.status, HILOCK_UNREACHABLE);
    assert_true(trial.client.disconnected > 0);
    assert_int_equal(redis_calls(trial.fixture->redis, "evalsha"), 0);
    proxy_pass(trial.proxy);
    client_until(&trial.client, nothing_is_held_back, trial.proxy, "the late request to arrive");
    client_connect(&trial.client);
    assert_int_equal(handle_acquire(&trial.stock, 20000), HILOCK_OK);
    assert_true(redis_calls(trial.fixture->redis, "evalsha") >= 2);
    assert_int_equal(redis_calls(trial.fixture->redis, "hset"), 1);
    assert_int_equal(handle_give(&trial.stock), HILOCK_OK);
    end(&trial);
}

/* ---- many at once ---- */

enum { MANY = 200, CUTS = 4 };

struct crowd { struct handle handles[MANY]; unsigned answered; };

static void note(struct handle *handle) { ((struct crowd *)handle->user)->answered++; }

static int all_are_answered(void *arg) { return ((const struct crowd *)arg)->answered == MANY; }

/* Answers of a release or acquire that are lost, in new links, one after the other. */
static void lose_some(struct trial *trial, struct crowd *crowd)
{
    char name[32];
    for (unsigned i = 0; i < CUTS; i++) {
        snprintf(name, sizeof name, "item:%u\r\n", i * MANY / CUTS);
        proxy_lose_reply(trial->proxy, name);
        while (proxy_is_armed(trial->proxy) && crowd->answered < MANY)
            client_for_ms(&trial->client, 1);
    }
    client_until(&trial->client, all_are_answered, crowd, "all answers");
    proxy_lose_reply(trial->proxy, NULL);
}

static void cuts_amid_many(void **state)
{
    struct trial trial;
    struct crowd *crowd = calloc(1, sizeof *crowd);
    char name[32];
    begin(&trial, state, 15000, 0); /* the pauses before new links grow; no release is to be unknown for them */
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "item:%u", i);
        handle_open(&crowd->handles[i], &trial.client, name, NULL);
        crowd->handles[i].user = crowd;
        crowd->handles[i].on_acquired = crowd->handles[i].on_released = note;
        handle_ask(&crowd->handles[i], HILOCK_FOREVER);
    }
    lose_some(&trial, crowd);
    assert_int_equal(redis_lock_keys(trial.fixture->redis), MANY);
    crowd->answered = 0;
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(crowd->handles[i].acquired.status, HILOCK_OK);
        handle_release(&crowd->handles[i]);
    }
    lose_some(&trial, crowd);
    assert_true(trial.client.disconnected > 0);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(crowd->handles[i].released.status, HILOCK_OK);
        assert_int_equal(crowd->handles[i].acquired.count + crowd->handles[i].released.count, 2);
        handle_free(&crowd->handles[i]);
    }
    assert_int_equal(redis_lock_keys(trial.fixture->redis), 0);
    end(&trial);
    free(crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(grant_is_adopted),
        FIXTURE_TEST(request_is_repeated),
        FIXTURE_TEST(grant_past_the_wait_is_undone),
        FIXTURE_TEST(cancelled_meanwhile),
        FIXTURE_TEST(freed_meanwhile),
        FIXTURE_TEST(asked_anew_meanwhile),
        FIXTURE_TEST(release_is_repeated),
        FIXTURE_TEST(unknown_release_is_settled),
        FIXTURE_TEST(unknown_release_is_settled_by_time),
        FIXTURE_TEST(renewal_is_asked_for_again),
        FIXTURE_TEST(late_request_makes_no_holder),
        FIXTURE_TEST(cuts_amid_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
