/* SPDX-License-Identifier: BSD-3-Clause */
/* ballot - see ballot.h. */
#include "lock/ballot.h"

#include "base/plant.h"
#include "lock/hold.h"
#include "lock/known.h"
#include "lock/lease.h"
#include "lock/part.h"
#include "lock/wait.h"

static struct hl_route *route_of(const struct hl_hold *hold) { return hl_hold_core(hold)->route; }

int hl_ballot_can_begin(const struct hl_hold *hold)
{
    unsigned able = 0;
    for (unsigned i = 0; i < hold->parts_count; i++)
        able += hl_part_can_vote(hold, &hold->parts[i]) != 0;
    return able >= hold->needed;
}

int hl_ballot_can_order(const struct hl_acquire *acquire)
{
    const struct hl_name *name = hl_wait_name(acquire);
    uint64_t trips_us = 2 * hl_route_usual_trip_us(route_of(acquire->hold), name->bytes, name->length);
    return trips_us + hl_wait_least_us(acquire) < hl_lease_deadline_us(0, hl_terms_lease_us(acquire->lock->terms));
}

/* A try asks but once, and must not take one master's word for all. */
static int is_in_order(const struct hl_acquire *acquire)
{
    int is_awaited = acquire->halvings || (!acquire->attempts && hl_wait_name(acquire)->crowd);
    return is_awaited && !acquire->is_try && hl_ballot_can_order(acquire) && !HL_PLANTED(BALLOT_ALL_AT_ONCE);
}

int hl_ballot_asks_one(const struct hl_hold *hold) { return hold->owner.acquire->halvings && !hl_hold_count(hold, PART_OURS); }

int hl_ballot_may_ask(struct hl_hold *hold, const struct hl_part *part)
{
    return part->state != PART_OURS && !hl_request_is_busy(&part->request) && hl_part_share(hold, part)->vote == VOTE_NONE && hl_part_can_vote(hold, part);
}

/* In order: so many may still be. */
static unsigned unasked(struct hl_hold *hold)
{
    unsigned found = 0;
    for (unsigned i = 0; hold->owner.acquire->halvings && i < hold->parts_count; i++)
        found += hl_ballot_may_ask(hold, &hold->parts[i]) != 0;
    return found;
}

/* A little of the lease, longer when the one before ended in silence: masters may be slower than they were. */
uint64_t hl_ballot_ends_us(const struct hl_acquire *acquire)
{
    const struct hl_core *core = hl_hold_core(acquire->hold);
    uint64_t span_us = hl_part_patience_us(acquire->hold) << hl_known_silences(hl_wait_name(acquire));
    uint64_t most_us = (uint64_t)core->limits.command_timeout_ms * 1000, lease_us = (uint64_t)acquire->lock->terms->lease_ms * 250;
    most_us = lease_us < most_us ? lease_us : most_us;
    return hl_now_us(&core->host) + (span_us < most_us ? span_us : most_us);
}

/* FNV: holders are only told apart by it, and a mistake costs a pause. */
static uint32_t hash(const char *bytes, size_t length)
{
    uint32_t value = 2166136261u;
    for (size_t i = 0; i < length; i++)
        value = (value ^ (unsigned char)bytes[i]) * 16777619u;
    return value;
}

static unsigned votes(struct hl_hold *hold, enum hl_vote vote)
{
    unsigned found = 0;
    for (unsigned i = 0; i < hold->parts_count; i++)
        found += hl_part_share(hold, &hold->parts[i])->vote == vote;
    return found;
}

/* Nobody has enough of it: several asked at the same time. */
static int is_split(struct hl_hold *hold)
{
    for (unsigned i = 0; i < hold->parts_count; i++) {
        const struct hl_share *one = hl_part_share(hold, &hold->parts[i]);
        unsigned same = 0;
        for (unsigned j = 0; j < hold->parts_count; j++) {
            const struct hl_share *other = hl_part_share(hold, &hold->parts[j]);
            same += other->vote == VOTE_HELD && other->holder == one->holder;
        }
        if (one->vote == VOTE_HELD && same >= hold->needed)
            return 0;
    }
    return 1;
}

static uint64_t begun_us(const struct hl_hold *hold)
{
    uint64_t earliest = UINT64_MAX;
    for (unsigned i = 0; i < hold->parts_count; i++)
        if (hold->parts[i].request.sent_us && hold->parts[i].request.sent_us < earliest)
            earliest = hold->parts[i].request.sent_us;
    return earliest == UINT64_MAX ? 0 : earliest;
}

static hilock_status fault_of(struct hl_hold *hold, enum hl_vote vote)
{
    for (unsigned i = 0; i < hold->parts_count; i++)
        if (hl_part_share(hold, &hold->parts[i])->vote == vote)
            return (hilock_status)-(int)hl_part_share(hold, &hold->parts[i])->status;
    return HILOCK_UNREACHABLE;
}

/* Held: only what is held by others stands between it and enough votes, as far as is known. Else faults are told before silence. */
static struct hl_asked lose(struct hl_hold *hold, int is_over)
{
    unsigned yes = hl_hold_count(hold, PART_OURS), held = votes(hold, VOTE_HELD), lasting = votes(hold, VOTE_LASTING);
    unsigned open = is_over ? 0 : hl_hold_asking(hold) + unasked(hold);
    struct hl_asked verdict = {.answer = ASKED_UNANSWERED, .is_verdict = 1, .asked_us = begun_us(hold)};
    if (lasting > (unsigned)(hold->parts_count - hold->needed)) {
        verdict.answer = ASKED_FAULT;
        verdict.fault = (struct hl_fault){HL_FAULT_LASTING, fault_of(hold, VOTE_LASTING), 0};
    } else if (held && yes + held + open >= hold->needed) {
        verdict.answer = ASKED_HELD;
        verdict.is_early = unasked(hold) != 0;
        verdict.is_split = !verdict.is_early && is_split(hold);
    } else if (lasting || votes(hold, VOTE_FAULT)) {
        verdict.answer = ASKED_FAULT;
        verdict.fault = (struct hl_fault){HL_FAULT_PASSING, fault_of(hold, lasting ? VOTE_LASTING : VOTE_FAULT), 0};
    }
    return verdict;
}

void hl_ballot_begin(struct hl_hold *hold)
{
    struct hl_acquire *acquire = hold->owner.acquire;
    if (!hl_hold_is_quorum(hold))
        return;
    acquire->halvings = is_in_order(acquire) != 0;
    for (unsigned i = 0; i < hold->parts_count; i++)
        hl_part_share(hold, &hold->parts[i])->vote = VOTE_NONE;
}

static enum hl_vote vote_of(const struct hl_asked *asked)
{
    switch (asked->answer) {
    case ASKED_GRANTED: return VOTE_YES;
    case ASKED_HELD: return VOTE_HELD;
    case ASKED_FAULT: return asked->fault.kind == HL_FAULT_PASSING ? VOTE_FAULT : VOTE_LASTING;
    case ASKED_UNANSWERED: return VOTE_SILENT;
    }
    return VOTE_NONE;
}

int hl_ballot_cast(struct hl_hold *hold, struct hl_part *part, const struct hl_asked *asked, struct hl_asked *ret_verdict)
{
    struct hl_share *share = hl_part_share(hold, part);
    share->vote = (uint8_t)vote_of(asked);
    share->holder = asked->holder ? hash(asked->holder, asked->holder_length) : 0;
    share->status = (uint8_t)-(int)asked->fault.status;
    if (asked->answer == ASKED_HELD || asked->answer == ASKED_FAULT)
        hl_known_hear(hl_hold_core(hold), hold->owner.acquire, asked);
    if (hl_hold_count(hold, PART_OURS) + hl_hold_asking(hold) + unasked(hold) >= hold->needed && (asked->answer != ASKED_HELD || !hl_ballot_asks_one(hold)))
        return 0;
    *ret_verdict = lose(hold, 0);
    return 1;
}

struct hl_asked hl_ballot_close(struct hl_hold *hold)
{
    for (unsigned i = 0; i < hold->parts_count; i++)
        if (hl_request_is_busy(&hold->parts[i].request))
            hl_part_share(hold, &hold->parts[i])->vote = VOTE_SILENT;
    return lose(hold, 1);
}
