/* SPDX-License-Identifier: BSD-3-Clause */
/* kind - what every kind of lock can say and hear, as a table: argv out, a reply in. The lock machine asks the table of a handle's kind
 * and never a kind by its name.
 * A request may have several forms, scripts and native commands; each function that says something returns the form it chose, and
 * the answer is read by it, so that an answer of another form is a fault (R9). */
#ifndef HL_WIRE_KIND_H
#define HL_WIRE_KIND_H

#include "base/command.h"
#include "wire/fault.h"

struct hl_words { /* of whom and what a command speaks; by reference */
    const char *name;
    size_t name_length;
    const char *uuid; /* of the client; with the acquisition's number it is the holder */
    uint64_t id;
};

struct hl_wants { /* what else it says; a kind leaves out what it does not know */
    uint64_t lease_ms;     /* acquire, renew */
    uint64_t not_after_ms; /* acquire: server time; 0: any time */
    uint64_t token_ttl_ms; /* acquire */
    unsigned reserved;     /* acquire: tokens set aside for hand-offs */
    int is_second;         /* acquire, release, force: HL_AGAIN was the answer to the first */
    uint64_t token;        /* renew */
    int is_extended;       /* renew: the store may keep it for longer than lease_ms, which must stand */
    unsigned natives;      /* renew, release: what the server has (natives.h) */
    int is_sharded;        /* release: its channels are those of a cluster's slots */
    /* of a kind with a queue */
    uint64_t number;       /* acquire: of this heartbeat, never used twice with this id */
    uint64_t ticket;       /* acquire: 0: none yet. release: of the place to leave, if it is no hold. Or HL_TICKET_UNKNOWN */
    const char *channel;   /* acquire: where a grant is to be told; "": who asks polls; NULL: it stands in no queue, and may have what is left to others */
    int is_try;            /* acquire: does not stand in the queue */
    unsigned coin;         /* release: 1..HL_COIN_SIDES, drawn: the lower, the sooner the name is left to other kinds. 0: it is not */
    int hears;             /* release: the server counts us among those who listen to the channel */
};

#define HL_TICKET_UNKNOWN UINT64_MAX /* asked for, and never answered */
enum { HL_COIN_SIDES = 1000 };

enum hl_form { HL_FORM_SCRIPT, HL_FORM_NATIVE, HL_FORM_NARROW }; /* NARROW: a script that touches no key but the lock's */

enum hl_verdict {
    HL_YES,   /* acquire: ours, under `token`. renew: it was ours. release: it was, and is free now */
    HL_NO,    /* acquire: `holder` has it. renew, release: the store does not know this hold */
    HL_AGAIN, /* acquire: not free, or ours already: the second question tells. release: not to be had so: there is another way to say it */
    HL_LATE,  /* acquire: later than not_after by the server's clock, server_us: not done */
    HL_FAULT  /* not done, so far as the store says: `fault`, `quote` */
};

#define HL_LEFT_UNTOLD ((uint64_t)1 << 53) /* a renewal whose answer tells no PTTL */

struct hl_said {
    enum hl_verdict verdict;
    uint64_t token;              /* acquire YES; 0: the kind has none */
    uint64_t left_ms;            /* acquire NO: PTTL of the holder; renew YES: PTTL found, or HL_LEFT_UNTOLD */
    int has_no_ttl;              /* acquire NO: held without an expiry */
    const char *holder;          /* acquire NO; dies with the reply */
    size_t holder_length;
    uint64_t ticket;             /* acquire NO: the id stands in the queue; 0: it does not */
    uint32_t position, waiters;  /* acquire NO: place in the queue, 1 is next, 0 not in it; its length */
    int hands_over;              /* acquire NO: the holder's release grants; 0: it is told on the unlock channel, if at all */
    uint64_t server_us;          /* LATE */
    int is_for_now;              /* release AGAIN: while its slot moves */
    uint64_t listeners;          /* release YES */
    int was_unheard;             /* release YES: the message was refused */
    struct hl_fault fault;       /* FAULT */
    const char *quote;           /* FAULT: the server's words; dies with the reply */
    size_t quote_length;
};

typedef enum hl_form hl_say_fn(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants);
typedef void hl_force_fn(struct hl_command *command, const struct hl_words *words, const struct hl_wants *wants, const char *holder, size_t holder_length);
typedef struct hl_said hl_hear_fn(const struct hl_reply *reply, enum hl_form form);

struct hl_kind {
    hilock_kind kind;
    int has_queue;          /* who waits stands in a queue at the store, by an id of his own */
    const char *wrong_kind; /* after the name: what a key of another type is not */
    int has_natives;        /* commands that only some servers have would say it more cheaply (natives.h) */
    int yields;             /* its release says by a coin whether the name is left to others */
    int hands_on;           /* acquire sets tokens aside: one hold may serve several handles of a client, one after the other */
    hl_say_fn *acquire, *renew, *release;
    hl_hear_fn *acquired, *renewed, *released;
    const struct hl_script *peek; /* peek.h */
    hl_force_fn *force;           /* the release of a hold named by its holder: a script */
    hl_hear_fn *forced;           /* its answer, as a release's */
};

extern const struct hl_kind hl_queued_fair, hl_queued_mutex, hl_simple_kind;

struct hl_said hl_said_fault(const struct hl_reply *reply); /* an error reply; anything else is PROTOCOL */
struct hl_said hl_said_of_hold(const struct hl_reply *reply); /* the same, about the lock's key alone: WRONGTYPE is NO */
struct hl_said hl_said_late(const struct hl_reply *reply);  /* "LATE seconds microseconds" */

#endif
