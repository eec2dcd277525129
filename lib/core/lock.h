/* SPDX-License-Identifier: BSD-3-Clause */
/* lock - a handle: its state, its life, and the table of its calls. The user has a reference, and so has each callback
 * that is under way. Two tables exist: lock/machine.h, of a handle of one name; group/group.h, of one of several. */
#ifndef HL_CORE_LOCK_H
#define HL_CORE_LOCK_H

#include "core/name.h"
#include "core/terms.h"

struct hl_acquire;
struct hl_handle_ops;

struct hl_attempt { /* what the handles of a group share, and what they know of it */
    struct hilock_lock *lock;   /* the user's handle */
    uint64_t begun_us;          /* the latest acquire: their age in the client's own lines */
    uint64_t id_last;           /* of a block of ids; 0: they take the client's */
    uint64_t ticket;            /* their age: of the first place of a multi, and where its next ones stand; 0: none */
    const struct hl_node *node; /* whose clock that is */
};

struct hilock_lock {
    TAILQ_ENTRY(hilock_lock) entry; /* in core->handles; not of handles that the library made */
    uint32_t refs, epoch;       /* refs: the user's, and callbacks under way */
    const struct hl_handle_ops *ops;
    struct hl_attempt *attempt; /* the group's, of its handle and of its members; NULL: a plain one */
    struct hl_extras *extras;   /* what few handles need; NULL: not made yet */
    struct hl_terms *terms;
    void *user;
    struct hl_name *name;
    struct hl_acquire *acquire; /* WAITING */
    struct hl_hold *hold;       /* HELD */
};

TAILQ_HEAD(hl_extends, hl_extend);
TAILQ_HEAD(hl_entries, hl_entry);

struct hl_extras { /* rarely used state of a held handle: pending extends, re-entries, its validity. Empty,
                      but for memory, once the hold has ended */
    struct hilock_validity *validity; /* for other threads; NULL: not asked for (hold/validity.c) */
    struct hl_extends extends;  /* accepted and not reported yet, in order (hold/watchdog.c) */
    struct hl_entries entering; /* re-entries without an answer, the oldest first (lock/reentry.c) */
    struct hl_entries release_calls; /* memory for the answers to later releases: one for each count */
    uint32_t count;             /* of re-entries */
};

struct hl_snapshot { /* the state of a handle now */
    hilock_state state;
    uint64_t since_us; /* when the wait, or the hold, began */
    uint64_t ends_us;  /* HELD: when belief ends; 0: the report of a loss is pending, or not HELD */
    uint64_t token;
    uint64_t tenure;   /* HELD: different for each turn of the handle */
    uint32_t count;    /* how many releases it needs */
};

struct hl_handle_ops { /* the caller has checked the arguments and the handle's state */
    /* OK, NO_MEMORY */
    hilock_status (*acquire)(struct hl_core *core, struct hilock_lock *lock, uint32_t wait_ms,
                             hilock_result_fn *on_result, void *user);
    int (*cancel)(struct hl_core *core, struct hilock_lock *lock); /* 0: it does not wait */
    void (*release)(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user);
    /* OK, NO_MEMORY */
    hilock_status (*extend)(struct hl_core *core, struct hilock_lock *lock, uint32_t lease_ms,
                            hilock_result_fn *on_result, void *user);
    void (*silence)(struct hl_core *core, struct hilock_lock *lock); /* drop: idle, no more callbacks */
    struct hl_snapshot (*snapshot)(const struct hilock_lock *lock);
    /* peek or force_release; holder NULL: any holder. OK, NO_MEMORY, UNSUPPORTED */
    hilock_status (*inquire)(struct hl_core *core, struct hilock_lock *lock, hilock_operation operation,
                             const char *holder, hilock_result_fn *on_result, void *user);
    uint64_t (*token)(const struct hilock_lock *lock, size_t index); /* of one of several names; NULL: it has one */
    void (*teardown)(struct hl_core *core, struct hilock_lock *lock); /* frees waits and holds, sends nothing */
    void (*done)(struct hilock_lock *lock); /* the last reference is gone; NULL: nothing to do */
};

void hl_lock_unref(struct hilock_lock *lock);
struct hl_extras *hl_lock_extras(struct hilock_lock *lock); /* made if there is none; NULL: no memory */
uint32_t hl_lock_count(const struct hilock_lock *lock); /* HELD: how many releases it needs */
/* What is left of what that snapshot shows, now; its client is there. */
uint32_t hl_lock_remaining_ms(const struct hilock_lock *lock, const struct hl_snapshot *snapshot);

#endif
