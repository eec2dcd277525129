/* SPDX-License-Identifier: BSD-3-Clause */
/* slots - reads the replies of a cluster's servers: which server serves which hash slot, and the config-epochs of the
 * masters. Pure. The replies are hostile (R9). Ranges outside the slots, servers without an address, and lines and
 * replies of another form are skipped. So are overlaps above twice the number of slots, and masters beyond
 * HL_EPOCHS_MAX.
 *
 * A master that takes over, or gets a slot, gets a higher epoch than any before. If a slot seems to have two masters,
 * the epoch shows the later one; nothing else in a cluster shows an age. Only masters count, because the line of a
 * replica has the epoch of its master. Addresses and slots come from CLUSTER SLOTS, which has the names by which the
 * servers can be reached. */
#ifndef HL_NODE_SLOTS_H
#define HL_NODE_SLOTS_H

#include "base/reply.h"
#include "base/slot.h"
#include "node/address.h"

enum { HL_SLOTS_ANSWERED_MAX = 2 * HL_SLOTS, HL_EPOCHS_ID = 40, HL_EPOCHS_MAX = 1024 };

/* The master of a range. A host of "" means the server that was asked. The id points into the reply; it is empty if
 * there is none. */
struct hl_slots_master { struct hl_address address; const char *id; size_t id_length; };

/* Reads a reply to CLUSTER SLOTS and calls `tell` for each range. Returns how many slots the ranges have. */
typedef void hl_slots_fn(void *arg, unsigned from, unsigned to, const struct hl_slots_master *master);
unsigned hl_slots_read(const struct hl_reply *reply, hl_slots_fn *tell, void *arg);

struct hl_epochs {
    struct hl_dated { char id[HL_EPOCHS_ID]; uint64_t epoch; } list[HL_EPOCHS_MAX];
    unsigned count;
};

/* Reads from a reply to CLUSTER NODES the id of the server that sent it; "": it has no line `myself`. */
void hl_slots_read_myself(char ret_id[HL_EPOCHS_ID + 1], const struct hl_reply *reply);
/* Reads the epochs from a reply to CLUSTER NODES. Returns how many masters it names. */
unsigned hl_slots_read_epochs(struct hl_epochs *ret_epochs, const struct hl_reply *reply);
/* Returns 1 + the config-epoch of the node with that id; 0: unknown. */
uint64_t hl_slots_epoch_of(const struct hl_epochs *epochs, const char *id, size_t length);

/* Reads "MOVED 3999 host:port" or "ASK 3999 host:port"; host is empty, a name or an address (IPv6 with or without
 * brackets). Returns 1 if the error has that form. */
int hl_slots_redirect(const struct hl_reply *error, const char *code, unsigned *ret_slot, struct hl_address *ret);

#endif
