/* SPDX-License-Identifier: BSD-3-Clause */
/* kind - the commands and replies of every kind of lock, as a table: argv out, a reply in. The lock machine uses the
 * table of a handle's kind and never tests for a kind by name. A request may have several forms, scripts and native
 * commands. Each function that builds a command returns the form that it chose; the answer is read as that form, and an
 * answer of another form is a fault (R9). */
#ifndef HL_WIRE_KIND_H
#define HL_WIRE_KIND_H

#include "base/command.h"
#include "wire/fault.h"

struct hl_target { /* the client, name and holder of a command; by reference */
    const char *name;
    size_t name_length;
    const char *uuid; /* of the client; with the acquisition's number and the client's label it is the holder */
    uint64_t id;
    const char *label; /* NULL: none */
};

struct hl_params { /* its other arguments; a kind ignores those that it does not need */
    uint64_t lease_ms;     /* acquire, renew; of next */
    uint64_t not_after_ms; /* acquire: server time; 0: any time */
    uint64_t token_ttl_ms; /* acquire */
    unsigned reserved;     /* acquire: tokens reserved for hand-offs; of next */
    int is_second;         /* acquire, release, force: HL_AGAIN was the answer to the first */
    uint64_t token;        /* renew */
    int is_sharded;        /* release: its channels are those of a cluster's slots */
    /* of a kind with a queue */
    uint64_t next_id;      /* release: the acquisition that it asks for as well; 0: none */
    uint64_t number;       /* acquire: of this heartbeat, never used twice with this id; of next */
    uint64_t ticket;       /* acquire: 0: none yet. release: of the place to leave, if it is not a hold. Or
                              HL_TICKET_UNKNOWN. peek: whose place is asked for; 0: of none */
    const char *channel;   /* acquire, next: the channel of grants; "": the asker polls; NULL: it takes no place in a
                              queue, and may have a name that is left to others */
    int is_try;            /* acquire: a try, which takes no place in the queue */
    unsigned own;          /* release: our listeners on the channel. HL_OWN_ALL: it never leaves the name to others */
};

#define HL_TICKET_UNKNOWN UINT64_MAX /* it was asked for and not answered */
enum { HL_OWN_ALL = 1000000 };

enum hl_form {
    HL_FORM_SCRIPT,
    HL_FORM_NATIVE,
    HL_FORM_NARROW, /* a script that touches no key but the lock's */
    HL_FORM_NEXT    /* a release that asks for the next hold as well */
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

struct hl_response {
    enum hl_result result;
    uint64_t token;              /* acquire YES; 0: the kind has none */
    enum hl_find found;          /* peek NO */
    uint64_t left_ms;            /* acquire, peek NO: PTTL of the holder; renew YES: PTTL found */
    int has_no_ttl;              /* the same: held without an expiry */
    const char *holder;          /* the same; dies with the reply. Of a peek "": the key is there, but has no holder */
    size_t holder_length;
    uint64_t ticket;             /* acquire NO: the id stands in the queue; 0: it does not */
    uint32_t position, waiters;  /* acquire NO, peek: place in the queue, 1 is next, 0 not in it; its length */
    int hands_over;              /* acquire NO: its release grants; 0: is published on the unlock channel, if at all */
    const char *heir;            /* acquire NO: a channel of its own tells this holder that the name is free; NULL: none
                                    is known; dies with the reply */
    size_t heir_length;
    uint64_t server_us;          /* LATE */
    int is_for_now;              /* release AGAIN: while its slot moves */
    int was_unheard;             /* release YES: the message was refused */
    struct hl_fault fault;       /* FAULT */
    const char *quote;           /* FAULT: the server's words; dies with the reply */
    size_t quote_length;
};

typedef enum hl_form hl_encode_fn(struct hl_command *command, const struct hl_target *target,
                                  const struct hl_params *params);
typedef void hl_force_fn(struct hl_command *command, const struct hl_target *target, const struct hl_params *params,
                         const char *holder, size_t holder_length);
typedef struct hl_response hl_parse_fn(const struct hl_reply *reply, enum hl_form form);

struct hl_kind {
    hilock_kind kind;
    int has_queue;          /* there is a queue at the store, in which a waiter has a place */
    int place_each;         /* every waiting handle has a place; else a client has one for each name */
    const char *wrong_kind; /* after the name: "is not ...", for a key of another type */
    int hands_on;           /* acquire reserves tokens: a hold may serve handles of a client one after the other */
    hl_encode_fn *acquire, *renew, *release;
    hl_parse_fn *acquired, *renewed, *released;
    hl_encode_fn *peek;           /* an operator's request: reads the holder. Its answer is hl_response_peeked's */
    hl_force_fn *force;           /* releases a hold that is named by its holder: a script */
    hl_parse_fn *forced;           /* its answer, as a release's */
};

extern const struct hl_kind hl_queued_fair, hl_queued_mutex, hl_simple_kind;

struct hl_response hl_response_fault(const struct hl_reply *reply); /* an error reply; anything else is PROTOCOL */
/* the same for the lock's key alone: WRONGTYPE is NO */
struct hl_response hl_response_of_hold(const struct hl_reply *reply);
hl_parse_fn hl_response_renewed; /* of a script: 0 not this hold, or 1 + the PTTL it found */
hl_parse_fn hl_response_peeked;  /* {PTTL, holder, what it is, length of the queue, place in it}; or the first two */
/* Item i, from `least` up to HL_NUMBER_MAX. 0: it is no such number */
int hl_response_number(const struct hl_reply *reply, size_t i, int64_t least, int64_t *ret_number);

#endif
