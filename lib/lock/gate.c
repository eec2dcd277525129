/* SPDX-License-Identifier: BSD-3-Clause */
/* gate - see gate.h. */
#include "lock/gate_inside.h"

#include "base/contract.h"
#include "base/plant.h"
#include "lock/courtesy.h"
#include "lock/fair.h"
#include "lock/hold.h"
#include "lock/known.h"
#include "lock/lease.h"
#include "lock/multi.h"
#include "lock/name.h"
#include "lock/wait.h"

enum { YIELDS_MAX = 3, YIELD_MAX_US = 1000000, CROWD_MAX = 31, PACE_US = 20 };

/* ---- the line ---- */

static struct hl_gate *gate_of(struct hl_core *core, struct hl_name *name)
{
    struct hl_gate *gate = hl_gate_at(name);
    if (gate)
        return gate;
    gate = hl_memory_new(&core->host.memory, sizeof *gate + hl_route_members(core->route) * sizeof gate->channels[0]);
    if (!gate)
        return NULL;
    gate->core = core;
    gate->name = name;
    gate->courtesy = name->courtesy;
    hl_courtesy_come_back(&gate->courtesy, core);
    TAILQ_INIT(&gate->line);
    TAILQ_INIT(&gate->aside);
    TAILQ_INIT(&gate->asking);
    TAILQ_INIT(&gate->queued);
    name->refs++;
    name->is_awaited = 1;
    name->gate = gate;
    return gate;
}

/* The last of those who stand here: nobody's turn comes when it goes. NULL: nobody does. */
static struct hl_acquire *last_of(const struct hl_gate *gate)
{
    const struct hl_line *const from[] = {&gate->line, &gate->queued, &gate->asking, &gate->aside};
    struct hl_acquire *last = NULL;
    for (size_t i = 0; !last && i < sizeof from / sizeof *from; i++)
        last = TAILQ_LAST(from[i], hl_line);
    return last;
}

static void forget_grants(struct hl_gate *gate)
{
    if (gate->grants)
        LIST_REMOVE(gate, by_grants);
    gate->grants = NULL;
}

static void drop_if_empty(struct hl_gate *gate)
{
    struct hl_core *core = gate->core;
    struct hl_name *name = gate->name;
    if (last_of(gate))
        return;
    for (unsigned i = 0; i < hl_route_members(core->route); i++)
        hl_listener_close(gate->channels[i]);
    forget_grants(gate);
    name->is_awaited = 0;
    name->courtesy = gate->courtesy;
    hl_memory_free(&core->host.memory, gate->holder);
    hl_memory_free(&core->host.memory, gate->note);
    hl_memory_free(&core->host.memory, gate);
    hl_name_unref(core, &core->host.memory, name);
}

static struct hl_line *line_of(struct hl_gate *gate, enum hl_stands stands)
{
    struct hl_line *const lines[] = {NULL, &gate->line, &gate->aside, &gate->asking, &gate->queued}; /* as in the enum */
    return lines[stands];
}

static enum hl_stands stands_of(const struct hl_acquire *acquire)
{
    return acquire->lock->terms->kind->has_queue ? STANDS_QUEUED : acquire->is_try ? STANDS_ASIDE : STANDS_IN_LINE;
}

static void stand(struct hl_gate *gate, struct hl_acquire *acquire, enum hl_stands stands)
{
    struct hl_line *from = line_of(gate, (enum hl_stands)acquire->stands), *to = line_of(gate, stands);
    if (from)
        TAILQ_REMOVE(from, acquire, line);
    if (to)
        TAILQ_INSERT_TAIL(to, acquire, line);
    if (!acquire->is_try)
        gate->waiting += (unsigned)(to != NULL) - (unsigned)(from != NULL);
    acquire->stands = (uint8_t)stands;
}

static int may_ask(const struct hl_gate *gate)
{
    return (!gate->name->ending || HL_PLANTED(R4_UNDO_UNORDERED)) && !gate->name->hold;
}

static int is_ready(const struct hl_acquire *acquire, int wakes)
{
    return (acquire->state == ACQUIRE_IN_LINE || (wakes && acquire->state == ACQUIRE_SLEEPING)) &&
           !(acquire->hold && acquire->hold->state == HOLD_RETURNING);
}

/* Tries all ask; of those who wait only the first. wakes: also if it sleeps. */
void hl_gate_advance(struct hl_gate *gate, int wakes)
{
    struct hl_acquire *acquire;
    while (may_ask(gate) && (acquire = TAILQ_FIRST(&gate->aside)) != NULL) {
        stand(gate, acquire, STANDS_ASKING);
        gate->core->waiter->ask(acquire);
    }
    acquire = TAILQ_FIRST(&gate->line);
    gate->has_missed = !may_ask(gate) && (wakes || gate->has_missed);
    if (!acquire || !may_ask(gate) || !is_ready(acquire, wakes) || !gate->core->waiter->may_ask(gate->core, acquire))
        return;
    if (gate->courtesy.until_us > hl_now_us(&gate->core->host))
        hl_wait_resume_at(acquire, gate->courtesy.until_us);
    else
        gate->core->waiter->ask(acquire);
}

/* Who asks, or may have left something at the store, is not to be had. */
struct hl_acquire *hl_gate_next(const struct hl_name *name)
{
    const struct hl_gate *gate = hl_gate_at(name);
    struct hl_acquire *acquire = gate ? TAILQ_FIRST(&gate->line) : NULL;
    if (acquire && acquire->state == ACQUIRE_GRANTED)
        acquire = TAILQ_NEXT(acquire, line);
    return acquire && is_ready(acquire, 1) && !(acquire->hold && !hl_hold_is_blank(acquire->hold)) ? acquire : NULL;
}

void hl_gate_wake(struct hl_name *name) { hl_gate_advance(name->gate, 1); }

void hl_gate_wake_for(struct hl_acquire *acquire)
{
    struct hl_gate *gate = hl_wait_name(acquire)->gate;
    if (acquire->is_try && acquire->state == ACQUIRE_IN_LINE)
        stand(gate, acquire, STANDS_ASIDE);
    hl_gate_advance(gate, 1);
}

/* A sibling holds it now: a try that has not asked yet is answered by that. */
void hl_gate_deny_tries(struct hl_name *name)
{
    struct hl_acquire *acquire;
    while (name->is_awaited && (acquire = TAILQ_FIRST(&name->gate->aside)) != NULL)
        name->gate->core->waiter->decide(acquire, HILOCK_TIMED_OUT);
}

void hl_gates_close(struct hl_core *core)
{
    struct hl_table_entry *entry = NULL, *next = hl_table_next(&core->names, NULL);
    while ((entry = next) != NULL) {
        struct hl_name *name = (struct hl_name *)(void *)entry;
        name->refs++; /* the last to leave would take the name along */
        while (name->is_awaited)
            core->waiter->decide(last_of(name->gate), HILOCK_CLOSED);
        next = hl_table_next(&core->names, entry);
        hl_name_unref(core, &core->host.memory, name);
    }
}

static int is_untold(const struct hl_acquire *acquire) { return acquire && acquire->is_untold && acquire->state != ACQUIRE_GRANTED; }

/* Once per acquire, and then as often as it asked for. Who is not told yet came last; but the first, if it was granted when the others were. */
void hl_gate_tell_waiting(struct hl_core *core, struct hl_name *name)
{
    struct hl_line *line = &name->gate->line;
    struct hl_acquire *acquire, *first = NULL;
    if (is_untold(TAILQ_FIRST(line)))
        core->waiter->tell_waiting(core, TAILQ_FIRST(line));
    for (acquire = TAILQ_LAST(line, hl_line); is_untold(acquire); acquire = TAILQ_PREV(acquire, hl_line, line))
        first = acquire;
    for (acquire = first; acquire; acquire = TAILQ_NEXT(acquire, line))
        core->waiter->tell_waiting(core, acquire);
}

hilock_status hl_gate_join(struct hl_core *core, struct hl_acquire *acquire)
{
    struct hl_gate *gate = gate_of(core, hl_wait_name(acquire));
    if (!gate)
        return HILOCK_NO_MEMORY;
    acquire->is_untold = !acquire->is_try;
    stand(gate, acquire, stands_of(acquire));
    if (acquire->lock->terms->kind->has_queue)
        gate->core->waiter->ask(acquire);
    else
        hl_gate_advance(gate, 0);
    return HILOCK_OK;
}

int hl_gate_move(struct hl_core *core, struct hl_acquire *acquire, unsigned at)
{
    struct hl_gate *gate = at == acquire->at ? NULL : gate_of(core, acquire->lock->terms->multi->of[at]);
    enum hl_stands stands = (enum hl_stands)acquire->stands;
    if (!gate)
        return at == acquire->at;
    hl_gate_leave(acquire);
    acquire->at = (uint8_t)at;
    stand(gate, acquire, stands);
    return 1;
}

int hl_gate_is_head(const struct hl_acquire *acquire)
{
    return acquire->is_try || TAILQ_FIRST(&hl_wait_name(acquire)->gate->line) == acquire;
}

void hl_gate_leave(struct hl_acquire *acquire)
{
    struct hl_gate *gate = hl_wait_name(acquire)->gate;
    stand(gate, acquire, STANDS_NOWHERE);
    hl_gate_advance(gate, 0);
    drop_if_empty(gate);
}

void hl_gate_step_back(struct hl_acquire *acquire)
{
    struct hl_line *line = line_of(hl_wait_name(acquire)->gate, (enum hl_stands)acquire->stands);
    TAILQ_REMOVE(line, acquire, line);
    TAILQ_INSERT_TAIL(line, acquire, line);
}

void hl_gate_place(struct hl_acquire *acquire)
{
    struct hl_line *line = &hl_wait_name(acquire)->gate->queued;
    struct hl_acquire *other, *later = NULL;
    uint64_t ticket = hl_fair_of(acquire)->ticket;
    TAILQ_REMOVE(line, acquire, line);
    for (other = TAILQ_LAST(line, hl_line); other; other = TAILQ_PREV(other, hl_line, line)) {
        uint64_t has = hl_fair_of(other)->ticket;
        if (has && has < ticket)
            break;
        later = has ? other : later;
    }
    if (later)
        TAILQ_INSERT_BEFORE(later, acquire, line);
    else
        TAILQ_INSERT_TAIL(line, acquire, line);
}

void hl_gate_yield(struct hl_core *core, const struct hl_acquire *acquire)
{
    struct hl_name *name = hl_wait_name(acquire);
    struct hl_gate *gate = name->gate;
    uint64_t turns = HL_PLANTED(LOSERS_YIELD_LONGER) ? 0 : 1 + hl_multi_crowd(acquire), doubled = (uint64_t)1 << gate->yields;
    uint64_t most_us = 2 * (turns > doubled ? turns : doubled) * hl_courtesy_span_us(core, name);
    if (acquire->lock->terms->multi && most_us > YIELD_MAX_US)
        most_us = YIELD_MAX_US;
    hl_courtesy_for(&gate->courtesy, core, hl_random_below(&core->host.random, most_us));
    gate->yields_until_us = acquire->lock->terms->multi ? gate->courtesy.until_us : 0;
    gate->yields += gate->yields < (HL_PLANTED(LOSERS_YIELD_LONGER) ? 7 : YIELDS_MAX);
}

/* Longer than those who are before it take to be told, and to let go what they hold for moments only. */
uint64_t hl_gate_pause_us(struct hl_core *core, const struct hl_acquire *acquire)
{
    uint64_t span_us = 2 * (2 + hl_multi_crowd(acquire)) * hl_courtesy_span_us(core, hl_wait_name(acquire));
    return span_us + hl_random_below(&core->host.random, span_us);
}

uint64_t hl_gate_yields_until_us(const struct hl_name *name) { return name->gate->courtesy.until_us; }

static void count_crowd(struct hl_core *core, struct hl_name *name, uint64_t listeners)
{
    uint64_t others = hl_courtesy_others(core, name, listeners);
    name->crowd = (others < CROWD_MAX ? others : CROWD_MAX) & CROWD_MAX;
}

/* Nothing that was held is free now: who sleeps goes on sleeping, unless its pause ended, or a message came, while it could not ask. */
void hl_gate_returned(struct hl_core *core, struct hl_name *name, uint64_t listeners)
{
    struct hl_gate *gate = hl_gate_at(name);
    count_crowd(core, name, listeners);
    if (gate)
        hl_gate_advance(gate, gate->has_missed);
}

void hl_gate_released(struct hl_core *core, struct hl_name *name, uint64_t listeners)
{
    struct hl_gate *gate = hl_gate_at(name);
    count_crowd(core, name, listeners);
    hl_courtesy_begin(gate ? &gate->courtesy : &name->courtesy, core, name, listeners);
    if (!gate)
        return;
    gate->known = HILOCK_OK;
    gate->yields = 0;
    hl_gate_advance(gate, 1);
}

/* Those that found too few masters to ask. */
void hl_gate_wake_tries(struct hl_gate *gate)
{
    struct hl_acquire *acquire, *next;
    for (acquire = TAILQ_FIRST(&gate->asking); acquire; acquire = next) {
        next = TAILQ_NEXT(acquire, line);
        if (acquire->state != ACQUIRE_SLEEPING)
            continue;
        acquire->state = ACQUIRE_IN_LINE;
        stand(gate, acquire, STANDS_ASIDE);
    }
}

void hl_gates_advance(struct hl_core *core)
{
    struct hl_table_entry *entry = NULL;
    while ((entry = hl_table_next(&core->names, entry)) != NULL) {
        struct hl_gate *gate = hl_gate_at((struct hl_name *)(void *)entry);
        if (gate)
            hl_gate_advance(gate, 0);
    }
}

void hl_gate_forget(struct hl_acquire *acquire)
{
    struct hl_gate *gate = hl_wait_name(acquire)->gate;
    stand(gate, acquire, STANDS_NOWHERE);
    drop_if_empty(gate);
}

static void clear(struct hl_gate *gate)
{
    struct hl_acquire *acquire;
    while ((acquire = last_of(gate)) != NULL) {
        stand(gate, acquire, STANDS_NOWHERE);
        acquire->lock->acquire = NULL;
        gate->core->waiter->free(gate->core, acquire);
    }
    drop_if_empty(gate);
}

void hl_gates_clear(struct hl_core *core)
{
    struct hl_table_entry *entry, *next = hl_table_next(&core->names, NULL);
    while ((entry = next) != NULL) {
        struct hl_gate *gate = hl_gate_at((struct hl_name *)(void *)entry);
        next = hl_table_next(&core->names, entry);
        if (gate)
            clear(gate);
    }
}

static void visit_line(const struct hl_line *line, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg)
{
    const struct hl_acquire *acquire;
    TAILQ_FOREACH(acquire, line, line)
        visit(acquire->lock, arg);
}

void hl_gates_visit(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg)
{
    const struct hl_table_entry *entry = NULL;
    while ((entry = hl_table_next(&core->names, entry)) != NULL) {
        const struct hl_gate *gate = hl_gate_at((const struct hl_name *)(const void *)entry);
        if (!gate)
            continue;
        visit_line(&gate->line, visit, arg);
        visit_line(&gate->aside, visit, arg);
        visit_line(&gate->asking, visit, arg);
        visit_line(&gate->queued, visit, arg);
    }
}

unsigned hl_gate_waiting(const struct hl_name *name) { return name->is_awaited ? name->gate->waiting : 0; }
