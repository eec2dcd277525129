/* SPDX-License-Identifier: BSD-3-Clause */
/* reload - see reload.h. */
#include "node/reload.h"

#include "base/contract.h"
#include "base/plant.h"
#include "base/quote.h"
#include "node/node.h"

static int is_missing(const struct hl_reply *reply)
{
    return reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "NOSCRIPT");
}

int hl_reload_is_due(struct hl_request *request, const struct hl_reply *reply)
{
    unsigned most = HL_PLANTED(SCRIPT_RELOADED_ONCE) ? 1 : HL_RELOADS_MAX;
    if (!is_missing(reply) || request->reloads >= most || HL_PLANTED(SCRIPT_NOT_RELOADED))
        return 0;
    request->reloads++;
    return 1;
}

int hl_reload_send(struct hl_node *node, struct hl_request *request, const struct hl_script *script)
{
    struct hl_reload *reload = &node->reload;
    struct hl_command load;
    for (unsigned i = 0; i < reload->count; i++)
        if (reload->sent[i] == script)
            return 0;
    HL_REQUIRE(reload->count < HL_SCRIPTS_MAX); /* each script at most once */
    reload->sent[reload->count++] = script;
    request->skip = !HL_PLANTED(RELOAD_OUT_OF_STEP);
    hl_command_load(&load, script);
    return hl_session_send(&node->session, &load);
}

void hl_reload_answered(struct hl_node *node, const struct hl_reply *reply)
{
    struct hl_reload *reload = &node->reload;
    struct hl_quoted quote = hl_host_quote(node->host, reply->bytes, reply->length);
    hl_text_set(&reload->refusal, "%s", reply->type == HL_REPLY_ERROR ? quote.bytes : "");
    reload->count--;
    memmove(reload->sent, reload->sent + 1, reload->count * sizeof reload->sent[0]);
}

struct hl_reply hl_reload_told(const struct hl_node *node, const struct hl_request *request,
                               const struct hl_reply *reply)
{
    const char *refusal = node->reload.refusal.bytes;
    if (!request->reloads || !*refusal || !is_missing(reply))
        return *reply;
    return (struct hl_reply){.type = HL_REPLY_ERROR, .bytes = refusal, .length = strlen(refusal)};
}
