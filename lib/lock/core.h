/* SPDX-License-Identifier: BSD-3-Clause */
/* core - the lock machine of one client: what its parts share. Each struct's rules stand in the file named after it.
 *
 *   lock (handle)  --acquire-->  acquire (a wait)  in the line of a  gate (one a waited-for name)
 *        |                           |
 *        +---- hold (what the store keeps for us) and its request to the node of its name
 *
 * Objects report to the user by notices (notice.h): no callback runs inside the user's own call. */
#ifndef HL_LOCK_CORE_H
#define HL_LOCK_CORE_H

#include "base/alarm.h"
#include "base/id_table.h"
#include "base/table.h"
#include "lock/cell.h"
#include "lock/notice.h"
#include "node/route.h"
#include "wire/queued.h"
#include "wire/holder.h"
#include "wire/keys.h"
#include "wire/kind.h"

struct hl_acquire;
struct hl_queue_place;
struct hl_gate;
struct hl_grants;
struct hl_hold;
struct hl_inquiry;
struct hl_last_words;
struct hl_group;
struct hl_handle_ops;
struct hl_recent;

/* ---- handles (turn.c) ---- */

struct hl_terms { /* the options of a handle; shared by handles made alike one after the other */
    unsigned refs;
    struct hl_cell *cell;
    const struct hl_kind *kind;
    hilock_event_fn *on_lost, *on_event;
    uint32_t poll_min_ms, poll_jitter_ms;
    uint32_t lease_ms, hold_max_ms, min_validity_ms, wait_report_ms; /* hold_max, wait_report: 0 is off */
    uint32_t replica_timeout_ms;
    uint8_t replicas;             /* that must confirm a grant */
    uint8_t is_renewed, is_reentrant, is_polling; /* polling: waits without a subscription */
    uint8_t is_unguarded;         /* asks a server under its restart guard, too */
    uint8_t is_internal;          /* of handles that the library made for another handle: not counted or listed, and
                                     reported only to that one */
};

struct hl_name { /* a lock's name while it is in use: found by its bytes (name.c) */
    struct hl_table_entry entry;
    uint32_t refs;
    uint16_t length : 11;
    uint16_t master : 5;  /* which of several independent masters it is at */
    uint16_t ending;      /* holds of this name whose release has no answer yet */
    struct hl_hold *hold; /* ours now, or NULL */
    struct hl_gate *gate; /* its waiters; NULL: none */
    char bytes[];         /* a terminator, and the master: the key of the table */
};

struct hl_attempt { /* what the handles of a group share while they acquire */
    uint64_t id_last;           /* of a block of ids; 0: they take the client's */
    uint64_t ticket;            /* their age: of the first place of a multi, and where its next ones stand; 0: none */
    const struct hl_node *node; /* whose clock that is */
};

struct hilock_lock {
    TAILQ_ENTRY(hilock_lock) entry; /* in core->handles; not of handles that the library made */
    uint32_t refs, epoch;       /* refs: the user's, and callbacks under way */
    const struct hl_handle_ops *ops;
    union {
        struct hl_group *group;     /* of the user's handles; NULL: a plain one */
        struct hl_attempt *attempt; /* of a plain handle that a group made: the group's; NULL: none */
    };
    struct hl_terms *terms;
    void *user;
    struct hl_name *name;
    struct hl_acquire *acquire; /* WAITING */
    struct hl_hold *hold;       /* HELD */
};

/* ---- holds (hold.c) ---- */

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
enum hl_queued { /* its id, in the queue at the store */
    QUEUED_NO,
    QUEUED_ASKED, /* the request under way asks for a place */
    QUEUED_MAYBE
};
enum hl_heard { /* of its release */
    HEARD_NOTHING,
    HEARD_AWAITED, /* siblings wait for the first answer: it is counted in name->ending */
    HEARD_REFUSED, /* and that was reported */
    HEARD_NO,
    HEARD_YES
};
enum hl_end { /* why it is ENDING; of a release how far it has come, in this order */
    END_QUIET,     /* lost, or undone: nobody waits for an answer */
    END_UNHELD,    /* its grant was never reported: it is in core->unheld */
    END_REPEATED,  /* its release had been acknowledged, and may be lost (recent.c) */
    END_RELEASED,  /* by its user, and not answered */
    END_OK,        /* answered, from here on */
    END_LOST,
    END_UNKNOWN,
    END_CONFIRMED, /* was UNKNOWN until the store confirmed it */
    END_LAPSED     /* was UNKNOWN until its lease had run out */
};

enum hl_hold_state { HOLD_IDLE, HOLD_ASKING, HOLD_HELD, HOLD_ENDING };
/* Reports of a hold, in their order. */
enum { REPORT_LOST = 1, REPORT_RENEWAL_FAILED = 2, REPORT_RENEWED = 4, REPORT_RELEASED = 8, REPORT_SETTLED = 16 };

struct hl_hold {
    struct hl_notice notice;     /* the bits above */
    struct hl_request request;   /* one at a time */
    TAILQ_ENTRY(hl_hold) live;   /* in core->live */
    struct hl_name *name;
    uint64_t token;              /* OURS. MAYBE, of one that is queued: the ticket of its place (both come from one
                                    counter); 0: unknown */
    uint64_t deadline_us;        /* OURS: belief in it ends then */
    struct hl_terms *terms;
    struct hilock_lock *lock;    /* the handle that acquires or holds; ENDING: the handle to call back,
                                    referenced unless its loss is still to be reported, or NULL */
    uint64_t id;
    uint64_t since_us;           /* HELD: the begin of the present turn; ENDING: its begin */
    uint64_t due_us;             /* when the alarm was due; 0: stopped */
    uint64_t haunted_until_us;   /* ENDING: a haunted id is released once more then */
    hilock_result_fn *on_result; /* ENDING by a release */
    union {                      /* by its state */
        uint64_t granted_us;     /* HELD: the grant at the store */
        void *user;              /* ENDING: with on_result */
    };
    struct hl_side *side;        /* what few holds need (hold.c); NULL: nothing of it */
    struct hl_alarm alarm;
    uint8_t state, reason;       /* enum hl_hold_state, hilock_lost_reason */
    uint8_t kept, ask, way, queued, heard, end; /* enums above */
    uint8_t form;                /* enum hl_form of the latest request */
    uint8_t failures;            /* renewals in a row, cut at 255 */
    uint8_t turn;                /* HELD: how many handles it served before this one (handoff.c) */
    uint8_t is_haunted : 1;      /* an acquire of this id has no answer: its bytes may still run, until not_after */
    uint8_t is_in_order : 1;     /* haunted by one acquire only, which went along with a release (next.h), and its own
                                    release goes over the same link: it runs after that acquire */
    uint8_t was_repeated : 1;    /* a release of this id has no answer */
    uint8_t is_overlong : 1;     /* its lease at the store was longer than asked for, which was reported */
    uint8_t is_overdue : 1;      /* its renewal has counted as failed; an answer may still come */
    uint8_t is_owed : 1;         /* HELD: this turn's own lease was not asked for yet: the watchdog asks, even if the
                                    hold is not renewed */
    uint8_t is_windowed : 1;     /* HELD by a pushed grant: for a window, until the first renewal */
};
_Static_assert(sizeof(struct hl_hold) <= 208 || sizeof(void *) != 8, "every lock that is held has one");

TAILQ_HEAD(hl_extends, hl_extend);
TAILQ_HEAD(hl_entries, hl_entry);

struct hl_desk { /* the re-entries of what a handle holds */
    struct hl_entries entering; /* acquires without an answer, the oldest first */
    struct hl_entries leaves;   /* memory for the answers to later releases: one for each count */
    uint32_t count;
};

struct hl_side {
    struct hilock_validity *validity; /* this hold for other threads; NULL: not asked for (validity.c) */
    uint8_t validity_at;              /* the index of this hold's deadline in it */
    struct hl_extends extends;        /* accepted and not reported yet, in order (extend.c) */
    uint32_t asked_ms;                /* the lease that the latest round of renewals asked for; 0: the lock's own */
    uint64_t reach_us;                /* until when an extend's longer lease may last; 0: there was none */
    struct hl_desk desk;
    uint8_t is_doubted;               /* of a hold without renewals: the store may have lost it and must be asked */
};

/* ---- waits (acquire.c, gate.c) ---- */

enum hl_stands { /* with its gate */
    STANDS_NOWHERE,
    STANDS_IN_LINE,
    STANDS_ASIDE,  /* a try that has not asked, or asks once more */
    STANDS_ASKING, /* a try that has */
    STANDS_QUEUED  /* for itself: it has a place only in the queue at the store */
};
enum hl_acquire_state {
    ACQUIRE_IN_LINE,
    ACQUIRE_STARVED, /* its turn has come, and there was no memory for its hold (gate.c) */
    ACQUIRE_ASKING,
    ACQUIRE_SLEEPING,
    ACQUIRE_GRANTED,
    ACQUIRE_DECIDED
};
enum { REPORT_WAITING = 1, REPORT_RESULT = 2 }; /* its reports */

struct hl_acquire {
    struct hl_notice notice;        /* the bits above */
    TAILQ_ENTRY(hl_acquire) line;   /* in its gate, until it is delivered or DECIDED */
    struct hl_last_words *words;    /* DECIDED; NULL: none, but for the status' own sentence */
    struct hilock_lock *lock;
    struct hl_hold *hold;           /* its own, for its requests; NULL: its turn to ask has not come */
    struct hl_queue_place *place;         /* in the queue at the store; NULL: it has none */
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us;
    uint64_t ends_us;               /* UINT64_MAX is never */
    uint32_t report_ms;             /* after its begin: the next WAITING event; UINT32_MAX is never. 0: the first, when
                                       it is found held */
    uint32_t attempts;
    struct hl_alarm alarm;          /* for its end and its reports; has not begun if it has neither */
    uint8_t state;
    uint8_t stands;                 /* enum above */
    int8_t status;                  /* DECIDED: hilock_status */
    uint8_t is_try : 1;
    uint8_t is_unconfirmed : 1;     /* too few replicas confirmed its latest grant */
};
_Static_assert(sizeof(struct hl_acquire) <= 128 || sizeof(void *) != 8, "every wait has one");

/* ---- the client ---- */

struct hl_owner_ops { /* calls up: from holds, gates and channels to the acquires that they serve: no file knows one
                         above it (core.c) */
    const struct hl_notice_ops *notice; /* makes the user's reports of holds */
    void (*asks)(struct hl_hold *hold, struct hl_params *params); /* an acquire of it leaves */
    /* its hold is ASKING: YES, NO or FAULT; NULL: no answer */
    void (*answered)(struct hl_acquire *acquire, const struct hl_response *said);
    void (*crossed)(struct hl_hold *hold, const struct hl_answer *answer); /* HELD: an acquire that left before the
                                                                              grant */
    struct hl_hold *(*next)(const struct hl_hold *hold); /* its release leaves: the hold that goes along (next.h) */
    /* that release was answered; NULL: it was not */
    struct hl_hold *(*next_asked)(const struct hl_hold *hold, const struct hl_reply *reply);
    void (*next_answered)(struct hl_hold *next, const struct hl_reply *reply);
    void (*regain)(struct hl_acquire *acquire);   /* its hold is HELD and never reported: belief in it has ended */
    void (*resume)(struct hl_acquire *acquire);   /* the alarm of its hold, until that is held */
    void (*freed)(struct hl_name *name);    /* the first answer to its release, or there will be none */
    void (*acknowledged)(const struct hl_hold *hold); /* the store has answered its release */

    int (*may_ask)(struct hl_core *core, struct hl_acquire *acquire); /* its turn has come. 0: no memory for that now */
    void (*ask)(struct hl_acquire *acquire);
    void (*decide)(struct hl_acquire *acquire, hilock_status status);
    void (*tell_waiting)(struct hl_core *core, struct hl_acquire *acquire);
    void (*wake)(struct hl_queue_place *place, uint64_t within_us); /* sends a heartbeat within that time */
    void (*pushed)(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push);
};

struct hl_limits { uint32_t command_timeout_ms, waiters_max, name_waiters_max, token_ttl_ms, turns_max; };

TAILQ_HEAD(hl_inquiries, hl_inquiry);

struct hl_core {
    struct hl_host host;
    struct hl_cell *cell;
    struct hl_route *route;
    struct hl_limits limits;
    char uuid[HL_UUID_LENGTH + 1], label[HL_LABEL_MAX + 1]; /* of every holder of this client */
    uint64_t id_last;                    /* acquisition ids used or reserved */
    struct hl_table names;
    struct hl_alarms hold_alarms, wait_alarms; /* hold.c; acquire.c */
    struct hl_alarms group_alarms, call_alarms; /* group.c; callback.c */
    TAILQ_HEAD(hl_handles, hilock_lock) handles; /* every handle of the user */
    TAILQ_HEAD(, hl_hold) live;          /* every hold that is not over */
    struct hl_notices notices;
    const struct hl_owner_ops *owner;
    const struct hl_request_ops *hold_requests; /* requests.c */
    const struct hl_notice_ops *acquire_notice; /* report.c */
    struct hl_id_table places;               /* by id (place.c) */
    struct hl_table slot_grants;         /* grants.c: by slot */
    TAILQ_HEAD(, hl_grants) grants;      /* the same; the last used is last */
    struct hl_terms *queue_terms;        /* of some handle whose kind has a queue, referenced: its scripts release
                                            unknown grants. NULL: there was none */
    struct hl_inquiries inquiries;       /* inquiry.c */
    struct hl_recent *recent;            /* recent.c; NULL: none yet */
    void *shortage_timer;                /* gate.c */
    int is_short;                        /* it runs */
    unsigned inquiries_open;             /* of them: not decided */
    uint64_t earliest_us;                /* no hold's belief ends before this */
    unsigned waiting, held, live_holds, locks; /* acquires pending; handles holding; holds in `live`; handles */
    unsigned unheld;                     /* of the holds: ended attempts that are not returned yet: they take waiters'
                                            places */
    int is_closing;                      /* acquires are refused */
    uint64_t silent_until_us;            /* a program whose release may wake no waiter of ours was seen lately
                                            (known.c) */
    int is_unheard_told;                 /* that releases' messages are refused; until one is not */
    int is_gone;                         /* abandoned inside a callback; freed after it */
};

int hl_core_init(struct hl_core *core); /* zeroed, but for its host and its options. -1: no memory, call hl_core_done */
void hl_core_clear(struct hl_core *core); /* frees all waits and holds; the route still exists, and sends no answers
                                             after this */
void hl_core_done(struct hl_core *core);
/* what one handle has; in a forked child, too */
void hl_core_forget_lock(struct hl_core *core, struct hilock_lock *lock);

static inline struct hl_core *hl_hold_core(const struct hl_hold *hold) { return hold->terms->cell->core; }

/* ---- terms ---- */

static inline void hl_terms_unref(struct hl_terms *terms)
{
    struct hl_cell *cell = terms->cell;
    if (--terms->refs)
        return;
    hl_memory_free(&cell->memory, terms);
    hl_cell_unref(cell);
}
/* Handles of these terms count as the user's. */
static inline unsigned hl_terms_count(const struct hl_terms *terms) { return !terms->is_internal; }
static inline uint64_t hl_terms_lease_us(const struct hl_terms *terms) { return (uint64_t)terms->lease_ms * 1000; }
/* what a pushed grant is good for, until it is renewed */
static inline uint32_t hl_terms_window_ms(const struct hl_terms *terms)
{
    return HL_FAIR_WINDOW_MS < terms->lease_ms ? HL_FAIR_WINDOW_MS : terms->lease_ms;
}
/* what must be left of a grant when it is reported: by default half */
static inline uint64_t hl_terms_least_us(const struct hl_terms *terms, uint32_t granted_ms)
{
    return (uint64_t)(terms->min_validity_ms ? terms->min_validity_ms : granted_ms / 2) * 1000;
}
/* for events of the user's handles; internal ones are silent */
static inline void hl_terms_trace(const struct hl_terms *terms, enum hl_what what, const struct hl_fact *fact)
{
    if (!terms->is_internal)
        hl_trace(&terms->cell->core->host, what, fact);
}

#endif
