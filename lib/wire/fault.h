/* SPDX-License-Identifier: BSD-3-Clause */
/* fault - what an error reply means for a lock: the cause, and whether it may pass with time. An error reply is never
 * loss of a hold (R5) and never a grant. Codes: the text up to the first space; errors inside scripts keep theirs from
 * Redis 7 on, and are wrapped ("ERR Error running script ...: -CODE") before. */
#ifndef HL_WIRE_FAULT_H
#define HL_WIRE_FAULT_H

#include "base/reply.h"
#include "base/text.h"

#include <hilock/hilock.h>

enum hl_fault_kind {
    HL_FAULT_NOSCRIPT,  /* load it and ask again with the same id */
    HL_FAULT_PASSING,   /* not now: read-only, loading, out of memory, too few replicas, restart guard..: UNWRITABLE */
    HL_FAULT_LASTING    /* rights, wrong type, anything else: asking again will not help */
};

struct hl_fault {
    enum hl_fault_kind kind;
    hilock_status status;
    int left_nothing; /* LASTING: the command was refused before it did anything */
};

struct hl_fault hl_fault_of(const struct hl_reply *error);
/* The right that is missing, as ACL SETUSER spells it: "+hset", "~ of a key"; "": these words name none. Redis 7.0 does
 * not name the command that a script may not call, but its line: the right is read from that line. */
struct hl_text hl_fault_right(const char *words, size_t length);

#endif
