/* SPDX-License-Identifier: BSD-3-Clause */
/* inquiry_words - the sentence that answers an inquiry. */
#include "lock/inquiry.h"

#include "base/quote.h"
#include "lock/lease.h"
#include "lock/name.h"
#include "lock/messages.h"

static struct hl_quoted quoted(const struct hl_name *name) { return hl_quote(name->bytes, name->length); }

static void answered(const struct hl_inquiry *inquiry, const struct hl_name *name, struct hl_text *text)
{
    static const char *const as[] = {[HL_FIND_RLOCK] = ", with an RLock",
                                     [HL_FIND_READ] = " and maybe others, who read (RReadWriteLock)",
                                     [HL_FIND_WRITE] = ", who writes (RReadWriteLock)"};
    const char *kind = inquiry->found < sizeof as / sizeof *as && as[inquiry->found] ? as[inquiry->found] : "";
    struct hl_quoted holder = hl_quote_holder(inquiry->holder, strlen(inquiry->holder));
    if (inquiry->is_forcing && inquiry->status == HILOCK_OK)
        hl_text_set(text, "the hold of %s on \"%s\" is ended; that holder learns it at its next renewal", holder.bytes,
                    quoted(name).bytes);
    else if (!*inquiry->holder)
        hl_text_set(text, "nobody holds \"%s\"", quoted(name).bytes);
    else if (inquiry->is_forcing)
        hl_text_set(text, "%s no longer held \"%s\"", holder.bytes, quoted(name).bytes);
    else if (inquiry->holder_remaining_ms == HILOCK_FOREVER)
        hl_text_set(text, "\"%s\" is held by %s%s, and its lease has no end", quoted(name).bytes, holder.bytes, kind);
    else
        hl_text_set(text, "\"%s\" is held by %s%s; its lease ends in %u ms", quoted(name).bytes, holder.bytes, kind,
                    inquiry->holder_remaining_ms);
}

void hl_inquiry_words(struct hl_core *core, struct hl_inquiry *inquiry)
{
    const struct hl_name *name = inquiry->lock->name;
    const struct hl_node *node = hl_name_node(core, name);
    uint32_t waited_ms = hl_lease_span_ms(hl_now_us(&core->host) - inquiry->begun_us);
    if (inquiry->status == HILOCK_UNREACHABLE || inquiry->status == HILOCK_UNKNOWN)
        hl_text_set(&inquiry->detail, "no answer from %s within %u ms: %s%s", hl_node_name(node), waited_ms,
                    hl_message_silence_of(node), inquiry->was_sent ? "; the hold may have been ended" : "");
    else if (inquiry->status == HILOCK_PROTOCOL)
        hl_text_set(&inquiry->detail, "the holder of \"%s\" has %zu bytes; hilock can name at most %d",
                    quoted(name).bytes, inquiry->holder_length, HL_INQUIRY_HOLDER_MAX);
    else if (inquiry->status == HILOCK_WRONG_KIND)
        hl_message_of_refusal(core, name, inquiry->lock->terms->kind, inquiry->status, "", &inquiry->detail);
    else
        answered(inquiry, name, &inquiry->detail);
}
