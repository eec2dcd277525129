/* SPDX-License-Identifier: BSD-3-Clause */
/* proof - see proof.h. */
#include "lock/proof.h"

#include "base/plant.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/name.h"

struct hl_response hl_proof_said(const struct hl_hold *hold, const struct hl_reply *reply)
{
    const struct hl_kind *kind = hold->terms->kind;
    switch ((enum hl_ask)hold->ask) {
    case ASK_ACQUIRE: return kind->acquired(reply, (enum hl_form)hold->form);
    case ASK_CONFIRM: break;
    case ASK_RENEW: return kind->renewed(reply, (enum hl_form)hold->form);
    case ASK_RELEASE: return kind->released(reply, (enum hl_form)hold->form);
    }
    return hl_response_fault(reply);
}

int hl_proof_is_cleared_by(const struct hl_hold *hold, const struct hl_response *said)
{
    int may_have_begun = said->result == HL_FAULT && said->fault.kind == HL_FAULT_LASTING && !said->fault.left_nothing;
    int is_in_queue = (hold->queued == QUEUED_MAYBE || said->position) && !HL_PLANTED(FAIR_STAYS_IN_QUEUE);
    return said->result != HL_YES && !may_have_begun && !hold->is_haunted && !is_in_queue && hold->kept != KEPT_OURS;
}

void hl_proof_not_ours(struct hl_hold *hold)
{
    int may_be_queued = hold->terms->kind->has_queue && !HL_PLANTED(FAIR_FORGOTTEN_KEPT),
        may_be_made = hold->is_haunted && !HL_PLANTED(HAUNT_LEFT_BY_LOSS);
    hold->kept = may_be_queued || may_be_made ? KEPT_MAYBE : KEPT_NOTHING;
}

void hl_proof_grant(struct hl_hold *hold, const struct hl_response *said)
{
    uint64_t lease_us = (uint64_t)hl_hold_asked_ms(hold) * 1000, now_us = hl_now_us(&hl_hold_core(hold)->host);
    hold->kept = KEPT_OURS;
    hold->queued = QUEUED_NO;
    hold->token = said->token;
    hold->deadline_us =
        hl_lease_deadline_us(HL_PLANTED(R1_DEADLINE_FROM_REPLY) ? now_us : hold->request.sent_us, lease_us);
}

void hl_proof_told(struct hl_hold *hold, struct hl_acquire_result asked)
{
    asked.asked_us = hold->request.sent_us;
    hl_hold_core(hold)->owner->answered(hold->lock->acquire, &asked);
}
