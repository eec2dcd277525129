/* SPDX-License-Identifier: BSD-3-Clause */
/* hold - its memory, its alarm, what answers prove. asking.c asks for it, watchdog.c renews it, ending.c ends it. */
#include "hold/hold.h"

#include "base/contract.h"
#include "base/plant.h"

struct hl_hold *hl_hold_new(struct hl_core *core, const struct hilock_lock *lock)
{
    struct hl_hold *hold = hl_memory_new(&core->host.memory, sizeof *hold);
    if (!hold || hl_alarm_begin(&core->hold_alarms, &hold->alarm) != 0) {
        hl_memory_free(&core->host.memory, hold);
        return NULL;
    }
    hold->notice.ops = core->owner->notice;
    hold->terms = lock->terms;
    hold->terms->refs++;
    hold->request.ops = core->hold_requests;
    hold->name = lock->name;
    hold->name->refs++;
    core->live_holds++;
    TAILQ_INSERT_TAIL(&core->live, hold, live);
    return hold;
}

void hl_hold_free(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    HL_REQUIRE(!hl_request_is_busy(&hold->request)); /* only a blank one is freed; a teardown forgets requests first */
    hl_name_unref(core, &core->host.memory, hold->name);
    hl_notice_cancel(core, &hold->notice);
    TAILQ_REMOVE(&core->live, hold, live);
    core->unheld -= hold->end == END_UNHELD;
    hl_alarm_end(&core->hold_alarms, &hold->alarm);
    hl_terms_unref(hold->terms);
    hl_memory_free(&core->host.memory, hold);
    if (--core->live_holds == 0 && core->is_closing)
        hl_host_wake(&core->host);
}

void hl_hold_wake_at(struct hl_hold *hold, uint64_t at_us)
{
    struct hl_core *core = hl_hold_core(hold);
    if (at_us == UINT64_MAX)
        hl_alarm_stop(&core->hold_alarms, &hold->alarm);
    hold->due_us = at_us == UINT64_MAX ? 0 : hl_alarm_set(&core->hold_alarms, &hold->alarm, at_us);
}

/* A renewal under way proves nothing yet. */
int hl_hold_is_adrift(const struct hl_hold *hold)
{
    const struct hl_node *node = hl_name_node(hl_hold_core(hold), hold->name);
    uint64_t heard_us = hl_request_is_busy(&hold->request) ? hold->granted_us : hold->request.sent_us;
    int has_moved = node->moved_us >= heard_us && !HL_PLANTED(MULTI_ADRIFT_BY_MOVE);
    int is_adrift = !node->is_up || node->earlier_us >= heard_us || has_moved;
    return is_adrift && !HL_PLANTED(MULTI_ADRIFT);
}

int hl_hold_is_told(const struct hl_hold *hold)
{
    return hold->lock && hold->lock->hold == hold;
}

uint64_t hl_hold_deadline_us(const struct hl_hold *hold) { return hold->kept == KEPT_OURS ? hold->deadline_us : 0; }

int hl_hold_is_confirming(const struct hl_hold *hold) { return hold->request.place == REQUEST_CONFIRMING; }

/* Its id is not at the store and will not be: it was never asked for, or every answer was a no. */
int hl_hold_is_blank(const struct hl_hold *hold)
{
    return hold->kept == KEPT_NOTHING && !hl_request_is_busy(&hold->request);
}

uint64_t hl_hold_ends_us(const struct hl_hold *hold)
{
    uint64_t deadline_us = hl_hold_deadline_us(hold);
    uint64_t max_us = hold->since_us + (uint64_t)hold->terms->hold_max_ms * 1000;
    int is_limited = hold->terms->hold_max_ms && !HL_PLANTED(HOLD_MAX_IGNORED);
    return is_limited && max_us < deadline_us ? max_us : deadline_us;
}

/* The turns of a hold have its token and the next ones, which its acquire reserved. The store and renewals know only
 * the first. */
uint64_t hl_hold_token(const struct hl_hold *hold)
{
    unsigned turn = HL_PLANTED(HANDOFF_TOKEN_SAME) ? 0 : hold->turn;
    return hold->token ? hold->token + turn - HL_PLANTED(TOKEN_STALE) : 0;
}

/* What was granted: the lease, or a window that was pushed. */
uint64_t hl_hold_least_us(const struct hl_hold *hold, const struct hl_terms *terms)
{
    return hl_terms_least_us(terms, hold->is_windowed ? hl_terms_window_ms(terms) : terms->lease_ms);
}

unsigned hl_hold_reserved(const struct hl_hold *hold)
{
    return hold->terms->kind->hands_on ? hl_hold_core(hold)->limits.turns_max - 1 : 0;
}

/* A hold made by a visit is at the end, and not held yet. */
void hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg)
{
    struct hl_hold *hold, *next;
    for (hold = TAILQ_FIRST(&core->live); hold; hold = next) {
        next = TAILQ_NEXT(hold, live);
        if (hold->state == HOLD_HELD)
            visit(hold, arg);
    }
}

struct hl_response hl_hold_read(const struct hl_hold *hold, const struct hl_reply *reply)
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

int hl_hold_is_cleared_by(const struct hl_hold *hold, const struct hl_response *said)
{
    int may_have_begun = said->result == HL_FAULT && said->fault.kind == HL_FAULT_LASTING && !said->fault.left_nothing;
    int may_be_queued = hold->is_queued || said->position;
    int is_in_queue = may_be_queued && !HL_PLANTED(FAIR_STAYS_IN_QUEUE);
    int is_there = hold->haunted_until_us || is_in_queue || hold->kept == KEPT_OURS;
    return said->result != HL_YES && !may_have_begun && !is_there;
}

void hl_hold_unsent(struct hl_hold *hold)
{
    int may_be_queued = hold->is_queued && !HL_PLANTED(FAIR_UNSENT_LEAVES_QUEUE);
    if (hold->kept != KEPT_OURS)
        hold->kept = hold->haunted_until_us || may_be_queued ? KEPT_MAYBE : KEPT_NOTHING;
}

void hl_hold_not_ours(struct hl_hold *hold)
{
    int may_be_queued = hold->terms->kind->has_queue && !HL_PLANTED(FAIR_FORGOTTEN_KEPT),
        may_be_made = hold->haunted_until_us && !HL_PLANTED(HAUNT_LEFT_BY_LOSS);
    hold->kept = may_be_queued || may_be_made ? KEPT_MAYBE : KEPT_NOTHING;
}
