/* SPDX-License-Identifier: BSD-3-Clause */
/* known - see known.h. */
#include "wait/known.h"

#include "base/plant.h"
#include "core/lease.h"
#include "hold/messages.h"
#include "wait/gate.h"

enum { SAFETY_POLL_US = 5000000, RETRY_US = 50000, RETRY_STEPS_MAX = 5, SILENCE_US = 200000, SILENT_US = 60000000 };

static void keep(struct hl_gate *gate, const char *words, size_t length)
{
    const struct hl_memory *memory = &gate->core->host.memory;
    hl_memory_free(memory, gate->words);
    gate->words = hl_memory_copy(memory, words, length < HL_KNOWN_WORDS_MAX ? length : HL_KNOWN_WORDS_MAX);
}

/* Redisson's fair lock has waiters of its own, or somebody else holds than before, and no message came between. */
static void hear_of_others(struct hl_gate *gate, const struct hl_response *said)
{
    int is_another = gate->words && (strlen(gate->words) != said->holder_length ||
                                     memcmp(gate->words, said->holder, said->holder_length) != 0);
    int is_silent = said->heir || (gate->is_foreign && is_another);
    gate->is_foreign = !said->hands_over;
    if (gate->is_foreign && is_silent)
        gate->core->silent_until_us = hl_now_us(&gate->core->host) + SILENT_US;
}

void hl_known_learn(const struct hl_acquire *acquire, const struct hl_response *said)
{
    struct hl_gate *gate = acquire->lock->name->gate;
    struct hl_text words = {""};
    int is_fault = said && said->result == HL_FAULT;
    gate->faults = is_fault ? gate->faults + 1 : 0;
    gate->known = is_fault ? said->fault.status : said ? HILOCK_TIMED_OUT : HILOCK_UNREACHABLE;
    if (said && !is_fault) {
        if (acquire->place)
            hear_of_others(gate, said);
        keep(gate, said->holder, said->holder_length);
        gate->left_until_us = said->has_no_ttl ? UINT64_MAX : hl_now_us(&gate->core->host) + said->left_ms * 1000;
        return;
    }
    gate->is_foreign = 0;
    if (is_fault)
        words = hl_message_of_server(gate->core, said->quote, said->quote_length);
    keep(gate, words.bytes, strlen(words.bytes));
}

int hl_known_is_held(const struct hl_name *name)
{
    const struct hl_gate *gate = name->gate;
    return name->hold || (gate && gate->known == HILOCK_TIMED_OUT && gate->waiting);
}

/* The request of the one that asks is pending for longer than any answer takes. */
static int is_silent(struct hl_core *core, const struct hl_acquire *asks)
{
    const struct hl_request *request = asks && asks->hold ? &asks->hold->request : NULL;
    return request && request->place == REQUEST_SENT && hl_now_us(&core->host) - request->sent_us > SILENCE_US;
}

hilock_status hl_known_status(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_gate *gate = name->gate;
    const struct hl_acquire *head = gate ? TAILQ_FIRST(&gate->line) : NULL;
    /* the head has it, and replicas are asked: other waiters need not know of replicas */
    int is_taken = head && head != acquire && head->hold && hl_hold_is_confirming(head->hold);
    if (name->hold || is_taken)
        return HILOCK_TIMED_OUT;
    if (!gate || !hl_name_node(core, name)->is_up || is_silent(core, hl_waiter_is_alone(acquire) ? acquire : head))
        return HILOCK_UNREACHABLE;
    if (gate->known == HILOCK_WRONG_KIND || gate->known == HILOCK_OK) /* wrong for one kind, it is good for another */
        return HILOCK_UNREACHABLE;
    if (gate->known == HILOCK_NOT_REPLICATED && !acquire->lock->terms->replicas)
        return HILOCK_TIMED_OUT;
    return gate->known;
}

/* No request is needed to see our own hold. */
struct hl_known hl_known_of(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_gate *gate = name->gate;
    struct hl_known known = {.words = ""};
    uint64_t until_us = 0;
    if (name->hold && status == HILOCK_TIMED_OUT) {
        known.words[hl_holder_write(known.words, core->uuid, name->hold->id, core->label)] = '\0';
        until_us = hl_hold_deadline_us(name->hold);
    } else if (gate && gate->words && gate->known == status) {
        memccpy(known.words, gate->words, 0, sizeof known.words);
        until_us = gate->left_until_us == UINT64_MAX ? 0 : gate->left_until_us;
    }
    known.holder_remaining_ms = hl_lease_span_ms(hl_left_us(until_us, hl_now_us(&core->host)));
    return known;
}

uint64_t hl_known_poll_us(struct hl_core *core, const struct hl_terms *terms)
{
    uint64_t jitter_us = (uint64_t)terms->poll_jitter_ms * 1000;
    return (uint64_t)terms->poll_min_ms * 1000 + hl_random_below(&core->host.random, jitter_us + 1);
}

/* Held: until the holder's lease ends at the server (the last millisecond is still the holder's), the next poll, or the
 * safety poll, because other kinds of lock on this name exclude us and publish nothing here. Waiters poll, too, if the
 * server refuses their subscription, and if they could stand in the queue and do not: a release that hands over sends
 * them nothing. Under the restart guard: until that is over. After another fault: a pause that doubles. */
uint64_t hl_known_sleep_us(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_terms *terms = acquire->lock->terms;
    const struct hl_gate *gate = name->gate;
    uint64_t now_us = hl_now_us(&core->host), left_us = hl_left_us(gate->left_until_us, now_us), step;
    uint64_t guard_us = hl_node_guard_left_us(hl_name_node(core, name), now_us);
    if (HL_PLANTED(SLEEPS_FOR_EVER))
        return (uint64_t)1 << 50;
    if (gate->known == HILOCK_UNWRITABLE && guard_us)
        return guard_us;
    if (gate->known == HILOCK_TIMED_OUT) {
        step = terms->is_polling || gate->is_deaf || terms->kind->has_queue ? hl_known_poll_us(core, terms)
               : SAFETY_POLL_US;
        return left_us > step || HL_PLANTED(POLL_OVERSLEEPS) ? step : left_us + 1000;
    }
    step = (uint64_t)RETRY_US << (gate->faults < RETRY_STEPS_MAX ? gate->faults : RETRY_STEPS_MAX);
    return step / 2 + hl_random_below(&core->host.random, step / 2);
}
