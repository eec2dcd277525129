/* SPDX-License-Identifier: BSD-3-Clause */
/* kind - the commands and replies of every kind of lock, as a table: argv out, a reply in. The lock machine uses the
 * table of a handle's kind and never tests for a kind by name. A request may have several forms, scripts and native
 * commands. Each function that builds a command returns the form that it chose; the answer is read as that form, and an
 * answer of another form is a fault (R9). */
#ifndef HL_WIRE_KIND_H
#define HL_WIRE_KIND_H

#include "base/command.h"
#include "wire/response.h"

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
    int is_second;         /* acquire, release: HL_AGAIN was the answer to the first */
    uint64_t token;        /* renew */
    int is_sharded;        /* release: its channels are those of a cluster's slots */
    const char *holder;    /* release: by force, of the hold that has this holder; NULL: of the target's own */
    size_t holder_length;
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

typedef enum hl_form hl_encode_fn(struct hl_command *command, const struct hl_target *target,
                                  const struct hl_params *params);

struct hl_kind {
    hilock_kind kind;
    int has_queue;          /* there is a queue at the store, in which a waiter has a place */
    int place_each;         /* every waiting handle has a place; else a client has one for each name */
    const char *wrong_kind; /* after the name: "is not ...", for a key of another type */
    int hands_on;           /* acquire reserves tokens: a hold may serve handles of a client one after the other */
    hl_encode_fn *acquire, *renew, *release;
    hl_parse_fn *acquired, *renewed, *released;
    hl_encode_fn *peek; /* an operator's request: reads the holder. Its answer is hl_response_peeked's */
};

extern const struct hl_kind hl_queued_fair, hl_queued_mutex, hl_simple_kind;

#endif
