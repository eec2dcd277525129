/* SPDX-License-Identifier: BSD-3-Clause */
/* core - the lock machine of one client: what its parts share. Each struct's rules stand in the file named after it.
 *
 *   lock (handle)  --acquire-->  acquire (a wait)  in the line of a  gate (one a waited-for name)
 *        |                           |
 *        +---- hold (what the store keeps for us) of 1..n parts, each a request to a node about a name
 *
 * Whatever has something to report to the user is a notice (notice.h): nothing calls back inside the user's own call. */
#ifndef HL_LOCK_CORE_H
#define HL_LOCK_CORE_H

#include "base/alarm.h"
#include "base/roll.h"
#include "base/table.h"
#include "lock/cell.h"
#include "lock/notice.h"
#include "node/route.h"
#include "wire/queued.h"
#include "wire/holder.h"
#include "wire/keys.h"
#include "wire/kind.h"

struct hl_acquire;
struct hl_fair;
struct hl_gate;
struct hl_grants;
struct hl_hold;
struct hl_inquiry;
struct hl_names;
struct hl_recent;

/* ---- handles (turn.c) ---- */

struct hl_terms { /* the options of a handle; shared by handles made alike one after the other */
    unsigned refs;
    struct hl_cell *cell;
    const struct hl_kind *kind;
    struct hl_names *multi; /* NULL: one name, the handle's (multi.c) */
    hilock_event_fn *on_lost, *on_event;
    uint32_t poll_min_ms, poll_jitter_ms;
    uint32_t lease_ms, hold_max_ms, min_validity_ms, wait_report_ms; /* hold_max, wait_report: 0 is off */
    uint32_t replica_timeout_ms;
    uint8_t replicas;             /* that must confirm a grant */
    uint8_t is_renewed, is_reentrant, is_polling; /* polling: waits without a subscription */
};

struct hl_courtesy { /* to others who wait for a name (courtesy.c) */
    uint64_t until_us : 59; /* we do not ask before */
    uint64_t behind : 5;    /* so many others are let go first */
};

struct hl_name { /* a lock's name as long as anybody has it: found by its bytes (name.c) */
    struct hl_table_entry entry;
    uint32_t refs : 31;
    uint32_t is_awaited : 1; /* it has a gate */
    uint16_t length : 11;
    uint16_t crowd : 5;   /* others who listened when something of it was last given back, cut at 31 */
    uint16_t ending;      /* holds of this name whose release is not answered */
    struct hl_hold *hold; /* ours now, or NULL */
    union {               /* gate.c's */
        struct hl_gate *gate;
        struct hl_courtesy courtesy; /* of the gate to come */
    };
    char bytes[];         /* and a terminator */
};

struct hilock_lock {
    uint32_t refs, epoch;       /* refs: the user's, and callbacks under way */
    struct hl_terms *terms;
    void *user;
    struct hl_name *name;
    struct hl_acquire *acquire; /* WAITING */
    struct hl_hold *hold;       /* HELD */
};

/* ---- holds (hold.c) ---- */

enum hl_part_state {
    PART_CLEAR, /* nothing of this id is at the store */
    PART_MAYBE, /* asked for: it may be there */
    PART_OURS
};
enum hl_part_ask {
    PART_ACQUIRE,
    PART_CONFIRM, /* granted; have replicas got it? */
    PART_RENEW,
    PART_RELEASE
};
enum hl_part_heard { /* in the round under way: a renewal of every part, or the release of every part */
    HEARD_NOTHING,
    HEARD_YES,
    HEARD_NO
};

struct hl_part {
    struct hl_request request;
    struct hl_name *name;
    uint64_t token;         /* OURS. MAYBE, of a hold that is_queued: the ticket of its place (both come from one counter); 0: unknown */
    uint64_t deadline_us;   /* OURS: until when we may believe in it */
    uint8_t state, ask;     /* enums above; ask: what the request is about */
    uint8_t index;
    uint8_t form;             /* enum hl_form of the latest request */
    uint8_t heard;            /* enum above */
    uint8_t is_second : 1;    /* acquire: the first question was answered HL_AGAIN */
    uint8_t is_late_once : 1; /* the latest answer was LATE, and was retried */
    uint8_t is_haunted : 1;   /* an acquire of this id went unanswered: its bytes may still run, until not_after */
    uint8_t is_stray : 1;     /* a native renewal went unanswered: until haunted_until_us it may still set the lease, to less than was extended */
    uint8_t was_repeated : 1; /* a release of this id went unanswered */
    uint8_t is_half_said : 1; /* its release is said in the second way for now, which leaves the id in the queue */
    uint8_t is_overlong : 1;  /* its lease was found longer than was asked for, which was told */
    uint8_t is_refused : 1;   /* its release was, which was told */
    uint8_t is_counted : 1;   /* in name->ending */
    uint8_t is_behind : 1;    /* asked in an earlier round: its answer is of no account in this one */
    uint8_t is_overdue : 1;   /* its renewal has counted as failed, and may still be answered */
};

struct hl_share { /* what each part of several needs besides; behind the parts */
    uint32_t asked_ms; /* the lease that its latest request asked for */
    uint32_t holder;   /* of a ballot: a hash of who has it, when that was the answer */
    uint8_t vote;      /* enum hl_vote (ballot.h) */
    uint8_t status;    /* of a fault, as its negative */
};

enum hl_hold_state { HOLD_IDLE, HOLD_ASKING, HOLD_HELD, HOLD_RETURNING, HOLD_ENDING };
/* What a hold has to report, in the order in which it is reported. */
enum { REPORT_LOST = 1, REPORT_RENEWAL_FAILED = 2, REPORT_RENEWED = 4, REPORT_RELEASED = 8, REPORT_SETTLED = 16 };

struct hl_hold {
    struct hl_notice notice;     /* the bits above */
    TAILQ_ENTRY(hl_hold) live;   /* in core->live */
    struct hl_terms *terms;
    union {
        struct hl_acquire *acquire; /* IDLE, ASKING, RETURNING, and HELD until it is told */
        struct hilock_lock *lock;   /* HELD and told; ENDING: whom to tell, referenced, or NULL */
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
    uint8_t parts_count, needed;
    uint8_t failures;            /* renewals in a row, cut at 255 */
    uint8_t turn;                /* HELD: how many handles it has served before this one (handoff.c) */
    uint8_t is_told : 1;         /* owner.lock it is */
    uint8_t is_round_over : 1;   /* HELD: no renewal is under way whose outcome is open */
    uint8_t is_owed : 1;         /* HELD: this turn's own lease was not asked for yet: the watchdog does, renewed or not */
    uint8_t is_answered : 1;     /* ENDING: the release has its verdict */
    uint8_t is_confirmed : 1;    /* ENDING: by the store; else its lease has run out */
    uint8_t is_attempt : 1;      /* ENDING: votes of a ballot that was lost: its return frees nothing that was held */
    uint8_t is_settled : 1;      /* ENDING: the end of a release that was UNKNOWN has been told */
    uint8_t is_queued : 1;       /* its id may stand in the queue of a FAIR lock */
    uint8_t is_windowed : 1;     /* HELD by a pushed grant: for a window, until the first renewal */
    uint8_t is_release : 1;      /* ENDING: because its user released it */
    uint8_t is_unheld : 1;       /* ENDING: nobody was told that it was had; in core->unheld */
    uint8_t verdict : 7;         /* ENDING: a hilock_status as its negative, for REPORT_RELEASED */
    struct hl_part parts[];
};
_Static_assert(sizeof(struct hl_hold) <= 136 || sizeof(void *) != 8, "every lock that is held has one");

TAILQ_HEAD(hl_extends, hl_extend);
TAILQ_HEAD(hl_entries, hl_entry);

struct hl_side {
    struct hilock_validity *validity; /* what other threads see of this hold; NULL: nobody asked (validity.c) */
    struct hl_extends extends;        /* accepted and not told yet, in order (extend.c) */
    uint32_t asked_ms;                /* the lease that the latest round of renewals asked for; 0: the lock's own */
    uint64_t reach_us;                /* until when a lease may last that an extend asked for; 0: none did */
    uint64_t next_us;                 /* when the watchdog itself has something to do; the alarm may be for an extend's end */
    struct hl_entries entries;        /* re-entries that count, the oldest first (reentry.c) */
    struct hl_entries leaving;        /* released before they were answered */
    uint32_t entries_count;
    uint8_t is_doubted;               /* of a hold that is not renewed: the store may have lost it, and is to be asked */
};

struct hl_asked { /* how a request for the lock was answered; dies with the call */
    enum { ASKED_GRANTED, ASKED_HELD, ASKED_FAULT, ASKED_UNANSWERED } answer;
    unsigned at;         /* which part of it */
    int is_granted;      /* FAULT: though it is at the store (too few replicas): it goes back */
    int is_verdict;      /* of a ballot: the gate has heard the answers that led to it */
    int is_split;        /* HELD: by several who asked at the same time */
    int is_early;        /* HELD: by who came first at the first master; no other was asked */
    uint64_t asked_us;   /* when that left */
    uint64_t left_ms;    /* HELD */
    int has_no_ttl;
    const char *holder;
    size_t holder_length;
    uint64_t ticket;       /* HELD, of a kind with a queue: place in it, and who holds */
    uint32_t position, waiters;
    int hands_over;
    struct hl_fault fault; /* FAULT, and the server's words */
    const char *quote;
    size_t quote_length;
};

struct hl_owner_ops { /* what a hold reports to whoever it was made for (owner.c) */
    const struct hl_notice_ops *notice; /* what the user is called back with */
    void (*asks)(struct hl_hold *hold, const struct hl_part *part, struct hl_wants *wants); /* an acquire of it leaves */
    void (*answered)(struct hl_hold *hold, struct hl_part *part, const struct hl_asked *asked); /* ASKING: that part */
    void (*crossed)(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer); /* HELD: an acquire that left before the grant */
    void (*ended)(struct hl_hold *hold);    /* HELD, but nobody was called back with it: belief in it is over */
    void (*returned)(struct hl_hold *hold); /* RETURNING is over: IDLE, without an id */
    void (*wake_at)(struct hl_hold *hold, uint64_t at_us); /* RETURNING: there is something to do then */
    void (*tick)(struct hl_hold *hold);     /* the alarm, until it is held */
    /* Its release was answered first, or cannot be. is_attempt: of a vote that was not held. */
    void (*freed)(struct hl_core *core, struct hl_name *name, uint64_t listeners, int is_attempt);
};

/* ---- waits (acquire.c, arrival.c, gate.c) ---- */

enum hl_stands { /* with its gate */
    STANDS_NOWHERE,
    STANDS_IN_LINE,
    STANDS_ASIDE,  /* a try that has not asked */
    STANDS_ASKING, /* a try that has */
    STANDS_QUEUED  /* at the store, too */
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
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us;
    uint64_t report_us;             /* the next WAITING event; UINT64_MAX is never */
    union {
        uint64_t ends_us;           /* UINT64_MAX is never */
        struct { hilock_status status; uint32_t holder_remaining_ms; } verdict; /* DECIDED; remaining: what was last known of the holder */
    };
    uint32_t attempts;
    struct hl_alarm alarm;          /* until it has a hold, unless it has nothing to do with time */
    uint8_t state;
    uint8_t at;                     /* in the line of which of its names it stands */
    uint8_t stands;                 /* enum above */
    uint8_t is_try : 1;
    uint8_t is_untold : 1;          /* no WAITING event yet */
    uint8_t is_unconfirmed : 1;     /* too few replicas confirmed what it got last */
    uint8_t is_moving : 1;          /* SLEEPING for a moment: then it goes to another name's line */
    uint8_t is_starved : 1;         /* its turn has come, and there was no memory for its hold (shortage.c) */
    uint8_t halvings : 3;           /* how many are asked at a time: of a multi its names (multi.c), of a quorum its masters, 1: in order (ballot.c) */
    uint8_t has_moved : 1;          /* of a multi: to another name's line because of what was heard, since it last asked */
};
_Static_assert(sizeof(struct hl_acquire) <= 120 || sizeof(void *) != 8, "every wait has one");

/* ---- the client ---- */

struct hl_waiter_ops { /* what a wait's gate and its channels ask of it (owner.c) */
    int (*may_ask)(struct hl_core *core, struct hl_acquire *acquire); /* its turn has come. 0: there is no memory for that now */
    void (*ask)(struct hl_acquire *acquire);
    void (*answered)(struct hl_acquire *acquire, const struct hl_asked *asked);
    void (*decide)(struct hl_acquire *acquire, hilock_status status);
    void (*tell_waiting)(struct hl_core *core, struct hl_acquire *acquire);
    void (*free)(struct hl_core *core, struct hl_acquire *acquire); /* the client is abandoned */
    void (*wake)(struct hl_acquire *acquire, uint64_t within_us); /* in the store's queue: a heartbeat, at some time within that */
    void (*pushed)(struct hl_fair *fair, struct hl_node *node, const struct hl_push *push);
};

struct hl_limits { uint32_t command_timeout_ms, waiters_max, name_waiters_max, token_ttl_ms, turns_max; };

TAILQ_HEAD(hl_inquiries, hl_inquiry);

struct hl_core {
    struct hl_host host;
    struct hl_cell *cell;
    struct hl_route *route;
    struct hl_limits limits;
    char uuid[HL_UUID_LENGTH + 1];
    uint64_t id_last;                    /* acquisition ids given */
    struct hl_table names;
    struct hl_alarms hold_alarms, wait_alarms; /* hold.c; arrival.c, of those that have no hold */
    TAILQ_HEAD(, hl_hold) live;          /* every hold that is not over */
    struct hl_notices notices;
    const struct hl_owner_ops *owner;    /* owner.c */
    const struct hl_waiter_ops *waiter;  /* the same */
    const struct hl_request_ops *hold_requests; /* requests.c */
    const struct hl_notice_ops *acquire_notice; /* report.c */
    struct hl_roll fair_waits;           /* FAIR: by id (fair.c) */
    struct hl_table slot_grants;         /* grants.c: by slot */
    TAILQ_HEAD(, hl_grants) grants;      /* the same; who was of use last stands last */
    struct hl_terms *fair_terms;         /* of some FAIR handle, referenced: to release in the words of that kind. NULL: there was none */
    struct hl_inquiries inquiries;       /* inquiry.c */
    struct hl_recent *recent;            /* recent.c; NULL: none yet */
    void *shortage_timer;                /* shortage.c */
    int is_short;                        /* it runs */
    unsigned inquiries_open;             /* of them: not decided */
    uint64_t earliest_us;                /* no hold's belief ends before this */
    unsigned waiting, held, live_holds, locks; /* acquires pending; handles holding; holds in `live`; handles */
    unsigned unheld;                     /* of the holds: attempts that ended, and are not returned yet: they take waiters' places */
    int is_closing;                      /* acquires are refused */
    int is_unheard_told;                 /* that messages of releases are refused; until one is not */
    int is_gone;                         /* abandoned inside a callback; freed behind it */
};

static inline struct hl_core *hl_hold_core(const struct hl_hold *hold) { return hold->terms->cell->core; }
static inline uint64_t hl_terms_lease_us(const struct hl_terms *terms) { return (uint64_t)terms->lease_ms * 1000; }

#endif
