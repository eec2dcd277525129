/* SPDX-License-Identifier: BSD-3-Clause */
/* holds - what this folder keeps for a client: all its holds, their alarms and counts, the rechecks, and the releases
 * that are remembered. The client has this struct beside its core, and core->holds points to it. */
#ifndef HL_HOLD_HOLDS_H
#define HL_HOLD_HOLDS_H

#include "core/core.h"

struct hl_hold;
struct hl_hold_event;
struct hl_recheck;

struct hl_holds {
    void (*on_event)(struct hl_hold *hold, const struct hl_hold_event *event); /* calls up (hold.h) */
    const struct hl_notice_ops *reports;    /* makes the reports of holds to the user */
    const struct hl_request_ops *requests;  /* life.c */
    struct hl_alarms alarms;                /* life.c: one for each hold */
    TAILQ_HEAD(hl_hold_list, hl_hold) live; /* every hold that is not freed, in the order of their making */
    unsigned count;                         /* how many holds are in `live` */
    unsigned undoing;                       /* how many holds in `live` are abandoned attempts not yet released at the
                                               store; they count against waiters_max */
    struct hl_alarms recheck_alarms;        /* recheck.c */
    LIST_HEAD(, hl_recheck) recheck_list;   /* recheck.c: all rechecks */
    unsigned rechecks;                      /* how many names have a recheck */
    struct hl_recent *recent_releases;      /* ending.c; NULL: none yet */
    int publish_denial_reported;            /* ending.c: the refusal of PUBLISH was reported; cleared when a PUBLISH is
                                               not refused */
};

#endif
