/* SPDX-License-Identifier: BSD-3-Clause */
/* slots - reads what a cluster's servers answer: which server serves which hash slot, and the config-epochs of the
 * masters. Pure. The answers are hostile (R9): ranges outside the slots, servers without an address, lines and answers
 * of another shape are skipped, and so are overlaps above twice the number of slots, and masters beyond HL_EPOCHS_MAX.
 *
 * A master that takes over, or gets a slot, gets a higher epoch than any before: if a slot seems to have two masters,
 * the epoch shows the later one. Nothing else in a cluster has an age. Only masters count: a replica's line has the
 * epoch of its master. Addresses and slots come from CLUSTER SLOTS, which has the names that servers are reached by. */
#ifndef HL_NODE_SLOTS_H
#define HL_NODE_SLOTS_H

#include "base/reply.h"
#include "base/slot.h"
#include "node/address.h"

enum { HL_SLOTS_ANSWERED_MAX = 2 * HL_SLOTS, HL_EPOCHS_ID = 40, HL_EPOCHS_MAX = 1024 };

/* A host of "" is the server that was asked; the id, by reference, is empty if there was none. */
struct hl_slots_master { struct hl_address address; const char *id; size_t id_length; };

/* An answer to CLUSTER SLOTS: each range with its master. Returns the count of slots that it names. */
typedef void hl_slots_fn(void *arg, unsigned from, unsigned to, const struct hl_slots_master *master);
unsigned hl_slots_read(const struct hl_reply *reply, hl_slots_fn *tell, void *arg);

struct hl_epochs {
    struct hl_dated { char id[HL_EPOCHS_ID]; uint64_t epoch; } list[HL_EPOCHS_MAX];
    unsigned count;
};

/* An answer to CLUSTER NODES: the id of the server that gave it; "": it has no line `myself`. */
void hl_slots_read_myself(char ret_id[HL_EPOCHS_ID + 1], const struct hl_reply *reply);
/* An answer to CLUSTER NODES. Returns how many masters it names. */
unsigned hl_slots_read_epochs(struct hl_epochs *ret_epochs, const struct hl_reply *reply);
/* 1 + the config-epoch of the node with that id; 0: not named. */
uint64_t hl_slots_epoch_of(const struct hl_epochs *epochs, const char *id, size_t length);

/* "MOVED 3999 host:port", "ASK 3999 host:port", where host is empty, a name or an address (IPv6 with or without
 * brackets). 1: it is one. */
int hl_slots_redirect(const struct hl_reply *error, const char *code, unsigned *ret_slot, struct hl_address *ret);

#endif
