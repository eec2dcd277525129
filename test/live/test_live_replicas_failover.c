/* SPDX-License-Identifier: BSD-3-Clause */
/* Where replicas confirm a grant, a failover to one of them forgets none: no two handles hold at once. Of two replicas one is enough for
 * that: the new master grants nothing before the other one follows it, and that then confirms nothing of the old one any more. What only that one
 * confirmed is LOST at the switch. */
#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"
#include "support/failovers.h"
#include "support/sentinels.h"
#include "support/shards.h"

static const char *const cautious[] = {"--min-replicas-to-write", "1", "--min-replicas-max-lag", "2", NULL};

/* ---- Sentinel, two replicas ---- */

static void settle_sentinels(void *arg) { sentinels_settle(arg); }

static uint64_t strike_sentinels(void *arg, unsigned lock, enum failovers_fault fault)
{
    static const enum sentinels_fault faults[] = {SENTINELS_KILL, SENTINELS_STOP, SENTINELS_FORCED}; /* as in failovers_fault */
    (void)lock;
    return sentinels_failover(arg, faults[fault]);
}

static void mend_sentinels(void *arg) { sentinels_mend(arg); }

static unsigned switches(void *arg) { return sentinels_switches(arg); }

/* serve_ms: where both are to confirm, nothing is granted from one failover until all is well again. */
static void behind_sentinel(unsigned replicas, unsigned serve_ms)
{
    struct sentinels set;
    sentinels_start(&set, cautious);
    failovers_play(&(struct failovers_of){&set, settle_sentinels, strike_sentinels, mend_sentinels, set.url, "+switch-master", switches, 0, serve_ms, 0},
                   failovers_wanted(), replicas);
    sentinels_end(&set);
}

static void behind_sentinel_one_of_two_confirms(void **state)
{
    (void)state;
    behind_sentinel(1, 0);
}

static void behind_sentinel_both_confirm(void **state)
{
    (void)state;
    behind_sentinel(2, 3000);
}

/* ---- a cluster, a replica each ---- */

static void settle_shards(void *arg) { shards_settle(arg); }

static uint64_t strike_shards(void *arg, unsigned lock, enum failovers_fault fault)
{
    static const enum shards_fault faults[] = {SHARDS_KILL, SHARDS_STOP, SHARDS_FORCED}; /* as in failovers_fault */
    char name[32];
    snprintf(name, sizeof name, "stock:%u", lock);
    return shards_failover(arg, shards_owner(arg, shards_slot(arg, name)), faults[fault]);
}

static void mend_shards(void *arg) { shards_mend(arg); }

static void in_a_cluster_the_only_one_confirms(void **state)
{
    struct shards set;
    (void)state;
    shards_start(&set, NULL);
    failovers_play(&(struct failovers_of){&set, settle_shards, strike_shards, mend_shards, set.url, "the promotion", NULL, 1, 0, 1500}, failovers_wanted(), 1);
    shards_end(&set);
}

/* With the name of one of them as its argument: that one alone. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behind_sentinel_one_of_two_confirms),
        cmocka_unit_test(behind_sentinel_both_confirm),
        cmocka_unit_test(in_a_cluster_the_only_one_confirms),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
