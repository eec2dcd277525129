/* SPDX-License-Identifier: BSD-3-Clause */
/* The master that Sentinel names: found, followed through failovers, and not believed when it is one no more. */
#include <stdio.h>
#include <stdlib.h>

#include "support/load.h"
#include "support/scene.h"
#include "support/sentinels.h"

static struct sentinels set;

static unsigned failovers_wanted(void)
{
    const char *wanted = getenv("FAILOVERS");
    return wanted ? (unsigned)atoi(wanted) : 3;
}

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

static void the_master_is_found(void **state)
{
    struct client client;
    struct handle stock;
    (void)state;
    client_open(&client, set.url);
    handle_open(&stock, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&stock, 60000), HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
}

static void an_unknown_master_is_told(void **state)
{
    struct client client;
    struct handle stock;
    char url[300];
    (void)state;
    snprintf(url, sizeof url, "redis+sentinel://127.0.0.1:%d/nobody", set.sentinels[0]->port);
    client_open(&client, url);
    handle_open(&stock, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&stock, 500), HILOCK_UNREACHABLE);
    assert_non_null(strstr(stock.acquired.detail, "nobody"));
    handle_free(&stock);
    client_close(&client);
}

/* A hold that the new master has goes on; one that it has not is lost, and told so. */
static void holds_are_verified_at_the_new_master(void **state)
{
    struct client client;
    struct handle kept, forgotten;
    struct redis *redis;
    (void)state;
    sentinels_settle(&set);
    client_open(&client, set.url);
    handle_open(&kept, &client, "kept", NULL);
    handle_open(&forgotten, &client, "forgotten", NULL);
    assert_int_equal(handle_acquire(&kept, 60000), HILOCK_OK);
    assert_int_equal(handle_acquire(&forgotten, 60000), HILOCK_OK);
    sentinels_failover(&set, SENTINELS_FORCED);
    redis = redis_open(sentinels_master(&set));
    redis_do(redis, "DEL forgotten");
    handle_until(&forgotten, &forgotten.lost, 1, "the loss");
    assert_int_equal(forgotten.lost.reason, HILOCK_LOST_TAKEN);
    assert_non_null(strstr(forgotten.lost.detail, "failover"));
    assert_int_equal(kept.lost.count, 0);
    assert_int_equal(handle_give(&kept), HILOCK_OK);
    assert_int_equal(redis_integer(redis, "EXISTS kept"), 0);
    redis_close(redis);
    handle_free(&kept);
    handle_free(&forgotten);
    client_close(&client);
}

static int ascending(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void every_waiter_is_served_through_failovers(void **state)
{
    static const enum sentinels_fault faults[] = {SENTINELS_KILL, SENTINELS_STOP, SENTINELS_FORCED};
    static const char *const names[] = {"kill", "stop", "forced"};
    unsigned count = failovers_wanted();
    uint64_t *switches = calloc(count + 1, sizeof *switches), *spans = calloc(count + 1, sizeof *spans);
    struct load load;
    struct load_counts counts;
    struct verdict verdict;
    (void)state;
    assert_true(switches && spans);
    load_start(&load, set.url, 200000 + 80000 * (size_t)count);
    for (unsigned i = 0; i < count; i++) {
        sentinels_settle(&set);
        switches[i] = sentinels_failover(&set, faults[i % 3]);
        check_pause_ms(1500); /* what was stopped comes back while it still believes to be master */
        sentinels_mend(&set);
    }
    load_stop(&load);
    counts = load_counts(&load);
    for (unsigned i = 0; i < count; i++) {
        spans[i] = ledger_first_after(load.ledger, switches[i]) - switches[i];
        print_message("failover %u (%s): the next grant %.1f ms after +switch-master\n", i + 1, names[i % 3], (double)spans[i] / 1000);
    }
    verdict = ledger_judge(load.ledger);
    qsort(spans, count, sizeof *spans, ascending);
    print_message("%u failovers, %zu grants; +switch-master to next grant: p50 %.1f ms, max %.1f ms; longest wait %llu ms; %llu losses, %llu unclear "
                  "releases, %zu overlaps of belief (a failover may forget writes), %zu tokens that did not rise\n",
                  count, verdict.grants, (double)spans[count / 2] / 1000, (double)spans[count - 1] / 1000, (unsigned long long)counts.longest_wait_ms,
                  (unsigned long long)counts.lost, (unsigned long long)counts.unclear, verdict.overlaps, verdict.backward);
    assert_int_equal(verdict.open, 0);
    assert_true(verdict.changes > verdict.grants / 20);
    ledger_free(load.ledger);
    free(switches);
    free(spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_master_is_found),
        cmocka_unit_test(an_unknown_master_is_told),
        cmocka_unit_test(holds_are_verified_at_the_new_master),
        cmocka_unit_test(every_waiter_is_served_through_failovers),
    };
    return cmocka_run_group_tests(tests, start, end);
}
