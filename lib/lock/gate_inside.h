/* SPDX-License-Identifier: BSD-3-Clause */
/* gate_inside - a gate's members, for gate.c (its lines), known.c (the state of its name), channel.c (its unlock
 * channel) and grants.c (the channel of its grants). */
#ifndef HL_LOCK_GATE_INSIDE_H
#define HL_LOCK_GATE_INSIDE_H

#include "lock/gate.h"

TAILQ_HEAD(hl_line, hl_acquire);

struct hl_gate {
    struct hl_core *core;
    struct hl_name *name;
    struct hl_line line;           /* waiters in order of arrival; the last ones, and sometimes the first, got no
                                      WAITING event yet */
    struct hl_line aside, asking;  /* tries: those that have not asked, those that have */
    struct hl_line queued;         /* waiters that each have a place in the queue at the store: in order of their
                                      tickets */
    struct hl_grants *grants;      /* NULL: no pushes are wanted, or there was no memory */
    LIST_ENTRY(hl_gate) by_grants; /* in these */
    unsigned waiting;              /* of all but tries */
    int is_deaf;                   /* the subscription was refused: poll */
    uint64_t others_until_us;      /* another program held the name lately */
    uint64_t foreign_us;           /* when an answer last said that another program holds; 0: that none does */
    uint64_t news_us;              /* latest message or begin of listening: older requests prove nothing */
    hilock_status known;           /* see struct hl_known; OK: nothing yet */
    const struct hl_kind *asker;   /* whose answer that was: a key of the wrong kind for one is good for another */
    unsigned faults;               /* in a row */
    uint64_t left_until_us;        /* end of the holder's lease, as last heard; UINT64_MAX: it has none */
    char *holder, *note;           /* NULL: "" */
    struct hl_listener *channel;   /* NULL: not wanted yet */
    struct hl_listener *heir;      /* on which another program's release wakes one of its own queue; NULL: none */
};

struct hl_name *hl_gate_name_after(const struct hl_core *core, const struct hl_name *name); /* the next with a gate;
                                                                                              NULL: the first, none */

void hl_gate_advance(struct hl_gate *gate, int wakes); /* the waiter whose turn it is asks; wakes: even if it sleeps */

/* Visits waiters that have, or will have, a place at the store: returns the one behind `after`; NULL: the first. */
struct hl_acquire *hl_gate_next_place(struct hl_gate *gate, const struct hl_acquire *after);

#endif
