/* SPDX-License-Identifier: BSD-3-Clause */
/* slots - what the servers of a cluster say about who serves which hash slot, read. Pure.
 * It is hostile (R9): ranges outside the slots, servers without an address and answers of another shape are passed over,
 * and so is what overlaps so often that more than twice all slots were told. */
#ifndef HL_NODE_SLOTS_H
#define HL_NODE_SLOTS_H

#include "base/reply.h"
#include "base/slot.h"
#include "node/address.h"

enum { HL_SLOTS_TOLD_MAX = 2 * HL_SLOTS };

/* An answer to CLUSTER SLOTS: each range with its master, a host of "" being that of the server that was asked. Returned
 * is how many slots were told. */
typedef void hl_slots_fn(void *arg, unsigned from, unsigned to, const struct hl_address *master);
unsigned hl_slots_read(const struct hl_reply *reply, hl_slots_fn *tell, void *arg);

/* "MOVED 3999 host:port", "ASK 3999 host:port", host being empty, a name, or an address, of IPv6 with or without brackets. 1: it is one. */
int hl_slots_redirect(const struct hl_reply *error, const char *code, unsigned *ret_slot, struct hl_address *ret);

#endif
