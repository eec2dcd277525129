/* SPDX-License-Identifier: BSD-3-Clause */
/* messages - see messages.h. */
#include "hold/messages.h"

#include "core/lease.h"

struct hl_text hl_message_of_server(const struct hl_core *core, const char *quote, size_t length)
{
    struct hl_text right = hl_response_right(quote, length), words;
    hl_text_set(&words, "%s%s%s", right.bytes, *right.bytes ? " is missing: " : "",
                hl_host_quote(&core->host, quote, length).bytes);
    return words;
}

const char *hl_message_silence_of(const struct hl_node *node)
{
    return *hl_node_why(node) && !node->is_up ? hl_node_why(node) : "it is silent";
}

void hl_message_of_refusal(struct hl_core *core, const struct hl_name *name, const struct hl_kind *kind,
                         hilock_status status, const char *note, struct hl_text *text)
{
    const struct hl_node *node = hl_name_node(core, name);
    if (status == HILOCK_WRONG_KIND)
        hl_text_set(text, "\"%s\" %s", hl_name_quoted(name).bytes, kind->wrong_kind);
    else if (status == HILOCK_UNWRITABLE && node->is_up && hl_node_guard_left_us(node))
        hl_node_guard_words(node, text);
    else
        hl_text_set(text, "%s: %s: %s%s", hl_node_name(node), hilock_status_text(status), *note ? note : "no words",
                    status == HILOCK_DENIED ? "; the list: operate.md, \"Rights of the server's user\"" : "");
}

void hl_message_of_loss(struct hl_core *core, const struct hl_hold *hold, struct hl_text *text)
{
    const struct hl_quoted name = hl_name_quoted(hold->name);
    const struct hl_node *node = hl_name_node(core, hold->name);
    uint64_t lost_us = hold->state == HOLD_ENDING ? hold->since_us : hl_now_us(&core->host);
    switch ((hilock_lost_reason)hold->reason) {
    case HILOCK_REASON_NONE: hl_text_set(text, "not lost"); break;
    case HILOCK_REASON_TAKEN:
        hl_text_set(text, "TAKEN: the store says that \"%s\" is not ours any more", name.bytes);
        if (node->moved_us && lost_us - node->moved_us < (uint64_t)hold->terms->lease_ms * 1000)
            hl_text_add(text, ": a failover%s, %s had it for %u ms then",
                        core->route->ops->is_spread ? " or a move of its slot" : "", hl_node_name(node),
                        hl_lease_span_ms(lost_us - node->moved_us));
        break;
    case HILOCK_REASON_EXPIRED:
        hl_text_set(text, hold->terms->is_renewed ? "EXPIRED: no renewal of \"%s\" got through (lease %u ms); %s %s"
                    : "EXPIRED: the lease of \"%s\" (%u ms) is over; %s %s", name.bytes, hold->asked_ms,
                    hl_node_name(node), node->is_up ? "is connected" : "is unreachable");
        break;
    case HILOCK_REASON_SUSPENDED:
        hl_text_set(text, "SUSPENDED: this process did not run in time: it looked %u ms after the deadline of \"%s\"",
                    hl_lease_span_ms(hl_left_us(lost_us, hold->deadline_us)), name.bytes);
        break;
    case HILOCK_REASON_HOLD_MAX:
        hl_text_set(text, "HOLD_MAX: \"%s\" was held for %u ms; is a release missing?", name.bytes,
                    hold->terms->hold_max_ms);
        break;
    case HILOCK_REASON_CLOSING:
        hl_text_set(text, "CLOSING: the client's drain time ran out while \"%s\" was held", name.bytes);
        break;
    }
}

void hl_message_of_settling(const struct hl_hold *hold, uint32_t waited_ms, struct hl_text *text)
{
    struct hl_quoted name = hl_name_quoted(hold->name);
    if (hold->end == END_REPEATED)
        hl_text_set(text, "a release of \"%s\" had been acknowledged, and was lost in the failover: it is repeated",
                    name.bytes);
    else if (hold->end == END_CONFIRMED)
        hl_text_set(text, "the release of \"%s\" is confirmed after %u ms", name.bytes, waited_ms);
    else
        hl_text_set(text, "the release of \"%s\" got no answer, but its lease has run out", name.bytes);
}
