/* SPDX-License-Identifier: BSD-3-Clause */
/* core - the lock machine of one client: what its parts share. Each struct's rules stand in the file named after it.
 *
 *   lock (handle)  --acquire-->  acquire (a wait)  in the line of a  gate (one a waited-for name)
 *        |                           |
 *        +---- hold (what the store keeps for us) and its request to the node of its name
 *
 * Whatever has something to report to the user is a notice (notice.h): nothing calls back inside the user's own
 * call. */
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
    uint8_t is_unguarded;         /* asks a server that its restart guard keeps from granting, too */
    uint8_t is_internal;          /* of handles that the library made for another: they are not counted or listed, and
                                     only reported to that one */
};

struct hl_name { /* a lock's name as long as anybody has it: found by its bytes (name.c) */
    struct hl_table_entry entry;
    uint32_t refs : 31;
    uint32_t is_awaited : 1; /* it has a gate */
    uint16_t length : 11;
    uint16_t master : 5;  /* of several independent ones: at which of them this is */
    uint16_t ending;      /* holds of this name whose release is not answered */
    struct hl_hold *hold; /* ours now, or NULL */
    struct hl_gate *gate; /* is_awaited */
    char bytes[];         /* a terminator, and the master: the key of the table */
};

struct hilock_lock {
    uint32_t refs, epoch;       /* refs: the user's, and callbacks under way */
    const struct hl_handle_ops *ops;
    struct hl_group *group;     /* NULL: a plain handle */
    struct hl_terms *terms;
    void *user;
    struct hl_name *name;
    struct hl_acquire *acquire; /* WAITING */
    struct hl_hold *hold;       /* HELD */
    uint64_t *ids;              /* the last id that was given to it, or to others with it; NULL: the client's */
};

/* ---- holds (hold.c) ---- */

enum hl_kept { /* by the store, under the id of a hold */
    KEPT_NOTHING,
    KEPT_MAYBE, /* asked for: it may be there */
    KEPT_OURS
};
enum hl_ask { /* what its request is about */
    ASK_ACQUIRE,
    ASK_CONFIRM, /* granted; have replicas got it? */
    ASK_RENEW,
    ASK_RELEASE
};
enum hl_heard { /* of its release */
    HEARD_NOTHING,
    HEARD_YES,
    HEARD_NO
};

enum hl_hold_state { HOLD_IDLE, HOLD_ASKING, HOLD_HELD, HOLD_RETURNING, HOLD_ENDING };
/* What a hold has to report, in the order in which it is reported. */
enum { REPORT_LOST = 1, REPORT_RENEWAL_FAILED = 2, REPORT_RENEWED = 4, REPORT_RELEASED = 8, REPORT_SETTLED = 16 };

struct hl_hold {
    struct hl_notice notice;     /* the bits above */
    struct hl_request request;   /* one at a time */
    TAILQ_ENTRY(hl_hold) live;   /* in core->live */
    struct hl_name *name;
    uint64_t token;              /* OURS. MAYBE, of one that is_queued: the ticket of its place (both come from one
                                    counter); 0: unknown */
    uint64_t deadline_us;        /* OURS: until when we may believe in it */
    struct hl_terms *terms;
    union {
        struct hl_acquire *acquire; /* IDLE, ASKING, RETURNING, and HELD until it is reported */
        struct hilock_lock *lock;   /* HELD and reported; ENDING: the handle to call back, referenced, or NULL */
    } owner;
    uint64_t id;
    union {
        uint64_t since_us;       /* HELD: the begin of the present turn; ENDING: its begin */
        uint64_t resume_us;      /* before: when its acquire, SLEEPING, tries again; UINT64_MAX is never */
    };
    uint64_t due_us;             /* when the alarm was to go off; 0: stopped */
    uint64_t haunted_until_us;   /* ENDING: then a haunted id is released once more. HELD: see is_stray */
    hilock_result_fn *on_result; /* ENDING by a release */
    union {
        void *user;              /* ENDING */
        uint64_t granted_us;     /* HELD: the grant at the store */
    };
    struct hl_side *side;        /* what few holds need (side.c); NULL: nothing of it */
    struct hl_alarm alarm;
    uint8_t state, reason;       /* enum hl_hold_state, hilock_lost_reason */
    uint8_t kept, ask, heard;    /* enums above */
    uint8_t form;                /* enum hl_form of the latest request */
    uint8_t failures;            /* renewals in a row, cut at 255 */
    uint8_t turn;                /* HELD: how many handles it has served before this one (handoff.c) */
    uint8_t is_told : 1;         /* owner.lock it is */
    uint8_t is_second : 1;       /* acquire: the first question was answered HL_AGAIN */
    uint8_t is_late_once : 1;    /* the latest answer was LATE, and was retried */
    uint8_t is_haunted : 1;      /* an acquire of this id went unanswered: its bytes may still run, until not_after */
    uint8_t is_stray : 1;        /* a native renewal went unanswered: until haunted_until_us it may still set the lease,
                                    to less than was extended */
    uint8_t was_repeated : 1;    /* a release of this id went unanswered */
    uint8_t is_half_said : 1;    /* its release is said in the second way for now, which leaves the id in the queue */
    uint8_t is_overlong : 1;     /* its lease was found longer than was asked for, and that was reported */
    uint8_t is_refused : 1;      /* its release was, and that was reported */
    uint8_t is_counted : 1;      /* in name->ending */
    uint8_t is_placing : 1;      /* its latest acquire asked for a place in the queue */
    uint8_t is_overdue : 1;      /* its renewal has counted as failed, and may still be answered */
    uint8_t is_owed : 1;         /* HELD: this turn's own lease was not asked for yet: the watchdog does, renewed or
                                    not */
    uint8_t is_answered : 1;     /* ENDING: the release has its verdict */
    uint8_t is_confirmed : 1;    /* ENDING: by the store; else its lease has run out */
    uint8_t is_settled : 1;      /* ENDING: the end of a release that was UNKNOWN has been reported */
    uint8_t is_queued : 1;       /* its id may stand in the queue of a FAIR lock */
    uint8_t is_windowed : 1;     /* HELD by a pushed grant: for a window, until the first renewal */
    uint8_t is_release : 1;      /* ENDING: because its user released it */
    uint8_t is_unheld : 1;       /* ENDING: its grant was never reported; in core->unheld */
    uint8_t verdict : 7;         /* ENDING: a hilock_status as its negative, for REPORT_RELEASED */
};
_Static_assert(sizeof(struct hl_hold) <= 208 || sizeof(void *) != 8, "every lock that is held has one");

TAILQ_HEAD(hl_extends, hl_extend);
TAILQ_HEAD(hl_entries, hl_entry);

struct hl_desk { /* the re-entries of what a handle holds */
    struct hl_entries entries; /* that count, the oldest first */
    struct hl_entries leaving; /* released before they were answered */
    uint32_t count;            /* of the former */
};

struct hl_side {
    struct hilock_validity *validity; /* what other threads see of this hold; NULL: nobody asked (validity.c) */
    uint8_t validity_at;              /* whose deadline in it this hold's is */
    struct hl_extends extends;        /* accepted and not reported yet, in order (extend.c) */
    uint32_t asked_ms;                /* the lease that the latest round of renewals asked for; 0: the lock's own */
    uint64_t reach_us;                /* until when a lease may last that an extend asked for; 0: none did */
    uint64_t next_us;                 /* when the watchdog itself has something to do; the alarm may be for an extend's
                                         end */
    struct hl_desk desk;
    uint8_t is_doubted;               /* of a hold that is not renewed: the store may have lost it, and is to be
                                         asked */
};

struct hl_asked { /* how a request for the lock was answered; dies with the call */
    enum { ASKED_GRANTED, ASKED_HELD, ASKED_FAULT, ASKED_UNANSWERED } answer;
    int is_granted;      /* FAULT: though it is at the store (too few replicas): it goes back */
    uint64_t asked_us;   /* when that left */
    uint64_t left_ms;    /* HELD */
    int has_no_ttl;
    const char *holder;
    size_t holder_length;
    uint64_t ticket;       /* HELD, of a kind with a queue: place in it, and who holds */
    uint32_t position, waiters;
    int hands_over;
    const char *heir;      /* NULL: none; whom the holder's release wakes, of another program's own queue */
    size_t heir_length;
    struct hl_fault fault; /* FAULT, and the server's words */
    const char *quote;
    size_t quote_length;
};

struct hl_owner_ops { /* what a hold reports to whoever it was made for (owner.c) */
    const struct hl_notice_ops *notice; /* what the user is called back with */
    void (*asks)(struct hl_hold *hold, struct hl_wants *wants); /* an acquire of it leaves */
    void (*answered)(struct hl_hold *hold, const struct hl_asked *asked); /* ASKING */
    void (*crossed)(struct hl_hold *hold, const struct hl_answer *answer); /* HELD: an acquire that left before the
                                                                              grant */
    struct hl_hold *(*next)(const struct hl_hold *hold); /* its release leaves: who goes along (next.h) */
    /* that was answered; NULL: it was not */
    struct hl_hold *(*next_asked)(const struct hl_hold *hold, const struct hl_reply *reply);
    void (*next_answered)(struct hl_hold *next, const struct hl_reply *reply);
    void (*ended)(struct hl_hold *hold);    /* HELD, but nobody was called back with it: belief in it is over */
    void (*returned)(struct hl_hold *hold); /* RETURNING is over: IDLE, without an id */
    void (*wake_at)(struct hl_hold *hold, uint64_t at_us); /* RETURNING: there is something to do then */
    void (*tick)(struct hl_hold *hold);     /* the alarm, until it is held */
    void (*freed)(struct hl_name *name);    /* its release was answered first, or cannot be */
};

/* ---- waits (acquire.c, arrival.c, gate.c) ---- */

enum hl_stands { /* with its gate */
    STANDS_NOWHERE,
    STANDS_IN_LINE,
    STANDS_ASIDE,  /* a try that has not asked */
    STANDS_ASKING, /* a try that has */
    STANDS_QUEUED  /* for itself: its place is in the queue at the store alone */
};
enum hl_acquire_state { ACQUIRE_IN_LINE, ACQUIRE_ASKING, ACQUIRE_SLEEPING, ACQUIRE_GRANTED, ACQUIRE_DECIDED };
enum { REPORT_WAITING = 1, REPORT_RESULT = 2 }; /* what it has to report */

struct hl_acquire {
    struct hl_notice notice;        /* the bits above */
    union {
        TAILQ_ENTRY(hl_acquire) line;             /* in its gate, until it is handed over or DECIDED */
        struct { char *holder, *detail; } words; /* DECIDED; NULL: "", the status' own sentence */
    };
    struct hilock_lock *lock;
    struct hl_hold *hold;           /* its own: what it asks with; NULL: its turn to ask has not come */
    struct hl_queue_place *place;         /* in the queue at the store; NULL: it stands in none */
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us;
    uint64_t report_us;             /* the next WAITING event; UINT64_MAX is never */
    union {
        uint64_t ends_us;           /* UINT64_MAX is never */
        /* DECIDED; remaining: what was last known of the holder */
        struct { hilock_status status; uint32_t holder_remaining_ms; } verdict;
    };
    uint32_t attempts;
    struct hl_alarm alarm;          /* until it has a hold, unless it has nothing to do with time */
    uint8_t state;
    uint8_t stands;                 /* enum above */
    uint8_t is_try : 1;
    uint8_t is_untold : 1;          /* no WAITING event yet */
    uint8_t is_unconfirmed : 1;     /* too few replicas confirmed what it got last */
    uint8_t is_starved : 1;         /* its turn has come, and there was no memory for its hold (shortage.c) */
};
_Static_assert(sizeof(struct hl_acquire) <= 128 || sizeof(void *) != 8, "every wait has one");

/* ---- the client ---- */

struct hl_waiter_ops { /* what a wait's gate and its channels ask of it (owner.c) */
    int (*may_ask)(struct hl_core *core, struct hl_acquire *acquire); /* its turn has come. 0: there is no memory for
                                                                         that now */
    void (*ask)(struct hl_acquire *acquire);
    void (*answered)(struct hl_acquire *acquire, const struct hl_asked *asked);
    void (*decide)(struct hl_acquire *acquire, hilock_status status);
    void (*tell_waiting)(struct hl_core *core, struct hl_acquire *acquire);
    void (*free)(struct hl_core *core, struct hl_acquire *acquire); /* the client is abandoned */
    void (*wake)(struct hl_acquire *acquire, uint64_t within_us); /* in the store's queue: a heartbeat, at some time
                                                                     within that */
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
    uint64_t id_last;                    /* acquisition ids given, or set aside */
    struct hl_table names;
    struct hl_alarms hold_alarms, wait_alarms; /* hold.c; arrival.c, of those that have no hold */
    struct hl_alarms group_alarms;       /* group.c */
    TAILQ_HEAD(, hl_group) groups;       /* every handle that is made of others */
    TAILQ_HEAD(, hl_hold) live;          /* every hold that is not over */
    struct hl_notices notices;
    const struct hl_owner_ops *owner;    /* owner.c */
    const struct hl_waiter_ops *waiter;  /* the same */
    const struct hl_request_ops *hold_requests; /* requests.c */
    const struct hl_notice_ops *acquire_notice; /* report.c */
    struct hl_id_table places;               /* by id (place.c) */
    struct hl_table slot_grants;         /* grants.c: by slot */
    TAILQ_HEAD(, hl_grants) grants;      /* the same; who was of use last stands last */
    struct hl_terms *queue_terms;        /* of some handle whose kind has a queue, referenced: to release in those
                                            words. NULL: there was none */
    struct hl_inquiries inquiries;       /* inquiry.c */
    struct hl_recent *recent;            /* recent.c; NULL: none yet */
    void *shortage_timer;                /* shortage.c */
    int is_short;                        /* it runs */
    unsigned inquiries_open;             /* of them: not decided */
    uint64_t earliest_us;                /* no hold's belief ends before this */
    unsigned waiting, held, live_holds, locks; /* acquires pending; handles holding; holds in `live`; handles */
    unsigned unheld;                     /* of the holds: attempts that ended, and are not returned yet: they take
                                            waiters' places */
    int is_closing;                      /* acquires are refused */
    uint64_t silent_until_us;            /* lately a program was seen whose release may wake nobody of ours (known.c) */
    int is_unheard_told;                 /* that messages of releases are refused; until one is not */
    int is_gone;                         /* abandoned inside a callback; freed behind it */
};

static inline struct hl_core *hl_hold_core(const struct hl_hold *hold) { return hold->terms->cell->core; }
/* What handles of these terms do counts among the user's. */
static inline unsigned hl_terms_count(const struct hl_terms *terms) { return !terms->is_internal; }
static inline uint64_t hl_terms_lease_us(const struct hl_terms *terms) { return (uint64_t)terms->lease_ms * 1000; }

#endif
