/* SPDX-License-Identifier: BSD-3-Clause */
/* push - see push.h. */
#include "lock/push.h"

#include "core/lease.h"
#include "hold/asking.h"
#include "hold/ending.h"
#include "hold/watchdog.h"
#include "lock/line.h"

/* If the server measured a span that is longer than ours by 1 % and CLOCK_TOLERANCE_US, its clock was changed. */
enum { CLOCK_TOLERANCE_US = 2000 };

/* Returns the deadline of this grant; 0: the grant must not be used. */
static uint64_t deadline_of(const struct hl_queue_place *place, const struct hl_node *node, const struct hl_push *push)
{
    uint64_t now_us = hl_now_us(node->host), number = push->number;
    uint64_t sent_us = place->sent_us[number % HL_PLACE_SENDS], elapsed_us = now_us - sent_us;
    /* When the store executed the request from which this grant counts, by the server's clock; 0: unknown. For the
     * first request of an id a push states no such time; but if that request made the ticket, the ticket is that
     * time. */
    uint64_t first_us = push->number == 1 && place->is_ticket_request_time ? place->ticket : 0;
    uint64_t from_us = push->asked_us ? push->asked_us : first_us;
    uint64_t server_span_us = hl_left_us(push->granted_us, from_us);
    uint64_t lease_us = (uint64_t)hl_queued_usable_ms(push->window_ms) * 1000;
    int is_elsewhere = place->node != node;
    /* The server's clock was set forward or back. A ticket that is later than granted_us is no sign of that, because
     * tickets never repeat and so may run ahead. It is harmless: server_span_us is 0 then, and the deadline earlier. */
    int is_stepped = server_span_us > elapsed_us + elapsed_us / 100 + CLOCK_TOLERANCE_US ||
                     push->asked_us > push->granted_us;
    if (!number || number > place->number || place->number - number >= HL_PLACE_SENDS || is_elsewhere)
        return 0;
    if (sent_us <= hl_node_both_up_since_us(node))
        return 0;
    if (!from_us || is_stepped)
        return 0;
    return hl_lease_deadline_us(sent_us, server_span_us + lease_us);
}

/* Reports that the waiter lost its turn: its grant lapsed before the push was read, or its place was removed because
 * the waiter was not ready. */
static void report_passed_over(const struct hl_acquire *acquire)
{
    struct hl_core *core = hl_lock_core(acquire->lock);
    hl_terms_trace(acquire->lock->terms, HL_ACQUIRE_PASSED_OVER,
                   &(struct hl_fact){.lock = acquire->lock, .name = acquire->lock->name->bytes});
    if (acquire->lock->terms->on_event)
        hl_notice_post(core, &((struct hl_acquire *)(uintptr_t)acquire)->notice, REPORT_PASSED_OVER);
}

static void wake_places(struct hl_line *line) { hl_line_wake_places(line, line->waiting_here, NULL); }

/* Enough of the grant must be left for this lock. A lock without a watchdog cannot use a window, because nothing would
 * make it a lease; its heartbeat brings a whole lease.
 * A grant that replicas must confirm was written by the releasing client, but WAIT counts only writes of its own link.
 * So a heartbeat over the link for WAIT writes the lease once more.
 * A grant that lapsed shows that this client stood still. Its other places for the name may be gone as well, so all of
 * them send a heartbeat. */
static void on_grant(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push)
{
    struct hl_acquire *acquire = place->acquire;
    struct hl_hold *hold = acquire->hold;
    const struct hl_terms *terms = acquire->lock->terms;
    uint32_t window_ms = hl_queued_usable_ms(push->window_ms);
    uint64_t least_us = hl_terms_min_validity_us(terms, window_ms), deadline_us = 0, now_us;
    int has_lapsed;
    if ((acquire->state != ACQUIRE_SLEEPING && acquire->state != ACQUIRE_ASKING) || hl_acquire_is_try(acquire) ||
        !hl_hold_is_acquiring(hold))
        return;
    deadline_us = deadline_of(place, node, push);
    now_us = hl_now_us(node->host);
    has_lapsed = deadline_us && deadline_us <= now_us;
    if (!terms->is_renewed || terms->replicas || hl_node_guard_remaining_us(node))
        deadline_us = 0;
    hl_trace(node->host, HL_WAKEUP, &(struct hl_fact){.name = acquire->lock->name->bytes});
    if (!deadline_us || hl_left_us(deadline_us, now_us) < least_us) {
        hl_trace(node->host, HL_GRANT_DOUBTED, &(struct hl_fact){.name = acquire->lock->name->bytes});
        if (has_lapsed)
            report_passed_over(acquire);
        hl_line_mark_stale(acquire->lock->name->line);
        if (has_lapsed)
            wake_places(acquire->lock->name->line);
        else if (acquire->state == ACQUIRE_SLEEPING)
            hl_acquire_send(acquire);
        return;
    }
    hl_asking_use_push(hold, push->token, deadline_us, window_ms);
}

/* The store tells this waiter to send a request. If the message carries a pause, the name is left for a moment to other
 * programs, which were notified first. Otherwise the news is for all places of this client at the name: the name is
 * free, or places were removed. A message with a time of the server and without a pause says that this very waiter was
 * passed over. */
static void on_told_to_ask(struct hl_queue_place *place, const struct hl_push *push)
{
    struct hl_acquire *acquire = place->acquire;
    struct hl_core *core = hl_lock_core(acquire->lock);
    if (push->server_us && !push->pause_us)
        report_passed_over(acquire);
    if (!push->pause_us)
        wake_places(acquire->lock->name->line);
    else if (acquire->state == ACQUIRE_SLEEPING)
        hl_hold_wake_at(acquire->hold, hl_now_us(&core->host) + hl_place_retry_us(core));
    else
        hl_line_mark_stale(acquire->lock->name->line);
}

void hl_push_arrived(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push)
{
    switch (push->what) {
    case HL_PUSH_INVALID: break;
    case HL_PUSH_GRANT: on_grant(place, node, push); break;
    case HL_PUSH_ASK: on_told_to_ask(place, push); break;
    }
}

void hl_push_stale_answer(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    int is_taken = said->result == HL_YES && said->token != hold->token;
    if (!answer->reply && answer->was_sent)
        hl_ending_mark_request_unanswered(hold);
    /* The pushed grant had lapsed, and the heartbeat took the lock anew with another token. The user's token is no
     * longer valid, so this is a loss; the new grant is released with the report of the loss. */
    if (is_taken)
        hl_watchdog_lose(hold, HILOCK_REASON_TAKEN);
    else
        hl_watchdog_on_stale_answer(hold, said->result == HL_YES);
}
