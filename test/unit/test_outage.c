/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that stalls, or is away, costs no more than it must: not the links of others, nor holds that it could still renew. */
#include "play.h"

/* A stall that a short lease can hardly bear is no reason to take the link from all the others. */
WITH_CLIENT(a_renewal_that_is_overdue_leaves_the_link_to_others)
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 300)), *b = held(p, "b", "shelf", NULL);
    p->tells = 1;
    for (int i = 0; i < 20; i++) {
        int links = (int)s->place->tried;
        run_to(s, asked_at_us(s, i ? "renew" : "mutex_acquire", i ? -1 : 0) + 99000);
        world_freeze(&s->store.lane);
        run_ms(s, 125); /* the renewal fails, and its answer comes while the hold is still good */
        world_thaw(&s->world, &s->store.lane);
        TELLS_IN(s, 10, "");
        SAME(s, s->place->tried, links);
        HOLDS(s, hilock_lock_remaining_ms(a->lock) > 100);
    }
    run_ms(s, 12000);
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 19000);
    struct hilock_stats stats = counts_of(p);
    SAME(s, stats.renewals_failed, 20);
    TELLS(s, "");
}

enum { OUTAGES = 20 };
