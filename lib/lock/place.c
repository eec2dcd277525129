/* SPDX-License-Identifier: BSD-3-Clause */
/* place - see place.h. */
#include "lock/place.h"

#include "core/lease.h"
#include "hold/asking.h"
#include "hold/ending.h"
#include "hold/watchdog.h"
#include "lock/grant_channel.h"
#include "lock/line.h"
#include "lock/view.h"
#include "node/clock.h"

/* When the holder's lease ends, the nearest NEAR_MAX waiters poll first, STEP_US apart. */
enum { STEP_US = 10000, NEAR_MAX = 8 };
/* If an answer says that the name is held for at most LEFT_TO_OTHERS_MS more, then a release has left the name to
 * other programs for a moment. So the waiter at position 1 polls again after EARLY_POLL_US, or up to twice that. */
enum { LEFT_TO_OTHERS_MS = 5, EARLY_POLL_US = 1000 };
/* If the holder is a program whose release possibly wakes nobody, the waiter at position 1 polls after SILENT_POLL_US,
 * and each further time after twice as long, doubled SILENT_POLLS_MAX times at most. While another program holds the
 * name, the waiter at position 2 polls after SECOND_WAITER_POLL_US, in case the first one is dead. */
enum { SILENT_POLL_US = 5000, SILENT_POLLS_MAX = 4, SECOND_WAITER_POLL_US = 3000000 };
/* The waiter at position 1 promises a heartbeat within HL_PROMISE_MIN_MS while this client waits for up to
 * PROMISE_NAMES names. For more names the time grows in proportion, so that many names cost no more requests. */
enum { PROMISE_NAMES = HL_PROMISE_MIN_MS / 10 };
/* A holder with more time left than LEASE_MIN_MS has a lease and not a window. When a lease ends, all waiters poll:
 * those behind the nearest ones at random moments, spread over SPREAD_STEP_US for each position, and over SPREAD_MIN_US
 * at least. */
enum { LEASE_MIN_MS = 700, SPREAD_MIN_US = 80000, SPREAD_STEP_US = 50 };
enum { POLL_STEP_MIN_US = 5000 };        /* a waiter without pushes polls no more often than this at position 1 */
/* If the server measured a span that is longer than ours by 1 % and CLOCK_TOLERANCE_US, its clock was changed. */
enum { CLOCK_TOLERANCE_US = 2000 };

/* If the ACL user may not use the keys of the queue at this node, the waiters of a client that would share a place
 * poll. */
int hl_place_prepare(struct hl_acquire *acquire)
{
    struct hl_core *core = hl_lock_core(acquire->lock);
    const struct hl_terms *terms = acquire->lock->terms;
    int is_begun = acquire->hold && acquire->hold->id;
    int is_wanted = hl_has_queue(terms) && !hl_acquire_is_try(acquire);
    if (!hl_has_own_place(terms) && hl_name_node(core, acquire->lock->name)->has_no_queue)
        hl_place_free(core, acquire);
    else if (is_wanted && !acquire->place && !is_begun) {
        acquire->place = hl_memory_new(&core->host.memory, sizeof *acquire->place);
        if (!acquire->place)
            return -1;
        acquire->place->acquire = acquire;
    }
    return 0;
}

void hl_place_free(struct hl_core *core, struct hl_acquire *acquire)
{
    if (!acquire->place)
        return;
    hl_place_hide(acquire->place);
    if (!hl_has_own_place(acquire->lock->terms))
        hl_memory_free(&core->host.memory, acquire->place);
    acquire->place = NULL;
}

/* A place can go to the next handle only between two heartbeats, and only to a handle with the same terms: then nothing
 * changes for the store. */
void hl_place_leave_to_next(struct hl_acquire *acquire, struct hl_acquire *next)
{
    struct hl_hold *hold = acquire->hold;
    int is_like = next && !next->hold && !next->place && next->lock->terms == acquire->lock->terms;
    int can_pass = is_like && acquire->place && acquire->state == ACQUIRE_SLEEPING && hold->state == HOLD_WAITING &&
                   hold->is_queued;
    if (!can_pass)
        return;
    (void)hl_hold_leave(hold, acquire->lock);
    hl_hold_join(hold, next->lock);
    next->hold = hold;
    next->place = acquire->place;
    next->place->acquire = next;
    hl_acquire_enter(next, ACQUIRE_SLEEPING);
    acquire->hold = NULL;
    acquire->place = NULL;
}

void hl_place_begin(struct hl_core *core, struct hl_queue_place *place)
{
    struct hl_hold *hold = place->acquire->hold;
    hl_place_hide(place);
    hold->id = hl_asking_new_id(place->acquire->lock);
    hold->entry = (struct hl_entry_parts){.channel = ENTRY_NONE};
    place->ticket = place->polls_first_since_us = 0;
    place->number = place->position = place->pace_us = 0;
    place->is_ticket_request_time = 0;
    memset(place->sent_us, 0, sizeof place->sent_us);
    if (!place->acquire->lock->terms->is_polling)
        hl_grant_channel_join(core, place);
}

/* ---- the requests of a place ---- */

/* Returns the ticket to send; 0: the store makes one. All members of a multi get the ticket of its first place:
 * otherwise waiters that came later than the multi would go before it at its next names, while it keeps the names that
 * it has already. A ticket is a server's time, so it can be sent only to the server whose clock gave it. */
static uint64_t ticket_of(const struct hl_queue_place *place)
{
    const struct hl_attempt *attempt = place->acquire->lock->attempt;
    uint64_t group_ticket = attempt && attempt->node == place->node ? attempt->ticket : 0;
    return place->ticket ? place->ticket : group_ticket;
}

/* Returns the window of a grant that is pushed to a waiter. It is long enough for a loop that is late, and for the way
 * to the server and back. It is so much shorter than the lease that the script can tell a renewed grant from a window
 * (lapsed.lua). */
static uint32_t window_ms(const struct hl_core *core, const struct hl_terms *terms, const struct hl_node *node)
{
    uint64_t span_ms = 4 * (hl_host_lateness_us(&core->host) + node->mean_rtt_us) / 1000;
    uint32_t most_ms = terms->lease_ms > 200 ? terms->lease_ms - 100 : terms->lease_ms / 2;
    span_ms = span_ms < HL_WINDOW_MIN_MS ? HL_WINDOW_MIN_MS : span_ms > HL_WINDOW_MAX_MS ? HL_WINDOW_MAX_MS : span_ms;
    return span_ms < most_ms ? (uint32_t)span_ms : most_ms;
}

/* Returns what the next request promises. The waiter at position 1 sends heartbeats often, because nobody in front of
 * it would notice that it is dead. */
static uint16_t promise_ms(const struct hl_core *core, const struct hl_queue_place *place)
{
    const struct hl_line *line = place->acquire->lock->name->line;
    int is_first = place->position ? place->position == 1 : line->queued_at_store == 0;
    unsigned lines = core->locks->lines;
    uint32_t span_ms = lines <= PROMISE_NAMES ? HL_PROMISE_MIN_MS
                       : lines < HL_PROMISE_MAX_MS / 10 ? 10 * lines : HL_PROMISE_MAX_MS;
    return (uint16_t)(is_first ? span_ms : HL_PROMISE_MAX_MS);
}

/* Adds the entry of the place, and the heartbeat. A first request is no heartbeat: the store makes its ticket, and
 * with that ticket knows when it executed the request. A first request that brings an older ticket (of a multi) has to
 * be a heartbeat, because a heartbeat has a number by which that time is kept. The promise holds until the end of the
 * second, of the server's clock, in which it ends. */
static void add_entry_params(struct hl_hold *hold, struct hl_queue_place *place, struct hl_node *node,
                             struct hl_acquire_params *params)
{
    const struct hl_core *core = hl_hold_core(hold);
    enum hl_entry_channel channel = hl_grant_channel_listen(place);
    enum hl_listening polls = place->position == 1 ? HL_POLLS_FIRST : HL_POLLS_FAR;
    uint64_t server_us = hl_clock_server_us(node), due_s;
    place->promise_ms = promise_ms(core, place);
    due_s = server_us ? (server_us + (uint64_t)place->promise_ms * 1000) / 1000000 : HL_DUE_NEVER_S;
    params->ticket = ticket_of(place);
    if (hold->entry.channel == ENTRY_NONE) {
        hold->entry = (struct hl_entry_parts){.due_s = due_s < UINT32_MAX ? (uint32_t)due_s : UINT32_MAX,
                                        .window_ms = (uint16_t)window_ms(core, hold->terms, node),
                                        .channel = (uint8_t)channel};
        place->is_ticket_request_time = place->number == 1 && !params->ticket;
    }
    params->entry = hl_hold_entry(hold);
    if (place->number == 1 && !params->ticket)
        return;
    params->heartbeat = (struct hl_heartbeat){.number = place->number, .due_s = due_s,
                                              .window_ms = window_ms(core, hold->terms, node),
                                              .listening = channel == ENTRY_POLLS ? polls : HL_LISTENS};
    if (channel != ENTRY_POLLS)
        hl_hold_channel(hold, channel == ENTRY_SHARDED, params->heartbeat.channel);
}

/* This request takes no place. Names the place that an earlier request with this id may have taken, so that a grant
 * removes it; `queue_max` 0 says that it may not be taken anew. */
static void add_earlier_entry(const struct hl_hold *hold, struct hl_acquire_params *params)
{
    if (hold->entry.channel == ENTRY_NONE)
        return;
    params->entry = hl_hold_entry(hold);
    params->queue_max = 0;
}

/* If the acquire's wait is over when a request must be sent again (because its script had to be loaded, or because it
 * got no answer), the request is sent like that of a try: it takes no place. */
void hl_place_add_params(struct hl_hold *hold, struct hl_acquire_params *params)
{
    struct hl_acquire *acquire = hold->state == HOLD_ASKING ? hl_hold_handle(hold)->acquire : NULL;
    struct hl_queue_place *place = acquire ? acquire->place : NULL;
    struct hl_node *node = hl_node_parent(hold->request.node);
    if (acquire && hold->stage != STAGE_SECOND) {
        acquire->attempts++;
        hl_trace(&hl_hold_core(hold)->host, HL_ACQUIRE_ASKED,
                 &(struct hl_fact){.lock = acquire->lock, .name = hold->name->bytes});
    }
    params->may_take_left = acquire && !place && node->has_no_queue;
    if (!place) {
        add_earlier_entry(hold, params);
        return;
    }
    place->number++;
    /* earlier heartbeats went to another server, which has another clock */
    if (place->node != node)
        memset(place->sent_us, 0, sizeof place->sent_us);
    place->node = node;
    place->sent_us[place->number % HL_PLACE_SENDS] = hold->request.sent_us;
    if (hl_acquire_is_try(acquire))
        add_earlier_entry(hold, params);
    else
        add_entry_params(hold, place, node, params);
}

/* No push can find the place. Measures how fast the queue moves, and notes since when the waiter polls at
 * position 1. */
static void measure_pace(struct hl_queue_place *place, uint32_t position)
{
    uint64_t sent_us = place->sent_us[place->number % HL_PLACE_SENDS];
    uint64_t before_us = place->sent_us[(place->number + 1) % HL_PLACE_SENDS];
    uint64_t moved = place->position > position ? place->position - position : 1;
    uint64_t pace_us = before_us ? (sent_us - before_us) / moved : 0;
    place->pace_us = pace_us < UINT32_MAX ? (uint32_t)pace_us : UINT32_MAX;
    if (position != 1)
        place->polls_first_since_us = 0;
    else if (!place->polls_first_since_us)
        place->polls_first_since_us = hl_now_us(&hl_lock_core(place->acquire->lock)->host);
}

/* The waiter has this place: takes over the position and the ticket. */
static void on_placed(struct hl_queue_place *place, const struct hl_response *said)
{
    const struct hilock_lock *lock = place->acquire->lock;
    struct hl_attempt *attempt = lock->attempt;
    place->ticket = said->ticket;
    if (attempt && !hl_lock_is_voted(lock) && !attempt->ticket) {
        attempt->ticket = place->ticket;
        attempt->node = place->node;
    }
    if (hl_has_own_place(lock->terms))
        hl_line_move(place->acquire, said->position <= 1);
    /* before the first request this did not subscribe, because the place had no ticket */
    place->channel = (uint8_t)hl_grant_channel_listen(place);
    if (place->channel == ENTRY_POLLS)
        measure_pace(place, said->position);
    else
        place->polls_first_since_us = 0;
    if (place->position != said->position)
        hl_terms_trace(lock->terms, HL_ACQUIRE_PLACED,
                       &(struct hl_fact){.lock = lock, .name = lock->name->bytes, .position = said->position,
                                         .waiters = said->waiters});
    place->position = said->position;
    place->holder_grants_next = said->holder_grants_next != 0;
    if (place->holder_grants_next)
        place->early_polls = 0;
    else
        hl_line_note_other_program(lock->name);
    if (!hl_line_had_other_program_lately(lock->name))
        hl_line_stop_listening(lock->name->line);
}

/* Without the rights to the queue a MUTEX waiter polls, like a waiter of a kind without a queue. A FAIR waiter does
 * not, because the queue is what FAIR promises. If the node is not up, the server refused the login, and not the
 * request. */
enum hl_place_fate hl_place_on_answer(struct hl_acquire *acquire, const struct hl_response *said)
{
    struct hl_core *core = hl_lock_core(acquire->lock);
    struct hl_queue_place *place = acquire->place;
    struct hl_node *node = hl_name_node(core, acquire->lock->name);
    int is_refused = said->result == HL_FAULT && said->fault.status == HILOCK_DENIED && node->is_up;
    if (place && said->result == HL_NO) {
        place->waiters = said->waiters;
        if (said->position)
            on_placed(place, said);
        else if (!hl_acquire_is_try(acquire) && said->waiters >= core->limits.queue_max)
            return PLACE_QUEUE_IS_FULL;
    }
    if (!place || !is_refused || hl_has_own_place(acquire->lock->terms))
        return PLACE_AS_BEFORE;
    hl_handshake_queue_refused(node, said->quote, said->quote_length);
    hl_place_free(core, acquire);
    return PLACE_GIVEN_UP;
}

/* The name was left to other programs. The waiter polls a moment later: by then one of them has the name, or none wants
 * it. */
static uint64_t retry_us(struct hl_core *core)
{
    return EARLY_POLL_US + hl_random_below(&core->host.random, EARLY_POLL_US);
}

/* Returns how long the waiter sleeps until the promised heartbeat: until shortly before the promise is over; or, if
 * many waiters sent their requests together, until a random moment before that. The time counts from the send of the
 * request that promised: otherwise a process that stood still before it read the answer would sleep on while its place
 * is gone. */
static uint64_t heartbeat_us(struct hl_core *core, const struct hl_queue_place *place)
{
    uint64_t tenth_us = (uint64_t)place->promise_ms * 100;
    uint64_t sent_us = place->sent_us[place->number % HL_PLACE_SENDS];
    uint64_t before_us = place->sent_us[(place->number + 1) % HL_PLACE_SENDS];
    /* The latest request was not due yet. Some news made this waiter send it, and perhaps many others as well. */
    int is_early = !before_us || sent_us - before_us < 5 * tenth_us;
    int is_wide = is_early && core->locks->lines > PROMISE_NAMES;
    uint64_t after_us = is_wide ? tenth_us + hl_random_below(&core->host.random, 8 * tenth_us)
                                : 8 * tenth_us + hl_random_below(&core->host.random, tenth_us);
    return hl_left_us(sent_us + after_us, hl_now_us(&core->host));
}

/* No push can find this waiter. Returns how long it sleeps until its next poll. Behind position 1 it estimates from
 * the pace of the queue so far when it will be at position 1, and sleeps for half of that time; so the further back it
 * stands, the less often it polls. At position 1 a step is a sixteenth of the time that the waiter has spent at
 * position 1, so that a free name does not stay idle for longer than that. It also polls at least twice in its window,
 * because nobody tells it that it was granted the name. */
static uint64_t poll_us(struct hl_core *core, const struct hl_queue_place *place)
{
    const struct hl_terms *terms = place->acquire->lock->terms;
    uint64_t usual_us = hl_view_poll_us(core, terms), step_us, position = place->position;
    uint64_t half_us = (uint64_t)window_ms(core, terms, place->node) * 500;
    if (!place->polls_first_since_us) {
        step_us = place->pace_us * position / 2;
        step_us = step_us < usual_us * position ? step_us : usual_us * position;
        return step_us > usual_us ? step_us : usual_us;
    }
    step_us = (hl_now_us(&core->host) - place->polls_first_since_us) / 16;
    step_us = step_us < POLL_STEP_MIN_US ? POLL_STEP_MIN_US : step_us;
    step_us = step_us < half_us ? step_us : half_us;
    return step_us < usual_us ? step_us : usual_us;
}

/* The holder may be dead, and then the name is free when its lease ends. So all waiters poll then, the nearest ones
 * first. Returns how long this waiter sleeps until that poll. UINT64_MAX: it does not poll for that. When the window of
 * a grant ends, only the client whose release made the grant looks (hold/recheck.h), and the nearest waiters poll. */
static uint64_t left_to_lease_end_us(struct hl_core *core, const struct hl_response *said, uint64_t at)
{
    uint64_t lease_left_us = said->left_ms * 1000 + 1000, spread_us = SPREAD_STEP_US * at;
    if (said->has_no_ttl)
        return UINT64_MAX;
    if (at <= NEAR_MAX)
        return lease_left_us + STEP_US * (at - 1);
    spread_us = spread_us < SPREAD_MIN_US ? SPREAD_MIN_US : spread_us;
    return said->left_ms > LEASE_MIN_MS ? lease_left_us + hl_random_below(&core->host.random, spread_us) : UINT64_MAX;
}

/* While another program holds the name, the waiter at position 1 polls early, because the release of Redisson's fair
 * lock wakes only the first waiter of its own queue. The waiter at position 2 polls in case the first one is dead. */
uint64_t hl_place_plan_sleep_us(struct hl_core *core, struct hl_queue_place *place, const struct hl_response *said)
{
    uint64_t at = place->position ? place->position : 1, sleep_us = heartbeat_us(core, place), sooner_us = UINT64_MAX;
    uint64_t lease_left_us = left_to_lease_end_us(core, said, at);
    int may_miss_release = !place->holder_grants_next && core->locks->silent_releases_until_us > hl_now_us(&core->host);
    if (place->channel == ENTRY_POLLS)
        sooner_us = poll_us(core, place);
    else if (at == 1 && said->left_ms <= LEFT_TO_OTHERS_MS && !said->has_no_ttl)
        sooner_us = retry_us(core);
    else if (at == 1 && may_miss_release) {
        sooner_us = (uint64_t)SILENT_POLL_US << place->early_polls;
        place->early_polls = (uint8_t)(place->early_polls + (place->early_polls < SILENT_POLLS_MAX));
    } else if (at == 2 && !place->holder_grants_next)
        sooner_us = SECOND_WAITER_POLL_US;
    sleep_us = lease_left_us < sleep_us ? lease_left_us : sleep_us;
    return sooner_us < sleep_us ? sooner_us : sleep_us;
}

/* ---- what the store pushes ---- */

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
void hl_place_granted(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push)
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
void hl_place_told_to_ask(struct hl_queue_place *place, const struct hl_push *push)
{
    struct hl_acquire *acquire = place->acquire;
    struct hl_core *core = hl_lock_core(acquire->lock);
    if (push->server_us && !push->pause_us)
        report_passed_over(acquire);
    if (!push->pause_us)
        wake_places(acquire->lock->name->line);
    else if (acquire->state == ACQUIRE_SLEEPING)
        hl_hold_wake_at(acquire->hold, hl_now_us(&core->host) + retry_us(core));
    else
        hl_line_mark_stale(acquire->lock->name->line);
}
