/* SPDX-License-Identifier: BSD-3-Clause */
/* refusal - see refusal.h. */
#include "node/refusal.h"

#include "base/stranger.h"
#include "node/node.h"

/* Takes the requests one by one from the queues, because an answered request may withdraw others. Only as many requests
 * are answered as there are now, because an answered request may be submitted again. */
void hl_refusal_answer(struct hl_node *node, const char *words)
{
    const struct hl_reply refusal = hl_stranger_reply(words);
    struct hl_request *request;
    size_t left = 0;
    for (unsigned queue = REQUEST_FIRST; queue <= REQUEST_NORMAL; queue++)
        TAILQ_FOREACH(request, &node->queues[queue], entry)
            left++;
    for (unsigned queue = REQUEST_FIRST; queue <= REQUEST_NORMAL; queue++)
        for (; left && (request = TAILQ_FIRST(&node->queues[queue])) != NULL; left--) {
            hl_node_dequeue(request);
            request->ops->done(request, &(struct hl_answer){&refusal, 0});
        }
}
