/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a hold lasts: for ever while it is renewed, to its deadline when it is not, to hold_max at the longest. */
#include <stdio.h>
#include <string.h>

#include "support/proxy.h"
#include "support/fixture.h"

enum { LEASE_MS = 3000 };

struct two { struct client ours, theirs; }; /* on one base */

static void open_two(struct two *two, struct fixture *fixture)
{
    client_open(&two->ours, fixture->server->url);
    client_open_on(&two->theirs, two->ours.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    client_connect(&two->ours);
    client_connect(&two->theirs);
}

static void close_two(struct two *two)
{
    client_close(&two->theirs);
    client_close(&two->ours);
}

static void keeps_a_lease_more_than_three_times_as_long(void **state)
{
    enum { SPAN_US = 10000000 };
    struct fixture *fixture = *state;
    struct two two;
    struct handle held, trying;
    uint64_t begun_us, longest_us = 0, asked_us;
    unsigned tries = 0;
    open_two(&two, fixture);
    handle_open(&held, &two.ours, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = LEASE_MS));
    handle_open(&trying, &two.theirs, "stock", NULL);
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    assert_int_equal(handle_acquire(&held, HILOCK_TRY), HILOCK_OK);
    begun_us = asked_us = check_now_us();
    for (; check_now_us() - begun_us < SPAN_US; tries++) {
        long long left_ms = redis_integer(fixture->redis, "PTTL stock");
        assert_true(left_ms > 0 && left_ms <= LEASE_MS);
        assert_int_equal(handle_acquire(&trying, HILOCK_TRY), HILOCK_TIMED_OUT);
        longest_us = check_now_us() - asked_us > longest_us ? check_now_us() - asked_us : longest_us;
        asked_us = check_now_us();
        client_for_ms(&two.theirs, 20);
    }
    print_message("%u tries, %u renewals, longest round %u ms\n", tries, (unsigned)client_stats(&two.ours).renewals, (unsigned)(longest_us / 1000));
    assert_int_equal(held.lost.count, 0);
    assert_true(hilock_lock_remaining_ms(held.lock) > 0);
    /* each a third of the lease after the one before, or as much later as the loop was late */
    assert_true(client_stats(&two.ours).renewals + 1 >= SPAN_US / (LEASE_MS * 1000 / 3 + longest_us));
    assert_int_equal(client_stats(&two.ours).renewals_failed, 0);
    assert_true(redis_calls(fixture->redis, "evalsha") >= 1 + tries + (long long)client_stats(&two.ours).renewals);
    assert_true(redis_calls(fixture->redis, "evalsha") <= (long long)(client_stats(&two.ours).commands + client_stats(&two.theirs).commands));
    assert_int_equal(handle_give(&held), HILOCK_OK);
    assert_int_equal(handle_acquire(&trying, HILOCK_TRY), HILOCK_OK);
    handle_free(&held);
    handle_free(&trying);
    close_two(&two);
}

/* The latest turns of the loop, so that a test can say how many have passed since something was due. */
struct turns { uint64_t at_us[4]; struct event *timer; };

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct turns *turns = arg;
    (void)fd;
    (void)what;
    memmove(turns->at_us + 1, turns->at_us, 3 * sizeof *turns->at_us);
    turns->at_us[0] = check_now_us();
}

static void watch_turns(struct turns *turns, struct event_base *base)
{
    static const struct timeval often = {0, 5000};
    memset(turns, 0, sizeof *turns);
    turns->timer = event_new(base, -1, EV_PERSIST, on_turn, turns);
    assert_true(turns->timer && event_add(turns->timer, &often) == 0);
}

struct ending { struct turns turns; uint64_t loss_after_turn_us; };

static void note_turn(struct handle *handle)
{
    struct ending *ending = handle->user;
    ending->loss_after_turn_us = ending->turns.at_us[3];
}

/* Reported at the deadline that the program could read, before the lease ends at the store, and as early as the loop could. */
static void ends_at_its_deadline_when_not_renewed(void **state)
{
    struct fixture *fixture = *state;
    struct two two;
    struct handle held, waiter;
    struct ending ending;
    uint64_t before_us, after_us, left_us;
    open_two(&two, fixture);
    watch_turns(&ending.turns, two.ours.base);
    handle_open(&held, &two.ours, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = LEASE_MS, .renew = HILOCK_RENEW_NEVER));
    held.on_lost = note_turn;
    held.user = &ending;
    handle_open(&waiter, &two.theirs, "stock", NULL);
    assert_int_equal(handle_acquire(&held, HILOCK_TRY), HILOCK_OK);
    before_us = check_now_us();
    left_us = (uint64_t)hilock_lock_remaining_ms(held.lock) * 1000;
    after_us = check_now_us();
    assert_true(before_us + left_us < held.called_us + LEASE_MS * 1000); /* connected before, so sent within the call */
    handle_ask(&waiter, HILOCK_FOREVER);
    handle_until(&held, &held.lost, 1, "the end of the lease");
    assert_int_equal(hilock_lock_remaining_ms(held.lock), 0);
    assert_int_equal(hilock_lock_state(held.lock), HILOCK_STATE_IDLE);
    handle_until(&waiter, &waiter.acquired, 1, "the grant");
    assert_true(held.lost.at_us >= before_us + left_us);
    assert_true(ending.loss_after_turn_us <= after_us + left_us + 1000); /* three turns before the report it was not due */
    assert_true(waiter.acquired.at_us > held.lost.at_us);
    if (held.lost.at_us - (before_us + left_us) < 500000) /* a loop that stood still for a second says SUSPENDED */
        assert_int_equal(held.lost.reason, HILOCK_REASON_EXPIRED);
    assert_int_equal(held.lost.token, held.acquired.token);
    assert_int_equal(held.lost.count, 1);
    assert_int_equal(client_stats(&two.ours).renewals, 0);
    assert_int_equal(hilock_release(held.lock, NULL, NULL), HILOCK_NOT_HELD);
    event_free(ending.turns.timer);
    handle_free(&waiter);
    handle_free(&held);
    close_two(&two);
}

static int is_waiting_here(void *arg) { return proxy_held(arg, PROXY_REPLIES) > 0; }

/* The answer to the acquire comes late: that costs us, not the others. */
static void counts_from_before_the_send(void **state)
{
    enum { LATE_MS = 700, LONG_MS = 60000 };
    struct fixture *fixture = *state;
    struct proxy *proxy = proxy_start(fixture->server);
    struct client client;
    struct handle held;
    uint64_t now_us;
    client_open(&client, proxy_url(proxy));
    client_connect(&client);
    handle_open(&held, &client, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = LONG_MS));
    proxy_hold(proxy, PROXY_COMMANDS, PROXY_REPLIES);
    handle_ask(&held, HILOCK_FOREVER);
    client_until(&client, is_waiting_here, proxy, "the answer to be held");
    client_for_ms(&client, LATE_MS);
    proxy_pass(proxy);
    handle_until(&held, &held.acquired, 1, "the grant");
    assert_int_equal(held.acquired.status, HILOCK_OK);
    now_us = check_now_us();
    assert_true(now_us + (uint64_t)hilock_lock_remaining_ms(held.lock) * 1000 < held.called_us + LONG_MS * 1000);
    assert_true(held.acquired.remaining_ms < LONG_MS - LATE_MS);
    handle_free(&held);
    client_close(&client);
    proxy_end(proxy);
}

static int is_free(void *arg) { return redis_lock_keys(arg) == 0; }

static void ends_at_hold_max(void **state)
{
    enum { HOLD_MAX_MS = 4000 };
    struct fixture *fixture = *state;
    struct two two;
    struct handle held, waiter;
    open_two(&two, fixture);
    handle_open(&held, &two.ours, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = LEASE_MS, .hold_max_ms = HOLD_MAX_MS));
    handle_open(&waiter, &two.theirs, "stock", NULL);
    assert_int_equal(handle_acquire(&held, HILOCK_TRY), HILOCK_OK);
    handle_ask(&waiter, HILOCK_FOREVER);
    handle_until(&held, &held.lost, 1, "hold_max");
    assert_int_equal(held.lost.reason, HILOCK_REASON_HOLD_MAX);
    assert_non_null(strstr(held.lost.detail, "4000 ms"));
    assert_true(held.lost.at_us >= held.asked_us + HOLD_MAX_MS * 1000);
    assert_true(client_stats(&two.ours).renewals >= 1); /* longer than a lease */
    assert_int_equal(client_stats(&two.ours).lost_hold_max, 1);
    handle_until(&waiter, &waiter.acquired, 1, "the grant");
    assert_int_equal(waiter.acquired.status, HILOCK_OK);
    assert_true(waiter.acquired.at_us > held.lost.at_us);
    handle_free(&waiter);
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK); /* the handle is as good as new */
    assert_int_equal(handle_give(&held), HILOCK_OK);
    handle_free(&held);
    client_until(&two.theirs, is_free, fixture->redis, "the releases");
    assert_int_equal(held.lost.count, 1);
    close_two(&two);
}

/* Many at once: the watchdogs are not in each other's way, and none is forgotten. */
static void keeps_a_thousand(void **state)
{
    enum { HOLDS = 1000 };
    static struct handle holds[HOLDS];
    struct fixture *fixture = *state;
    struct client client;
    char name[16];
    client_open(&client, fixture->server->url);
    for (unsigned i = 0; i < HOLDS; i++) {
        snprintf(name, sizeof name, "name%u", i);
        handle_open(&holds[i], &client, name, HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
        handle_ask(&holds[i], HILOCK_FOREVER);
    }
    for (unsigned i = 0; i < HOLDS; i++)
        handle_until(&holds[i], &holds[i].acquired, 1, "the grant");
    client_for_ms(&client, 7000);
    assert_int_equal(redis_lock_keys(fixture->redis), HOLDS);
    assert_true(client_stats(&client).renewals >= HOLDS);
    assert_int_equal(client_stats(&client).renewals_failed, 0);
    for (unsigned i = 0; i < HOLDS; i++) {
        assert_int_equal(holds[i].lost.count, 0);
        handle_free(&holds[i]);
    }
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(keeps_a_lease_more_than_three_times_as_long),
        FIXTURE_TEST(ends_at_its_deadline_when_not_renewed),
        FIXTURE_TEST(counts_from_before_the_send),
        FIXTURE_TEST(ends_at_hold_max),
        FIXTURE_TEST(keeps_a_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
