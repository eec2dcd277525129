/* SPDX-License-Identifier: BSD-3-Clause */
/* The master that Sentinel names: found, followed through failovers, and not believed when it is one no more. */
#include <stdio.h>

#include "support/failovers.h"
#include "support/fixture.h"
#include "support/sentinels.h"

static struct sentinels set;

static int start(void **state)
{
    (void)state;
    sentinels_start(&set, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    sentinels_end(&set);
    return 0;
}

/* A hold that the new master has goes on; any other is reported as lost. */
static void holds_are_verified_at_the_new_master(void **state)
{
    struct client client;
    struct handle kept, forgotten;
    struct redis *redis;
    (void)state;
    client_open(&client, set.url);
    handle_open(&kept, &client, "kept", NULL);
    handle_open(&forgotten, &client, "forgotten", NULL);
    assert_int_equal(handle_acquire(&kept, 60000), HILOCK_OK);
    assert_int_equal(handle_acquire(&forgotten, 60000), HILOCK_OK);
    sentinels_failover(&set, SERVER_FORCED);
    redis = redis_open(sentinels_master(&set));
    redis_do(redis, "DEL forgotten");
    handle_until(&forgotten, &forgotten.lost, 1, "the loss");
    assert_int_equal(forgotten.lost.reason, HILOCK_REASON_TAKEN);
    assert_non_null(strstr(forgotten.lost.detail, "failover"));
    assert_int_equal(kept.lost.count, 0);
    assert_int_equal(handle_give(&kept), HILOCK_OK);
    assert_int_equal(redis_integer(redis, "EXISTS kept"), 0);
    redis_close(redis);
    handle_free(&kept);
    handle_free(&forgotten);
    client_close(&client);
}

static void every_waiter_is_served_through_failovers(void **state)
{
    struct failovers_of of = failovers_of_sentinels(&set);
    (void)state;
    failovers_play(&of, failovers_wanted(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_are_verified_at_the_new_master),
        cmocka_unit_test(every_waiter_is_served_through_failovers),
    };
    return cmocka_run_group_tests(tests, start, end);
}
