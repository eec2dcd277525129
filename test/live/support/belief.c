/* SPDX-License-Identifier: BSD-3-Clause */
/* belief - see belief.h. */
#include "belief.h"

#include "check.h"

enum { NARROW_US = 3000, LATENESS_US = 5000 };

void belief_look(struct belief *belief, const struct handle *handle)
{
    uint64_t before_us = check_now_us(), left_us = (uint64_t)hilock_lock_remaining_ms(handle->lock) * 1000, after_us = check_now_us();
    if (!left_us)
        return;
    CHECK(!belief->until_us || (before_us + left_us <= belief->until_us && after_us + left_us + 1000 >= belief->from_us));
    if (before_us + left_us > belief->from_us)
        belief->from_us = before_us + left_us;
    if (!belief->until_us || after_us + left_us + 1000 < belief->until_us)
        belief->until_us = after_us + left_us + 1000;
}

void belief_settle(struct belief *belief, const struct handle *handle)
{
    do {
        CHECK(hilock_lock_remaining_ms(handle->lock) > 0);
        belief_look(belief, handle);
    } while (belief->until_us - belief->from_us > NARROW_US);
}

struct watch {
    struct belief *belief;
    struct handle *handle;
    unsigned late_turns;
};

static int is_lost(void *arg)
{
    struct watch *watch = arg;
    uint64_t now_us = check_now_us();
    if (watch->handle->lost.count)
        return 1;
    belief_look(watch->belief, watch->handle);
    if (now_us > watch->belief->until_us)
        CHECK(hilock_lock_remaining_ms(watch->handle->lock) == 0);
    if (now_us > watch->belief->until_us + LATENESS_US)
        CHECK(++watch->late_turns <= 1);
    return 0;
}

void belief_until_lost(struct belief *belief, struct handle *handle)
{
    client_until(handle->client, is_lost, &(struct watch){belief, handle, 0}, "the loss");
    CHECK(handle->lost.at_us >= belief->from_us);
}
