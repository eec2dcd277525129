/* SPDX-License-Identifier: BSD-3-Clause */
/* known - see known.h. */
#include "wait/known.h"

#include "base/plant.h"
#include "core/lease.h"
#include "hold/hold.h"
#include "hold/messages.h"
#include "wait/gate.h"

enum { SAFETY_POLL_US = 5000000, RETRY_US = 50000, RETRY_STEPS_MAX = 5, SILENCE_US = 200000, SILENT_US = 60000000 };

static void keep(struct hl_core *core, char **text, const char *bytes, size_t length, size_t length_max)
{
    hl_memory_free(&core->host.memory, *text);
    *text = bytes ? hl_memory_copy(&core->host.memory, bytes, length < length_max ? length : length_max) : NULL;
}

/* Redisson's fair lock has waiters of its own, or somebody else holds than before, and no message came between. */
static int is_silent_program(const struct hl_gate *gate, const struct hl_response *said)
{
    int is_another = gate->holder && (strlen(gate->holder) != said->holder_length ||
                                      memcmp(gate->holder, said->holder, said->holder_length) != 0);
    return said->heir || (gate->foreign_us && gate->news_us < gate->foreign_us && is_another);
}

static void hear_of_others(struct hl_core *core, struct hl_gate *gate, const struct hl_response *said)
{
    if (!said->hands_over && is_silent_program(gate, said))
        core->silent_until_us = hl_now_us(&core->host) + SILENT_US;
    gate->foreign_us = said->hands_over ? 0 : hl_now_us(&core->host);
}

static void hear_of_fault(struct hl_core *core, struct hl_gate *gate, const struct hl_response *said)
{
    struct hl_text note = hl_message_of_server(core, said->quote, said->quote_length);
    keep(core, &gate->note, note.bytes, strlen(note.bytes), sizeof note.bytes);
    gate->faults++;
    gate->known = said->fault.status;
}

static void hear_of_holder(struct hl_core *core, const struct hl_acquire *acquire, const struct hl_response *said)
{
    struct hl_gate *gate = acquire->lock->name->gate;
    gate->known = HILOCK_TIMED_OUT;
    if (acquire->place)
        hear_of_others(core, gate, said);
    keep(core, &gate->holder, said->holder, said->holder_length, HL_KNOWN_HOLDER_MAX);
    gate->left_until_us = said->has_no_ttl ? UINT64_MAX : hl_now_us(&core->host) + said->left_ms * 1000;
}

void hl_known_learn(const struct hl_acquire *acquire, const struct hl_response *said)
{
    struct hl_gate *gate = acquire->lock->name->gate;
    struct hl_core *core = gate->core;
    gate->asker = acquire->lock->terms->kind;
    if (said && said->result == HL_FAULT) {
        hear_of_fault(core, gate, said);
        return;
    }
    gate->faults = 0;
    keep(core, &gate->note, NULL, 0, 0);
    if (said)
        hear_of_holder(core, acquire, said);
    else
        gate->known = HILOCK_UNREACHABLE;
}

int hl_known_is_held(const struct hl_name *name)
{
    const struct hl_gate *gate = name->gate;
    return name->hold || (gate && gate->known == HILOCK_TIMED_OUT && gate->waiting);
}

/* A request is pending for longer than any answer takes. */
static int is_silent(struct hl_core *core, const struct hl_gate *gate, const struct hl_acquire *acquire)
{
    const struct hl_acquire *head = acquire->stands == STANDS_QUEUED || acquire->is_try ? acquire
        : TAILQ_FIRST(&gate->line);
    const struct hl_request *request = head && head->hold ? &head->hold->request : NULL;
    return request && request->place == REQUEST_SENT && hl_now_us(&core->host) - request->sent_us > SILENCE_US;
}

static int is_of_another_kind(const struct hl_gate *gate, const struct hl_acquire *acquire)
{
    return gate->known == HILOCK_WRONG_KIND && gate->asker != acquire->lock->terms->kind;
}

/* It has the name, and replicas are asked: other waiters need not know of replicas. */
static int is_taken_by_head(const struct hl_gate *gate, const struct hl_acquire *acquire)
{
    const struct hl_acquire *head = gate ? TAILQ_FIRST(&gate->line) : NULL;
    return head && head != acquire && head->hold && hl_hold_is_confirming(head->hold);
}

hilock_status hl_known_status(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_gate *gate = name->gate;
    if (name->hold || is_taken_by_head(gate, acquire))
        return HILOCK_TIMED_OUT;
    if (!gate || !hl_name_node(core, name)->is_up || is_silent(core, gate, acquire) ||
        is_of_another_kind(gate, acquire))
        return HILOCK_UNREACHABLE;
    if (gate->known == HILOCK_NOT_REPLICATED && !acquire->lock->terms->replicas)
        return HILOCK_TIMED_OUT;
    if (gate->known == HILOCK_OK)
        return acquire->is_unconfirmed ? HILOCK_NOT_REPLICATED : HILOCK_UNREACHABLE;
    return gate->known;
}

/* No request is needed to see our own hold. */
struct hl_known hl_known_of(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_gate *gate = name->gate;
    struct hl_known known = {.status = hl_known_status(core, acquire), .note = gate && gate->note ? gate->note : ""};
    uint64_t until_us = 0;
    if (name->hold) {
        hl_message_of_holder(core, name->hold, known.holder);
        until_us = hl_hold_deadline_us(name->hold);
    } else if (gate && gate->holder && known.status == HILOCK_TIMED_OUT) {
        memccpy(known.holder, gate->holder, 0, sizeof known.holder);
        until_us = gate->left_until_us == UINT64_MAX ? 0 : gate->left_until_us;
    }
    known.holder_remaining_ms = hl_lease_span_ms(hl_left_us(until_us, hl_now_us(&core->host)));
    return known;
}

/* A part of the pause is random, so that pollers do not come in step. Waiters poll, too, if the server refuses their
 * subscription, and if they could stand in the queue and do not: a release that hands over sends them nothing. */
static uint64_t poll_us(struct hl_gate *gate, const struct hl_terms *terms)
{
    uint64_t jitter_us = (uint64_t)terms->poll_jitter_ms * 1000;
    if (!terms->is_polling && !gate->is_deaf && !terms->kind->has_queue)
        return SAFETY_POLL_US;
    return (uint64_t)terms->poll_min_ms * 1000 + hl_random_below(&gate->core->host.random, jitter_us + 1);
}

/* Held: until the holder's lease ends at the server (the last millisecond is still the holder's), the next poll, or the
 * safety poll, because other kinds of lock on this name exclude us and publish nothing here. Under the restart guard:
 * until that is over. After another fault: a pause that doubles. */
uint64_t hl_known_sleep_us(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    struct hl_gate *gate = name->gate;
    uint64_t now_us = hl_now_us(&core->host), left_us = hl_left_us(gate->left_until_us, now_us), step;
    uint64_t guard_us = hl_node_guard_left_us(hl_name_node(core, name), now_us);
    if (HL_PLANTED(SLEEPS_FOR_EVER))
        return (uint64_t)1 << 50;
    if (gate->known == HILOCK_UNWRITABLE && guard_us)
        return guard_us;
    if (gate->known == HILOCK_TIMED_OUT) {
        step = poll_us(gate, acquire->lock->terms);
        return left_us > step || HL_PLANTED(POLL_OVERSLEEPS) ? step : left_us + 1000;
    }
    step = (uint64_t)RETRY_US << (gate->faults < RETRY_STEPS_MAX ? gate->faults : RETRY_STEPS_MAX);
    return step / 2 + hl_random_below(&core->host.random, step / 2);
}
