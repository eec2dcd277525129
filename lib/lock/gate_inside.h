/* SPDX-License-Identifier: BSD-3-Clause */
/* gate_inside - a gate from the inside, for gate.c (the lines of those who stand there), known.c (what it knows of its
 * name), channel.c (what it hears) and grants.c (where grants of it are pushed). */
#ifndef HL_LOCK_GATE_INSIDE_H
#define HL_LOCK_GATE_INSIDE_H

#include "lock/gate.h"

TAILQ_HEAD(hl_line, hl_acquire);

struct hl_gate {
    struct hl_core *core;
    struct hl_name *name;
    struct hl_line line;           /* who wait, in order of arrival; the last ones, and now and then the first, are
                                      untold that it is held */
    struct hl_line aside, asking;  /* tries: that have not asked, and that have */
    struct hl_line queued;         /* of kinds with a queue at the store: each asks for itself. Who has a ticket stands
                                      behind who has a lower one */
    struct hl_grants *grants;      /* NULL: nobody asked for pushes, or there was no memory */
    LIST_ENTRY(hl_gate) by_grants; /* in these */
    unsigned waiting;              /* of all but tries */
    int is_deaf;                   /* the subscription was refused: poll */
    uint64_t others_until_us;      /* another program held the name lately */
    uint64_t foreign_us;           /* when it was last heard that another program holds; 0: that none does */
    uint64_t news_us;              /* latest message, or begin of listening: an older request proves nothing */
    hilock_status known;           /* see struct hl_known; OK: nothing yet */
    const struct hl_kind *asker;   /* whose answer that was: a key of the wrong kind for one is right for another */
    unsigned faults;               /* in a row */
    uint64_t left_until_us;        /* end of the holder's lease, as last heard */
    int has_no_ttl;
    char *holder, *note;           /* NULL: "" */
    struct hl_listener *channel;   /* NULL: not wanted yet */
    struct hl_listener *heir;      /* on which another program's release wakes one of its own queue; NULL: none */
};

static inline struct hl_gate *hl_gate_at(const struct hl_name *name) { return name->is_awaited ? name->gate : NULL; }

void hl_gate_advance(struct hl_gate *gate, int wakes); /* whose turn it is asks; wakes: also if it sleeps */

/* Everybody who has, or is to have, a place at the store: the one behind `after`, which is NULL for the first. */
struct hl_acquire *hl_gate_next_place(struct hl_gate *gate, const struct hl_acquire *after);

#endif
