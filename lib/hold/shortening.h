/* SPDX-License-Identifier: BSD-3-Clause */
/* shortening - a renewal may shorten a lease that became too long. If a server's clock is set back, the leases there
 * become longer: if it is set back by an hour, a holder that crashed would keep its name for an hour.
 *  - It is safe for other clients, because the lease belongs to this hold alone.
 *  - It is safe for us: the lease is shortened to the longest time that any renewal or extend may have asked for, and
 *    not to less, so it still ends after our deadline.
 *  - It is safe if the request arrives late: the request carries a time by the server's clock after which it shortens
 *    nothing. For that the client needs a sample of that clock from after the clock was set back. */
#ifndef HL_HOLD_SHORTENING_H
#define HL_HOLD_SHORTENING_H

#include "hold/hold.h"

int hl_shortening_may_execute(const struct hl_hold *hold);
/* Returns 1 while a renewal that got no answer may still execute and shorten the lease. Extends wait until then: that
 * renewal could cut short an extend that was answered OK. */
static inline int hl_shortening_may_run(const struct hl_hold *hold)
{
    return hold->is_shortening && hl_shortening_may_execute(hold);
}
/* A renewal is about to be sent, which may shorten a lease that became too long. Returns the lease to which it
 * shortens, or 0 if it must shorten nothing. */
uint32_t hl_shortening_begin(struct hl_hold *hold);

#endif
