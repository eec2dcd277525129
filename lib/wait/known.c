/* SPDX-License-Identifier: BSD-3-Clause */
/* known - see known.h. */
#include "wait/known.h"

#include "base/plant.h"
#include "core/lease.h"
#include "wait/gate.h"
#include "wait/place.h"

enum { SAFETY_POLL_US = 5000000, RETRY_US = 50000, RETRY_STEPS_MAX = 5, SILENCE_US = 200000, SILENT_US = 60000000 };

/* A release may wake no waiter of ours if Redisson's fair lock has waiters of its own, or somebody else holds than
 * before, and no news came between. */
void hl_known_learn(const struct hl_acquire *acquire, const struct hl_response *said)
{
    struct hl_gate *gate = acquire->lock->name->gate;
    const struct hl_memory *memory = &gate->core->host.memory;
    uint64_t now_us = hl_now_us(&gate->core->host);
    struct hl_text words = {""};
    int is_fault = said && said->result == HL_FAULT, is_silent;
    gate->learned_us = now_us;
    gate->faults = is_fault ? gate->faults + 1 : 0;
    gate->known = is_fault ? said->fault.status : said ? HILOCK_TIMED_OUT : HILOCK_UNREACHABLE;
    if (!said || is_fault)
        gate->is_foreign = 0;
    if (is_fault)
        words = hl_hold_server_words(gate->core, said->quote, said->quote_length);
    else if (said) {
        hl_text_set(&words, "%.*s", (int)said->holder_length, said->holder);
        gate->waiters = acquire->place ? said->waiters : gate->waiters;
        gate->left_until_us = said->has_no_ttl ? UINT64_MAX : now_us + said->left_ms * 1000;
    }
    if (said && !is_fault && acquire->place) {
        is_silent = said->heir || (gate->is_foreign && gate->words && strcmp(gate->words, words.bytes) != 0);
        gate->is_foreign = !said->hands_over;
        if (gate->is_foreign && is_silent)
            gate->core->silent_until_us = now_us + SILENT_US;
    }
    hl_memory_free(memory, gate->words);
    gate->words = hl_memory_copy(memory, words.bytes, strlen(words.bytes));
}

int hl_known_is_held(const struct hl_name *name)
{
    const struct hl_gate *gate = name->gate;
    return name->hold || (gate && gate->known == HILOCK_TIMED_OUT && gate->waiting);
}

int hl_known_denies(const struct hl_name *name)
{
    const struct hl_gate *gate = name->gate;
    return name->hold || (hl_known_is_held(name) && gate->left_until_us > hl_now_us(&gate->core->host));
}

hilock_status hl_known_status(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_gate *gate = name->gate;
    const struct hl_acquire *head = gate ? TAILQ_FIRST(&gate->line) : NULL;
    const struct hl_acquire *asks = hl_waiter_is_alone(acquire) ? acquire : head;
    const struct hl_request *request = asks && asks->hold ? &asks->hold->request : NULL;
    const struct hl_node *node = hl_name_node(core, name);
    int is_pending = request && request->place == REQUEST_SENT;
    int is_silent = is_pending && hl_now_us(&core->host) - request->sent_us > SILENCE_US;
    /* the head has it, and replicas are asked: other waiters need not know of replicas */
    int is_taken = head && head != acquire && head->hold && hl_hold_is_confirming(head->hold);
    if (name->hold || is_taken)
        return HILOCK_TIMED_OUT;
    if (!gate || !(node->is_up || node->is_astray) || is_silent)
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
    uint64_t until_us = 0, now_us = hl_now_us(&core->host);
    if (name->hold && status == HILOCK_TIMED_OUT) {
        known.words[hl_holder_write(known.words, core->uuid, name->hold->id, core->label)] = '\0';
        until_us = hl_hold_deadline_us(name->hold);
    } else if (gate && gate->words && gate->known == status) {
        memccpy(known.words, gate->words, 0, sizeof known.words);
        until_us = gate->left_until_us;
        known.age_ms = hl_lease_span_ms(now_us - gate->learned_us);
    }
    known.holder_remaining_ms = until_us == UINT64_MAX ? HILOCK_FOREVER
                                                       : hl_lease_span_ms(hl_left_us(until_us, now_us));
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
    uint64_t guard_us = hl_node_guard_left_us(hl_name_node(core, name));
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

static void add_end(struct hl_text *text, const struct hl_known *known)
{
    if (known->holder_remaining_ms == HILOCK_FOREVER)
        hl_text_add(text, "; its lease has no end");
    else
        hl_text_add(text, "; its lease ends in %u ms", known->holder_remaining_ms);
}

static void timed_out(struct hl_text *text, const struct hl_acquire *acquire, const struct hl_known *known,
                      uint32_t waited_ms)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_quoted quoted = hl_name_quoted(name), holder = hl_text_holder(known->words, strlen(known->words));
    int has_asked = acquire->place || acquire->is_try; /* else it waits behind a sibling */
    if (!*known->words && !name->hold && acquire->lock->terms->kind->has_queue && has_asked)
        hl_text_set(text, "\"%s\" was free, but kept for others that came first", quoted.bytes);
    else if (!*known->words || name->hold)
        hl_text_set(text, "\"%s\" is held by another handle of this client", quoted.bytes);
    else if (acquire->is_try)
        hl_text_set(text, "\"%s\" is held by %s", quoted.bytes, holder.bytes);
    else
        hl_text_set(text, "\"%s\" was held by %s for the whole %u ms (%u tries)", quoted.bytes, holder.bytes, waited_ms,
                    acquire->attempts);
    if (*known->words && !name->hold)
        add_end(text, known);
    if (acquire->lock->terms->kind->place_each)
        hl_text_add(text, "; place %u of %u in its queue", acquire->place->position, acquire->place->waiters);
}

static void unreachable(struct hl_text *text, const struct hl_acquire *acquire, const struct hl_node *node,
                        uint32_t waited_ms)
{
    if (acquire->lock->terms->replicas && node->is_up && node->third && !node->third->is_up)
        node = node->third; /* only its third link is away */
    if (acquire->attempts)
        hl_text_set(text, "no answer from %s within %u ms: %s, %u tries; a late grant will be undone",
                    hl_node_name(node), waited_ms, hl_hold_silence_words(node), acquire->attempts);
    else
        hl_text_set(text, "%s could not be asked within %u ms: %s", hl_node_name(node), waited_ms,
                    hl_hold_silence_words(node));
}

struct hl_last_words *hl_known_last_words(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status)
{
    struct hilock_result result = {.status = status};
    struct hl_known known = hl_known_of(core, acquire, status);
    const struct hl_name *name = acquire->lock->name;
    uint32_t waited_ms = hl_lease_span_ms(hl_now_us(&core->host) - acquire->begun_us);
    struct hl_text text;
    if (status == HILOCK_TIMED_OUT) {
        timed_out(&text, acquire, &known, waited_ms);
        result.holder = known.words;
        result.holder_remaining_ms = known.holder_remaining_ms;
    } else if (status == HILOCK_UNREACHABLE)
        unreachable(&text, acquire, hl_name_node(core, name), waited_ms);
    else if (status == HILOCK_QUEUE_FULL)
        hl_text_set(&text, "%u wait for \"%s\" at the store, and queue_max is %u: shed load, or raise queue_max",
                    name->gate->waiters, hl_name_quoted(name).bytes, core->limits.queue_max);
    else if (status == HILOCK_NO_MEMORY)
        hl_text_set(&text, "\"%s\": out of memory from its turn until the wait ended", hl_name_quoted(name).bytes);
    else if (status == HILOCK_NOT_REPLICATED && acquire->hold && hl_hold_is_confirming(acquire->hold))
        hl_text_set(&text, "fewer than %u replicas had confirmed when the wait of %u ms ended; the grant was undone",
                    acquire->lock->terms->replicas, waited_ms);
    else if (status == HILOCK_NOT_REPLICATED)
        hl_text_set(&text, "%s; the grant was undone", known.words);
    else if (status <= HILOCK_DENIED)
        hl_hold_refusal_words(acquire->lock, status, known.words, &text);
    else
        return NULL;
    result.detail = text.bytes;
    return hl_known_copy_words(&core->host.memory, &result);
}

struct hl_last_words *hl_known_copy_words(const struct hl_memory *memory, const struct hilock_result *result)
{
    const char *holder = result->holder ? result->holder : "";
    size_t holder_size = strlen(holder) + 1, detail_size = strlen(result->detail) + 1;
    struct hl_last_words *words = hl_memory_new(memory, sizeof *words + holder_size + detail_size);
    if (!words)
        return NULL;
    words->holder_remaining_ms = result->holder_remaining_ms;
    memcpy(words->holder, holder, holder_size);
    words->detail = memcpy(words->holder + holder_size, result->detail, detail_size);
    return words;
}

void hl_known_say_words(const struct hl_last_words *words, struct hilock_result *result)
{
    result->detail = words ? words->detail : hilock_status_text(result->status);
    result->holder = words ? words->holder : "";
    result->holder_remaining_ms = words ? words->holder_remaining_ms : 0;
}
