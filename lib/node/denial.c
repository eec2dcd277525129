/* SPDX-License-Identifier: BSD-3-Clause */
/* denial - see denial.h. Requests are answered at the end of the turn, never inside the call that submits them. When an
 * acquire is answered, the next handle in its line asks and is answered in the same way. So the whole line ends in one
 * turn. */
#include "node/denial.h"

#include <stdio.h>

#include "base/container.h"

/* Returns 1 if the refusal will stay until somebody changes rights or passwords. Others, such as LOADING or too many
 * clients, pass by themselves. */
static int is_about_rights(const struct hl_reply *refusal)
{
    static const char unwanted[] = "without any password configured";
    return hl_reply_has_code(refusal, "WRONGPASS") || hl_reply_has_code(refusal, "NOAUTH") ||
           hl_reply_has_code(refusal, "NOPERM") ||
           memmem(refusal->bytes, refusal->length, unwanted, sizeof unwanted - 1) != NULL;
}

static struct hl_request *next_of(const struct hl_node *node)
{
    struct hl_request *request;
    for (unsigned queue = REQUEST_FIRST; queue <= REQUEST_NORMAL; queue++)
        TAILQ_FOREACH(request, &node->queues[queue], entry)
            if (request->how & HL_REQUEST_GRANT)
                return request;
    return NULL;
}

static void answer(struct hl_flush *flush)
{
    struct hl_denial *denial = HL_CONTAINER(flush, struct hl_denial, flush);
    struct hl_node *node = denial->node;
    const struct hl_reply refusal = {.type = HL_REPLY_ERROR, .bytes = denial->words, .length = strlen(denial->words)};
    struct hl_request *request;
    while (denial->is_on && (request = next_of(node)) != NULL) {
        hl_node_dequeue(request);
        request->ops->done(request, &(struct hl_answer){&refusal, 0});
    }
}

void hl_denial_init(struct hl_node *node) { node->denial = (struct hl_denial){.flush.flush = answer, .node = node}; }

void hl_denial_done(struct hl_node *node)
{
    if (node->denial.node)
        hl_host_flush_never(node->host, &node->denial.flush);
}

void hl_denial_learn(struct hl_node *node, const struct hl_reply *refusal)
{
    struct hl_denial *denial = &node->denial;
    denial->is_on = refusal && is_about_rights(refusal);
    if (denial->is_on)
        snprintf(denial->words, sizeof denial->words, "%.*s", (int)refusal->length, refusal->bytes);
}

void hl_denial_apply(struct hl_node *node, const struct hl_request *request)
{
    if (node->denial.is_on && (request->how & HL_REQUEST_GRANT))
        hl_host_flush_later(node->host, &node->denial.flush);
}
