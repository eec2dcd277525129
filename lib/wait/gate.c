/* SPDX-License-Identifier: BSD-3-Clause */
/* gate - see gate.h. */
#include "wait/gate.h"

#include "base/plant.h"
#include "wait/known.h"
#include "wait/place.h"

enum { OTHERS_US = 1000000, SHORTAGE_US = 50000, PACE_US = 20 };

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
    name->refs++;
    name->gate = gate;
    return gate;
}

/* The last waiter: when it goes, no other gets its turn. NULL: there is none. */
static struct hl_acquire *last_of(const struct hl_gate *gate)
{
    struct hl_acquire *last = TAILQ_LAST(&gate->line, hl_line);
    if (!last)
        last = TAILQ_LAST(&gate->queued, hl_line);
    return last ? last : TAILQ_LAST(&gate->tries, hl_line);
}

static struct hl_line *line_of(struct hl_gate *gate, const struct hl_acquire *acquire)
{
    if (acquire->lock->terms->kind->place_each)
        return &gate->queued;
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

void hl_gate_wake_for(struct hl_acquire *acquire)
{
    if (acquire->is_try)
        hl_gate_step_back(acquire);
    hl_gate_advance(acquire->lock->name->gate, 1);
}

/* A sibling holds it now, which answers a try that has not asked yet. */
void hl_gate_deny_tries(struct hl_name *name)
{
    struct hl_acquire *acquire;
    while (name->gate && (acquire = first_try(name->gate)) != NULL)
        name->gate->core->waiters->decide(acquire, HILOCK_TIMED_OUT);
}

struct hl_name *hl_gate_name_after(const struct hl_core *core, const struct hl_name *name)
{
    struct hl_table_entry *entry = hl_table_next(&core->names, name ? &name->entry : NULL);
    while (entry && !((struct hl_name *)(void *)entry)->gate)
        entry = hl_table_next(&core->names, entry);
    return (struct hl_name *)(void *)entry;
}

void hl_gates_close(struct hl_core *core)
{
    struct hl_name *name = NULL; /* the handles have references: it outlives its gate */
    while ((name = hl_gate_name_after(core, name)) != NULL)
        while (name->gate)
            core->waiters->decide(last_of(name->gate), HILOCK_CLOSED);
}

static int is_untold(const struct hl_acquire *acquire)
{
    return acquire && !acquire->report_ms && acquire->state != ACQUIRE_GRANTED;
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

void hl_gate_join(struct hl_gate *gate, struct hl_acquire *acquire)
{
    struct hl_line *line = line_of(gate, acquire);
    TAILQ_INSERT_TAIL(line, acquire, line);
    gate->waiting += !acquire->is_try;
    if (line == &gate->tries && hl_known_is_held(gate->name)) {
        gate->core->waiters->decide(acquire, HILOCK_TIMED_OUT);
        return;
    }
    if (line == &gate->queued)
        gate->core->waiters->ask(acquire);
    else
        hl_gate_advance(gate, 0);
    if (hl_known_is_held(gate->name))
        hl_gate_tell_waiting(gate->core, gate->name);
}

void hl_gate_wake_places(struct hl_gate *gate, unsigned waiting, const struct hl_node *but)
{
    struct hl_acquire *head = TAILQ_FIRST(&gate->line), *acquire;
    uint64_t within_us = (uint64_t)waiting * PACE_US;
    if (head && head->place && (!but || head->place->node != but))
        gate->core->waiters->wake(head->place, within_us);
    TAILQ_FOREACH(acquire, &gate->queued, line)
        if (!but || acquire->place->node != but)
            gate->core->waiters->wake(acquire->place, within_us);
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
    hl_listener_close(gate->channel);
    hl_listener_close(gate->heir);
    if (gate->grants)
        LIST_REMOVE(gate, by_grants);
    name->gate = NULL;
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

void hl_gate_step_back(struct hl_acquire *acquire)
{
    struct hl_line *line = line_of(acquire->lock->name->gate, acquire);
    TAILQ_REMOVE(line, acquire, line);
    TAILQ_INSERT_TAIL(line, acquire, line);
}

void hl_gate_place(struct hl_acquire *acquire)
{
    struct hl_line *line = &acquire->lock->name->gate->queued;
    struct hl_acquire *other, *later = NULL;
    uint64_t ticket = acquire->place->ticket;
    TAILQ_REMOVE(line, acquire, line);
    for (other = TAILQ_LAST(line, hl_line); other; other = TAILQ_PREV(other, hl_line, line)) {
        if (other->place->ticket && other->place->ticket < ticket)
            break;
        later = other->place->ticket ? other : later;
    }
    if (later)
        TAILQ_INSERT_BEFORE(later, acquire, line);
    else
        TAILQ_INSERT_TAIL(line, acquire, line);
}

void hl_gate_released(struct hl_name *name)
{
    struct hl_gate *gate = name->gate;
    if (gate && gate->known == HILOCK_TIMED_OUT)
        gate->known = HILOCK_OK;
    if (gate)
        hl_gate_advance(gate, 1);
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

void hl_gate_has_news(struct hl_gate *gate) { gate->news_us = hl_now_us(&gate->core->host); }

int hl_gate_is_asked(const struct hl_acquire *acquire)
{
    return acquire->lock->name->gate->news_us <= acquire->hold->request.sent_us;
}

/* ---- no memory for a hold ---- */

static void on_timer(void *arg)
{
    struct hl_core *core = arg;
    struct hl_name *name = NULL;
    struct hl_acquire *acquire;
    hl_host_enter(&core->host);
    core->is_short = 0;
    while ((name = hl_gate_name_after(core, name)) != NULL) {
        hl_gate_advance(name->gate, 0);
        TAILQ_FOREACH(acquire, &name->gate->queued, line)
            if (acquire->state == ACQUIRE_STARVED)
                core->waiters->ask(acquire);
    }
    hl_host_leave(&core->host);
}

int hl_gates_init(struct hl_core *core)
{
    core->shortage_timer = hl_timer_new(&core->host, on_timer, core);
    return core->shortage_timer ? 0 : -1;
}

void hl_gates_done(struct hl_core *core) { hl_timer_free(&core->host, core->shortage_timer); }

void hl_gates_retry_soon(struct hl_core *core)
{
    if (!core->is_short && !HL_PLANTED(SHORTAGE_FOREVER))
        hl_timer_start(&core->host, core->shortage_timer, SHORTAGE_US);
    core->is_short = 1;
}
