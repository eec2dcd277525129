/* SPDX-License-Identifier: BSD-3-Clause */
/* push - a message of a script to one waiter, on the grant channel of its client. The waiter was granted the name:
 *   "G1 <holder> <number> <asked_us> <window_ms> <token> <seconds> <microseconds>[ later words]: <name>"
 * There is news, so it must ask:
 *   "F1 <holder> <ms>[ <seconds> <microseconds>[ later words]]: <name>"
 * The digit is the version. A push that grants has the server's own times of the heartbeat and of the grant. So the
 * deadline counts from the send of that heartbeat (R1), never from the arrival of the push. */
#ifndef HL_WIRE_PUSH_H
#define HL_WIRE_PUSH_H

#include "base/reply.h"

struct hl_push {
    enum { HL_PUSH_GRANT, HL_PUSH_ASK, HL_PUSH_INVALID } what; /* ASK: there is news, so the waiter must ask */
    uint64_t id;          /* the number of the acquisition */
    uint64_t number;      /* GRANT: the number of the heartbeat that the grant counts from */
    uint64_t asked_us;    /* GRANT: when that heartbeat ran, by the server's clock; 0: it is the first question,
                             which drew the ticket, and the ticket is that time */
    uint64_t granted_us;  /* GRANT: when it was made, by the server's clock */
    uint64_t window_ms;   /* GRANT */
    uint64_t token;       /* GRANT */
    uint64_t pause_us;    /* ASK: for how long the name is left to other programs; 0: ask at once */
    uint64_t server_us;   /* the server's clock, if the message has it; otherwise 0 */
    const char *name;     /* the name of the lock; valid as long as the message */
    size_t name_length;
};

/* Reads a push. HL_PUSH_INVALID: it is malformed, or names a holder of another client. */
struct hl_push hl_push_read(const struct hl_reply *message, const char *uuid);

#endif
