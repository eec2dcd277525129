/* SPDX-License-Identifier: BSD-3-Clause */
/* inquiry - see inquiry.h. No answer is asked for again while there is time (a release that names its holder may run twice); an error is the
 * answer. */
#include "lock/inquiry.h"

#include "base/plant.h"
#include "lock/deliver.h"
#include "lock/lease.h"
#include "lock/turn.h"
#include "lock/words.h"
#include "wire/peek.h"

static struct hl_core *core_of(const struct hl_inquiry *inquiry) { return inquiry->lock->terms->cell->core; }

static struct hl_inquiry *inquiry_of(struct hl_request *request)
{
    return (struct hl_inquiry *)(void *)((char *)request - offsetof(struct hl_inquiry, request));
}

static uint64_t ends_us(const struct hl_inquiry *inquiry)
{
    return inquiry->begun_us + (uint64_t)core_of(inquiry)->limits.command_timeout_ms * 1000;
}

static void about(const struct hl_request *request, struct hl_about *ret)
{
    const struct hl_name *name = inquiry_of((struct hl_request *)(uintptr_t)request)->lock->name;
    *ret = (struct hl_about){name->bytes, name->length, 0};
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    struct hl_inquiry *inquiry = inquiry_of(request);
    const struct hl_name *name = inquiry->lock->name;
    const struct hl_kind *kind = inquiry->lock->terms->kind;
    const struct hl_acquire *acquire = inquiry->lock->acquire;
    const struct hl_words words = {name->bytes, name->length, core_of(inquiry)->uuid, acquire && acquire->hold ? acquire->hold->id : 0};
    inquiry->attempts++;
    inquiry->was_sent = inquiry->state == INQUIRY_RELEASING;
    if (inquiry->state == INQUIRY_PEEKING)
        hl_peek(command, kind, &words);
    else
        kind->force(command, &words, &(struct hl_wants){.token_ttl_ms = core_of(inquiry)->limits.token_ttl_ms, .is_sharded = request->node->subscription.is_sharded}, inquiry->holder,
                    inquiry->holder_length);
}

static void ask(struct hl_inquiry *inquiry)
{
    struct hl_core *core = core_of(inquiry);
    hl_route_submit(core->route, &inquiry->request, core->limits.command_timeout_ms, inquiry->state == INQUIRY_RELEASING ? HL_REQUEST_URGENT : 0);
}

/* ---- the end ---- */

static void inquiry_free(struct hl_core *core, struct hl_inquiry *inquiry)
{
    TAILQ_REMOVE(&core->inquiries, inquiry, entry);
    hl_notice_move(core, &inquiry->notice, PLACE_NONE);
    hl_timer_free(&core->host, inquiry->timer);
    hl_lock_unref(inquiry->lock);
    hl_memory_free(&core->host.memory, inquiry);
}

int hl_inquiry_is_silenced(const struct hl_inquiry *inquiry)
{
    return !inquiry->on_result || inquiry->lock->epoch != inquiry->notice.epoch;
}

void hl_inquiry_retire(struct hl_core *core, struct hl_inquiry *inquiry)
{
    if (!hl_request_is_busy(&inquiry->request))
        inquiry_free(core, inquiry);
}

static void decide(struct hl_inquiry *inquiry, hilock_status status)
{
    struct hl_core *core = core_of(inquiry);
    inquiry->status = status;
    if (!*inquiry->detail.bytes)
        hl_words_of_inquiry(core, inquiry);
    inquiry->state = INQUIRY_DECIDED;
    core->inquiries_open--;
    hl_timer_stop(&core->host, inquiry->timer);
    hl_trace(&core->host, HL_INQUIRY_ENDED, &(struct hl_fact){.name = inquiry->lock->name->bytes, .status = status, .detail = inquiry->detail.bytes,
                                                              .count = inquiry->is_forcing});
    hl_notice_tell(core, &inquiry->notice, 1);
}

static void run_out(struct hl_inquiry *inquiry)
{
    int may_be_done = inquiry->was_sent;
    hl_node_withdraw(&inquiry->request);
    decide(inquiry, may_be_done ? HILOCK_UNKNOWN : HILOCK_UNREACHABLE);
}

void hl_inquiries_end(struct hl_core *core)
{
    struct hl_inquiry *inquiry;
    TAILQ_FOREACH(inquiry, &core->inquiries, entry)
        if (inquiry->state != INQUIRY_DECIDED)
            run_out(inquiry);
}

void hl_inquiries_clear(struct hl_core *core)
{
    struct hl_inquiry *inquiry;
    while ((inquiry = TAILQ_FIRST(&core->inquiries)) != NULL)
        inquiry_free(core, inquiry);
    core->inquiries_open = 0;
}

/* ---- answers ---- */

static void on_fault(struct hl_inquiry *inquiry, const struct hl_fault *fault, const char *quote, size_t length)
{
    hl_words_of_refusal(core_of(inquiry), inquiry->lock->name, inquiry->lock->terms->kind, fault->status, hl_quote(quote, length).bytes, &inquiry->detail);
    decide(inquiry, inquiry->was_repeated ? HILOCK_UNKNOWN : fault->status);
}

static void keep_holder(struct hl_inquiry *inquiry, const struct hl_peeked *peeked)
{
    size_t kept = peeked->holder_length < HL_INQUIRY_HOLDER_MAX ? peeked->holder_length : HL_INQUIRY_HOLDER_MAX;
    memcpy(inquiry->holder, peeked->holder, kept);
    inquiry->holder[kept] = '\0';
    inquiry->holder_length = peeked->holder_length;
    inquiry->holder_remaining_ms = peeked->has_no_ttl ? HILOCK_FOREVER : hl_span_ms(peeked->left_ms * 1000);
}

static void on_peeked(struct hl_inquiry *inquiry, const struct hl_reply *reply)
{
    const struct hl_peeked peeked = hl_peek_said(reply);
    if (peeked.what == HL_PEEKED_FAULT) {
        on_fault(inquiry, &peeked.fault, peeked.quote, peeked.quote_length);
        return;
    }
    if (peeked.what == HL_PEEKED_HELD)
        keep_holder(inquiry, &peeked);
    inquiry->waiters = peeked.waiters;
    inquiry->position = peeked.position;
    if (!inquiry->is_forcing)
        decide(inquiry, HILOCK_OK);
    else if (!inquiry->holder_length)
        decide(inquiry, HILOCK_LOST);
    else if (inquiry->holder_length > HL_INQUIRY_HOLDER_MAX)
        decide(inquiry, HILOCK_PROTOCOL);
    else {
        inquiry->state = INQUIRY_RELEASING;
        ask(inquiry);
    }
}

/* "Not held" after one that went unanswered: that one did it. */
static void on_released(struct hl_inquiry *inquiry, const struct hl_reply *reply)
{
    const struct hl_said said = inquiry->lock->terms->kind->released(reply, HL_FORM_SCRIPT);
    if (said.verdict == HL_FAULT)
        on_fault(inquiry, &said.fault, said.quote, said.quote_length);
    else
        decide(inquiry, said.verdict == HL_YES || inquiry->was_repeated ? HILOCK_OK : HILOCK_LOST);
}

static void done(struct hl_request *request, const struct hl_answer *answer)
{
    struct hl_inquiry *inquiry = inquiry_of(request);
    if (inquiry->state == INQUIRY_DECIDED) {
        if (!inquiry->notice.tell)
            inquiry_free(core_of(inquiry), inquiry);
    } else if (!answer->reply) {
        inquiry->was_repeated = inquiry->was_sent;
        ask(inquiry);
    } else if (inquiry->state == INQUIRY_PEEKING)
        on_peeked(inquiry, answer->reply);
    else
        on_released(inquiry, answer->reply);
}

static void on_timer(void *arg)
{
    struct hl_inquiry *inquiry = arg;
    struct hl_host *host = &core_of(inquiry)->host;
    uint64_t now_us = hl_now_us(host);
    hl_host_enter(host);
    if (now_us < ends_us(inquiry))
        hl_timer_start(host, inquiry->timer, ends_us(inquiry) - now_us);
    else if (inquiry->state != INQUIRY_DECIDED)
        run_out(inquiry);
    hl_host_leave(host);
}

/* ---- the begin ---- */

static struct hl_inquiry *inquiry_new(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    static const struct hl_request_ops ops = {about, encode, done};
    struct hl_inquiry *inquiry = hl_memory_new(&core->host.memory, sizeof *inquiry);
    if (!inquiry)
        return NULL;
    inquiry->timer = hl_timer_new(&core->host, on_timer, inquiry);
    if (!inquiry->timer) {
        hl_memory_free(&core->host.memory, inquiry);
        return NULL;
    }
    inquiry->notice.kind = NOTICE_INQUIRY;
    inquiry->notice.epoch = lock->epoch;
    inquiry->request.ops = &ops;
    inquiry->lock = lock;
    lock->refs++;
    inquiry->on_result = on_result;
    inquiry->user = user;
    inquiry->begun_us = hl_now_us(&core->host);
    TAILQ_INSERT_TAIL(&core->inquiries, inquiry, entry);
    core->inquiries_open++;
    hl_timer_start(&core->host, inquiry->timer, ends_us(inquiry) - inquiry->begun_us);
    return inquiry;
}

hilock_status hl_inquiry_peek(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    struct hl_inquiry *inquiry = inquiry_new(core, lock, on_result, user);
    if (!inquiry)
        return HILOCK_NO_MEMORY;
    ask(inquiry);
    return HILOCK_OK;
}

hilock_status hl_inquiry_force(struct hl_core *core, struct hilock_lock *lock, const char *holder, hilock_result_fn *on_result, void *user)
{
    struct hl_inquiry *inquiry = inquiry_new(core, lock, on_result, user);
    if (!inquiry)
        return HILOCK_NO_MEMORY;
    inquiry->is_forcing = 1;
    if (holder && !HL_PLANTED(FORCE_OF_WHOEVER)) {
        inquiry->state = INQUIRY_RELEASING;
        inquiry->holder_length = strnlen(holder, HL_INQUIRY_HOLDER_MAX);
        memcpy(inquiry->holder, holder, inquiry->holder_length);
    }
    ask(inquiry);
    return HILOCK_OK;
}
