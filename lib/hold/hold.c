/* SPDX-License-Identifier: BSD-3-Clause */
/* hold - the memory and the alarm of a hold, and what answers prove about it. life.c has the table of its states:
 * asking.c sends the requests, watchdog.c renews, ending.c ends. */
#include "hold/hold.h"

#include "base/contract.h"
#include "base/slot.h"
#include "core/lease.h"
#include "core/words.h"
#include "hold/seat.h"
#include "node/clock.h"
#include "wire/record.h"

struct hl_hold *hl_hold_new(struct hl_core *core, struct hl_name *name, struct hl_terms *terms)
{
    struct hl_hold *hold = hl_memory_new(&core->host.memory, sizeof *hold);
    if (!hold || hl_alarm_begin(&core->holds->alarms, &hold->alarm) != 0) {
        hl_memory_free(&core->host.memory, hold);
        return NULL;
    }
    hold->notice.ops = core->holds->reports;
    hold->terms = terms;
    terms->refs++;
    hold->request.ops = core->holds->requests;
    hold->name = name;
    name->refs++;
    core->holds->count++;
    TAILQ_INSERT_TAIL(&core->holds->live, hold, live);
    return hold;
}

/* ---- the drawing of hold.h: for each state, those that may follow ---- */

enum {
    TO_END = 1u << HOLD_RELEASE_DUE, /* a hold that ends while nothing is under way any more */
    TO_GIVE_UP = 1u << HOLD_LOST | 1u << HOLD_GONE, /* its lease has run out */
    TO_NEXT_STEP = TO_GIVE_UP | 1u << HOLD_RELEASING
};
static const uint16_t arrows[] = {
    [HOLD_IDLE]           = 1u << HOLD_ASKING | TO_END,

    [HOLD_ASKING]         = 1u << HOLD_WAITING | 1u << HOLD_PUSHED | 1u << HOLD_AWAITS_ACQUIRE | TO_END,
    [HOLD_WAITING]        = 1u << HOLD_ASKING | 1u << HOLD_CONFIRMING | 1u << HOLD_HELD | TO_END,
    [HOLD_CONFIRMING]     = 1u << HOLD_WAITING | TO_END,

    [HOLD_HELD]           = 1u << HOLD_RENEWING | TO_END,
    [HOLD_PUSHED]         = 1u << HOLD_HELD | 1u << HOLD_AWAITS_STALE | TO_END,
    [HOLD_RENEWING]       = 1u << HOLD_HELD | 1u << HOLD_OVERDUE | 1u << HOLD_AWAITS_RENEWAL | TO_END,
    [HOLD_OVERDUE]        = 1u << HOLD_HELD | 1u << HOLD_AWAITS_RENEWAL | TO_END,

    [HOLD_AWAITS_ACQUIRE] = TO_END | TO_GIVE_UP,
    [HOLD_AWAITS_STALE]   = TO_END | TO_GIVE_UP,
    [HOLD_AWAITS_RENEWAL] = TO_END | TO_GIVE_UP,
    [HOLD_LOST]           = TO_NEXT_STEP,
    [HOLD_RELEASING]      = 1u << HOLD_RELEASE_DUE | 1u << HOLD_GONE,
    [HOLD_RELEASE_DUE]    = TO_NEXT_STEP,
    [HOLD_GONE]           = 0
};

void hl_hold_enter(struct hl_hold *hold, enum hl_hold_state state)
{
    HL_REQUIRE(hold->state == state || (arrows[hold->state] & 1u << state));
    hold->state = state & 15u;
}

void hl_hold_free(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    /* A hold is freed only without a request under way and without a handle; a teardown forgets both first. */
    HL_REQUIRE(!hl_request_is_busy(&hold->request) && !hl_hold_handle(hold));
    hl_name_unref(core, &core->host.memory, hold->name);
    hl_notice_cancel(core, &hold->notice);
    TAILQ_REMOVE(&core->holds->live, hold, live);
    core->holds->undoing -= hold->end == END_ABANDONED;
    hl_alarm_end(&core->holds->alarms, &hold->alarm);
    hl_terms_unref(hold->terms);
    hl_memory_free(&core->host.memory, hold);
    if (--core->holds->count == 0 && core->phase != PHASE_OPEN)
        hl_host_wake(&core->host);
}

void hl_hold_wake_at(struct hl_hold *hold, uint64_t at_us)
{
    struct hl_core *core = hl_hold_core(hold);
    if (at_us == UINT64_MAX)
        hl_alarm_stop(&core->holds->alarms, &hold->alarm);
    hold->due_at_us = at_us == UINT64_MAX ? 0 : hl_alarm_set(&core->holds->alarms, &hold->alarm, at_us);
}

/* While a renewal is under way, sent_us is the send of that renewal, which proves nothing yet. So the time of the grant
 * is used instead. A renewal that failed proves nothing either. */
int hl_hold_needs_verification(const struct hl_hold *hold)
{
    const struct hl_node *node = hl_name_node(hl_hold_core(hold), hold->name);
    uint64_t proved_us = hl_request_is_busy(&hold->request) ? hold->held.granted_at_us : hold->request.sent_us;
    if (hold->failures)
        return 1;
    return !node->is_up || node->old_link_reply_at_us >= proved_us || node->moved_at_us >= proved_us;
}

struct hl_hold *hl_hold_find(const struct hl_core *core, const struct hl_name *name, uint64_t id)
{
    struct hl_hold *hold;
    LIST_FOREACH(hold, &name->holds, held.entry)
        if (hold->id == id)
            return hold;
    TAILQ_FOREACH_REVERSE(hold, &core->holds->live, hl_hold_list, live)
        if (hold->id == id && hold->name == name && hold->state != HOLD_GONE)
            return hold;
    return NULL;
}

int hl_hold_leave(struct hl_hold *hold, struct hilock_lock *lock)
{
    TAILQ_REMOVE(&hold->handles, lock, by_hold);
    if (hl_seat_of(lock))
        hl_seat_free(hl_hold_core(hold), lock);
    return TAILQ_EMPTY(&hold->handles);
}

int hl_hold_is_with_user(const struct hl_hold *hold)
{
    const struct hilock_lock *lock = hl_hold_handle(hold);
    while (lock && lock->hold != hold)
        lock = TAILQ_NEXT(lock, by_hold);
    return lock != NULL;
}

uint64_t hl_hold_ends_at_us(const struct hl_hold *hold, const struct hilock_lock *lock)
{
    uint64_t deadline_us = hl_hold_deadline_us(hold);
    uint64_t max_us = hl_seat_since_us(hold, lock) + (uint64_t)hold->terms->hold_max_ms * 1000;
    return hold->terms->hold_max_ms && max_us < deadline_us ? max_us : deadline_us;
}

/* The handles stand in the order in which their tenures began, so the first of them ends first. */
uint64_t hl_hold_first_end_us(const struct hl_hold *hold)
{
    const struct hilock_lock *lock = hl_hold_handle(hold);
    while (lock && hl_seat_is_lost(lock))
        lock = TAILQ_NEXT(lock, by_hold);
    return lock ? hl_hold_ends_at_us(hold, lock) : hl_hold_deadline_us(hold);
}

/* The first tenure has the token of the grant, and each later tenure the next one: the acquire reserved them. At the
 * store, and in renewals, the hold keeps the first token. */
uint64_t hl_hold_token(const struct hl_hold *hold)
{
    return hold->token ? hold->token + hold->served : 0;
}

/* Without a min_validity_ms a share of what was granted must be left: of the window if a push granted the hold,
 * otherwise of the lease. */
int hl_hold_lasts_for(const struct hl_hold *hold, const struct hl_terms *terms, uint64_t now_us)
{
    uint64_t left_us = hl_left_us(hl_hold_deadline_us(hold), now_us);
    return left_us >= hl_terms_min_validity_us(terms, hold->window_ms ? hold->window_ms : terms->lease_ms);
}

void hl_hold_channel(const struct hl_hold *hold, int is_sharded, char to[HL_GRANT_CHANNEL_MAX])
{
    const struct hl_core *core = hl_hold_core(hold);
    char tag[HL_SLOT_TAG + 1] = "";
    if (core->route->ops->is_spread)
        hl_slot_tag(hl_slot_of(hold->name->bytes, hold->name->length), tag);
    hl_record_channel(to, core->uuid, tag, is_sharded);
}

struct hl_queue_entry hl_hold_entry(const struct hl_hold *hold)
{
    struct hl_queue_entry entry = {.window_ms = hold->entry.window_ms, .reserved = hl_hold_reserved(hold),
                                   .holders_max = hold->terms->holders_max};
    if (hold->entry.channel == ENTRY_NONE)
        return entry;
    entry.due_s = hold->entry.due_s == UINT32_MAX ? HL_DUE_NEVER_S : hold->entry.due_s;
    if (hold->entry.channel != ENTRY_POLLS)
        hl_hold_channel(hold, hold->entry.channel == ENTRY_SHARDED, entry.channel);
    return entry;
}

/* If other programs listen, a release leaves the name to them for a moment: a queue that is never empty would
 * otherwise keep them out for ever. So the script must be told which of the listeners are ours. At the masters of a
 * quorum all count as ours: the name at a single master is of no use to another program. */
unsigned hl_hold_own_listeners(struct hl_core *core, const struct hl_name *name, struct hl_node *node)
{
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX];
    size_t length = hl_key_write(channel, hl_key_channel, name->bytes, name->length);
    if (core->route->masters)
        return HL_OWN_ALL;
    return hl_subscriptions_has(&hl_node_parent(node)->subscriptions, channel, length) != 0;
}

/* A hold that a visit makes stands at the end of the list and is not held yet, so it is not visited. */
void hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg)
{
    struct hl_hold *hold, *next;
    for (hold = TAILQ_FIRST(&core->holds->live); hold; hold = next) {
        next = TAILQ_NEXT(hold, live);
        if (hl_hold_is_held(hold))
            visit(hold, arg);
    }
}

uint64_t hl_holds_left_us(void *arg, const struct hl_node *node)
{
    const struct hl_core *core = arg;
    const struct hl_hold *hold;
    uint64_t first_us = UINT64_MAX;
    TAILQ_FOREACH(hold, &core->holds->live, live) {
        int is_renewed = hl_hold_is_held(hold) && hold->terms->is_renewed;
        if (is_renewed && hold->deadline_us < first_us && (!node || hl_name_node(core, hold->name) == node))
            first_us = hold->deadline_us;
    }
    return first_us == UINT64_MAX ? UINT64_MAX : hl_left_us(first_us, hl_now_us(&core->host));
}

void hl_holds_read_news(struct hl_core *core, struct hl_node *node, const struct hl_name *name,
                        const struct hl_response *said)
{
    const struct hl_removed *removed = &said->removed;
    if (said->server_us && said->result != HL_LATE)
        hl_clock_raise(hl_node_parent(node), said->server_us);
    if (removed->unheard || removed->overdue || removed->lapsed)
        hl_trace(&core->host, HL_PLACES_REMOVED,
                 &(struct hl_fact){.name = name->bytes, .count = removed->unheard, .overdue = removed->overdue,
                                   .lapsed = removed->lapsed});
}

int hl_hold_is_cleared_by(const struct hl_hold *hold, const struct hl_response *said)
{
    int may_have_begun = said->result == HL_FAULT && said->fault.kind == HL_FAULT_LASTING && !said->fault.left_nothing;
    int may_be_queued = hold->is_queued || said->position;
    int is_there = hold->may_run_until_us || may_be_queued || hold->kept == KEPT_OURS;
    return said->result != HL_YES && !may_have_begun && !is_there;
}

void hl_hold_mark_unsent(struct hl_hold *hold)
{
    if (hold->kept != KEPT_OURS)
        hold->kept = hold->may_run_until_us || hold->is_queued ? KEPT_MAYBE : KEPT_NOTHING;
}

void hl_hold_mark_not_ours(struct hl_hold *hold)
{
    hold->kept = hl_has_queue(hold->terms) || hold->may_run_until_us ? KEPT_MAYBE : KEPT_NOTHING;
}

static void words_taken(struct hl_core *core, const struct hl_hold *hold, uint64_t lost_us, struct hl_text *text)
{
    const struct hl_node *node = hl_name_node(core, hold->name);
    uint64_t before_us = lost_us - node->moved_at_us;
    hl_words_taken(text, hl_name_quoted(hold->name).bytes);
    if (node->moved_at_us && before_us < hl_terms_lease_us(hold->terms))
        hl_words_add_takeover(text, hl_node_name(node), hl_lease_span_ms(before_us), core->route->ops->is_spread);
}

void hl_hold_loss_words(struct hl_core *core, const struct hl_hold *hold, struct hl_text *text)
{
    const struct hl_quoted name = hl_name_quoted(hold->name);
    const struct hl_node *node = hl_name_node(core, hold->name);
    uint64_t lost_us = hl_hold_is_ending(hold) ? hold->since_us : hl_now_us(&core->host);
    switch ((hilock_lost_reason)hold->reason) {
    case HILOCK_REASON_NONE: hl_text_set(text, "not lost"); break;
    case HILOCK_REASON_TAKEN: words_taken(core, hold, lost_us, text); break;
    case HILOCK_REASON_EXPIRED:
        hl_words_expired(text, name.bytes, hold->asked_ms, hold->terms->is_renewed, hl_node_name(node), node->is_up);
        break;
    case HILOCK_REASON_SUSPENDED:
        hl_words_suspended(text, name.bytes, hl_lease_span_ms(hl_left_us(lost_us, hold->deadline_us)));
        break;
    case HILOCK_REASON_HOLD_MAX: hl_words_held_too_long(text, name.bytes, hold->terms->hold_max_ms); break;
    case HILOCK_REASON_CLOSING: hl_words_drained(text, name.bytes); break;
    }
}

void hl_hold_settling_words(const struct hl_hold *hold, uint32_t waited_ms, struct hl_text *text)
{
    struct hl_quoted name = hl_name_quoted(hold->name);
    if (hold->end == END_REPEATED)
        hl_words_release_repeated(text, name.bytes);
    else if (hold->end == END_CONFIRMED)
        hl_words_release_confirmed(text, name.bytes, waited_ms);
    else
        hl_words_release_lapsed(text, name.bytes);
}
