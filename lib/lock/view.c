/* SPDX-License-Identifier: BSD-3-Clause */
/* view - see view.h. */
#include "lock/view.h"

#include "core/lease.h"
#include "core/words.h"
#include "lock/line.h"
#include "lock/place.h"

enum { SAFETY_POLL_US = 5000000, RETRY_US = 50000, RETRY_STEPS_MAX = 5 };
enum { ANSWER_IS_LATE_US = 200000 };     /* a request without an answer for longer counts as unreachable */

int hl_view_denies(const struct hl_acquire *acquire)
{
    const struct hl_line *line = acquire->lock->name->line;
    int is_held = line->answer == LINE_HELD && line->waiting_here;
    return hl_hold_in_the_way(line->name, acquire->lock->terms) ||
           (is_held && line->lease_ends_at_us > hl_now_us(&line->core->host));
}

hilock_status hl_view_status(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_line *line = name->line;
    const struct hl_acquire *head = line ? hl_line_head(line) : NULL;
    const struct hl_acquire *sender = hl_waiter_sends_by_itself(acquire) ? acquire : head;
    const struct hl_request *request = sender && sender->hold ? &sender->hold->request : NULL;
    const struct hl_node *node = hl_name_node(core, name);
    int is_pending = request && hl_request_is_on_wire(request);
    int is_silent = is_pending && hl_now_us(&core->host) - request->sent_us > ANSWER_IS_LATE_US;
    /* the head is granted and waits for the replicas; for the other waiters the name is simply held */
    int is_taken = head && head != acquire && head->hold && head->hold->state == HOLD_CONFIRMING;
    if (hl_hold_of(name) || is_taken)
        return HILOCK_TIMED_OUT;
    if (!line || !(node->is_up || node->is_at_wrong_server) || is_silent)
        return HILOCK_UNREACHABLE;
    if (line->answer != LINE_FAULT)
        return line->answer == LINE_HELD || line->answer == LINE_HELD_BY_US ? HILOCK_TIMED_OUT : HILOCK_UNREACHABLE;
    /* the key has the wrong type for one kind of lock, but perhaps not for the kind of this acquire */
    if (line->fault_status == HILOCK_WRONG_KIND)
        return HILOCK_UNREACHABLE;
    if (line->fault_status == HILOCK_NOT_REPLICATED && !acquire->lock->terms->replicas)
        return HILOCK_TIMED_OUT;
    return line->fault_status;
}

/* 1: the words of the latest answer belong to that status. */
static int is_about(const struct hl_line *line, hilock_status status)
{
    return status == HILOCK_TIMED_OUT ? line->answer == LINE_HELD
                                      : line->answer == LINE_FAULT && line->fault_status == status;
}

/* If a handle of this client holds the name, the holder is known without a request. */
struct hl_view hl_view_of(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_line *line = name->line;
    const struct hl_hold *own = hl_hold_of(name);
    struct hl_view view = {.words = ""};
    uint64_t until_us = 0, now_us = hl_now_us(&core->host);
    if (own && status == HILOCK_TIMED_OUT) {
        view.words[hl_holder_write(view.words, core->uuid, own->id, core->label)] = '\0';
        until_us = hl_hold_deadline_us(own);
    } else if (line && line->holder_or_error && is_about(line, status)) {
        memccpy(view.words, line->holder_or_error, 0, sizeof view.words);
        until_us = line->lease_ends_at_us;
        view.age_ms = hl_lease_span_ms(now_us - line->answered_at_us);
    }
    if (status == HILOCK_TIMED_OUT)
        view.holders = line && line->answer == LINE_HELD && line->holders ? line->holders : own != NULL;
    view.holder_remaining_ms = until_us == UINT64_MAX ? HILOCK_FOREVER
                                                       : hl_lease_span_ms(hl_left_us(until_us, now_us));
    return view;
}

uint64_t hl_view_poll_us(struct hl_core *core, const struct hl_terms *terms)
{
    uint64_t jitter_us = (uint64_t)terms->poll_jitter_ms * 1000;
    return (uint64_t)terms->poll_min_ms * 1000 + hl_random_below(&core->host.random, jitter_us + 1);
}

/* Returns how long a waiter without a place sleeps after the latest answer.
 * - If the name is held: until the holder's lease ends at the server (the last millisecond is still the holder's), or
 *   the next poll. A waiter that is subscribed to messages polls rarely, only because of locks of other kinds, which
 *   exclude us on this name and publish nothing here. Three sorts of waiters poll more often: one whose options say so;
 *   one whose subscription the server refuses; and one without a place although its kind has a queue, because a release
 *   sends its message to the next waiter with a place only.
 * - While the restart guard of the node forbids grants (option restart_guard_ms): until the guard is over.
 * - After another fault: for a pause that doubles with each fault. */
uint64_t hl_view_sleep_us(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_terms *terms = acquire->lock->terms;
    const struct hl_line *line = name->line;
    uint64_t now_us = hl_now_us(&core->host), left_us = hl_left_us(line->lease_ends_at_us, now_us), step;
    uint64_t guard_us = hl_node_guard_remaining_us(hl_name_node(core, name));
    if (line->answer == LINE_FAULT && line->fault_status == HILOCK_UNWRITABLE && guard_us)
        return guard_us;
    if (line->answer == LINE_HELD) {
        step = terms->is_polling || line->is_channel_refused || hl_has_queue(terms) ? hl_view_poll_us(core, terms)
               : SAFETY_POLL_US;
        return left_us > step ? step : left_us + 1000;
    }
    step = (uint64_t)RETRY_US << (line->faults < RETRY_STEPS_MAX ? line->faults : RETRY_STEPS_MAX);
    return step / 2 + hl_random_below(&core->host.random, step / 2);
}

static void timed_out(struct hl_text *text, const struct hl_acquire *acquire, const struct hl_view *view,
                      uint32_t waited_ms)
{
    const struct hl_name *name = acquire->lock->name;
    const struct hl_quoted quoted = hl_name_quoted(name);
    const struct hl_text holder =
        hl_words_holders(hl_text_holder(view->words, strlen(view->words)).bytes, view->holders);
    /* an acquire that has sent nothing waits behind another handle of this client */
    int has_sent = acquire->place || hl_acquire_is_try(acquire);
    int has_words = *view->words || hl_hold_of(name);
    if (!has_words && name->line->answer == LINE_HELD_BY_US)
        hl_words_held_by_us_before(text, quoted.bytes);
    else if (!has_words && hl_has_queue(acquire->lock->terms) && has_sent)
        hl_words_reserved(text, quoted.bytes);
    else if (!*view->words || hl_hold_of(name))
        hl_words_held_by_us(text, quoted.bytes);
    else if (hl_acquire_is_try(acquire))
        hl_words_held(text, quoted.bytes, holder.bytes);
    else
        hl_words_held_on(text, quoted.bytes, holder.bytes, waited_ms, acquire->attempts);
    if (*view->words && !hl_hold_of(name))
        hl_words_add_lease_end(text, view->holder_remaining_ms);
    if (hl_has_own_place(acquire->lock->terms))
        hl_words_add_position(text, acquire->place->position, acquire->place->waiters);
}

static void unreachable(struct hl_text *text, const struct hl_acquire *acquire, const struct hl_node *node,
                        uint32_t waited_ms)
{
    if (acquire->lock->terms->replicas && node->is_up && node->confirm_node && !node->confirm_node->is_up)
        node = node->confirm_node; /* only the link for WAIT is down */
    if (acquire->attempts)
        hl_words_no_answer(text, hl_node_name(node), waited_ms, hl_words_silence(node), acquire->attempts);
    else
        hl_words_not_asked(text, hl_node_name(node), waited_ms, hl_words_silence(node));
}

struct hl_result_words *hl_view_result_words(struct hl_core *core, const struct hl_acquire *acquire,
                                             hilock_status status)
{
    struct hilock_result result = {.status = status};
    struct hl_view view = hl_view_of(core, acquire, status);
    const struct hl_name *name = acquire->lock->name;
    uint32_t waited_ms = hl_lease_span_ms(hl_now_us(&core->host) - acquire->begun_us);
    struct hl_text text;
    if (status == HILOCK_TIMED_OUT) {
        timed_out(&text, acquire, &view, waited_ms);
        result.holder = view.words;
        result.holder_remaining_ms = view.holder_remaining_ms;
        result.holders = view.holders;
    } else if (status == HILOCK_UNREACHABLE)
        unreachable(&text, acquire, hl_name_node(core, name), waited_ms);
    else if (status == HILOCK_QUEUE_FULL)
        hl_words_queue_full(&text, hl_name_quoted(name).bytes, name->line->queued_at_store, core->limits.queue_max);
    else if (status == HILOCK_NO_MEMORY)
        hl_words_starved(&text, hl_name_quoted(name).bytes);
    else if (status == HILOCK_NOT_REPLICATED && acquire->hold && acquire->hold->state == HOLD_CONFIRMING)
        hl_words_unconfirmed(&text, acquire->lock->terms->replicas, waited_ms);
    else if (status == HILOCK_NOT_REPLICATED)
        hl_words_not_replicated(&text, view.words);
    else if (status <= HILOCK_DENIED)
        hl_words_refusal(acquire->lock, status, view.words, &text);
    else
        return NULL;
    result.detail = text.bytes;
    return hl_view_copy_words(&core->host.memory, &result);
}

struct hl_result_words *hl_view_copy_words(const struct hl_memory *memory, const struct hilock_result *result)
{
    const char *holder = result->holder ? result->holder : "";
    size_t holder_size = strlen(holder) + 1, detail_size = strlen(result->detail) + 1;
    struct hl_result_words *words = hl_memory_new(memory, sizeof *words + holder_size + detail_size);
    if (!words)
        return NULL;
    words->holder_remaining_ms = result->holder_remaining_ms;
    words->holders = result->holders;
    memcpy(words->holder, holder, holder_size);
    words->detail = memcpy(words->holder + holder_size, result->detail, detail_size);
    return words;
}

void hl_view_set_words(const struct hl_result_words *words, struct hilock_result *result)
{
    result->detail = words ? words->detail : hilock_status_text(result->status);
    result->holder = words ? words->holder : "";
    result->holder_remaining_ms = words ? words->holder_remaining_ms : 0;
    result->holders = words ? words->holders : 0;
}
