/* SPDX-License-Identifier: BSD-3-Clause */
/* lease - see lease.h. */
#include "core/lease.h"

#include "base/plant.h"

enum { CLOCK_US = 2000, LATENESS_US = 5000, RETRY_MIN_US = 5000, RETRY_MAX_US = 1000000 };

uint64_t hl_lease_drift_us(uint64_t lease_us)
{
    return HL_PLANTED(R1_NO_DRIFT) ? 0 : lease_us / 100 + CLOCK_US + LATENESS_US;
}

uint64_t hl_lease_renewal_us(uint64_t sent_us, uint64_t lease_us)
{
    return sent_us + lease_us / 3;
}

uint64_t hl_lease_spread_renewal_us(struct hl_random *random, uint64_t sent_us, uint64_t lease_us)
{
    return hl_lease_renewal_us(sent_us, lease_us) - hl_random_below(random, lease_us / 15 + 1);
}

uint64_t hl_lease_renewal_timeout_us(uint64_t lease_us, uint32_t command_timeout_ms)
{
    uint64_t third_us = lease_us / 3, timeout_us = (uint64_t)command_timeout_ms * 1000;
    return third_us < timeout_us ? third_us : timeout_us;
}

uint64_t hl_lease_retry_us(struct hl_random *random, uint64_t lease_us)
{
    uint64_t pause_us = lease_us / 12;
    pause_us = pause_us < RETRY_MIN_US ? RETRY_MIN_US : pause_us > RETRY_MAX_US ? RETRY_MAX_US : pause_us;
    return pause_us / 2 + hl_random_below(random, pause_us / 2);
}

uint32_t hl_lease_span_ms(uint64_t span_us)
{
    return span_us / 1000 < INT32_MAX ? (uint32_t)(span_us / 1000) : INT32_MAX;
}
