/* SPDX-License-Identifier: BSD-3-Clause */
/* The master that Sentinel names: found, and followed through failovers. What becomes of holds there: unit/sentinel,
 * the simulator. */
#include "support/check.h"
#include "support/failovers.h"
#include "support/sentinels.h"

TEST(every_waiter_is_served_through_failovers)
{
    struct sentinels set;
    sentinels_start(&set, NULL);
    struct failovers_of of = failovers_of_sentinels(&set);
    failovers_play(&of, failovers_wanted(), 0);
    sentinels_end(&set);
}
