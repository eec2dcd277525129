/* SPDX-License-Identifier: BSD-3-Clause */
/* part - see part.h. */
#include "lock/part.h"

#include "base/plant.h"
#include "lock/hold.h"
#include "lock/lease.h"

enum { PATIENCE_MIN_US = 100000, ROUND_TRIPS = 8 };

struct hl_share *hl_part_share(struct hl_hold *hold, const struct hl_part *part)
{
    return hold->parts_count > 1 ? (struct hl_share *)(void *)(hold->parts + hold->parts_count) + part->index : NULL;
}

/* A part of several may be asked again while another one still owes the answer to an earlier round. */
uint32_t hl_part_asked_ms(struct hl_hold *hold, const struct hl_part *part)
{
    const struct hl_share *share = hl_part_share(hold, part);
    return share && share->asked_ms && !HL_PLANTED(QUORUM_STRAGGLER) ? share->asked_ms : hl_hold_asked_ms(hold);
}

struct hl_said hl_part_said(const struct hl_hold *hold, const struct hl_part *part, const struct hl_reply *reply)
{
    const struct hl_kind *kind = hold->terms->kind;
    switch ((enum hl_part_ask)part->ask) {
    case PART_ACQUIRE: return kind->acquired(reply, (enum hl_form)part->form);
    case PART_CONFIRM: break;
    case PART_RENEW: return kind->renewed(reply, (enum hl_form)part->form);
    case PART_RELEASE: return kind->released(reply, (enum hl_form)part->form);
    }
    return hl_said_fault(reply);
}

int hl_part_is_cleared_by(const struct hl_hold *hold, const struct hl_part *part, const struct hl_said *said)
{
    int may_have_begun = said->verdict == HL_FAULT && said->fault.kind == HL_FAULT_LASTING && !said->fault.left_nothing;
    int is_in_queue = (hold->is_queued || said->position) && !HL_PLANTED(FAIR_STAYS_IN_QUEUE);
    return said->verdict != HL_YES && !may_have_begun && !part->is_haunted && !is_in_queue && part->state != PART_OURS;
}

void hl_part_not_ours(const struct hl_hold *hold, struct hl_part *part)
{
    int may_be_queued = hold->terms->kind->has_queue && !HL_PLANTED(FAIR_FORGOTTEN_KEPT), may_be_made = part->is_haunted && !HL_PLANTED(HAUNT_LEFT_BY_LOSS);
    part->state = may_be_queued || may_be_made ? PART_MAYBE : PART_CLEAR;
}

int hl_part_forgoes_native(const struct hl_part *part, const struct hl_said *said)
{
    struct hl_text what;
    if (part->form != HL_FORM_NATIVE || part->ask == PART_ACQUIRE || said->verdict != HL_FAULT || said->fault.kind != HL_FAULT_LASTING ||
        said->fault.status == HILOCK_WRONG_KIND)
        return 0;
    part->request.node->natives = 0;
    hl_text_set(&what, "native command refused: %s: the script is used",
                hl_host_quote(part->request.node->host, said->quote, said->quote_length).bytes);
    hl_lacks_tell(hl_node_home(part->request.node), HL_LACK_NATIVE, what.bytes);
    return 1;
}

void hl_part_grant(struct hl_hold *hold, struct hl_part *part, const struct hl_said *said)
{
    uint64_t lease_us = (uint64_t)hl_part_asked_ms(hold, part) * 1000, now_us = hl_now_us(&hl_hold_core(hold)->host);
    part->state = PART_OURS;
    hold->is_queued = 0;
    part->token = said->token;
    part->deadline_us = hl_lease_deadline_us(HL_PLANTED(R1_DEADLINE_FROM_REPLY) ? now_us : part->request.sent_us, lease_us);
}

uint64_t hl_part_patience_us(const struct hl_hold *hold)
{
    const struct hl_name *name = hold->parts[0].name;
    uint64_t usual_us = ROUND_TRIPS * hl_route_round_trip_us(hl_hold_core(hold)->route, name->bytes, name->length);
    return usual_us < PATIENCE_MIN_US ? PATIENCE_MIN_US : usual_us;
}

int hl_part_can_vote(const struct hl_hold *hold, const struct hl_part *part)
{
    const struct hl_core *core = hl_hold_core(hold);
    const struct hl_node *node = hl_route_member(core->route, part->name->bytes, part->name->length, part->index);
    return hl_node_is_able(node, hl_now_us(&core->host), hl_part_patience_us(hold));
}

void hl_part_answered(struct hl_hold *hold, struct hl_part *part, struct hl_asked asked)
{
    asked.at = part->index;
    asked.asked_us = part->request.sent_us;
    hl_hold_core(hold)->owner->answered(hold, part, &asked);
}
