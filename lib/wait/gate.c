/* SPDX-License-Identifier: BSD-3-Clause */
/* gate - see gate.h. */
#include "wait/gate.h"

#include "base/plant.h"
#include "wait/known.h"
#include "wait/place.h"

enum { OTHERS_US = 1000000, SHORTAGE_US = 50000, PACE_US = 20, ENDING_MAX = 2 };

/* ---- the line ---- */

struct hl_gate *hl_gate_of(struct hl_core *core, struct hl_name *name)
{
    struct hl_gate *gate = name->gate ? name->gate : hl_memory_new(&core->host.memory, sizeof *gate);
    if (!gate || name->gate)
        return gate;
    gate->core = core;
    gate->name = name;
    TAILQ_INIT(&gate->line);
    TAILQ_INIT(&gate->tries);
    TAILQ_INIT(&gate->queued);
    TAILQ_INIT(&gate->held_back);
    name->refs++;
    name->gate = gate;
    core->gates++;
    return gate;
}

/* The last waiter: when it goes, no other gets its turn. NULL: there is none. */
static struct hl_acquire *last_of(const struct hl_gate *gate)
{
    struct hl_acquire *last = TAILQ_LAST(&gate->line, hl_line);
    if (!last)
        last = TAILQ_LAST(&gate->held_back, hl_line);
    if (!last)
        last = TAILQ_LAST(&gate->queued, hl_line);
    return last ? last : TAILQ_LAST(&gate->tries, hl_line);
}

static struct hl_line *line_of(struct hl_gate *gate, const struct hl_acquire *acquire)
{
    if (acquire->lock->terms->kind->place_each)
        return acquire->is_held_back ? &gate->held_back : &gate->queued;
    return acquire->is_try ? &gate->tries : &gate->line;
}

/* One with an IDLE hold pauses (lock/acquire.c). */
static int is_ready(const struct hl_acquire *acquire, int wakes)
{
    return acquire->state == ACQUIRE_IN_LINE || acquire->state == ACQUIRE_STARVED ||
           (wakes && acquire->state == ACQUIRE_SLEEPING && acquire->hold->state != HOLD_IDLE);
}

/* That has not asked yet. */
static struct hl_acquire *first_try(const struct hl_gate *gate)
{
    struct hl_acquire *acquire, *first = NULL;
    for (acquire = TAILQ_LAST(&gate->tries, hl_line); acquire && is_ready(acquire, 0);
         acquire = TAILQ_PREV(acquire, hl_line, line))
        first = acquire;
    return first;
}

/* All tries ask; of the waiters only the first. A sibling's hold goes on to the first of the line, or its release asks
 * for it. One of a kind whose handles stand for themselves does neither: behind it the first of the line has a place at
 * the store, and keeps that by its heartbeats. */
void hl_gate_advance(struct hl_gate *gate, int wakes)
{
    const struct hl_hold *hold = gate->name->hold;
    struct hl_acquire *acquire = hold ? NULL : first_try(gate);
    if (gate->name->ending && !HL_PLANTED(R4_UNDO_UNORDERED))
        return;
    for (; acquire; acquire = TAILQ_NEXT(acquire, line))
        gate->core->waiters->ask(acquire);
    acquire = TAILQ_FIRST(&gate->line);
    if (!acquire || (hold && !(hold->terms->kind->place_each && acquire->lock->terms->kind->has_queue)))
        return;
    if (is_ready(acquire, wakes))
        gate->core->waiters->ask(acquire);
}

/* Skips a waiter with a pending request or a possible grant. */
struct hl_acquire *hl_gate_next(const struct hl_name *name)
{
    const struct hl_gate *gate = name->gate;
    struct hl_acquire *acquire = gate ? TAILQ_FIRST(&gate->line) : NULL;
    if (acquire && acquire->state == ACQUIRE_GRANTED)
        acquire = TAILQ_NEXT(acquire, line);
    return acquire && is_ready(acquire, 1) && (!acquire->hold || hl_hold_is_blank(acquire->hold)) ? acquire : NULL;
}

/* A sibling holds it now, which answers a try that has not asked yet. */
void hl_gate_deny_tries(struct hl_name *name)
{
    struct hl_acquire *acquire;
    while (name->gate && (acquire = first_try(name->gate)) != NULL)
        name->gate->core->waiters->decide(acquire, HILOCK_TIMED_OUT);
}

static struct hl_name *name_after(const struct hl_core *core, const struct hl_name *name)
{
    struct hl_table_entry *entry = hl_table_next(&core->names, name ? &name->entry : NULL);
    while (entry && !((struct hl_name *)(void *)entry)->gate)
        entry = hl_table_next(&core->names, entry);
    return (struct hl_name *)(void *)entry;
}

void hl_gates_close(struct hl_core *core)
{
    struct hl_name *name = NULL; /* the handles have references: it outlives its gate */
    while ((name = name_after(core, name)) != NULL)
        while (name->gate)
            core->waiters->decide(last_of(name->gate), HILOCK_CLOSED);
}

static int is_untold(const struct hl_acquire *acquire)
{
    return acquire && !acquire->report_ms && acquire->state < ACQUIRE_GRANTED;
}

/* Once for each acquire, then as often as it wants. Waiters without a report stand last; but the first may lack one,
 * too, if it was granted when the others got theirs. */
void hl_gate_tell_waiting(struct hl_core *core, struct hl_name *name)
{
    struct hl_line *line = &name->gate->line;
    struct hl_acquire *acquire, *first = NULL;
    if (is_untold(TAILQ_FIRST(line)))
        core->waiters->tell_waiting(core, TAILQ_FIRST(line));
    for (acquire = TAILQ_LAST(line, hl_line); is_untold(acquire); acquire = TAILQ_PREV(acquire, hl_line, line))
        first = acquire;
    for (; first; first = TAILQ_NEXT(first, line))
        core->waiters->tell_waiting(core, first);
}

static uint64_t age_us(const struct hl_acquire *acquire)
{
    const struct hl_attempt *attempt = acquire->lock->attempt;
    return attempt ? attempt->begun_us : acquire->begun_us;
}

static int is_behind(const struct hl_acquire *before, const struct hl_acquire *acquire)
{
    int has_asked = before->state != ACQUIRE_IN_LINE || before->hold;
    int is_younger = age_us(before) > age_us(acquire) && !HL_PLANTED(LINE_BY_ARRIVAL);
    return is_younger && !has_asked;
}

/* A group's member that comes again is as old as the group's acquire: it goes before those that began later, if they
 * have not asked yet. */
static void enter(struct hl_line *line, struct hl_acquire *acquire)
{
    struct hl_acquire *before = TAILQ_LAST(line, hl_line);
    while (before && is_behind(before, acquire))
        before = TAILQ_PREV(before, hl_line, line);
    if (before)
        TAILQ_INSERT_AFTER(line, before, acquire, line);
    else
        TAILQ_INSERT_HEAD(line, acquire, line);
}

/* Of a handle that has a place of its own. */
static void ask_by_itself(struct hl_acquire *acquire)
{
    struct hl_gate *gate = acquire->lock->name->gate;
    if (acquire->is_held_back) {
        TAILQ_REMOVE(&gate->held_back, acquire, line);
        acquire->is_held_back = 0;
        TAILQ_INSERT_TAIL(&gate->queued, acquire, line);
    }
    gate->core->waiters->ask(acquire);
}

/* Of a handle that has a place of its own: it asks, unless this is the first question of an id and too many releases of
 * this name have no answer. */
static void ask_or_hold_back(struct hl_acquire *acquire)
{
    struct hl_gate *gate = acquire->lock->name->gate;
    int is_first = !acquire->is_try && !(acquire->hold && acquire->hold->id);
    int may_ask = !is_first || gate->name->ending <= ENDING_MAX;
    if (may_ask || HL_PLANTED(ASKS_ON_UNANSWERED)) {
        ask_by_itself(acquire);
        return;
    }
    if (acquire->is_held_back)
        return;
    TAILQ_REMOVE(&gate->queued, acquire, line);
    acquire->is_held_back = 1;
    TAILQ_INSERT_TAIL(&gate->held_back, acquire, line);
}

static void let_ask(struct hl_name *name)
{
    struct hl_acquire *acquire;
    while (name->gate && name->ending <= ENDING_MAX && (acquire = TAILQ_FIRST(&name->gate->held_back)) != NULL)
        ask_by_itself(acquire);
}

void hl_gate_join(struct hl_gate *gate, struct hl_acquire *acquire)
{
    struct hl_line *line = line_of(gate, acquire);
    enter(line, acquire);
    gate->waiting += !acquire->is_try;
    if (line == &gate->tries && hl_known_denies(gate->name)) {
        gate->core->waiters->decide(acquire, HILOCK_TIMED_OUT);
        return;
    }
    if (line == &gate->queued) {
        ask_or_hold_back(acquire);
        return;
    }
    hl_gate_advance(gate, 0);
    if (hl_known_is_held(gate->name) && is_untold(acquire)) /* the others know */
        gate->core->waiters->tell_waiting(gate->core, acquire);
}

void hl_gate_forget(struct hl_acquire *acquire)
{
    struct hl_name *name = acquire->lock->name;
    struct hl_gate *gate = name->gate;
    struct hl_core *core = gate->core;
    TAILQ_REMOVE(line_of(gate, acquire), acquire, line);
    gate->waiting -= !acquire->is_try;
    if (last_of(gate))
        return;
    hl_gate_stop_listening(gate);
    if (gate->grants)
        LIST_REMOVE(gate, by_grants);
    name->gate = NULL;
    core->gates--;
    hl_memory_free(&core->host.memory, gate->words);
    hl_memory_free(&core->host.memory, gate);
    hl_name_unref(core, &core->host.memory, name);
}

void hl_gate_leave(struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    hl_gate_forget(acquire);
    if (name->gate)
        hl_gate_advance(name->gate, 0);
}

void hl_gate_move(struct hl_acquire *acquire, int to_front)
{
    struct hl_line *line = line_of(acquire->lock->name->gate, acquire);
    TAILQ_REMOVE(line, acquire, line);
    if (to_front)
        TAILQ_INSERT_HEAD(line, acquire, line);
    else
        TAILQ_INSERT_TAIL(line, acquire, line);
}

void hl_gate_try_again(struct hl_acquire *acquire)
{
    struct hl_gate *gate = acquire->lock->name->gate;
    if (acquire->lock->terms->kind->place_each) {
        ask_or_hold_back(acquire);
        return;
    }
    if (acquire->is_try)
        hl_gate_move(acquire, 0);
    hl_gate_advance(gate, 1);
}

void hl_gate_released(struct hl_name *name)
{
    struct hl_gate *gate = name->gate;
    if (gate && gate->known == HILOCK_TIMED_OUT)
        gate->known = HILOCK_OK;
    if (gate)
        hl_gate_advance(gate, 1);
    let_ask(name);
}

unsigned hl_gate_waiting(const struct hl_name *name) { return name->gate ? name->gate->waiting : 0; }

void hl_gate_saw_others(struct hl_name *name)
{
    name->gate->others_until_us = hl_now_us(&name->gate->core->host) + OTHERS_US;
}

int hl_gate_has_others(const struct hl_name *name)
{
    return name->gate && name->gate->others_until_us > hl_now_us(&name->gate->core->host);
}

/* ---- news ---- */

void hl_gate_has_news(struct hl_gate *gate)
{
    gate->news_us = hl_now_us(&gate->core->host);
    gate->is_foreign = 0;
}

/* Sends a heartbeat within that time. */
static void wake(struct hl_acquire *acquire, uint64_t within_us)
{
    struct hl_host *host = &acquire->lock->name->gate->core->host;
    hl_gate_has_news(acquire->lock->name->gate);
    if (acquire->state == ACQUIRE_SLEEPING)
        hl_hold_wake_at(acquire->hold, hl_now_us(host) + hl_random_below(&host->random, within_us));
}

void hl_gate_wake_places(struct hl_gate *gate, unsigned waiting, const struct hl_node *but)
{
    struct hl_acquire *head = TAILQ_FIRST(&gate->line), *acquire;
    uint64_t within_us = (uint64_t)waiting * PACE_US;
    if (head && head->place && (!but || head->place->node != but))
        wake(head, within_us);
    TAILQ_FOREACH(acquire, &gate->queued, line)
        if (!but || acquire->place->node != but)
            wake(acquire, within_us);
}

/* News counts even during a request, whose answer may be older. Of those with a place it concerns the next one. */
static void news(struct hl_gate *gate)
{
    const struct hl_acquire *head = TAILQ_FIRST(&gate->line);
    struct hl_acquire *acquire;
    hl_gate_has_news(gate);
    hl_gate_advance(gate, !(head && head->place && head->place->position > 1));
    for (acquire = TAILQ_FIRST(&gate->queued); acquire && acquire->place->position <= 1;
         acquire = TAILQ_NEXT(acquire, line))
        wake(acquire, 0);
}

static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_gate *gate = arg;
    (void)message;
    switch (event) {
    case HL_CHANNEL_ON:
        gate->is_deaf = 0;
        if (!HL_PLANTED(R7_NO_SECOND_TRY))
            news(gate);
        break;
    case HL_CHANNEL_MESSAGE:
        hl_trace(&gate->core->host, HL_WAKEUP, &(struct hl_fact){.name = gate->name->bytes});
        if (!HL_PLANTED(WAKE_IGNORED))
            news(gate);
        break;
    case HL_CHANNEL_REFUSED:
        gate->is_deaf = 1;
        news(gate); /* sleepers rely on messages: they poll from here on */
        break;
    }
}

/* A channel that others listen to, or did just now, is on at once, but earlier messages are lost: that, too, needs a
 * second try. One that it listens to already has missed nothing. */
static void listen(struct hl_gate *gate, struct hl_listener **listener, const char *channel, size_t length)
{
    struct hl_listener *before = *listener;
    struct hl_subscription *there = &hl_name_node(gate->core, gate->name)->subscription;
    struct hl_listener *now = hl_listener_open(there, channel, length, on_channel, gate);
    int has_missed = now && hl_listener_is_on(now) && !(before && before->channel == now->channel);
    *listener = now;
    if (has_missed && !HL_PLANTED(R7_NO_SECOND_TRY))
        hl_gate_has_news(gate);
    hl_listener_close(before);
}

/* Each listener counts as another program that wants the name. */
void hl_gate_stop_listening(struct hl_gate *gate)
{
    hl_listener_close(gate->channel);
    hl_listener_close(gate->heir);
    gate->channel = gate->heir = NULL;
}

/* The release of another program grants to none, and is published on the unlock channel, if at all: of those with a
 * place the first listens. */
int hl_gate_may_sleep(const struct hl_acquire *acquire, const struct hl_response *said)
{
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX + HL_HEIR_MAX];
    const struct hl_name *name = acquire->lock->name;
    const struct hl_queue_place *place = acquire->place;
    struct hl_gate *gate = name->gate;
    const char *heir = HL_PLANTED(FAIR_HEIR_UNHEARD) ? NULL : said->heir;
    int is_first = !place || (!place->hands_over && place->position <= 1);
    int listens = is_first && !acquire->lock->terms->is_polling;
    if (place && HL_PLANTED(FAIR_DEAF_TO_OTHERS))
        listens = 0;
    if (listens && heir)
        listen(gate, &gate->heir, channel,
               hl_key_heir_write(channel, name->bytes, name->length, heir, said->heir_length));
    if (listens && !gate->channel)
        listen(gate, &gate->channel, channel, hl_key_write(channel, hl_key_channel, name->bytes, name->length));
    return gate->news_us <= acquire->hold->request.sent_us || HL_PLANTED(R7_NEWS_FORGOTTEN);
}

/* Messages may have been lost, so all in the store's queue ask, too. The channel at an old node is silent from now on:
 * the waiter that asks listens at the new one. */
void hl_gates_retry(struct hl_core *core, const struct hl_node *up)
{
    struct hl_name *name = NULL;
    while ((name = name_after(core, name)) != NULL) {
        struct hl_gate *gate = name->gate;
        const struct hl_node *node = hl_name_node(core, name);
        int has_moved = gate->channel && hl_listener_where(gate->channel) != &node->subscription;
        if (up && up != node)
            continue;
        if (up && HL_PLANTED(R7_NO_RETRY_AT_RECONNECT))
            continue;
        if (has_moved)
            hl_gate_stop_listening(gate);
        if (up || has_moved)
            news(gate);
        hl_gate_wake_places(gate, gate->waiting, up ? NULL : node);
    }
}

/* ---- no memory for a hold ---- */

void hl_gates_on_shortage(void *arg)
{
    struct hl_core *core = arg;
    struct hl_name *name = NULL;
    struct hl_acquire *acquire;
    hl_host_enter(&core->host);
    core->is_short = 0;
    while ((name = name_after(core, name)) != NULL) {
        hl_gate_advance(name->gate, 0);
        TAILQ_FOREACH(acquire, &name->gate->queued, line)
            if (acquire->state == ACQUIRE_STARVED)
                core->waiters->ask(acquire);
    }
    hl_host_leave(&core->host);
}

void hl_gates_retry_soon(struct hl_core *core)
{
    if (!core->is_short && !HL_PLANTED(SHORTAGE_FOREVER))
        hl_timer_start(&core->host, core->shortage_timer, SHORTAGE_US);
    core->is_short = 1;
}
