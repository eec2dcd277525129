/* SPDX-License-Identifier: BSD-3-Clause */
/* slots - reads which server serves which hash slot, from the answers of a cluster's servers. Pure. They are hostile
 * (R9): ranges outside the slots, servers without an address and answers of another shape are skipped, and so are
 * overlaps above twice the number of slots. */
#ifndef HL_NODE_SLOTS_H
#define HL_NODE_SLOTS_H

#include "base/reply.h"
#include "base/slot.h"
#include "node/address.h"

enum { HL_SLOTS_TOLD_MAX = 2 * HL_SLOTS };

/* A host of "" is the server that was asked; the id, by reference, is empty if there was none. */
struct hl_slots_master { struct hl_address address; const char *id; size_t id_length; };

/* An answer to CLUSTER SLOTS: each range with its master. Returns the count of slots that it names. */
typedef void hl_slots_fn(void *arg, unsigned from, unsigned to, const struct hl_slots_master *master);
unsigned hl_slots_read(const struct hl_reply *reply, hl_slots_fn *tell, void *arg);

/* "MOVED 3999 host:port", "ASK 3999 host:port", where host is empty, a name or an address (IPv6 with or without
 * brackets). 1: it is one. */
int hl_slots_redirect(const struct hl_reply *error, const char *code, unsigned *ret_slot, struct hl_address *ret);

#endif
