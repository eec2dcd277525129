/* SPDX-License-Identifier: BSD-3-Clause */
/* Where replicas confirm a grant, a failover to one of them forgets none: no two handles hold at once. Of two replicas
 * one is enough for that: the new master grants nothing before the other one follows it, and that then confirms nothing
 * of the old one any more. What only that one confirmed is LOST at the switch. */
#include "support/check.h"
#include "support/failovers.h"
#include "support/sentinels.h"
#include "support/shards.h"

static const char *const cautious[] = {"--min-replicas-to-write", "1", "--min-replicas-max-lag", "2", NULL};

/* serve_ms: where both are to confirm, nothing is granted from one failover until all is well again. */
static void behind_sentinel(unsigned replicas, unsigned serve_ms)
{
    struct sentinels set;
    struct failovers_of of;
    sentinels_start(&set, cautious);
    of = failovers_of_sentinels(&set);
    of.serve_ms = serve_ms;
    failovers_play(&of, failovers_wanted(), replicas);
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

static void in_a_cluster_the_only_one_confirms(void **state)
{
    struct shards set;
    struct failovers_of of;
    (void)state;
    shards_start(&set, NULL);
    of = failovers_of_shards(&set);
    failovers_play(&of, failovers_wanted(), 1);
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
