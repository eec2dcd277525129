/* SPDX-License-Identifier: BSD-3-Clause */
/* shortening - see shortening.h. */
#include "hold/shortening.h"

#include "core/lease.h"

int hl_shortening_may_execute(const struct hl_hold *hold) { return hl_hold_now_us(hold) < hold->may_run_until_us; }

uint32_t hl_shortening_begin(struct hl_hold *hold)
{
    const struct hl_node *node = hold->request.node;
    uint64_t now_us = hl_hold_now_us(hold), lease_us = hl_terms_lease_us(hold->terms);
    uint64_t extended_us = hl_left_us(hold->held.extended_until_us, now_us), most_us;
    /* the sample was sent after the renewal that found the lease too long, and so after the clock was set back */
    int is_fresh = node->server_us && hl_lease_deadline_us(node->time_sent_us, lease_us) >= hold->deadline_us;
    /* of a shared name the scripts shorten nothing: its lease is the longest of several */
    int is_plain = hold->asked_ms == hold->terms->lease_ms && hl_has_queue(hold->terms) && hl_holds_alone(hold->terms);
    if (!hold->is_lease_too_long || !is_plain || !is_fresh || hl_shortening_may_run(hold))
        return 0;
    most_us = extended_us > lease_us ? extended_us : lease_us;
    hold->is_shortening = 1;
    return hl_lease_span_ms(most_us + hl_lease_drift_us(most_us)) + 1;
}
