/* SPDX-License-Identifier: BSD-3-Clause */
/* epochs - the config-epochs of a cluster's masters, as one of its servers lists them (CLUSTER NODES).
 *
 * A master that takes over, or gets a slot, gets a higher epoch than any before: if a slot seems to have two masters,
 * the epoch shows the later one. Nothing else in a cluster has an age. The answer is hostile (R9): a line of another
 * shape is skipped, and so are masters beyond HL_EPOCHS_MAX. Only masters count: a replica's line has the epoch of its
 * master. Addresses and slots come from CLUSTER SLOTS, which has the names that servers are reached by. */
#ifndef HL_NODE_EPOCHS_H
#define HL_NODE_EPOCHS_H

#include "base/reply.h"

enum { HL_EPOCHS_ID = 40, HL_EPOCHS_MAX = 1024 };

struct hl_epochs {
    struct hl_dated { char id[HL_EPOCHS_ID]; uint64_t epoch; } list[HL_EPOCHS_MAX];
    unsigned count; /* 0: it names no master */
};

void hl_epochs_read(struct hl_epochs *ret_epochs, const struct hl_reply *reply);
/* 1 + the config-epoch of the node with that id; 0: not named. */
uint64_t hl_epochs_of(const struct hl_epochs *epochs, const char *id, size_t length);

#endif
