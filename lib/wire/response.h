/* SPDX-License-Identifier: BSD-3-Clause */
/* response - what an answer means for a lock, as far as it is the same for all kinds. An error reply is never loss of a
 * hold (R5) and never a grant: it has a cause, which may pass with time. Codes: the text up to the first space; errors
 * inside scripts keep theirs from Redis 7 on, and are wrapped ("ERR Error running script ...: -CODE") before. */
#ifndef HL_WIRE_RESPONSE_H
#define HL_WIRE_RESPONSE_H

#include "base/reply.h"
#include "base/text.h"

#include <hilock/hilock.h>

enum hl_fault_kind {
    HL_FAULT_NOSCRIPT,  /* load it and ask again with the same id */
    HL_FAULT_PASSING,   /* not now: a slot that moves, read-only, loading, out of memory, too few replicas, restart
                           guard..: UNWRITABLE */
    HL_FAULT_LASTING    /* rights, wrong type, anything else: asking again will not help */
};

struct hl_fault {
    enum hl_fault_kind kind;
    hilock_status status;
    int left_nothing; /* LASTING: the command was refused before it did anything */
};

enum hl_form {
    HL_FORM_SCRIPT,
    HL_FORM_NATIVE,
    HL_FORM_NARROW, /* a script that touches no key but the lock's */
    HL_FORM_NEXT,   /* a release that asks for the next hold as well */
    HL_FORM_FORCED  /* a release by force */
};

/* What is stored under a name. Only those before READ may be ended by force. */
enum hl_find { HL_FIND_OURS, HL_FIND_RLOCK, HL_FIND_READ, HL_FIND_WRITE, HL_FIND_OTHER };

enum hl_result {
    HL_YES,   /* peek: free. acquire: ours, with `token`. renew: it was ours. release: it was, and is free now */
    HL_NO,    /* acquire, peek: `holder` has it. renew, release: the store does not know this hold */
    HL_AGAIN, /* acquire: not free, or ours already: the second question decides. release: it needs the other form */
    HL_LATE,  /* acquire: not done: the server's clock, server_us, was past not_after */
    HL_FAULT  /* not done, as far as the store says: `fault`, `quote` */
};

#define HL_NUMBER_MAX ((int64_t)1 << 53) /* Lua's numbers are exact up to here */

/* A grant that a request of ours made to a waiter, of another client perhaps. It stands for a window; if its client
 * does not take it, whoever made it looks again. */
struct hl_handover {
    uint64_t window_ms; /* 0: there was no such grant */
    uint64_t at_us;     /* by the server's clock; 0: the name was left to other programs, and nobody has it yet */
    const char *holder; /* dies with the reply */
    size_t holder_length;
};

/* How many places a request took out of the queue, whose waiters were not ready. */
struct hl_removed { uint32_t unheard, overdue, lapsed; };

struct hl_response {
    enum hl_result result;
    uint64_t token;              /* acquire YES; 0: the kind has none */
    enum hl_find found;          /* peek NO */
    uint64_t left_ms;            /* acquire, peek NO: PTTL of the holder; renew YES: PTTL found */
    int has_no_ttl;              /* the same: held without an expiry */
    const char *holder;          /* the same; dies with the reply. Of a peek "": the key is there, but has no holder */
    size_t holder_length;
    uint64_t ticket;             /* acquire NO: of its place in the queue; 0: it has none */
    uint32_t position, waiters;  /* acquire NO, peek: place in the queue, 1 is next, 0 not in it; its length */
    uint32_t ready;              /* peek: of the first 64 waiters so many are ready */
    int hands_over;              /* acquire NO: its release grants; 0: is published on the unlock channel, if at all */
    const char *java_waiter;     /* acquire NO: a channel of its own tells this holder that the name is free; NULL: none
                                    is known; dies with the reply */
    size_t java_waiter_length;
    struct hl_handover handover; /* acquire NO, release: a grant that it made */
    struct hl_removed removed;   /* acquire, release */
    int has_more;                /* acquire NO, release: more waiters in front are not ready: ask again at once */
    uint64_t server_us;          /* LATE; acquire NO, release: the server's clock, if it said so; else 0 */
    int is_for_now;              /* release AGAIN: while its slot moves */
    int was_publish_denied;      /* release YES: the message was refused */
    struct hl_fault fault;       /* FAULT */
    const char *quote;           /* FAULT: the server's words; dies with the reply */
    size_t quote_length;
};

typedef struct hl_response hl_parse_fn(const struct hl_reply *reply, enum hl_form form);

struct hl_fault hl_response_cause(const struct hl_reply *error);
/* The right that is missing, as ACL SETUSER spells it: "+hset", "~ of a key"; "": these words name none. Redis 7.0 does
 * not name the command that a script may not call, but its line: the right is read from that line. */
struct hl_text hl_response_right(const char *words, size_t length);
struct hl_response hl_response_fault(const struct hl_reply *reply); /* an error reply; anything else is PROTOCOL */
/* the same for the lock's key alone: WRONGTYPE is NO, unless it was forced */
struct hl_response hl_response_of_hold(const struct hl_reply *reply, enum hl_form form);
hl_parse_fn hl_response_renewed; /* of a script: 0 not this hold, or 1 + the PTTL it found */
/* {PTTL, holder, what it is, length of the queue, place in it, holders, ready}; or the first two */
hl_parse_fn hl_response_peeked;
/* Item i, from `least` up to HL_NUMBER_MAX. 0: it is no such number */
int hl_response_number(const struct hl_reply *reply, size_t i, int64_t least, int64_t *ret_number);

#endif
