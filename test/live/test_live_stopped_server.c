/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that stands still: belief counts from before the send, ends in time and not before, with a warning, and what
 * was lost is released when the server goes on. */
#include "support/fixture.h"

/* ---- belief ---- How long a client believes in a hold, measured from outside: hilock_lock_remaining_ms tells the
 * deadline, to the millisecond and to what passed while it was asked. Each look narrows it down, as long as the
 * deadline stands still. */

struct belief { uint64_t from_us, until_us; }; /* the deadline lies in here; all 0: no look yet */

enum { NARROW_US = 3000, LATENESS_US = 5000 };

/* Of a hold that is still valid; else nothing. */
static void belief_look(struct belief *belief, const struct handle *handle)
{
    uint64_t before_us = check_now_us(), left_us = (uint64_t)hilock_lock_remaining_ms(handle->lock) * 1000, after_us = check_now_us();
    if (!left_us)
        return;
    CHECK(!belief->until_us || (before_us + left_us <= belief->until_us && after_us + left_us + 1000 >= belief->from_us));
    if (before_us + left_us > belief->from_us)
        belief->from_us = before_us + left_us;
    if (!belief->until_us || after_us + left_us + 1000 < belief->until_us)
        belief->until_us = after_us + left_us + 1000;
}

/* Looks until it is known to a few milliseconds. */
static void belief_settle(struct belief *belief, const struct handle *handle)
{
    do {
        CHECK(hilock_lock_remaining_ms(handle->lock) > 0);
        belief_look(belief, handle);
    } while (belief->until_us - belief->from_us > NARROW_US);
}

struct watch {
    struct belief *belief;
    struct handle *handle;
    unsigned late_turns;
};

static int is_lost(void *arg)
{
    struct watch *watch = arg;
    uint64_t now_us = check_now_us();
    if (watch->handle->lost.count)
        return 1;
    belief_look(watch->belief, watch->handle);
    if (now_us > watch->belief->until_us)
        CHECK(hilock_lock_remaining_ms(watch->handle->lock) == 0);
    if (now_us > watch->belief->until_us + LATENESS_US)
        CHECK(++watch->late_turns <= 1);
    return 0;
}

/* Turns until the loss is reported, and fails the test if a whole turn began after the deadline without that report. A
 * loop that counts milliseconds is as late as the lease allows for: 5 ms. */
static void belief_until_lost(struct belief *belief, struct handle *handle)
{
    client_until(handle->client, is_lost, &(struct watch){belief, handle, 0}, "the loss");
    CHECK(handle->lost.at_us >= belief->from_us);
}

/* ---- plays ---- */

static const uint64_t lease_us = 3000000;

static int is_free(void *redis) { return redis_lock_keys(redis) == 0; }

/* The key is kept from running out, so that nothing but the release of this very hold takes it away. */
static void expires_with_a_warning(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    struct belief belief = {0, 0};
    uint64_t asked_us;
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->tcp_url, .command_timeout_ms = 500));
    client_connect(&client);
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    assert_int_equal(handle_acquire(&stock, 10000), HILOCK_OK);
    asked_us = stock.asked_us;
    redis_do(fixture->redis, "PERSIST stock:42");
    server_suspend(fixture->server);
    client_turn(&client);
    belief_settle(&belief, &stock);
    assert_true(belief.from_us < asked_us + lease_us || client_stats(&client).renewals > 0);
    belief_until_lost(&belief, &stock);
    assert_int_equal(stock.lost.reason, HILOCK_REASON_EXPIRED);
    assert_true(stock.lost.token == stock.acquired.token);
    assert_int_equal(stock.renewal_failed.count, 1);
    assert_true(stock.renewal_failed.remaining_ms > 0 && stock.renewal_failed.at_us < belief.until_us);
    assert_int_equal(hilock_lock_state(stock.lock), HILOCK_STATE_IDLE);
    server_resume(fixture->server);
    client_until(&client, is_free, fixture->redis, "the release of what was lost");
    assert_true(redis_calls(fixture->redis, "hdel") > 0);
    assert_int_equal(handle_acquire(&stock, 10000), HILOCK_OK);
    assert_int_equal(stock.lost.count, 1);
    handle_free(&stock);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST_WITH_PORT(expires_with_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
