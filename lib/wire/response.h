/* SPDX-License-Identifier: BSD-3-Clause */
/* response - what an answer means for a lock, as far as that is the same for all kinds. An error reply is never the
 * loss of a hold (R5) and never a grant: it has a cause, which may pass with time. The code of an error is its text up
 * to the first space. Errors inside scripts keep their code from Redis 7 on; before, they are wrapped ("ERR Error
 * running script ...: -CODE"). */
#ifndef HL_WIRE_RESPONSE_H
#define HL_WIRE_RESPONSE_H

#include "base/reply.h"
#include "base/text.h"

#include <hilock/hilock.h>

enum hl_fault_kind {
    HL_FAULT_NOSCRIPT,  /* load the script and ask again with the same id */
    HL_FAULT_PASSING,   /* not now: a slot that moves, read-only, loading, out of memory, too few replicas, restart
                           guard, ...: UNWRITABLE */
    HL_FAULT_LASTING    /* rights, wrong type, anything else: asking again does not help */
};

struct hl_fault {
    enum hl_fault_kind kind;
    hilock_status status;
    int left_nothing; /* LASTING: the command was refused before it changed anything */
};

enum hl_form {
    HL_FORM_SCRIPT,
    HL_FORM_NATIVE,
    HL_FORM_NARROW, /* a script that uses only the key of the lock */
    HL_FORM_NEXT,   /* a release that also asks for the next hold */
    HL_FORM_FORCED, /* a release by force */
    HL_FORM_DOWNGRADE /* a renewal that also asks the store to share the name */
};

/* What is stored under a name. force_release ends only the values before READ. */
enum hl_find { HL_FIND_OURS, HL_FIND_SHARED, HL_FIND_RLOCK, HL_FIND_READ, HL_FIND_WRITE, HL_FIND_OTHER };

enum hl_result {
    HL_YES,   /* peek: the name is free. acquire: it is ours, with `token`. renew: it was ours. release: it was ours,
                 and is free now */
    HL_NO,    /* acquire, peek: `holder` has the name. renew, release: the store does not know this hold */
    HL_AGAIN, /* acquire: the name is not free, or ours already: the second question decides. release: it needs the
                 other form */
    HL_LATE,  /* acquire: not done, because the server's clock, server_us, was past not_after_ms */
    HL_FAULT  /* not done, as far as the answer shows: `fault`, `quote` */
};

#define HL_NUMBER_MAX ((int64_t)1 << 53) /* Lua's numbers are exact up to here */

/* A grant that a request of ours made to a waiter, perhaps of another client. It stands for a window; if that client
 * does not use it, the client that made it looks again. */
struct hl_handover {
    uint64_t window_ms; /* 0: the request made no grant */
    uint64_t at_us;     /* when it was made, by the server's clock; 0: the name was left to other programs, and
                           nobody has it yet */
    const char *holder; /* valid as long as the reply */
    size_t holder_length;
};

/* How many places a request removed from the queue because their waiters were not ready. */
struct hl_removed { uint32_t unheard, overdue, lapsed; };

struct hl_response {
    enum hl_result result;
    uint64_t token;              /* acquire YES; 0: the kind has no tokens */
    enum hl_find found;          /* peek NO */
    uint64_t left_ms;            /* acquire NO, peek NO: the PTTL of the holder; renew YES: the PTTL that it found */
    int has_no_ttl;              /* acquire NO, peek NO: the name is held without an expiry */
    const char *holder;          /* acquire NO, peek NO; valid as long as the reply. peek: "" if the key exists but
                                    has no holder */
    size_t holder_length;
    uint64_t ticket;             /* acquire NO: the ticket of its place in the queue; 0: it has none */
    uint32_t position, waiters;  /* acquire NO, peek: the position in the queue (1 is next, 0 is not in it), and the
                                    length of the queue */
    uint32_t ready;              /* peek: how many of the first 64 waiters are ready */
    uint32_t holders;            /* acquire NO, peek: how many share the name; 0: it is not shared */
    int holder_grants_next;      /* acquire NO: the holder's release grants the name to the next waiter; 0: that
                                    release is published on the unlock channel, if at all */
    const char *java_waiter;     /* acquire NO: the first waiter of Redisson's fair lock on the name, which a channel
                                    of its own wakes; NULL: none is known. Valid as long as the reply */
    size_t java_waiter_length;
    struct hl_handover handover; /* acquire NO, release: a grant that the request made */
    struct hl_removed removed;   /* acquire, release: the places that the request removed */
    int has_more;                /* acquire NO, release: more waiters in front are not ready; ask again at once */
    uint64_t server_us;          /* LATE; acquire NO, release: the server's clock, if the answer has it; otherwise 0 */
    int is_for_now;              /* release AGAIN: only for now, while the slot moves */
    int was_publish_denied;      /* release YES: the PUBLISH was refused */
    struct hl_fault fault;       /* FAULT */
    const char *quote;           /* FAULT: the words of the server; valid as long as the reply */
    size_t quote_length;
};

struct hl_listed { /* one of the holders of a name */
    const char *holder; /* valid as long as the reply */
    size_t holder_length;
    uint64_t token;
    uint64_t left_ms;
    int has_no_ttl;
};

typedef struct hl_response hl_parse_fn(const struct hl_reply *reply, enum hl_form form);

struct hl_fault hl_response_cause(const struct hl_reply *error);
/* Returns the right that is missing, as ACL SETUSER writes it: "+hset", "~ of a key"; "": these words name none. Redis
 * 7.0 does not name the command that a script may not call, but only the line of the script: the right is read from
 * that line. */
struct hl_text hl_response_right(const char *words, size_t length);
/* reads an error reply; anything else is PROTOCOL */
struct hl_response hl_response_fault(const struct hl_reply *reply);
/* The same for a command on the key of the lock alone: WRONGTYPE is NO, unless the release was forced. */
struct hl_response hl_response_of_hold(const struct hl_reply *reply, enum hl_form form);
hl_parse_fn hl_response_renewed; /* reads the answer of a script: 0: not this hold; otherwise 1 + the PTTL that it
                                    found */
/* Reads {PTTL, holder, what it is, length of the queue, position, number of holders, ready}, or only the first two. */
hl_parse_fn hl_response_peeked;
/* Reads the holder at place i of the list behind a peek's answer. Its token is 0 if the number is none of ours. Returns
 * 0 if there is no such holder. */
int hl_response_listed(const struct hl_reply *reply, size_t i, struct hl_listed *ret);
/* Returns 1 and item i if that is a number from `least` up to HL_NUMBER_MAX. */
int hl_response_number(const struct hl_reply *reply, size_t i, int64_t least, int64_t *ret_number);

#endif
