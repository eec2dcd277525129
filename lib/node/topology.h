/* SPDX-License-Identifier: BSD-3-Clause */
/* topology - asks one server of a cluster for the owners of all slots, and for the age of that.
 *
 * It is one question in two halves: the config-epochs (CLUSTER NODES), and when they are answered the slots (CLUSTER
 * SLOTS), over the same link. The slots may be newer than the epochs, never the other way round: a server that has just
 * learnt that it was replaced would make its old slots look new. Without epochs an answer says nothing.
 *
 * A server that was replaced while it was stopped goes on with its old knowledge, and two such servers confirm each
 * other: so no slot goes to a server with a lower config-epoch than its present owner. An owner that has been away for
 * a while does not keep its slots by this rule: the cluster may have been set up from scratch, or no other server may
 * be left to ask.
 * A slot that a server got by MOVED, which has no epoch, goes to another server only by an answer that names the
 * former, or after its epoch is known.
 * A newer epoch of a server that kept its slots means that it had lost them meanwhile, and has them back.
 * Invariant: one question at a time, and one on_answered for each that is not withdrawn. */
#ifndef HL_NODE_TOPOLOGY_H
#define HL_NODE_TOPOLOGY_H

#include "node/epochs.h"
#include "node/members.h"
#include "node/slots.h"

typedef void hl_topology_fn(void *arg, const struct hl_reply *reply, int has_slots); /* reply NULL: it gave no answer */

struct hl_topology {
    struct hl_members *members;
    struct hl_member *asked; /* last */
    struct hl_request question;
    struct hl_epochs epochs; /* by the latest answer */
    int is_half_told;        /* the epochs were answered, and the slots are asked for */
    uint16_t slots[HL_SLOTS]; /* 1 + index of the member, by the latest answer; 0: none */
    hl_topology_fn *on_answered;
    void *arg;
};

void hl_topology_init(struct hl_topology *topology, struct hl_members *members, hl_topology_fn *on_answered, void *arg);
/* May the latest answer move one of owner's slots to `to`? NULL: no owner. */
int hl_topology_believes(const struct hl_topology *topology, const struct hl_member *owner, const struct hl_member *to);
/* `to` gets a slot of from's, and from then on counts as no older than `from`, though its epoch may be unknown. */
void hl_topology_succeed(const struct hl_topology *topology, const struct hl_member *from, struct hl_member *to);
/* Of the latest answer, if it had slots. Returns how many servers are back: their epoch is newer than when they were
 * last known to have their slots, so others had these meanwhile, and their keys may be lost. */
unsigned hl_topology_keep_epochs(const struct hl_topology *topology);

int hl_topology_is_asked(const struct hl_topology *topology);
void hl_topology_ask(struct hl_topology *topology, struct hl_member *member); /* while none is */
/* Its link was lost: withdraws the half that has not left. */
void hl_topology_lose(struct hl_topology *topology, const struct hl_member *member);

#endif
