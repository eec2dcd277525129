/* SPDX-License-Identifier: BSD-3-Clause */
/* hold - its memory, its alarm, its sentences, what answers prove. asking.c asks, watchdog.c renews, ending.c ends. */
#include "hold/hold.h"

#include "base/contract.h"
#include "base/plant.h"
#include "base/stranger.h"
#include "core/lease.h"

enum { QUIET_US = 200000 };

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
    core->undoing -= hold->end == END_UNREPORTED;
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
int hl_hold_needs_verification(const struct hl_hold *hold)
{
    const struct hl_node *node = hl_name_node(hl_hold_core(hold), hold->name);
    uint64_t proved_us = hl_request_is_busy(&hold->request) ? hold->granted_us : hold->request.sent_us;
    int has_moved = node->moved_us >= proved_us && !HL_PLANTED(MULTI_UNVERIFIED_AFTER_MOVE);
    int needs_verification = !node->is_up || node->previous_link_us >= proved_us || has_moved;
    return needs_verification && !HL_PLANTED(MULTI_UNVERIFIED);
}

int hl_hold_is_reported(const struct hl_hold *hold) { return hold->lock && hold->lock->hold == hold; }

uint64_t hl_hold_deadline_us(const struct hl_hold *hold) { return hold->kept == KEPT_OURS ? hold->deadline_us : 0; }

int hl_hold_is_confirming(const struct hl_hold *hold) { return hold->request.queue == REQUEST_CONFIRMING; }

/* Its id is not at the store and will not be: it was never asked for, or every answer was a no. */
int hl_hold_is_empty(const struct hl_hold *hold)
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

/* The tenures of a hold have its token and the next ones, which its acquire reserved. The store and renewals know only
 * the first. */
uint64_t hl_hold_token(const struct hl_hold *hold)
{
    unsigned served = HL_PLANTED(HANDOFF_TOKEN_SAME) ? 0 : hold->served;
    return hold->token ? hold->token + served - HL_PLANTED(TOKEN_STALE) : 0;
}

/* What was granted: the lease, or a window that was pushed. */
uint64_t hl_hold_least_us(const struct hl_hold *hold, const struct hl_terms *terms)
{
    return hl_terms_least_us(terms, hold->window_ms ? hold->window_ms : terms->lease_ms);
}

struct hl_queue_entry hl_hold_entry(const struct hl_hold *hold)
{
    struct hl_queue_entry entry = {.window_ms = hold->entry.window_ms, .reserved = hl_hold_reserved(hold)};
    if (hold->entry.channel == ENTRY_NONE)
        return entry;
    entry.due_s = hold->entry.due_s == UINT32_MAX ? HL_DUE_NEVER_S : hold->entry.due_s;
    if (hold->entry.channel != ENTRY_POLLS)
        hl_name_channel(hl_hold_core(hold), hold->name, hold->entry.channel == ENTRY_SHARDED, entry.channel);
    return entry;
}

/* A release leaves the name to other programs that listen: a queue that is never empty would keep them out for ever. A
 * vote of a quorum is left to no other program: it is of no use alone. */
unsigned hl_hold_own_listeners(struct hl_core *core, const struct hl_name *name, struct hl_node *node)
{
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX];
    size_t length = hl_key_write(channel, hl_key_channel, name->bytes, name->length);
    if (core->route->masters || HL_PLANTED(FAIR_NO_YIELD))
        return HL_OWN_ALL;
    return hl_subscription_has(&hl_node_parent(node)->subscription, channel, length) != 0;
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
    int is_there = hold->may_run_until_us || is_in_queue || hold->kept == KEPT_OURS;
    return said->result != HL_YES && !may_have_begun && !is_there;
}

void hl_hold_mark_unsent(struct hl_hold *hold)
{
    int may_be_queued = hold->is_queued && !HL_PLANTED(FAIR_UNSENT_LEAVES_QUEUE);
    if (hold->kept != KEPT_OURS)
        hold->kept = hold->may_run_until_us || may_be_queued ? KEPT_MAYBE : KEPT_NOTHING;
}

void hl_hold_mark_not_ours(struct hl_hold *hold)
{
    int may_be_queued = hold->terms->kind->has_queue && !HL_PLANTED(FAIR_FORGOTTEN_KEPT),
        may_be_made = hold->may_run_until_us && !HL_PLANTED(UNANSWERED_LEFT_BY_LOSS);
    hold->kept = may_be_queued || may_be_made ? KEPT_MAYBE : KEPT_NOTHING;
}

uint64_t hl_hold_extended_until_us(const struct hl_hold *hold)
{
    uint64_t command_us = (uint64_t)hl_hold_core(hold)->limits.command_timeout_ms * 1000;
    return hold->extended_until_us ? hold->extended_until_us + command_us : 0;
}

struct hl_text hl_hold_server_words(const struct hl_core *core, const char *quote, size_t length)
{
    struct hl_text right = hl_response_right(quote, length), words;
    const struct hl_stranger *stranger = hl_stranger_named(quote, length);
    if (stranger) {
        hl_text_set(&words, "%s", stranger->words);
        return words;
    }
    hl_text_set(&words, "%s%s%s", right.bytes, *right.bytes ? " is missing: " : "",
                hl_host_quote(&core->host, quote, length).bytes);
    return words;
}

static int is_quiet(const struct hl_node *node)
{
    const struct hl_request *oldest = hl_node_oldest(node);
    uint64_t since_us = oldest && oldest->sent_us > node->active_us ? oldest->sent_us : node->active_us;
    return oldest && hl_now_us(node->host) - since_us > QUIET_US;
}

/* Silent is only who was asked, and had time to answer. */
const char *hl_hold_silence_words(const struct hl_node *node)
{
    if (node->is_up)
        return is_quiet(node) ? "it is silent" : "it has not answered yet";
    if (*hl_node_why(node))
        return hl_node_why(node);
    switch (node->session.state) {
    case SESSION_RESOLVING: return "its name is not resolved yet";
    case SESSION_CONNECTING: return "no connection was made yet";
    case SESSION_PAUSED:
    case SESSION_BROKEN: return "it is not connected";
    case SESSION_GREETING:
    case SESSION_OPEN: break;
    }
    return "it is silent";
}

void hl_hold_refusal_words(const struct hilock_lock *lock, hilock_status status, const char *note,
                           struct hl_text *text)
{
    const struct hl_node *node = hl_name_node(lock->terms->cell->core, lock->name);
    if (status == HILOCK_WRONG_KIND)
        hl_text_set(text, "\"%s\" %s", hl_name_quoted(lock->name).bytes, lock->terms->kind->wrong_kind);
    else if (status == HILOCK_UNWRITABLE && node->is_up && hl_node_guard_left_us(node))
        hl_node_guard_words(node, text);
    else if (hl_stranger_named(note, strlen(note)) && strstr(hl_node_why(node), note) > hl_node_why(node))
        hl_text_set(text, "%s", hl_node_why(node)); /* says which of several servers it is */
    else if (hl_stranger_named(note, strlen(note)))
        hl_text_set(text, "%s: %s", hl_node_name(node), note);
    else
        hl_text_set(text, "%s: %s: %s%s", hl_node_name(node), hilock_status_text(status), *note ? note : "no words",
                    status == HILOCK_DENIED ? "; the list: operate.md, \"Rights of the server's user\"" : "");
}

void hl_hold_loss_words(struct hl_core *core, const struct hl_hold *hold, struct hl_text *text)
{
    const struct hl_quoted name = hl_name_quoted(hold->name);
    const struct hl_node *node = hl_name_node(core, hold->name);
    uint64_t lost_us = hold->state == HOLD_ENDING ? hold->since_us : hl_now_us(&core->host);
    switch ((hilock_lost_reason)hold->reason) {
    case HILOCK_REASON_NONE: hl_text_set(text, "not lost"); break;
    case HILOCK_REASON_TAKEN:
        hl_text_set(text, "TAKEN: the store says that \"%s\" is not ours any more", name.bytes);
        if (node->moved_us && lost_us - node->moved_us < (uint64_t)hold->terms->lease_ms * 1000)
            hl_text_add(text, ": a failover%s, %s had it for %u ms then",
                        core->route->ops->is_spread ? " or a move of its slot" : "", hl_node_name(node),
                        hl_lease_span_ms(lost_us - node->moved_us));
        break;
    case HILOCK_REASON_EXPIRED:
        hl_text_set(text, hold->terms->is_renewed ? "EXPIRED: no renewal of \"%s\" got through (lease %u ms); %s %s"
                    : "EXPIRED: the lease of \"%s\" (%u ms) is over; %s %s", name.bytes, hold->asked_ms,
                    hl_node_name(node), node->is_up ? "is connected" : "is unreachable");
        break;
    case HILOCK_REASON_SUSPENDED:
        hl_text_set(text, "SUSPENDED: this process did not run in time: it looked %u ms after the deadline of \"%s\"",
                    hl_lease_span_ms(hl_left_us(lost_us, hold->deadline_us)), name.bytes);
        break;
    case HILOCK_REASON_HOLD_MAX:
        hl_text_set(text, "HOLD_MAX: \"%s\" was held for %u ms; is a release missing?", name.bytes,
                    hold->terms->hold_max_ms);
        break;
    case HILOCK_REASON_CLOSING:
        hl_text_set(text, "CLOSING: the client's drain time ran out while \"%s\" was held", name.bytes);
        break;
    }
}

void hl_hold_settling_words(const struct hl_hold *hold, uint32_t waited_ms, struct hl_text *text)
{
    struct hl_quoted name = hl_name_quoted(hold->name);
    if (hold->end == END_REPEATED)
        hl_text_set(text, "a release of \"%s\" had been acknowledged, and was lost in the failover: it is repeated",
                    name.bytes);
    else if (hold->end == END_CONFIRMED)
        hl_text_set(text, "the release of \"%s\" is confirmed after %u ms", name.bytes, waited_ms);
    else
        hl_text_set(text, "the release of \"%s\" got no answer, but its lease has run out", name.bytes);
}
