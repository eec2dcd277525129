/* SPDX-License-Identifier: BSD-3-Clause */
/* kind - the commands and replies of every kind of lock, as a table: argv out, a reply in. The lock machine uses the
 * table of a handle's kind and never tests for a kind by name. A request may have several forms, scripts and native
 * commands. Each function that builds a command returns the form that it chose; the answer is read as that form, and an
 * answer of another form is a fault (R9). */
#ifndef HL_WIRE_KIND_H
#define HL_WIRE_KIND_H

#include "base/command.h"
#include "wire/holder.h"
#include "wire/response.h"

struct hl_target { /* the client, name and holder of a command; by reference */
    const char *name;
    size_t name_length;
    const char *uuid; /* of the client; with the acquisition's number and the client's label it is the holder */
    uint64_t id;
    const char *label; /* NULL: none */
};

enum { HL_GRANT_CHANNEL_MAX = 64 }; /* of the text, with its terminator */

/* How a waiter stands in the queue at the store. The store finds a place by this text alone, so the text is made once
 * for an id, at its first question, and never changes with it. */
struct hl_queue_entry {
    uint64_t due_s;     /* its next heartbeat comes before the end of this second, by the server's clock; 0: there is no
                           entry */
    uint32_t window_ms; /* how long a grant stands that is pushed to it */
    unsigned reserved;  /* tokens that such a grant reserves for later turns */
    char channel[HL_GRANT_CHANNEL_MAX]; /* where grants are pushed; "": it polls */
};

/* What has changed since: said with each question but the first, and in each question that brings a ticket. */
struct hl_heartbeat {
    uint64_t number;    /* never used twice with this id; 0: this is the first question, which has none */
    uint64_t due_s;
    uint32_t window_ms;
    enum hl_listening { HL_LISTENS, HL_POLLS_FIRST, HL_POLLS_FAR } listening; /* FIRST: in short steps, so that it is
                                                                                 ready; FAR: it is passed over */
    char channel[HL_GRANT_CHANNEL_MAX]; /* LISTENS */
};

/* Grants to waiters that were not taken within their windows, the newest first. */
enum { HL_LAPSED_MAX = 8 };
struct hl_lapsed {
    unsigned count;
    uint64_t window_ms;             /* of the newest, as it stands at the store */
    char holder[HL_HOLDER_MAX + 1]; /* of the newest: no other hold of its client is meant */
    struct { uint64_t at_us; char client[HL_UUID_LENGTH + 1]; } of[HL_LAPSED_MAX]; /* by the server's clock */
};

struct hl_params { /* its other arguments; a kind ignores those that it does not need */
    uint64_t lease_ms;     /* acquire, renew; of next */
    uint64_t not_after_ms; /* acquire: server time; 0: any time. renew: of most_ms */
    uint64_t token_ttl_ms; /* acquire */
    unsigned reserved;     /* acquire: tokens reserved for hand-offs; of next */
    int is_second;         /* acquire, release: HL_AGAIN was the answer to the first */
    uint64_t token;        /* renew */
    uint64_t most_ms;      /* renew: a longer lease becomes this; 0: no lease is shortened. SIMPLE never does */
    int is_sharded;        /* release: its channels are those of a cluster's slots */
    const char *holder;    /* release: by force, of the hold that has this holder; NULL: of the target's own */
    size_t holder_length;
    /* of a kind with a queue */
    struct hl_queue_entry entry;   /* acquire: the place that it takes or keeps; without one it is a try. release: the
                                      place to leave, or of next. peek: whose place is asked for */
    struct hl_heartbeat heartbeat; /* acquire, with an entry */
    uint64_t ticket;       /* acquire, with an entry: the one that it has; 0: none yet */
    uint32_t queue_max;    /* acquire, next: without a ticket it gets no place while so many wait */
    int may_take_left;     /* acquire: a try that may also have a name that is left to others */
    uint64_t next_id;      /* release: the acquisition that it asks for as well; 0: none */
    unsigned own;          /* release: our listeners on the channel. HL_OWN_ALL: it never leaves the name to others */
    int names_all_keys;    /* acquire, with a heartbeat: in a cluster, whose server must see each key that is made */
    const struct hl_lapsed *lapsed; /* release of an id that holds nothing: looks whether the name is free, and who let
                                       it lapse; NULL: it is no such look */
};

enum { HL_OWN_ALL = 1000000 };

typedef enum hl_form hl_encode_fn(struct hl_command *command, const struct hl_target *target,
                                  const struct hl_params *params);

struct hl_kind {
    hilock_kind kind;
    int has_queue;          /* there is a queue at the store, in which a waiter has a place */
    int queues_each_handle; /* every waiting handle has a place; else a client has one for each name */
    const char *wrong_kind; /* after the name: "is not ...", for a key of another type */
    int hands_on;           /* acquire reserves tokens: a hold may serve handles of a client one after the other */
    hl_encode_fn *acquire, *renew, *release;
    hl_parse_fn *acquired, *renewed, *released;
    hl_encode_fn *peek; /* an operator's request: reads the holder. Its answer is hl_response_peeked's */
};

extern const struct hl_kind hl_queued_fair, hl_queued_mutex, hl_simple_kind;

#endif
