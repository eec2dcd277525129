/* SPDX-License-Identifier: BSD-3-Clause */
/* peek - the commands of operators: peek reads the holder of a name, force ends a hold that is named by its holder.
 * Pure: no state, no I/O. A holder from the server may be any bytes; it only ever becomes a whole argument. */
#ifndef HL_WIRE_PEEK_H
#define HL_WIRE_PEEK_H

#include "wire/kind.h"

/* What is stored under a name. Only those before READ may be ended by force. */
enum hl_find { HL_FIND_OURS, HL_FIND_RLOCK, HL_FIND_READ, HL_FIND_WRITE, HL_FIND_OTHER };

struct hl_peeked {
    enum { HL_PEEKED_FREE, HL_PEEKED_HELD, HL_PEEKED_FAULT } what;
    enum hl_find found;     /* HELD */
    uint64_t left_ms;       /* HELD: PTTL */
    int has_no_ttl;         /* HELD without an expiry */
    uint32_t waiters, position; /* of a kind with a queue: its length; the place of the ticket that was named */
    const char *holder;     /* HELD; dies with the reply */
    size_t holder_length;   /* 0: the key is there, but it has no holder */
    struct hl_fault fault;  /* FAULT */
    const char *quote;      /* FAULT: the server's words; dies with the reply */
    size_t quote_length;
};

/* of a place in its queue, or 0 */
void hl_peek(struct hl_command *command, const struct hl_kind *kind, const struct hl_target *target, uint64_t ticket);
struct hl_peeked hl_peek_said(const struct hl_reply *reply);
int hl_peek_is_holder(const char *holder, size_t length); /* 0: the hash's field is not a holder */

#endif
