/* SPDX-License-Identifier: BSD-3-Clause */
/* line - see line.h. */
#include "lock/line.h"

#include "base/container.h"
#include "base/plant.h"
#include "core/words.h"
#include "lock/joining.h"
#include "lock/place.h"
#include "lock/view.h"

enum { OTHER_PROGRAM_US = 1000000 };     /* how long a program that was seen counts as using the name */
enum { SHORTAGE_US = 50000 };            /* the pause before the next try to get memory */
enum { SPREAD_PER_WAITER_US = 20 };      /* heartbeats of n waiters are spread over n times this */
/* When the client has seen that a release woke nobody, it expects more such releases for this time. */
enum { SILENT_RELEASES_US = 60000000 };
enum { UNANSWERED_RELEASES_MAX = 2 };    /* with more of them nobody requests a place of its own for that name */

/* ---- the line ---- */

struct hl_line *hl_line_get_or_new(struct hl_core *core, struct hl_name *name)
{
    struct hl_line *line = name->line ? name->line : hl_memory_new(&core->host.memory, sizeof *line);
    if (!line || name->line)
        return line;
    line->core = core;
    line->name = name;
    for (unsigned list = 0; list < STANDS_LISTS; list++)
        TAILQ_INIT(&line->lists[list]);
    name->refs++;
    name->line = line;
    core->locks->lines++;
    return line;
}

/* Moves an acquire to the end of a list. */
static void stand(struct hl_acquire *acquire, enum hl_standing standing)
{
    struct hl_line *line = acquire->lock->name->line;
    TAILQ_REMOVE(&line->lists[acquire->standing], acquire, entry);
    acquire->standing = standing & 7u;
    TAILQ_INSERT_TAIL(&line->lists[standing], acquire, entry);
}

/* While a release of this client has no answer, nobody sends a request. While a handle of this client holds the name,
 * there are no tries, because hl_line_deny_tries has answered them, and the head sends none either, because the hold is
 * handed on to it, or the release carries its acquire. A hold of a handle with a place of its own is never handed on,
 * so behind it the head of the line must keep its own place in the store's queue by heartbeats
 * (hl_is_served_by_end_of). So must a head that has a place already when a try of this client gets the name. */
void hl_line_advance(struct hl_line *line, int wakes)
{
    const struct hl_hold *hold = hl_hold_of(line->name);
    struct hl_acquire *acquire, *next;
    if (line->name->unanswered_releases && !HL_PLANTED(R4_UNDO_UNORDERED))
        return;
    for (acquire = TAILQ_FIRST(&line->lists[STANDS_AS_TRY]); acquire; acquire = next) {
        next = TAILQ_NEXT(acquire, entry);
        hl_acquire_send(acquire);
        if (acquire->state == ACQUIRE_ASKING) /* otherwise there was no memory for it */
            stand(acquire, STANDS_AS_SENT_TRY);
    }
    acquire = hl_line_head(line);
    int is_at_store = acquire && acquire->hold && !hl_hold_is_empty(acquire->hold);
    int is_served = acquire && hold && !is_at_store && hl_is_served_by_end_of(hold->terms, acquire->lock->terms);
    if (acquire && !is_served && hl_acquire_is_ready(acquire, wakes))
        hl_acquire_send(acquire);
}

/* Skips a head that was granted, and returns NULL if the next waiter has a pending request or a possible grant. */
struct hl_acquire *hl_line_next(const struct hl_name *name)
{
    const struct hl_line *line = name->line;
    struct hl_acquire *acquire = line ? hl_line_head(line) : NULL;
    if (acquire && acquire->state == ACQUIRE_GRANTED)
        acquire = TAILQ_NEXT(acquire, entry);
    int is_next = acquire && hl_acquire_is_ready(acquire, 1) && (!acquire->hold || hl_hold_is_empty(acquire->hold));
    return is_next ? acquire : NULL;
}

/* Another handle of this client holds the name now: that answers every try that has sent no request yet. */
void hl_line_deny_tries(struct hl_name *name)
{
    struct hl_acquire *acquire = NULL;
    do {
        if (acquire)
            hl_acquire_decide(acquire, HILOCK_TIMED_OUT); /* the line may end with the last one */
        acquire = name->line ? TAILQ_FIRST(&name->line->lists[STANDS_AS_TRY]) : NULL;
        while (acquire && !hl_hold_in_the_way(name, acquire->lock->terms))
            acquire = TAILQ_NEXT(acquire, entry);
    } while (acquire);
}

static struct hl_name *name_after(const struct hl_core *core, const struct hl_name *name)
{
    struct hl_table_entry *entry = hl_table_next(&core->names, name ? &name->entry : NULL);
    while (entry && !HL_CONTAINER(entry, struct hl_name, entry)->line)
        entry = hl_table_next(&core->names, entry);
    return entry ? HL_CONTAINER(entry, struct hl_name, entry) : NULL;
}

/* Returns the last acquire of the first list that is not empty. */
static struct hl_acquire *last_of(const struct hl_line *line)
{
    struct hl_acquire *last = NULL;
    for (unsigned list = 0; list < STANDS_LISTS && !last; list++)
        last = TAILQ_LAST(&line->lists[list], hl_acquires);
    return last;
}

void hl_lines_close(struct hl_core *core)
{
    struct hl_name *name = NULL; /* the handles have references, so the name outlives its line */
    while ((name = name_after(core, name)) != NULL) /* from the tail, so that no other waiter gets a turn meanwhile */
        while (name->line)
            hl_acquire_decide(last_of(name->line), HILOCK_CLOSED);
}

/* Sends the first WAITING event to each waiter that has not had one; later events follow as often as its options ask
 * for. Waiters without an event are the last ones; the head may lack one, too, if it was GRANTED when the others got
 * theirs. */
void hl_line_report_waiting(struct hl_core *core, struct hl_name *name)
{
    struct hl_acquires *list = &name->line->lists[STANDS_IN_LINE];
    struct hl_acquire *acquire = TAILQ_FIRST(list), *first = NULL;
    if (acquire && hl_acquire_is_unreported(acquire))
        hl_acquire_report_waiting(core, acquire);
    for (acquire = TAILQ_LAST(list, hl_acquires); acquire && hl_acquire_is_unreported(acquire);
         acquire = TAILQ_PREV(acquire, hl_acquires, entry))
        first = acquire;
    for (; first; first = TAILQ_NEXT(first, entry))
        hl_acquire_report_waiting(core, first);
}

/* Returns when the acquire began; for a member of a group, when the acquire of the group began. */
static uint64_t begun_at_us_of(const struct hl_acquire *acquire)
{
    const struct hl_attempt *attempt = acquire->lock->attempt;
    return attempt ? attempt->begun_us : acquire->begun_us;
}

/* Returns 1 if the acquire, which enters the line, goes before that waiter. */
static int goes_before(const struct hl_acquire *acquire, const struct hl_acquire *waiter)
{
    int has_sent = waiter->state != ACQUIRE_IN_LINE || waiter->hold;
    int is_younger = begun_at_us_of(waiter) > begun_at_us_of(acquire);
    return is_younger && !has_sent;
}

/* The handle has a place of its own, or may request one: lets it send its request. */
static void send_by_itself(struct hl_acquire *acquire)
{
    if (acquire->standing == STANDS_HELD_BACK)
        stand(acquire, STANDS_IN_QUEUE);
    hl_acquire_send(acquire);
}

/* Like send_by_itself. But if too many releases of the name have no answer, the first request of an id is held back. */
static void send_or_hold_back(struct hl_acquire *acquire)
{
    int is_first = !hl_acquire_is_try(acquire) && !(acquire->hold && acquire->hold->id);
    int may_send = !is_first || acquire->lock->name->unanswered_releases <= UNANSWERED_RELEASES_MAX;
    if (may_send)
        send_by_itself(acquire);
    else
        stand(acquire, STANDS_HELD_BACK);
}

/* A waiter is inserted in the order in which the acquires began. A member of a group that comes again counts as begun
 * when the acquire of the group began. So it goes before waiters that began later, if they have sent no request yet. */
void hl_line_join(struct hl_line *line, struct hl_acquire *acquire)
{
    struct hl_acquires *list = &line->lists[acquire->standing];
    struct hl_acquire *before = TAILQ_LAST(list, hl_acquires);
    while (before && goes_before(acquire, before))
        before = TAILQ_PREV(before, hl_acquires, entry);
    if (before)
        TAILQ_INSERT_AFTER(list, before, acquire, entry);
    else
        TAILQ_INSERT_HEAD(list, acquire, entry);
    line->waiting_here += !hl_acquire_is_try(acquire);
    if (acquire->standing == STANDS_AS_TRY && hl_view_denies(acquire)) {
        hl_acquire_decide(acquire, HILOCK_TIMED_OUT);
        return;
    }
    if (hl_has_own_place(acquire->lock->terms)) {
        if (!hl_joining_begin(acquire))
            send_or_hold_back(acquire);
        return;
    }
    hl_line_advance(line, 0);
    /* the other waiters have had this event */
    if (hl_line_is_name_held(line->name) && hl_acquire_is_unreported(acquire))
        hl_acquire_report_waiting(line->core, acquire);
}

void hl_line_remove_quietly(struct hl_acquire *acquire)
{
    struct hl_name *name = acquire->lock->name;
    struct hl_line *line = name->line;
    struct hl_core *core = line->core;
    TAILQ_REMOVE(&line->lists[acquire->standing], acquire, entry);
    line->waiting_here -= !hl_acquire_is_try(acquire);
    if (line->waiting_here || !TAILQ_EMPTY(&line->lists[STANDS_AS_TRY]) ||
        !TAILQ_EMPTY(&line->lists[STANDS_AS_SENT_TRY]))
        return;
    hl_line_stop_listening(line);
    if (line->grant_channel)
        LIST_REMOVE(line, by_grant_channel);
    name->line = NULL;
    core->locks->lines--;
    hl_memory_free(&core->host.memory, line->holder_or_error);
    hl_memory_free(&core->host.memory, line);
    hl_name_unref(core, &core->host.memory, name);
}

void hl_line_leave(struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    hl_line_remove_quietly(acquire);
    if (name->line)
        hl_line_advance(name->line, 0);
}

void hl_line_move(struct hl_acquire *acquire, int to_front)
{
    struct hl_acquires *list = &acquire->lock->name->line->lists[acquire->standing];
    TAILQ_REMOVE(list, acquire, entry);
    if (to_front)
        TAILQ_INSERT_HEAD(list, acquire, entry);
    else
        TAILQ_INSERT_TAIL(list, acquire, entry);
}

void hl_line_try_again(struct hl_acquire *acquire)
{
    struct hl_line *line = acquire->lock->name->line;
    if (hl_has_own_place(acquire->lock->terms)) {
        send_or_hold_back(acquire);
        return;
    }
    if (hl_acquire_is_try(acquire))
        stand(acquire, STANDS_AS_TRY);
    hl_line_advance(line, 1);
}

void hl_line_released(struct hl_name *name)
{
    struct hl_acquire *acquire;
    if (!name->line)
        return;
    if (name->line->answer == LINE_HELD)
        name->line->answer = LINE_HELD_BY_US;
    hl_line_advance(name->line, 1);
    while (name->line && name->unanswered_releases <= UNANSWERED_RELEASES_MAX &&
           (acquire = TAILQ_FIRST(&name->line->lists[STANDS_HELD_BACK])) != NULL)
        send_by_itself(acquire);
}

/* The release of another program possibly wakes none of our waiters, if Redisson's fair lock has waiters of its own.
 * If two answers in a row name two different holders, both of other programs, and no message came between the answers,
 * then such a release has just been seen. (A message clears is_held_by_other_program, so after a message this is not
 * concluded.) */
void hl_line_learn(const struct hl_acquire *acquire, const struct hl_response *said)
{
    struct hl_line *line = acquire->lock->name->line;
    const struct hl_memory *memory = &line->core->host.memory;
    uint64_t now_us = hl_now_us(&line->core->host);
    struct hl_text words = {""};
    int is_fault = said && said->result == HL_FAULT, is_silent;
    line->answered_at_us = now_us;
    line->faults = is_fault ? line->faults + 1 : 0;
    line->answer = is_fault ? LINE_FAULT : said ? LINE_HELD : LINE_UNANSWERED;
    if (is_fault)
        line->fault_status = (int8_t)said->fault.status;
    if (!said || is_fault)
        line->is_held_by_other_program = 0;
    if (is_fault)
        words = hl_words_of_server(line->core, said->quote, said->quote_length);
    else if (said) {
        hl_text_set(&words, "%.*s", (int)said->holder_length, said->holder);
        line->queued_at_store = acquire->place ? said->waiters : line->queued_at_store;
        line->holders = said->holders ? said->holders : said->holder_length != 0;
        line->lease_ends_at_us = said->has_no_ttl ? UINT64_MAX : now_us + said->left_ms * 1000;
    }
    if (said && !is_fault && acquire->place) {
        const char *before = line->is_held_by_other_program ? line->holder_or_error : NULL;
        int has_changed = before && strcmp(before, words.bytes) != 0;
        is_silent = said->java_waiter || has_changed;
        line->is_held_by_other_program = !said->holder_grants_next;
        if (line->is_held_by_other_program && is_silent)
            line->core->locks->silent_releases_until_us = now_us + SILENT_RELEASES_US;
    }
    hl_memory_free(memory, line->holder_or_error);
    line->holder_or_error = hl_memory_copy(memory, words.bytes, strlen(words.bytes));
}

int hl_line_is_name_held(const struct hl_name *name)
{
    const struct hl_line *line = name->line;
    return hl_hold_of(name) || (line && line->answer == LINE_HELD && line->waiting_here);
}

void hl_line_note_other_program(struct hl_name *name)
{
    name->line->other_program_until_us = hl_now_us(&name->line->core->host) + OTHER_PROGRAM_US;
}

/* ---- news ---- */

/* Makes a sleeping waiter send a heartbeat at a random moment within that time. Marks the line stale as well, so that a
 * waiter with a request under way sends another one after the answer. */
static void wake(struct hl_acquire *acquire, uint64_t within_us)
{
    struct hl_host *host = &acquire->lock->name->line->core->host;
    hl_line_mark_stale(acquire->lock->name->line);
    if (acquire->state == ACQUIRE_SLEEPING)
        hl_hold_wake_at(acquire->hold, hl_now_us(host) + hl_random_below(&host->random, within_us));
}

void hl_line_wake_places(struct hl_line *line, unsigned waiting, const struct hl_node *except)
{
    struct hl_acquire *head = hl_line_head(line), *acquire;
    uint64_t within_us = (uint64_t)waiting * SPREAD_PER_WAITER_US;
    if (head && head->place && (!except || head->place->node != except))
        wake(head, within_us);
    TAILQ_FOREACH(acquire, &line->lists[STANDS_IN_QUEUE], entry)
        if (!except || acquire->place->node != except)
            wake(acquire, within_us);
}

/* Handles news about the name. News counts even while a request is under way, because the answer to that request may be
 * older than the news. Of the waiters with a place, only the one at position 1 is woken. */
static void wake_waiters(struct hl_line *line)
{
    const struct hl_acquire *head = hl_line_head(line);
    struct hl_acquire *acquire;
    hl_line_mark_stale(line);
    hl_line_advance(line, !(head && head->place && head->place->position > 1));
    for (acquire = TAILQ_FIRST(&line->lists[STANDS_IN_QUEUE]); acquire && acquire->place->position <= 1;
         acquire = TAILQ_NEXT(acquire, entry))
        wake(acquire, 0);
}

static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_line *line = arg;
    (void)message;
    switch (event) {
    case HL_CHANNEL_ON:
        line->is_channel_refused = 0;
        if (!HL_PLANTED(R7_NO_SECOND_TRY))
            wake_waiters(line);
        break;
    case HL_CHANNEL_MESSAGE:
        hl_trace(&line->core->host, HL_WAKEUP, &(struct hl_fact){.name = line->name->bytes});
        wake_waiters(line);
        break;
    case HL_CHANNEL_REFUSED:
        line->is_channel_refused = 1;
        wake_waiters(line); /* the sleepers relied on messages: now they poll */
        break;
    }
}

/* Subscribes to a channel, and then closes the listener of the former channel. If other lines listen to this channel,
 * or did a moment ago, the subscription is on at once. But this line has missed the earlier messages, so its waiter
 * must send a request once more. If the line listens to this very channel already, it has missed nothing. */
static void subscribe_to(struct hl_line *line, struct hl_listener **listener, const char *channel, size_t length)
{
    struct hl_listener *old = *listener;
    struct hl_subscriptions *subscriptions = &hl_name_node(line->core, line->name)->subscriptions;
    struct hl_listener *opened = hl_listener_open(subscriptions, channel, length, on_channel, line);
    int has_missed = opened && hl_listener_is_on(opened) && !(old && old->channel == opened->channel);
    *listener = opened;
    if (has_missed && !HL_PLANTED(R7_NO_SECOND_TRY))
        hl_line_mark_stale(line);
    hl_listener_close(old);
}

/* Unsubscribes. Each release counts the listeners of the unlock channel. If there are more than those of the releasing
 * client, the script assumes that another program listens, and leaves the name free for a short pause. So a listener
 * that we do not need would cost all clients that pause. */
void hl_line_stop_listening(struct hl_line *line)
{
    hl_listener_close(line->unlock_listener);
    hl_listener_close(line->java_listener);
    line->unlock_listener = line->java_listener = NULL;
}

/* The release of another program grants the name to no waiter. If that release is published at all, it is published on
 * the unlock channel. So of the waiters with a place, the first one listens there. */
void hl_line_listen(const struct hl_acquire *acquire, const struct hl_response *said)
{
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX + HL_JAVA_WAITER_MAX];
    const struct hl_name *name = acquire->lock->name;
    const struct hl_queue_place *place = acquire->place;
    struct hl_line *line = name->line;
    int is_first = !place || (!place->holder_grants_next && place->position <= 1);
    int listens = is_first && !acquire->lock->terms->is_polling;
    if (listens && said->java_waiter)
        subscribe_to(line, &line->java_listener, channel,
                     hl_key_java_waiter_write(channel, name->bytes, name->length, said->java_waiter,
                                              said->java_waiter_length));
    if (listens && !line->unlock_listener)
        subscribe_to(line, &line->unlock_listener, channel,
                     hl_key_write(channel, hl_key_channel, name->bytes, name->length));
}

/* When a link is back, messages may have been lost. So not only the heads of the lines send requests, but all waiters
 * with a place. When a name has moved, the unlock channel at the old node stays silent, so its listener is closed; the
 * next waiter that is answered "held" subscribes at the new node. */
void hl_lines_retry(struct hl_core *core, const struct hl_node *up)
{
    struct hl_name *name = NULL;
    while ((name = name_after(core, name)) != NULL) {
        struct hl_line *line = name->line;
        const struct hl_node *node = hl_name_node(core, name);
        int has_moved = line->unlock_listener && hl_listener_where(line->unlock_listener) != &node->subscriptions;
        if (up && up != node)
            continue;
        if (up && HL_PLANTED(R7_NO_RETRY_AT_RECONNECT))
            continue;
        if (has_moved)
            hl_line_stop_listening(line);
        if (up || has_moved)
            wake_waiters(line);
        hl_line_wake_places(line, line->waiting_here, up ? NULL : node);
    }
}

/* ---- no memory for a hold ---- */

static void send_starved(const struct hl_acquires *list)
{
    struct hl_acquire *acquire;
    TAILQ_FOREACH(acquire, list, entry)
        if (acquire->state == ACQUIRE_STARVED)
            hl_acquire_send(acquire);
}

void hl_lines_after_shortage(void *arg)
{
    struct hl_core *core = arg;
    struct hl_name *name = NULL;
    hl_host_enter(&core->host);
    core->locks->is_memory_short = 0;
    while ((name = name_after(core, name)) != NULL) {
        hl_line_advance(name->line, 0);
        send_starved(&name->line->lists[STANDS_IN_QUEUE]);
        send_starved(&name->line->lists[STANDS_AS_SENT_TRY]);
    }
    hl_host_leave(&core->host);
}

void hl_lines_retry_soon(struct hl_core *core)
{
    if (!core->locks->is_memory_short)
        hl_timer_start(&core->host, core->locks->shortage_timer, SHORTAGE_US);
    core->locks->is_memory_short = 1;
}
