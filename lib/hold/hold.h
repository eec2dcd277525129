/* SPDX-License-Identifier: BSD-3-Clause */
/* hold - what the store keeps for us under one id: one name at one node.
 *
 *   IDLE -> ASKING -> HELD -> ENDING -> freed
 *             `-----------------^
 *
 * A hold is made before its first request, together with the memory for its alarm, so that renewing, releasing and
 * undoing need no memory. Invariants:
 *  - The id of a hold is new for every acquisition and is never used again (R2).
 *  - An id that may be at the store is released before the hold is freed, unless the store has answered that the id is
 *    not there (R3, R4, R5).
 *  - A grant that replicas must confirm is MAYBE, not OURS, until they have confirmed it.
 *  - Whatever may be at the store under the id is MAYBE until a definite answer comes.
 *  - Only a reply moves the deadline. The deadline counts from the send of the request that the reply answers, and it
 *    does not move any more once it has passed (R1, R11). */
#ifndef HL_HOLD_HOLD_H
#define HL_HOLD_HOLD_H

#include "base/text.h"
#include "core/lock.h"

enum hl_kept { /* what the store keeps under the id of a hold */
    KEPT_NOTHING,
    KEPT_MAYBE, /* a request for it was sent, so the store may have it */
    KEPT_OURS
};
enum hl_ask { /* the purpose of the latest request of a hold */
    ASK_ACQUIRE,
    ASK_CONFIRM, /* the grant is made; WAIT asks whether the replicas have it */
    ASK_RENEW,
    ASK_RELEASE
};
enum hl_stage { /* which form of the script the latest request uses */
    STAGE_FIRST,
    STAGE_FIRST_AFTER_LATE,         /* acquire: the first form once more, after the answer LATE */
    STAGE_SECOND,        /* the second form, after the first form was answered HL_AGAIN */
    STAGE_SECOND_FOR_NOW /* release: the second form, which leaves the id in the queue; the first form is sent again
                          after it */
};
enum hl_end { /* Why a hold is ENDING. For a release by its user the values are also the progress of that release, in
                 this order. */
    END_UNCALLED,      /* the hold was lost, or its grant is undone: nobody waits for an answer */
    END_UNREPORTED, /* the grant was never reported to its user; the hold counts in core->undoing */
    END_REPEATED,   /* the release had been acknowledged, but a failover may have lost it */
    END_RELEASED,   /* the user released the hold, and that call has no answer yet */
    END_ANSWERED_OK,         /* the call is answered OK; all values from here on mean that it is answered */
    END_ANSWERED_LOST,
    END_ANSWERED_UNKNOWN,
    END_CONFIRMED,  /* the answer was UNKNOWN; later the store confirmed the release */
    END_LAPSED      /* the answer was UNKNOWN; then the lease ran out */
};

enum hl_hold_state { HOLD_IDLE, HOLD_ASKING, HOLD_HELD, HOLD_ENDING };
/* The reports of a hold to its user, lowest bit first. */
enum { REPORT_LOST = 1, REPORT_RENEWAL_FAILED = 2, REPORT_RENEWED = 4, REPORT_RELEASED = 8, REPORT_SETTLED = 16 };

/* How the store's queue describes an id, as the first question of that id wrote it. This is struct hl_queue_entry
 * without the parts that follow from the client and the name. */
struct hl_entry_parts {
    uint32_t due_s;     /* cut to 32 bits; UINT32_MAX stands for HL_DUE_NEVER_S */
    uint16_t window_ms;
    uint8_t channel;    /* enum hl_entry_channel */
};
/* NONE: no question has written an entry yet */
enum hl_entry_channel { ENTRY_NONE, ENTRY_POLLS, ENTRY_PLAIN, ENTRY_SHARDED };

struct hl_hold {
    struct hl_notice notice;     /* the pending reports are the REPORT_ bits above */
    struct hl_request request;   /* the only request: a hold sends one at a time */
    TAILQ_ENTRY(hl_hold) live;   /* links the hold into core->live */
    struct hl_name *name;
    uint64_t token;              /* the fencing token of the grant; valid while OURS */
    uint64_t deadline_us;        /* while OURS: from this moment on we no longer count the hold as ours */
    struct hl_terms *terms;
    struct hilock_lock *lock;    /* The handle that acquires or holds. While ENDING: the handle to call back, or
                                    NULL. An ENDING hold owns a reference to that handle, except while its loss is
                                    still to be reported. */
    uint64_t id;
    uint64_t since_us;           /* HELD: when the present tenure began; ENDING: when the ending began */
    uint64_t due_at_us;          /* when the alarm is due; 0: the alarm is stopped */
    uint64_t may_run_until_us;   /* an unanswered acquire with this id may still execute until then; the id is
                                    released again at that time. 0: there is no such acquire */
    hilock_result_fn *on_result; /* ENDING by a release: the callback of that release */
    void *user;                  /* the argument for on_result */
    uint64_t granted_at_us;      /* HELD: when the store had granted the hold */
    uint64_t extended_until_us;  /* until when a longer lease that an extend asked for may last; 0: no extend was
                                    sent */
    struct hl_alarm alarm;
    uint32_t asked_ms;           /* the lease that the latest acquire or renewal asked for */
    struct hl_entry_parts entry;
    uint16_t window_ms;          /* HELD by a pushed grant: the window of that grant, until the first renewal makes
                                    it a lease. 0: the grant is a lease */
    uint8_t state : 2, kept : 2, ask : 2; /* enum hl_hold_state, hl_kept, hl_ask */
    uint8_t stage : 2;           /* enum hl_stage */
    uint8_t form : 3;            /* enum hl_form of the latest request */
    uint8_t reason : 3;          /* hilock_lost_reason */
    uint8_t end;                 /* enum hl_end */
    uint8_t failures;            /* how many renewals have failed in a row, cut at 255 */
    uint8_t served;              /* HELD: how many handles this hold served before the present one (lock/tenure.c) */
    uint8_t is_queued : 1;       /* the id may be in the queue at the store */
    uint8_t siblings_wait : 1;   /* ENDING: other handles of this client wait for the first answer to the release
                                    (name->unanswered_releases) */
    uint8_t is_acquire_ahead : 1;     /* the only unanswered acquire was sent with a release (wait/place.h); our release
                                    uses the same connection, so it executes after that acquire */
    uint8_t had_unanswered_release : 1;    /* an earlier release of this id got no answer */
    uint8_t is_lease_too_long : 1; /* the lease at the store was longer than asked for, and that was reported */
    uint8_t is_overdue : 1;      /* the renewal under way already counts as failed; an answer may still come */
    uint8_t is_shortening : 1;   /* the latest renewal may shorten the lease at the store (watchdog.c) and has no
                                    answer, so it may still execute until may_run_until_us */
};
_Static_assert(sizeof(struct hl_hold) <= 232 || sizeof(void *) != 8, "every lock that is held has one");

struct hl_owner_ops { /* calls up: from a hold to the acquire that it serves (lock/machine.c) */
    const struct hl_notice_ops *notice; /* makes the reports of holds to the user */
    /* an acquire of this hold is about to be sent: adds what the wait needs */
    void (*add_params)(struct hl_hold *hold, struct hl_params *params);
    /* The hold is ASKING, and its request was answered YES, NO or FAULT. said NULL: there is no answer. */
    void (*answered)(struct hl_acquire *acquire, const struct hl_response *said);
    /* while HELD: the reply to an acquire sent before the grant arrived */
    void (*on_stale_answer)(struct hl_hold *hold, const struct hl_answer *answer);
    /* The release of this hold is about to be sent: returns the hold whose acquire goes along (wait/place.h), or
     * NULL. */
    struct hl_hold *(*carried)(const struct hl_hold *hold);
    /* That release was answered. reply NULL: it got no answer. */
    struct hl_hold *(*on_carrier_answered)(const struct hl_hold *hold, const struct hl_reply *reply);
    void (*on_carried_answered)(struct hl_hold *next, const struct hl_reply *reply);
    /* the grant was never reported, and its validity has ended: acquire again */
    void (*retry)(struct hl_acquire *acquire);
    void (*resume)(struct hl_acquire *acquire);   /* the alarm of the hold fired before the hold was HELD */
    /* the release of a hold has its first answer, or will have none: other handles may ask for the name */
    void (*name_available)(struct hl_name *name);
};

static inline struct hl_core *hl_hold_core(const struct hl_hold *hold) { return hold->terms->cell->core; }

struct hl_hold *hl_hold_new(struct hl_core *core, const struct hilock_lock *lock); /* returns NULL without memory */
/* the caller has made sure that nothing of the hold is at the store or on the wire */
void hl_hold_free(struct hl_hold *hold);
void hl_hold_wake_at(struct hl_hold *hold, uint64_t at_us); /* UINT64_MAX stops the alarm */
/* Calls visit for each HELD hold. visit may end the hold that it is given. */
void hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg);

/* the grant was reported to the user, and the end of the hold was not */
int hl_hold_is_with_user(const struct hl_hold *hold);
uint64_t hl_hold_deadline_us(const struct hl_hold *hold); /* 0: the hold is not ours */
/* HELD: when the hold stops counting as ours: at its deadline, or earlier by hold_max_ms */
uint64_t hl_hold_ends_at_us(const struct hl_hold *hold);
/* the entry of the hold in the store's queue; due_s 0: there is none */
struct hl_queue_entry hl_hold_entry(const struct hl_hold *hold);
/* How many of our own subscriptions to the unlock channel of this name there are. The script of the release subtracts
 * them when it counts the other programs that listen. HL_OWN_ALL: no listener counts as another program. */
unsigned hl_hold_own_listeners(struct hl_core *core, const struct hl_name *name, struct hl_node *node);
/* How much of the grant must be left for a handle of these terms to start with it. */
uint64_t hl_hold_min_validity_us(const struct hl_hold *hold, const struct hl_terms *terms);
/* the fencing token of the present tenure; 0: the kind has no tokens */
uint64_t hl_hold_token(const struct hl_hold *hold);
unsigned hl_hold_reserved(const struct hl_hold *hold); /* how many tokens its acquire reserves for later tenures */
/* the store granted it, and the replicas have not confirmed it yet */
int hl_hold_is_confirming(const struct hl_hold *hold);
int hl_hold_is_empty(const struct hl_hold *hold);  /* nothing of the hold is at the store or on the wire */
/* the latest request went over an older link or to another server, so the present server may not know the hold */
int hl_hold_needs_verification(const struct hl_hold *hold);

/* The answer to the latest request, decoded as the kind of the lock prescribes. */
struct hl_response hl_hold_read(const struct hl_hold *hold, const struct hl_reply *reply);
/* 1: this answer to an acquire proves that nothing of the id is at the store. */
int hl_hold_is_cleared_by(const struct hl_hold *hold, const struct hl_response *said);
/* An acquire of this hold was never sent, so it left nothing at the store. */
void hl_hold_mark_unsent(struct hl_hold *hold);
/* The store answered that it does not know this hold. Its id may still appear there, through an unanswered acquire, or
 * from the queue if the store forgot the grant. In both cases the id is released. */
void hl_hold_mark_not_ours(struct hl_hold *hold);
/* The latest time at which the store could still keep the lease if every extend took effect; 0: there was no extend. */
uint64_t hl_hold_may_last_until_us(const struct hl_hold *hold);

/* The sentence of the loss of this hold (core/words.h). */
void hl_hold_loss_words(struct hl_core *core, const struct hl_hold *hold, struct hl_text *text);
/* What became of a release that was answered UNKNOWN, or that was repeated. */
void hl_hold_settling_words(const struct hl_hold *hold, uint32_t waited_ms, struct hl_text *text);

#endif
