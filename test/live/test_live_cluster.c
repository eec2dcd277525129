/* SPDX-License-Identifier: BSD-3-Clause */
/* A Redis Cluster: a queue goes where its slot goes, and every waiter is served through slots that move and servers
 * that take over. Where keys are asked for: unit/cluster. */
#include <stdio.h>

#include "support/failovers.h"
#include "support/fixture.h"
#include "support/late.h"
#include "support/queue.h"
#include "support/shards.h"

enum { MOVES_MAX = 512 };

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

/* ---- a queue: first come, first served, though its slot moves before each hand-over ---- */

static unsigned owner_of(const char *name) { return shards_owner(&set, shards_slot(&set, name)); }

struct awaited { const char *name; size_t listeners; };

static int are_listening(void *arg)
{
    const struct awaited *awaited = arg;
    struct redis *redis = redis_open(set.servers[owner_of(awaited->name)]);
    size_t count = redis_count(redis, "PUBSUB SHARDCHANNELS hilock:grant:*");
    redis_close(redis);
    return count == awaited->listeners;
}

/* What was pushed stands for a window; it has become a lease. */
static int is_held_for_long(void *arg)
{
    const char *name = arg;
    struct redis *redis = redis_open(set.servers[owner_of(name)]);
    long long left_ms = redis_integer(redis, "PTTL %s", name);
    redis_close(redis);
    return left_ms > QUEUE_WINDOW_MS;
}

/* The hand-over is one push, once grants can reach all who are still in play at the lock's present server. */
static void a_queue_moves_with_its_slot(void **state)
{
    static char name[] = "moving";
    struct queue queue = {.url = set.url, .name = name, .lease_ms = 60000};
    (void)state;
    queue_set(&queue);
    for (unsigned i = 0; i + 1 < QUEUE_PLAYERS; i++) {
        struct late released;
        queue_granted_us(&queue, i);
        check_until(is_held_for_long, name, "the whole lease");
        shards_migrate(&set, shards_slot(&set, name), shards_other(&set, owner_of(name)));
        check_until(are_listening, &(struct awaited){name, QUEUE_PLAYERS - i}, "all to listen");
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

/* ---- load ---- */

static void every_waiter_is_served_through_slot_moves(void **state)
{
    unsigned count = check_count_wanted("MIGRATIONS", 3);
    static struct load_spans spans[LOAD_KINDS];
    static uint64_t at_us[MOVES_MAX];
    struct load load = {.url = set.url};
    struct verdict verdict;
    char text[32];
    (void)state;
    CHECK(count <= MOVES_MAX);
    shards_settle(&set);
    load_start(&load, count);
    for (unsigned i = 0; i < count; i++) {
        unsigned slot;
        snprintf(text, sizeof text, "stock:%u", i % LOAD_NAMES);
        slot = shards_slot(&set, text);
        shards_migrate(&set, slot, (shards_owner(&set, slot) + 1) % SHARDS_MASTERS);
        at_us[i] = check_now_us();
        check_pause_ms(300);
    }
    load_stop(&load);
    verdict = ledger_judge(load.ledger);
    snprintf(text, sizeof text, "%u slot moves", count);
    for (enum load_kind kind = 0; kind < LOAD_KINDS; kind++) {
        for (unsigned i = 0; i < count; i++)
            load_add_span(&spans[kind], &load, load_locks(kind), at_us[i]);
        load_tell(&load, kind, text, "the move", &spans[kind]);
        assert_int_equal(load_counts(&load, kind).lost, 0); /* nothing is lost by a move */
    }
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward, 0);
    ledger_free(load.ledger);
    shards_check_clean(&set);
}

static void every_waiter_is_served_through_failovers(void **state)
{
    struct failovers_of of = failovers_of_shards(&set);
    (void)state;
    failovers_play(&of, failovers_wanted(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_moves_with_its_slot),
        cmocka_unit_test(every_waiter_is_served_through_slot_moves),
        cmocka_unit_test(every_waiter_is_served_through_failovers),
    };
    return cmocka_run_group_tests(tests, start, end);
}
