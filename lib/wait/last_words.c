/* SPDX-License-Identifier: BSD-3-Clause */
/* last_words - see last_words.h. */
#include "wait/last_words.h"

#include "base/quote.h"
#include "core/lease.h"
#include "hold/messages.h"
#include "wait/known.h"
#include "wait/place.h"

static void timed_out(struct hl_text *text, const struct hl_acquire *acquire, const struct hl_known *known,
                      uint32_t waited_ms)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_quoted quoted = hl_name_quoted(name), holder = hl_quote_holder(known->words, strlen(known->words));
    int has_asked = acquire->place || acquire->is_try; /* else it waits behind a sibling */
    if (!*known->words && !name->hold && acquire->lock->terms->kind->has_queue && has_asked)
        hl_text_set(text, "\"%s\" was free, but kept for others that came first", quoted.bytes);
    else if (!*known->words || name->hold)
        hl_text_set(text, "\"%s\" is held by another handle of this client", quoted.bytes);
    else if (acquire->is_try)
        hl_text_set(text, "\"%s\" is held by %s; its lease ends in %u ms", quoted.bytes, holder.bytes,
                    known->holder_remaining_ms);
    else
        hl_text_set(text, "\"%s\" was held by %s for the whole %u ms (%u tries); its lease ends in %u ms", quoted.bytes,
                    holder.bytes, waited_ms, acquire->attempts, known->holder_remaining_ms);
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
                    hl_node_name(node), waited_ms, hl_message_silence_of(node), acquire->attempts);
    else
        hl_text_set(text, "%s could not be asked within %u ms: %s", hl_node_name(node), waited_ms,
                    hl_message_silence_of(node));
}

struct hl_last_words *hl_last_words_of(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status)
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
    else if (status == HILOCK_NO_MEMORY)
        hl_text_set(&text, "\"%s\": out of memory from its turn until the wait ended", hl_name_quoted(name).bytes);
    else if (status == HILOCK_NOT_REPLICATED && acquire->hold && hl_hold_is_confirming(acquire->hold))
        hl_text_set(&text, "fewer than %u replicas had confirmed when the wait of %u ms ended; the grant was undone",
                    acquire->lock->terms->replicas, waited_ms);
    else if (status == HILOCK_NOT_REPLICATED)
        hl_text_set(&text, "%s; the grant was undone", known.words);
    else if (status <= HILOCK_DENIED)
        hl_message_of_refusal(core, name, acquire->lock->terms->kind, status, known.words, &text);
    else
        return NULL;
    result.detail = text.bytes;
    return hl_last_words_copy(&core->host.memory, &result);
}

struct hl_last_words *hl_last_words_copy(const struct hl_memory *memory, const struct hilock_result *result)
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

void hl_last_words_say(const struct hl_last_words *words, struct hilock_result *result)
{
    result->detail = words ? words->detail : hilock_status_text(result->status);
    result->holder = words ? words->holder : "";
    result->holder_remaining_ms = words ? words->holder_remaining_ms : 0;
}
