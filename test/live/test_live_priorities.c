/* SPDX-License-Identifier: BSD-3-Clause */
/* On a base with priorities, and a program that is busy all the time at the most urgent of them, renewals still happen
 * and messages still wake. */
#include "support/fixture.h"

struct busy { struct event *event; unsigned long turns; };

/* Active in each turn of the loop; event_active in the callback would never end the turn. */
static const struct timeval now = {0, 0};

static void on_busy(evutil_socket_t fd, short what, void *arg)
{
    struct busy *busy = arg;
    (void)fd;
    (void)what;
    busy->turns++;
    event_add(busy->event, &now);
}

static int has_renewed_twice(void *client) { return client_stats(client).renewals >= 2; }

static int is_listening(void *redis) { return redis_channels(redis) == 1; }

static void busy_at_the_most_urgent(void **state)
{
    struct fixture *fixture = *state;
    struct event_base *base = event_base_new();
    struct busy busy = {NULL, 0};
    struct client client;
    struct handle held, awaited;
    assert_int_equal(event_base_priority_init(base, 3), 0);
    client_open_on(&client, base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    busy.event = event_new(base, -1, 0, on_busy, &busy);
    assert_int_equal(event_priority_set(busy.event, 0), 0);
    event_add(busy.event, &now);
    handle_open(&held, &client, "held", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    handle_open(&awaited, &client, "awaited", NULL);
    redis_do(fixture->redis, "HSET awaited another 1");
    assert_int_equal(handle_acquire(&held, 20000), HILOCK_OK);
    handle_ask(&awaited, HILOCK_FOREVER);
    client_until(&client, is_listening, fixture->redis, "the subscription");
    client_until(&client, has_renewed_twice, &client, "two renewals");
    assert_true(busy.turns > 0);
    assert_int_equal(held.lost.count + held.renewal_failed.count + client.disconnected, 0);
    redis_do(fixture->redis, "DEL awaited");
    redis_do(fixture->redis, "PUBLISH redisson_lock__channel:{awaited} 0");
    handle_until(&awaited, &awaited.acquired, 1, "the grant");
    assert_int_equal(awaited.acquired.status, HILOCK_OK);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    handle_free(&held);
    handle_free(&awaited);
    event_free(busy.event);
    client_close(&client);
    assert_int_equal(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED | EVENT_BASE_COUNT_ACTIVE), 0);
    event_base_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {FIXTURE_TEST(busy_at_the_most_urgent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
