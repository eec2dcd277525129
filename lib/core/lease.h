/* SPDX-License-Identifier: BSD-3-Clause */
/* lease - the arithmetic of leases. Pure: times come as arguments, in microseconds of the loop's clock.
 *
 *   send            reply      renewal            deadline  expiry at the server (at the earliest)
 *    |----------------|-----------|-----------------|--------|
 *    |<------ lease / 3 --------->|                 |< drift >|
 *    |<--------------------- lease ------------------------->|
 *
 * Invariant R1: a deadline counts from before the send of the very request that set the lease, minus a margin for
 * clocks that run apart (Redlock's 1 % + 2 ms) and for a late loop (5 ms). */
#ifndef HL_CORE_LEASE_H
#define HL_CORE_LEASE_H

#include "base/random.h"

uint64_t hl_lease_drift_us(uint64_t lease_us); /* returns the margin */
static inline uint64_t hl_lease_deadline_us(uint64_t sent_us, uint64_t lease_us)
{
    return sent_us + lease_us - hl_lease_drift_us(lease_us);
}
uint64_t hl_lease_renewal_us(uint64_t sent_us, uint64_t lease_us);            /* when a hold is renewed */
/* The same for one of many holds, which may have been granted together: up to a fifth earlier, at random, so that their
 * renewals spread. */
uint64_t hl_lease_spread_renewal_us(struct hl_random *random, uint64_t sent_us, uint64_t lease_us);
/* Returns how long after its send a renewal counts as failed. */
uint64_t hl_lease_renewal_timeout_us(uint64_t lease_us, uint32_t command_timeout_ms);
uint64_t hl_lease_retry_us(struct hl_random *random, uint64_t lease_us);      /* returns the pause after a failure */
/* Rounds down to milliseconds, and at most to the longest time of the public header, so that the result is never
 * HILOCK_FOREVER or another constant. */
uint32_t hl_lease_span_ms(uint64_t span_us);

static inline uint64_t hl_left_us(uint64_t until_us, uint64_t now_us)
{
    return until_us > now_us ? until_us - now_us : 0;
}

#endif
