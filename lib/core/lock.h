/* SPDX-License-Identifier: BSD-3-Clause */
/* lock - a handle: its state, its life, and the table of its calls. The user has a reference, and so has each callback
 * that is under way. There are two tables: lock/machine.h for a handle of one name, group/group.h for a handle of
 * several. */
#ifndef HL_CORE_LOCK_H
#define HL_CORE_LOCK_H

#include "core/name.h"
#include "core/terms.h"

struct hl_acquire;
struct hl_handle_ops;

struct hl_attempt { /* one acquire of a group, as the group's handle and its members share it */
    struct hilock_lock *lock;   /* the handle of the user */
    uint64_t begun_us;          /* when the latest acquire of the group began: by this time its members stand in order
                                   in the lines of the client */
    uint64_t id_last;           /* The last id that the members of a quorum have used of their own block of ids. The
                                   members of a multi take ids of the client. */
    uint64_t ticket;            /* The ticket of the first place of a multi. Its next members enter their queues with
                                   this ticket, and so with the age of the first. 0: there is none yet. */
    const struct hl_node *node; /* the server whose clock gave the ticket */
};

struct hilock_lock {
    TAILQ_ENTRY(hilock_lock) entry; /* links the handle into core->handles, unless the library made it */
    uint32_t refs, epoch;       /* refs: the references of the user, of calls without an answer, of holds that end, and
                                   of callbacks under way. epoch: changes when the handle is dropped or freed */
    const struct hl_handle_ops *ops;
    struct hl_attempt *attempt; /* shared by the handle of a group and its members; NULL: a plain handle */
    struct hl_extras *extras;   /* NULL: not made yet */
    struct hl_terms *terms;
    void *user;
    struct hl_name *name;
    struct hl_acquire *acquire; /* while WAITING */
    struct hl_hold *hold;       /* while HELD */
    TAILQ_ENTRY(hilock_lock) by_hold; /* links the handle into hold->handles, of the hold that it has or asks with */
};

TAILQ_HEAD(hl_extends, hl_extend);
TAILQ_HEAD(hl_entries, hl_entry);

struct hl_extras { /* state that few held handles need: pending extends, re-entries, a validity. It is empty again once
                      the hold has ended, and is kept for the next one */
    struct hilock_validity *validity; /* the deadline for other threads; NULL: not asked for (hold/validity.c) */
    struct hl_extends extends;  /* accepted extends and downgrades that are not reported yet, in order
                                   (hold/watchdog.c) */
    struct hl_entries entering; /* re-entries without an answer, the oldest first (lock/reentry.c) */
    struct hl_entries release_calls; /* memory for the answers to the releases that only count down: one for each
                                        re-entry */
    struct hl_seat *seat;       /* while the handle counts on a share beside others (hold/seat.h); NULL: it does not */
    uint32_t count;             /* how many re-entries have no release yet */
};

struct hl_snapshot { /* the state of a handle at one moment */
    hilock_state state;
    uint64_t since_us; /* when the wait, or the hold, began */
    uint64_t ends_us;  /* when the hold ends; in the past: it is over, and perhaps the report of its loss is pending */
    uint64_t token;
    uint64_t tenure;   /* HELD: different for each tenure of the handle */
    uint32_t count;    /* how many releases the handle needs */
};

struct hl_handle_ops { /* the caller has checked the arguments and the handle's state */
    /* The wait ends after limit_us; UINT64_MAX: it has no limit. Returns OK or NO_MEMORY. */
    hilock_status (*acquire)(struct hl_core *core, struct hilock_lock *lock, int is_try, uint64_t limit_us,
                             hilock_result_fn *on_result, void *user);
    int (*cancel)(struct hl_core *core, struct hilock_lock *lock); /* returns 0 if the handle does not wait */
    /* returns OK or NOT_HELD */
    hilock_status (*release)(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user);
    /* returns OK or NO_MEMORY */
    hilock_status (*extend)(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                            hilock_result_fn *on_result, void *user);
    /* The handle has its name alone: goes on as one that shares it. NULL: handles of this table cannot. Returns OK or
     * NO_MEMORY. */
    hilock_status (*downgrade)(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result,
                               void *user);
    /* for drop and free: the handle becomes idle, and no more callbacks run */
    void (*silence)(struct hl_core *core, struct hilock_lock *lock);
    struct hl_snapshot (*snapshot)(const struct hilock_lock *lock);
    /* Begins a peek or a force_release. holder NULL: ends the hold of any holder. Returns OK, NO_MEMORY or
     * UNSUPPORTED. */
    hilock_status (*inquire)(struct hl_core *core, struct hilock_lock *lock, hilock_operation operation,
                             const char *holder, hilock_result_fn *on_result, void *user);
    /* Begins a request for all holders. NULL: handles of this table have no list. Returns OK or NO_MEMORY. */
    hilock_status (*list)(struct hl_core *core, struct hilock_lock *lock, hilock_holder_fn *on_holder,
                          hilock_result_fn *on_result, void *user);
    /* the token of one of several names; NULL: handles of this table have one name */
    uint64_t (*token)(const struct hilock_lock *lock, size_t index);
    void (*teardown)(struct hl_core *core, struct hilock_lock *lock); /* frees waits and holds, and sends nothing */
    void (*done)(struct hilock_lock *lock); /* the last reference is gone; NULL: there is nothing to do */
};

/* 1: the handle is a quorum, or the member of one: its holds are votes. The client must exist. */
static inline int hl_lock_is_voted(const struct hilock_lock *lock)
{
    return lock->attempt && lock->terms->cell->core->route->masters;
}
void hl_lock_end(struct hilock_lock *lock); /* the last reference is gone: frees the handle */
static inline void hl_lock_unref(struct hilock_lock *lock)
{
    if (--lock->refs == 0)
        hl_lock_end(lock);
}
/* returns the extras of the handle, and makes them if there are none; NULL: there is no memory */
struct hl_extras *hl_lock_extras(struct hilock_lock *lock);
/* HELD: how many releases the handle needs */
static inline uint32_t hl_lock_count(const struct hilock_lock *lock)
{
    return 1 + (lock->extras ? lock->extras->count : 0);
}
static inline struct hl_core *hl_lock_core(const struct hilock_lock *lock) { return lock->terms->cell->core; }

#endif
