/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR in a Redis Cluster, among processes: first come, first served, through slots that move and servers that take over, as far as
 * the store kept the queue; and a heartbeat finds a grant that no push could reach. */
#include <stdio.h>

#include "support/late.h"
#include "support/queue.h"
#include "support/fixture.h"
#include "support/shards.h"

enum { LEASE_MS = 60000, HEARTBEAT_MS = 10000 };

static struct shards set;

static int start(void **state)
{
    (void)state;
    shards_start(&set, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    shards_end(&set);
    return 0;
}

static unsigned owner_of(const char *name) { return shards_owner(&set, shards_slot(&set, name)); }

/* ---- order ---- */

struct awaited { const char *name; size_t listeners; };

static int are_listening(void *arg)
{
    const struct awaited *awaited = arg;
    struct redis *redis = redis_open(set.servers[owner_of(awaited->name)]);
    size_t count = redis_count(redis, "PUBSUB SHARDCHANNELS hilock:grant:*");
    redis_close(redis);
    return count == awaited->listeners;
}

/* Until grants can reach those still in play at the lock's present server. */
static void until_heard(const char *name, unsigned gone) { check_until(are_listening, &(struct awaited){name, QUEUE_PLAYERS - gone}, "all to listen"); }

static int is_held_for_long(void *arg)
{
    const char *name = arg;
    struct redis *redis = redis_open(set.servers[owner_of(name)]);
    long long left_ms = redis_integer(redis, "PTTL %s", name);
    redis_close(redis);
    return left_ms > QUEUE_WINDOW_MS;
}

/* What was pushed stands for a window, which no failover is as short as: it has become a lease. What happens then comes before each
 * hand-over, and all have sent a heartbeat before it. The hand-over is then one push. */
static void order_is_kept(const char *name, void (*happens)(const char *name, unsigned round))
{
    struct queue queue = {.url = set.url, .name = name, .lease_ms = LEASE_MS};
    queue_set(&queue);
    for (unsigned i = 0; i + 1 < QUEUE_PLAYERS; i++) {
        struct late released;
        queue_granted_us(&queue, i);
        check_until(is_held_for_long, (void *)(uintptr_t)name, "the whole lease");
        happens(name, i);
        until_heard(name, i);
        for (unsigned later = i + 1; later < QUEUE_PLAYERS; later++)
            assert_false(queue_has_been_granted(&queue, later));
        released = late_mark();
        released.at_us = queue_let_go(&queue, i);
        assert_true(queue_granted_us(&queue, i + 1) < late_until_us(&released, (uint64_t)QUEUE_WINDOW_MS * 500));
    }
    queue_let_go(&queue, QUEUE_PLAYERS - 1);
    queue_end(&queue);
    shards_check_clean(&set);
}

static void move(const char *name, unsigned round)
{
    (void)round;
    shards_migrate(&set, shards_slot(&set, name), shards_other(&set, owner_of(name)));
}

static void fail_over(const char *name, unsigned round)
{
    static const enum shards_fault faults[] = {SHARDS_KILL, SHARDS_STOP, SHARDS_FORCED};
    shards_settle(&set);
    shards_until_copied(&set, name);
    shards_failover(&set, owner_of(name), faults[round % 3]);
    shards_mend(&set);
    shards_settle(&set);
}

static void order_is_kept_by_a_slot_that_moves(void **state)
{
    (void)state;
    order_is_kept("moving", move);
}

static void order_is_kept_by_a_server_that_takes_over(void **state)
{
    (void)state;
    order_is_kept("failing", fail_over);
}

/* ---- amid a move ---- */

/* No script of the kind's own may run, for its keys are at both ends: the lock is freed by one that names a single key. */
static void a_release_amid_a_move_is_answered_and_found(void **state)
{
    struct queue queue = {.url = set.url, .name = "amid", .lease_ms = LEASE_MS};
    unsigned slot = shards_slot(&set, "amid"), from = shards_owner(&set, slot), to = (from + 1) % SHARDS_MASTERS, served = 1;
    struct late over;
    (void)state;
    queue_set(&queue);
    shards_begin_move(&set, slot, to);
    shards_move_key(&set, "hilock:token:{amid}", from, to);
    queue_let_go(&queue, 0);
    for (unsigned i = 1; i < QUEUE_PLAYERS; i++)
        assert_false(queue_has_been_granted(&queue, i));
    shards_end_move(&set, slot, from, to);
    over = late_mark();
    for (unsigned i = 1; i < QUEUE_PLAYERS; i++)
        queue_tell_to_go(&queue, i);
    for (unsigned i = 1; i < QUEUE_PLAYERS; i++)
        served += queue_granted_us(&queue, i) < late_until_us(&over, (uint64_t)(HEARTBEAT_MS + QUEUE_WINDOW_MS) * 1000 * i);
    assert_int_equal(served, QUEUE_PLAYERS);
    for (unsigned i = 1; i < QUEUE_PLAYERS; i++)
        queue_let_go(&queue, i);
    queue_end(&queue);
    shards_check_clean(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_kept_by_a_slot_that_moves),
        cmocka_unit_test(order_is_kept_by_a_server_that_takes_over),
        cmocka_unit_test(a_release_amid_a_move_is_answered_and_found),
    };
    return cmocka_run_group_tests(tests, start, end);
}
