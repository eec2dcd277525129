/* SPDX-License-Identifier: BSD-3-Clause */
/* hold - a name at a node that the store keeps for us under an id.
 *
 *   IDLE -> ASKING -> HELD -> ENDING -> freed
 *             `-----------------^
 *
 * A hold is made before its first request, with room for its alarm, so that renewing, releasing and undoing need no
 * memory. Invariants:
 *  - its id is new for every acquisition and never used again (R2);
 *  - an id that may be at the store is released before the hold is freed, unless the store said that it is not there
 *    (R3, R4, R5);
 *  - a grant that replicas must confirm is MAYBE until they have, not OURS;
 *  - what may be at the store under its id is MAYBE until a definite answer;
 *  - only a reply moves its deadline, counted from that request's send, and never after it has passed (R1, R11). */
#ifndef HL_HOLD_HOLD_H
#define HL_HOLD_HOLD_H

#include "base/text.h"
#include "core/lock.h"

enum hl_kept { /* by the store, under the id of a hold */
    KEPT_NOTHING,
    KEPT_MAYBE, /* it was asked for and may be at the store */
    KEPT_OURS
};
enum hl_ask { /* what its request is about */
    ASK_ACQUIRE,
    ASK_CONFIRM, /* granted; do replicas have it? */
    ASK_RENEW,
    ASK_RELEASE
};
enum hl_way { /* of the latest request */
    WAY_FIRST,
    WAY_AGAIN,         /* acquire: the first way once more, after LATE */
    WAY_SECOND,        /* the first was answered HL_AGAIN */
    WAY_SECOND_FOR_NOW /* release: the same, which leaves the id in the queue: then the first way once more */
};
enum hl_end { /* why it is ENDING; of a release how far it has come, in this order */
    END_QUIET,      /* lost, or undone: nobody waits for an answer */
    END_UNREPORTED, /* its grant was never reported: it is in core->undoing */
    END_REPEATED,   /* its release had been acknowledged, and may be lost */
    END_RELEASED,   /* by its user, and not answered */
    END_OK,         /* answered, from here on */
    END_LOST,
    END_UNKNOWN,
    END_CONFIRMED,  /* was UNKNOWN until the store confirmed it */
    END_LAPSED      /* was UNKNOWN until its lease had run out */
};

enum hl_hold_state { HOLD_IDLE, HOLD_ASKING, HOLD_HELD, HOLD_ENDING };
/* Reports of a hold, in their order. */
enum { REPORT_LOST = 1, REPORT_RENEWAL_FAILED = 2, REPORT_RENEWED = 4, REPORT_RELEASED = 8, REPORT_SETTLED = 16 };

/* How an id stands in the queue at the store, as it was written with its first question (struct hl_queue_entry, but
 * what follows from the client and the name). */
struct hl_entry_words {
    uint32_t due_s;     /* cut: HL_DUE_NEVER_S does not fit, and is UINT32_MAX */
    uint16_t window_ms;
    uint8_t channel;    /* enum hl_entry_channel */
};
enum hl_entry_channel { ENTRY_NONE, ENTRY_POLLS, ENTRY_PLAIN, ENTRY_SHARDED }; /* NONE: it was never written */

struct hl_hold {
    struct hl_notice notice;     /* the bits above */
    struct hl_request request;   /* one at a time */
    TAILQ_ENTRY(hl_hold) live;   /* in core->live */
    struct hl_name *name;
    uint64_t token;              /* OURS */
    uint64_t deadline_us;        /* OURS: belief in it ends then */
    struct hl_terms *terms;
    struct hilock_lock *lock;    /* the handle that acquires or holds; ENDING: the handle to call back,
                                    referenced unless its loss is still to be reported, or NULL */
    uint64_t id;
    uint64_t since_us;           /* HELD: the begin of the present tenure; ENDING: its begin */
    uint64_t due_us;             /* when the alarm was due; 0: stopped */
    uint64_t may_run_until_us;   /* an unanswered acquire with this id may still execute until then; the id is released
                                    again at that time. 0: none */
    hilock_result_fn *on_result; /* ENDING by a release */
    void *user;                  /* of on_result */
    uint64_t granted_us;         /* HELD: the grant at the store */
    uint64_t extended_until_us;  /* until when an extend's longer lease may last; 0: there was none */
    struct hl_alarm alarm;
    uint32_t asked_ms;           /* the lease that its latest acquire or renewal asked for */
    struct hl_entry_words entry;
    uint16_t window_ms;          /* HELD by a pushed grant, until the first renewal: for so long. 0: for a lease */
    uint8_t state : 2, kept : 2, ask : 2; /* enums above */
    uint8_t way : 2;             /* enum above */
    uint8_t form : 3;            /* enum hl_form of the latest request */
    uint8_t reason : 3;          /* hilock_lost_reason */
    uint8_t end;                 /* enum above */
    uint8_t failures;            /* renewals in a row, cut at 255 */
    uint8_t served;              /* HELD: how many handles it served before this one (lock/tenure.c) */
    uint8_t is_queued : 1;       /* its id may be in the queue at the store */
    uint8_t siblings_wait : 1;   /* ENDING: siblings wait for the first answer to its release (name->ending) */
    uint8_t is_in_order : 1;     /* the only unanswered acquire was sent with a release (wait/place.h); our release uses
                                    the same connection, so it executes after it */
    uint8_t was_repeated : 1;    /* a release of this id has no answer */
    uint8_t is_lease_too_long : 1; /* its lease at the store was longer than asked for, which was reported */
    uint8_t is_overdue : 1;      /* its renewal has counted as failed; an answer may still come */
    uint8_t is_shortening : 1;   /* its latest renewal may shorten the lease at the store (watchdog.c), and has no
                                    answer: it may still run until may_run_until_us */
};
_Static_assert(sizeof(struct hl_hold) <= 232 || sizeof(void *) != 8, "every lock that is held has one");

struct hl_owner_ops { /* calls up: from a hold to the acquire that it serves (lock/machine.c) */
    const struct hl_notice_ops *notice; /* makes the user's reports of holds */
    void (*add_params)(struct hl_hold *hold, struct hl_params *params); /* an acquire of it leaves */
    /* its hold is ASKING: YES, NO or FAULT; NULL: no answer */
    void (*answered)(struct hl_acquire *acquire, const struct hl_response *said);
    /* while HELD: the reply to an acquire sent before the grant arrived */
    void (*on_stale_answer)(struct hl_hold *hold, const struct hl_answer *answer);
    struct hl_hold *(*next)(const struct hl_hold *hold); /* its release leaves: the hold with it (wait/place.h) */
    /* that release was answered; NULL: it was not */
    struct hl_hold *(*next_release_answered)(const struct hl_hold *hold, const struct hl_reply *reply);
    void (*next_answered)(struct hl_hold *next, const struct hl_reply *reply);
    void (*retry)(struct hl_acquire *acquire);    /* its hold is HELD and never reported: belief in it has ended */
    void (*resume)(struct hl_acquire *acquire);   /* the alarm of its hold, until that is held */
    void (*freed)(struct hl_name *name);    /* the first answer to its release, or there will be none */
};

static inline struct hl_core *hl_hold_core(const struct hl_hold *hold) { return hold->terms->cell->core; }

struct hl_hold *hl_hold_new(struct hl_core *core, const struct hilock_lock *lock); /* NULL: no memory */
void hl_hold_free(struct hl_hold *hold); /* nothing of it is at the store or on the wire */
void hl_hold_wake_at(struct hl_hold *hold, uint64_t at_us); /* UINT64_MAX: never */
/* visit may end the hold it is given */
void hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg);

int hl_hold_is_reported(const struct hl_hold *hold); /* its handle's user knows of it, and not yet of its end */
uint64_t hl_hold_deadline_us(const struct hl_hold *hold); /* 0: it is not ours */
uint64_t hl_hold_ends_us(const struct hl_hold *hold); /* HELD: when belief ends: the deadline, or hold_max before it */
struct hl_queue_entry hl_hold_entry(const struct hl_hold *hold); /* its place in words; due_s 0: it has none */
/* How many of our own listen to the channel of releases: the release of this name does not count them as others. */
unsigned hl_hold_own_listeners(struct hl_core *core, const struct hl_name *name, struct hl_node *node);
/* what must be left for a handle of these terms to begin with */
uint64_t hl_hold_least_us(const struct hl_hold *hold, const struct hl_terms *terms);
uint64_t hl_hold_token(const struct hl_hold *hold); /* of its present tenure; 0: the kind has none */
unsigned hl_hold_reserved(const struct hl_hold *hold); /* tokens that its acquire reserves for later tenures */
int hl_hold_is_confirming(const struct hl_hold *hold); /* it is granted, and replicas have not confirmed it yet */
int hl_hold_is_empty(const struct hl_hold *hold);  /* nothing of it is at the store or on the wire */
int hl_hold_needs_verification(const struct hl_hold *hold); /* its latest request went over an older link, or to another
                                                               server */

/* The answer to its latest request, read by its kind. */
struct hl_response hl_hold_read(const struct hl_hold *hold, const struct hl_reply *reply);
/* 1: this answer to an acquire proves that nothing of the id is at the store. */
int hl_hold_is_cleared_by(const struct hl_hold *hold, const struct hl_response *said);
void hl_hold_mark_unsent(struct hl_hold *hold); /* an acquire of it never left: that leaves nothing behind */
/* The store does not know this hold. Its id may still come: by an acquire without an answer, or from the queue, if the
 * store forgot its grant. In both cases it is released. */
void hl_hold_mark_not_ours(struct hl_hold *hold);
/* latest time at which the store could still keep the lease if every extend took effect; 0: there was no extend */
uint64_t hl_hold_extended_until_us(const struct hl_hold *hold);

/* The sentences of results and events: what happened, to which name, and what comes next. Never a password, never a
 * whole holder id. */
const char *hl_hold_silence_words(const struct hl_node *node); /* why it does not answer */
/* A server's words about a fault, after the missing right, if they name it. */
struct hl_text hl_hold_server_words(const struct hl_core *core, const char *quote, size_t length);
/* note: the server's words, quoted. */
void hl_hold_refusal_words(const struct hilock_lock *lock, hilock_status status, const char *note,
                           struct hl_text *text);
void hl_hold_loss_words(struct hl_core *core, const struct hl_hold *hold, struct hl_text *text);
void hl_hold_settling_words(const struct hl_hold *hold, uint32_t waited_ms, struct hl_text *text); /* was UNKNOWN */

#endif
