/* SPDX-License-Identifier: BSD-3-Clause */
/* hold - the client's record of one id at one name and node, from before its first request until nothing of the id can
 * be at the store.
 *
 *   before the grant:   IDLE ---> ASKING <---> WAITING <---> CONFIRMING
 *                                   |            |
 *                                   v            v
 *   held:                         PUSHED ----> HELD <---> RENEWING ---> OVERDUE
 *                                                ^------------------------'
 *
 *     ASKING: an acquire is under way. CONFIRMING: the store granted it, and replicas must have that write. Every
 *     answer leads to WAITING, and one that grants leads on to HELD. A push grants it in ASKING or in WAITING. PUSHED:
 *     the heartbeat from before the push is still under way. OVERDUE: the renewal counts as failed, but an answer may
 *     still come.
 *
 *   over for the client, from any state above: its user releases it, it is lost, or its grant is undone:
 *
 *     AWAITS_ACQUIRE --.                ,--> LOST --.
 *     AWAITS_STALE ----+--> RELEASE_DUE -----------> RELEASING ---> RELEASE_DUE
 *     AWAITS_RENEWAL --'                `--> GONE ---> freed
 *
 *     If the lease runs out meanwhile, LOST or GONE follows the first three states at once, and GONE follows LOST and
 *     RELEASING.
 *
 * No release is sent before the request on the wire is answered. A hold without one begins to end as RELEASE_DUE. If it
 * was lost, and that is not reported yet when nothing is under way any more, it is LOST until then.
 *
 * What its alarm, an answer, no answer and its end do in each state is a row of the table in life.c. Beside its state a
 * hold records what may be at the store under its id (`kept`). These are two enums because they change independently of
 * each other: a hold in one and the same state may be there certainly, perhaps, or not at all.
 *
 * A hold is made before its first request, together with the memory for its alarm, so that renewing, releasing and
 * undoing need no memory. Invariants:
 *  - The id of a hold is new for every acquisition and is never used again (R2).
 *  - An id that may be at the store is released before the hold is freed, unless the store has answered that the id is
 *    not there (R3, R4, R5).
 *  - A grant that replicas must confirm is MAYBE, not OURS, until they have confirmed it.
 *  - Whatever may be at the store under the id is MAYBE until a definite answer comes.
 *  - Only a reply, or a pushed grant, moves the deadline. The deadline counts from the send of the request that the
 *    reply answers, or that the grant names, and it does not move any more once it has passed (R1, R11). */
#ifndef HL_HOLD_HOLD_H
#define HL_HOLD_HOLD_H

#include "base/text.h"
#include "core/discipline.h"
#include "core/lock.h"
#include "hold/holds.h"

enum hl_kept { /* what is at the store under the id of a hold, as far as this client can tell */
    KEPT_NOTHING,
    KEPT_MAYBE, /* a lease, or a place in the queue, may be there: no definite answer has come yet */
    KEPT_OURS   /* the lease is there, until the deadline at least */
};
/* An acquire or a release may take two commands: the second is sent if the first was answered HL_AGAIN. Which commands
 * these are is up to the kind of the lock (enum hl_form has the choice). */
enum hl_stage { /* which of the two commands the latest request sent */
    STAGE_FIRST,
    STAGE_FIRST_AFTER_LATE, /* acquire: the first command once more, because it was answered HL_LATE */
    STAGE_SECOND,
    STAGE_SECOND_FOR_NOW    /* release: the hash slot is moving, so the second command touches only the key of the
                               lock. The first command follows later, to remove the id from the queue. */
};
/* Why a hold is over. If its user released it, the value also shows how far that call has come, in this order. */
enum hl_end {
    END_BY_CLIENT,        /* no release call: the hold was lost, or its acquire gave it back and goes on without it */
    END_ABANDONED,        /* no release call: its acquire has ended; the hold counts in core->holds->undoing */
    END_REPEATED,         /* no release call: a failover may have lost a release that was acknowledged before */
    END_RELEASED,         /* the user released the hold, and that call has no answer yet */
    END_IN_DOUBT,         /* the same, and a release was sent that had no answer: it may have ended the hold */
    END_ANSWERED_OK,      /* the release call is answered OK; with all values from here on it is answered */
    END_ANSWERED_LOST,    /* it is answered LOST: the store did not have the hold any more */
    END_ANSWERED_UNKNOWN, /* it is answered UNKNOWN: the store had not answered by then */
    END_CONFIRMED,        /* it was answered UNKNOWN; later the store confirmed the release */
    END_LAPSED            /* it was answered UNKNOWN; later the lease ran out */
};

enum hl_hold_state {     /* what the client does with a hold; three predicates below name the groups */
    HOLD_IDLE,           /* no request of the id was sent */

    /* acquiring */
    HOLD_ASKING,         /* an acquire is under way: the first one, or a heartbeat of the place */
    HOLD_WAITING,        /* the latest acquire was answered, or taken back: either the hold is HELD or ending within the
                            same call, or the next acquire is sent later */
    HOLD_CONFIRMING,     /* the store granted the hold, and WAIT is under way until replicas have that write */

    /* held */
    HOLD_HELD,           /* no request is under way */
    HOLD_PUSHED,         /* a push granted the hold; a heartbeat that was sent before is still under way */
    HOLD_RENEWING,       /* a renewal is under way */
    HOLD_OVERDUE,        /* a renewal under way counts as failed already; an answer may still come */

    /* ending */
    HOLD_AWAITS_ACQUIRE, /* an acquire is still under way, so no release is sent; it may bring a grant */
    HOLD_AWAITS_STALE,   /* the same, but a push had granted the hold before */
    HOLD_AWAITS_RENEWAL, /* a renewal is still under way, so no release is sent */
    HOLD_LOST,           /* nothing is under way; no release is sent before the loss is reported */
    HOLD_RELEASING,      /* the release is under way */
    HOLD_RELEASE_DUE,    /* nothing is under way; the next step (hl_ending_go_on) is due within the same call,
                            or at the alarm */
    HOLD_GONE            /* nothing is at the store any more, and the last reports to the user are pending */
};
/* The reports of a hold to its user, lowest bit first. */
enum { TENURE_LOST = 1, TENURE_RENEWAL_FAILED = 2, TENURE_RENEWED = 4, TENURE_RELEASED = 8, TENURE_SETTLED = 16 };

/* The entry of an id in the store's queue, as the first request of that id wrote it. This is struct hl_queue_entry
 * without the parts that follow from the client and the name. */
struct hl_entry_parts {
    uint32_t due_s;     /* cut to 32 bits; UINT32_MAX stands for HL_DUE_NEVER_S */
    uint16_t window_ms;
    uint8_t channel;    /* enum hl_entry_channel */
};
/* NONE: no request has written an entry yet. POLLS: the waiter polls. PLAIN, SHARDED: the kind of its grant channel */
enum hl_entry_channel { ENTRY_NONE, ENTRY_POLLS, ENTRY_PLAIN, ENTRY_SHARDED };

struct hl_caller { /* the release call of a user, as the hold that it ended keeps it */
    struct hilock_lock *lock;    /* the handle of the call, referenced; NULL: nobody is told */
    hilock_result_fn *on_result; /* not NULL if there is a handle */
    void *user;
};

struct hl_hold {
    struct hl_notice notice;     /* the pending reports are the TENURE_ bits above */
    struct hl_request request;   /* the only request: a hold sends one at a time */
    TAILQ_ENTRY(hl_hold) live;   /* links the hold into core->holds->live */
    struct hl_name *name;
    uint64_t token;              /* the fencing token of the grant; valid while OURS */
    uint64_t deadline_us;        /* while OURS: from this moment on the client no longer counts the hold as its own */
    struct hl_terms *terms;
    TAILQ_HEAD(hl_hold_handles, hilock_lock) handles; /* the handle that asks with this hold; then those that count on
                                    it, in the order in which their tenures began (several: seat.h); while the hold is
                                    ending those whose loss is still to be reported */
    uint64_t id;
    uint64_t since_us;           /* held: when the present tenure began (of several: seat.h); ending: when the ending
                                    began */
    uint64_t due_at_us;          /* when the alarm is due; 0: the alarm is stopped */
    uint64_t may_run_until_us;   /* until when a request without an answer may still execute: an acquire, after which
                                    the id is released again, or a renewal that shortens. 0: there is none */
    union { /* the state tells which part is valid */
        struct { /* held */
            LIST_ENTRY(hl_hold) entry; /* links the hold into name->holds */
            uint64_t granted_at_us;    /* when the turn of the loop began in which the grant arrived: the store granted
                                          it no later */
            uint64_t open_until_us;    /* until when readers of this client may join (lock/joining.h); 0: none may */
            uint64_t extended_until_us; /* when the longest lease that an extend asked for ends, if it counts from the
                                          send of that request; 0: no extend was sent */
        } held;
        struct { /* ending */
            struct hl_caller caller;     /* who is told what became of the release */
            struct hl_hold *carried;     /* the hold whose acquire the release carries (asking.h); NULL: none */
            uint64_t lapses_at_us;       /* from this time on nothing of the hold can be at the store any more */
        } ending;
    };
    struct hl_alarm alarm;
    uint32_t asked_ms;           /* the lease that the latest acquire or renewal asked for */
    struct hl_entry_parts entry;
    uint16_t window_ms;          /* held by a pushed grant: the window of that grant, until the first renewal makes
                                    it a lease. 0: the grant is a lease */
    uint8_t state : 4;           /* enum hl_hold_state */
    uint8_t kept : 2;            /* enum hl_kept */
    uint8_t stage : 2;           /* enum hl_stage */
    uint8_t form : 3;            /* enum hl_form: the command that was sent latest, by which its reply is read */
    uint8_t reason : 3;          /* hilock_lost_reason */
    uint8_t downgrade : 2;       /* held: enum hl_downgrade (downgrade.h) */
    uint8_t end;                 /* enum hl_end */
    uint8_t failures;            /* held: how many times in a row a renewal failed or went on without an answer; ending:
                                    how many times in a row the release was refused; cut at 255 */
    uint8_t served;              /* held: how many handles this hold served before the present one (lock/tenure.c) */
    uint8_t is_queued : 1;       /* the id may be in the queue at the store; held: only by a heartbeat from before a
                                    push */
    uint8_t siblings_wait : 1;   /* ending: other handles of this client wait for the first answer to the release
                                    (name->unanswered_releases) */
    uint8_t is_lease_too_long : 1; /* the lease at the store was longer than asked for, and that was reported */
    uint8_t is_shortening : 1;   /* a renewal that may shorten the lease at the store was sent (shortening.h), and is
                                    not known to be over. Without an answer it may execute until may_run_until_us */
};
_Static_assert(sizeof(struct hl_hold) <= 248 || sizeof(void *) != 8, "every lock that is held has a hold");

enum hl_hold_what { /* what the owner of a hold is told: the folder above, for the acquire that the hold serves */
    EVENT_ASKS,         /* an acquire is about to be sent: the owner adds to `params` what makes it a heartbeat or a
                           try */
    EVENT_GRANTED,      /* the hold is acquiring, and OURS now: by an answer, by replicas, or by a push */
    EVENT_ANSWERED,     /* the hold is acquiring: `said` is NO or FAULT; NULL: there is no answer */
    EVENT_UNCONFIRMED,  /* the hold is acquiring: its grant is at the store, but WAIT found too few replicas, or was
                           refused: `said` is FAULT */
    EVENT_SENT_BACK,    /* the hold is acquiring: the release that was to carry its acquire brought no answer to it
                           (asking.h), so the acquire waits for its turn again */
    EVENT_UNREPORTED,   /* the hold has ended before its grant was reported to some handles: their acquires try again */
    EVENT_ALARM,        /* the alarm fired before the hold was held: the acquire has slept or paused for long enough */
    EVENT_SHARES,       /* the hold shares its name from now on (downgrade.h): no other handle of this client waits for
                           its end any more */
    EVENT_RELEASED      /* the release of the hold has its first answer, or will have none: other handles of this client
                           may request the name */
};
struct hl_hold_event {
    enum hl_hold_what what;
    struct hl_acquire_params *params;
    const struct hl_response *said;
};

/* 1: an acquire of the hold was sent, or shall be carried, and the client does not count the hold as its own yet. */
static inline int hl_hold_is_acquiring(const struct hl_hold *hold)
{
    return hold->state == HOLD_ASKING || hold->state == HOLD_WAITING || hold->state == HOLD_CONFIRMING;
}
/* 1: the client counts the hold as its own. It is in name->holds, and OURS. */
static inline int hl_hold_is_held(const struct hl_hold *hold)
{
    return hold->state == HOLD_HELD || hold->state == HOLD_PUSHED || hold->state == HOLD_RENEWING ||
           hold->state == HOLD_OVERDUE;
}
/* 1: the hold is over for the client, but perhaps not at the store. */
static inline int hl_hold_is_ending(const struct hl_hold *hold)
{
    return hold->state != HOLD_IDLE && !hl_hold_is_acquiring(hold) && !hl_hold_is_held(hold);
}

static inline struct hl_core *hl_hold_core(const struct hl_hold *hold) { return hold->terms->cell->core; }
static inline uint64_t hl_hold_now_us(const struct hl_hold *hold) { return hl_now_us(&hl_hold_core(hold)->host); }
/* 1: the user released the hold, and that call has no answer yet. */
static inline int hl_hold_has_open_call(const struct hl_hold *hold)
{
    return hold->end == END_RELEASED || hold->end == END_IN_DOUBT;
}
/* Calls up: the only way from this folder to the one above (lock/acquire.c), but for the reports to the user, whose
 * table is holds->reports (lock/tenure.c). */
static inline void hl_hold_tell(struct hl_hold *hold, const struct hl_hold_event *event)
{
    hl_hold_core(hold)->holds->on_event(hold, event);
}

/* Returns NULL without memory. */
struct hl_hold *hl_hold_new(struct hl_core *core, struct hl_name *name, struct hl_terms *terms);
/* The only way to another state. Stops the program if the drawing has no arrow to it. */
void hl_hold_enter(struct hl_hold *hold, enum hl_hold_state state);
/* call only when nothing of the hold is at the store or on the wire */
void hl_hold_free(struct hl_hold *hold);
void hl_hold_wake_at(struct hl_hold *hold, uint64_t at_us); /* UINT64_MAX stops the alarm */
/* Calls visit for each hold that is held. visit may end the hold that it is given. */
void hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg);
/* Returns the shortest time that is left to a hold which must be renewed at this node (NULL: at any node). UINT64_MAX:
 * there is no such hold. Visits all holds. */
uint64_t hl_holds_left_us(void *core, const struct hl_node *node);

/* From now on the handle asks with this hold, or counts on it. */
static inline void hl_hold_join(struct hl_hold *hold, struct hilock_lock *lock)
{
    TAILQ_INSERT_TAIL(&hold->handles, lock, by_hold);
}
/* The contrary. Returns 1 if the hold has no handle left. */
int hl_hold_leave(struct hl_hold *hold, struct hilock_lock *lock);
/* Returns the first handle that asks with this hold, or that counts on it; NULL: the hold has none. */
static inline struct hilock_lock *hl_hold_handle(const struct hl_hold *hold) { return TAILQ_FIRST(&hold->handles); }
/* 1: other handles count on the hold of this one */
static inline int hl_hold_has_others(const struct hl_hold *hold, const struct hilock_lock *lock)
{
    return TAILQ_FIRST(&hold->handles) != lock || TAILQ_NEXT(lock, by_hold);
}
/* 1: the user counts on this hold: its grant was reported to a handle, and its end was not. */
int hl_hold_is_with_user(const struct hl_hold *hold);
/* 0: the hold is not OURS */
static inline uint64_t hl_hold_deadline_us(const struct hl_hold *hold)
{
    return hold->kept == KEPT_OURS ? hold->deadline_us : 0;
}
/* held: when the tenure of this handle ends: at the deadline, or earlier because of hold_max_ms */
uint64_t hl_hold_ends_at_us(const struct hl_hold *hold, const struct hilock_lock *lock);
/* held: returns when the first handle loses the hold that has not lost it yet */
uint64_t hl_hold_first_end_us(const struct hl_hold *hold);
/* Writes the grant channel for the name of this hold: the store publishes there that a waiter of this client got the
 * name. Entries in the queue contain this text. */
void hl_hold_channel(const struct hl_hold *hold, int is_sharded, char to[HL_GRANT_CHANNEL_MAX]);
/* the entry of the hold in the store's queue; due_s 0: it never had one */
struct hl_queue_entry hl_hold_entry(const struct hl_hold *hold);
/* Returns how many subscriptions of this client the unlock channel of the name has. The script of the release subtracts
 * them from all subscriptions, so the rest are other programs. HL_OWN_ALL: no listener counts as another program. */
unsigned hl_hold_own_listeners(struct hl_core *core, const struct hl_name *name, struct hl_node *node);
/* 1: enough of the grant is left for a handle of these terms that gets the hold now (R8). */
int hl_hold_lasts_for(const struct hl_hold *hold, const struct hl_terms *terms, uint64_t now_us);
/* the fencing token of the present tenure; 0: the kind has no tokens */
uint64_t hl_hold_token(const struct hl_hold *hold);
/* Returns how many tokens its acquire reserves for later tenures. */
static inline unsigned hl_hold_reserved(const struct hl_hold *hold)
{
    return hl_takes_turns(hold->terms) ? hl_hold_core(hold)->limits.turns_max - 1 : 0;
}
/* 1: nothing of the hold is at the store or on the wire: no request with its id was sent, or each was answered no. */
static inline int hl_hold_is_empty(const struct hl_hold *hold)
{
    return hold->kept == KEPT_NOTHING && !hl_request_is_busy(&hold->request);
}
/* Returns a hold of this client for the name that is held; NULL: the client does not hold it. */
static inline struct hl_hold *hl_hold_of(const struct hl_name *name) { return LIST_FIRST(&name->holds); }
/* the same, of a hold beside which a handle of these terms cannot hold the name (the holds of a name are all alike) */
static inline struct hl_hold *hl_hold_in_the_way(const struct hl_name *name, const struct hl_terms *terms)
{
    struct hl_hold *hold = hl_hold_of(name);
    return hold && !hl_may_hold_together(hold->terms, terms) ? hold : NULL;
}
/* the same, of a hold that has the name alone; NULL: none, or holds that share the name */
static inline struct hl_hold *hl_hold_alone_of(const struct hl_name *name)
{
    struct hl_hold *hold = hl_hold_of(name);
    return hold && hl_holds_alone(hold->terms) ? hold : NULL;
}
/* Returns the hold of this client that has this id, in whatever state, if something of it may be at the store. Unless
 * it is held, all holds are visited, the youngest first. */
struct hl_hold *hl_hold_find(const struct hl_core *core, const struct hl_name *name, uint64_t id);
/* 1: the present server may not know the hold, because the hold was last proved over an older link, or at another
 * server, or because the server is away, or because the latest renewal failed: such a renewal proves nothing. */
int hl_hold_needs_verification(const struct hl_hold *hold);

/* Takes the server's clock from an answer about this name, and traces the places that the request removed from the
 * queue. */
void hl_holds_read_news(struct hl_core *core, struct hl_node *node, const struct hl_name *name,
                        const struct hl_response *said);
/* 1: this answer to an acquire proves that nothing of the id is at the store. */
int hl_hold_is_cleared_by(const struct hl_hold *hold, const struct hl_response *said);
/* The latest acquire of this hold was never sent, so that acquire left nothing at the store. */
void hl_hold_mark_unsent(struct hl_hold *hold);
/* The store answered that it has no such hold. The id may still appear there, by an unanswered acquire, or because it
 * is back in the queue after the store lost the grant. In both cases the id is released. */
void hl_hold_mark_not_ours(struct hl_hold *hold);
/* held: returns until when the store may keep the lease if every extend took effect, even one that arrived late. 0: no
 * extend was sent. */
static inline uint64_t hl_hold_may_last_until_us(const struct hl_hold *hold)
{
    uint64_t command_us = (uint64_t)hl_hold_core(hold)->limits.command_timeout_ms * 1000;
    return hold->held.extended_until_us ? hold->held.extended_until_us + command_us : 0;
}

/* Writes the sentence that reports the loss of this hold (core/words.h). */
void hl_hold_loss_words(struct hl_core *core, const struct hl_hold *hold, struct hl_text *text);
/* Writes what became of a release that was answered UNKNOWN, or that was repeated after a failover. */
void hl_hold_settling_words(const struct hl_hold *hold, uint32_t waited_ms, struct hl_text *text);

#endif
