/* SPDX-License-Identifier: BSD-3-Clause */
/* inquiry - see inquiry.h. A request without an answer is sent again while there is time; a release may be executed
 * twice, because it names the holder that it ends. An error ends the inquiry. */
#include "lock/inquiry.h"

#include "base/container.h"
#include "core/lease.h"
#include "core/words.h"
#include "hold/recheck.h"
#include "lock/listing.h"
#include "lock/place.h"

static struct hl_core *core_of(const struct hl_inquiry *inquiry) { return inquiry->call.lock->terms->cell->core; }

static int is_forcing(const struct hl_inquiry *inquiry) { return inquiry->operation == HILOCK_OP_FORCE_RELEASE; }

static struct hl_inquiry *inquiry_of(struct hl_request *request)
{
    return HL_CONTAINER(request, struct hl_inquiry, request);
}

static void about(const struct hl_request *request, struct hl_about *ret)
{
    *ret = hl_name_about(HL_CONTAINER(request, const struct hl_inquiry, request)->call.lock->name);
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    struct hl_inquiry *inquiry = inquiry_of(request);
    const struct hl_core *core = core_of(inquiry);
    const struct hilock_lock *lock = inquiry->call.lock;
    const struct hl_hold *waits = lock->acquire ? lock->acquire->hold : NULL;
    const struct hl_queue_entry entry = waits ? hl_hold_entry(waits) : (struct hl_queue_entry){0};
    const struct hl_target words = {.name = lock->name->bytes, .name_length = lock->name->length, .uuid = core->uuid,
                                    .id = waits ? waits->id : 0, .label = core->label};
    inquiry->attempts++;
    if (inquiry->state == INQUIRY_RELEASING && inquiry->release == RELEASE_NOT_SENT)
        inquiry->release = RELEASE_SENT;
    if (inquiry->state == INQUIRY_PEEKING)
        lock->terms->kind->peek(command, &words, &entry, inquiry->listing != NULL);
    else
        lock->terms->kind->force(command, &words,
                                 &(struct hl_force_params){.is_second = inquiry->stage == STAGE_SECOND,
                                                           .is_sharded = request->node->subscriptions.is_sharded,
                                                           .holder = inquiry->holder,
                                                           .holder_length = inquiry->holder_length});
}

static void ask(struct hl_inquiry *inquiry)
{
    struct hl_core *core = core_of(inquiry);
    hl_route_submit(core->route, &inquiry->request, core->limits.command_timeout_ms,
                    inquiry->state == INQUIRY_RELEASING ? HL_REQUEST_URGENT : 0);
}

static void describe(struct hl_core *core, struct hl_inquiry *inquiry)
{
    const struct hl_name *name = inquiry->call.lock->name;
    const struct hl_node *node = hl_name_node(core, name);
    struct hl_quoted holder = hl_text_holder(inquiry->holder, strlen(inquiry->holder)), quoted = hl_name_quoted(name);
    const struct hl_text holders = hl_words_holders(holder.bytes, inquiry->holders);
    struct hl_text *text = &inquiry->detail;
    if (inquiry->status == HILOCK_UNREACHABLE || inquiry->status == HILOCK_UNKNOWN)
        hl_words_inquiry_unanswered(text, hl_node_name(node),
                                    hl_lease_span_ms(hl_now_us(&core->host) - inquiry->call.begun_us),
                                    hl_words_silence(node), inquiry->release != RELEASE_NOT_SENT);
    else if (inquiry->status == HILOCK_PROTOCOL)
        hl_words_holder_too_long(text, quoted.bytes, inquiry->holder_length, HL_INQUIRY_HOLDER_MAX);
    else if (inquiry->status == HILOCK_WRONG_KIND)
        hl_words_refusal(inquiry->call.lock, inquiry->status, "", text);
    else if (inquiry->status == HILOCK_NO_MEMORY)
        hl_text_set(text, "%s", hilock_status_text(HILOCK_NO_MEMORY));
    else if (is_forcing(inquiry) && inquiry->status == HILOCK_OK)
        hl_words_forced(text, quoted.bytes, holder.bytes);
    else if (!*inquiry->holder)
        hl_words_nobody_holds(text, quoted.bytes);
    else if (is_forcing(inquiry))
        hl_words_not_forced(text, quoted.bytes, holder.bytes);
    else
        hl_words_holder(text, quoted.bytes, holders.bytes, (enum hl_find)inquiry->found, inquiry->holder_remaining_ms);
}

static void inquiry_free(struct hl_core *core, struct hl_inquiry *inquiry)
{
    TAILQ_REMOVE(&core->locks->inquiries, inquiry, entry);
    hl_listing_free(inquiry->listing);
    hl_call_free(core, &inquiry->call);
}

/* The inquiry was reported: frees it now, or when the pending answer comes. */
static void retire(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_inquiry *inquiry = HL_CONTAINER(notice, struct hl_inquiry, call.notice);
    if (!hl_request_is_busy(&inquiry->request))
        inquiry_free(core, inquiry);
}

/* A list is reported holder by holder: the notice keeps its place until the last one was told. The answer may free the
 * inquiry, so its result comes from a copy. */
static void report(struct hl_core *core, struct hl_notice *notice)
{
    struct hl_inquiry *inquiry = HL_CONTAINER(notice, struct hl_inquiry, call.notice);
    const struct hl_inquiry own = *inquiry;
    if (own.listing && !hl_notice_is_silenced(own.call.lock, notice) &&
        hl_listing_tell_next(own.listing, own.call.lock, own.call.user))
        return;
    hl_call_answer(core, &inquiry->call,
                   (struct hilock_result){
                       .status = own.status, .holder = own.holder, .detail = own.detail.bytes,
                       .operation = own.operation, .attempts = own.attempts, .holders = own.holders,
                       .holder_remaining_ms = own.holder_remaining_ms,
                       .waiters = own.waiters, .waiters_ready = own.ready, .position = own.position});
}

static void decide(struct hl_inquiry *inquiry, hilock_status status)
{
    struct hl_core *core = core_of(inquiry);
    inquiry->status = status;
    if (!*inquiry->detail.bytes)
        describe(core, inquiry);
    inquiry->state = INQUIRY_DECIDED;
    core->locks->inquiries_open--;
    hl_terms_trace(inquiry->call.lock->terms, HL_INQUIRY_ENDED,
                   &(struct hl_fact){.name = inquiry->call.lock->name->bytes, .status = status,
                                     .detail = inquiry->detail.bytes, .count = is_forcing(inquiry) ? 1 : 0});
    hl_call_decided(core, &inquiry->call, 0);
}

static void run_out(struct hl_core *core, struct hl_call *call)
{
    struct hl_inquiry *inquiry = HL_CONTAINER(call, struct hl_inquiry, call);
    (void)core;
    hl_node_withdraw(&inquiry->request);
    decide(inquiry, inquiry->release != RELEASE_NOT_SENT ? HILOCK_UNKNOWN : HILOCK_UNREACHABLE);
}

void hl_inquiries_end(struct hl_core *core)
{
    struct hl_inquiry *inquiry;
    TAILQ_FOREACH(inquiry, &core->locks->inquiries, entry)
        if (inquiry->state != INQUIRY_DECIDED)
            run_out(core, &inquiry->call);
}

void hl_inquiries_clear(struct hl_core *core)
{
    struct hl_inquiry *inquiry;
    while ((inquiry = TAILQ_FIRST(&core->locks->inquiries)) != NULL)
        inquiry_free(core, inquiry);
    core->locks->inquiries_open = 0;
}

static void on_fault(struct hl_inquiry *inquiry, const struct hl_response *said)
{
    struct hl_text words = hl_words_of_server(core_of(inquiry), said->quote, said->quote_length);
    hl_words_refusal(inquiry->call.lock, said->fault.status, words.bytes, &inquiry->detail);
    decide(inquiry, inquiry->release == RELEASE_UNANSWERED ? HILOCK_UNKNOWN : said->fault.status);
}

static void on_peeked(struct hl_inquiry *inquiry, const struct hl_reply *reply)
{
    const struct hl_response peeked = hl_response_peeked(reply, HL_FORM_SCRIPT);
    size_t kept = peeked.holder_length < HL_INQUIRY_HOLDER_MAX ? peeked.holder_length : HL_INQUIRY_HOLDER_MAX;
    if (peeked.result == HL_FAULT) {
        on_fault(inquiry, &peeked);
        return;
    }
    if (peeked.result == HL_NO) {
        memcpy(inquiry->holder, peeked.holder, kept); /* the rest of the array is zero */
        inquiry->holder_length = peeked.holder_length;
        inquiry->found = (uint8_t)peeked.found;
        inquiry->holders = peeked.holders ? peeked.holders : 1;
        inquiry->holder_remaining_ms = peeked.has_no_ttl ? HILOCK_FOREVER : hl_lease_span_ms(peeked.left_ms * 1000);
    }
    inquiry->waiters = peeked.waiters;
    inquiry->ready = peeked.ready;
    inquiry->position = peeked.position;
    if (inquiry->listing && hl_listing_read(inquiry->listing, reply) != 0)
        decide(inquiry, HILOCK_NO_MEMORY);
    else if (inquiry->found == HL_FIND_OTHER || (is_forcing(inquiry) && inquiry->found > HL_FIND_RLOCK))
        decide(inquiry, HILOCK_WRONG_KIND);
    else if (!is_forcing(inquiry))
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

/* "Not held" after a release that got no answer means that this release ended the hold. */
static void on_released(struct hl_inquiry *inquiry, const struct hl_reply *reply)
{
    struct hl_response said = inquiry->call.lock->terms->kind->released(reply, HL_FORM_FORCED);
    if (said.result == HL_AGAIN && inquiry->stage == STAGE_SECOND)
        said = hl_response_fault(reply);
    if (said.result == HL_AGAIN) {
        inquiry->stage = STAGE_SECOND;
        ask(inquiry);
    } else if (said.result == HL_FAULT)
        on_fault(inquiry, &said);
    else {
        /* the forced release wakes the first waiter, which may be dead, so this client rechecks the name at once */
        if (said.result == HL_YES)
            hl_recheck_now(core_of(inquiry), inquiry->call.lock->name, inquiry->call.lock->terms);
        decide(inquiry, said.result == HL_YES || inquiry->release == RELEASE_UNANSWERED ? HILOCK_OK : HILOCK_LOST);
    }
}

static void done(struct hl_request *request, const struct hl_answer *answer)
{
    struct hl_inquiry *inquiry = inquiry_of(request);
    if (inquiry->state == INQUIRY_DECIDED) {
        if (!inquiry->call.notice.pending)
            inquiry_free(core_of(inquiry), inquiry);
    } else if (!answer->reply) {
        if (inquiry->release == RELEASE_SENT)
            inquiry->release = RELEASE_UNANSWERED;
        ask(inquiry);
    } else if (inquiry->state == INQUIRY_PEEKING)
        on_peeked(inquiry, answer->reply);
    else
        on_released(inquiry, answer->reply);
}

static struct hl_inquiry *new_inquiry(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result,
                                      void *user)
{
    static const struct hl_request_ops ops = {about, encode, done};
    static const struct hl_notice_ops reports = {report, retire};
    struct hl_inquiry *inquiry = hl_call_new(core, sizeof *inquiry, &reports, run_out, lock, on_result, user);
    if (!inquiry)
        return NULL;
    inquiry->request.ops = &ops;
    TAILQ_INSERT_TAIL(&core->locks->inquiries, inquiry, entry);
    core->locks->inquiries_open++;
    return inquiry;
}

hilock_status hl_inquiry_begin(struct hl_core *core, struct hilock_lock *lock, hilock_operation operation,
                               const char *holder, hilock_result_fn *on_result, void *user)
{
    struct hl_inquiry *inquiry = new_inquiry(core, lock, on_result, user);
    if (!inquiry)
        return HILOCK_NO_MEMORY;
    inquiry->operation = operation;
    if (holder) {
        inquiry->state = INQUIRY_RELEASING;
        inquiry->holder_length = strnlen(holder, HL_INQUIRY_HOLDER_MAX);
        memcpy(inquiry->holder, holder, inquiry->holder_length);
    }
    ask(inquiry);
    return HILOCK_OK;
}

hilock_status hl_inquiry_begin_list(struct hl_core *core, struct hilock_lock *lock, hilock_holder_fn *on_holder,
                                    hilock_result_fn *on_result, void *user)
{
    struct hl_listing *listing = hl_listing_new(lock, on_holder);
    struct hl_inquiry *inquiry = listing ? new_inquiry(core, lock, on_result, user) : NULL;
    if (!inquiry) {
        hl_listing_free(listing);
        return HILOCK_NO_MEMORY;
    }
    inquiry->operation = HILOCK_OP_HOLDERS;
    inquiry->listing = listing;
    ask(inquiry);
    return HILOCK_OK;
}
