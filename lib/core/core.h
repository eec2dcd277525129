/* SPDX-License-Identifier: BSD-3-Clause */
/* core - the state of one client, which the folders of the lock machine (hold, wait, lock, group) share. The rules of
 * each part stand in the file that is named after it.
 *
 *   lock (a handle)  --acquire-->  acquire (a wait)  in a  line (one for each name that is waited for)
 *        |                             |
 *        +---- hold (our record of one id at the store), with its request to the node of its name
 *
 * Objects report to the user by notices (notice.h), so no callback runs inside a call of the user. lock/machine.c makes
 * and ends the core. */
#ifndef HL_CORE_CORE_H
#define HL_CORE_CORE_H

#include "base/alarm.h"
#include "base/table.h"
#include "core/cell.h"
#include "core/notice.h"
#include "node/route.h"
#include "wire/holder.h"
#include "wire/keys.h"

struct hl_limits { uint32_t command_timeout_ms, waiters_max, name_waiters_max, queue_max, token_ttl_ms, turns_max; };

struct hl_recheck;
TAILQ_HEAD(hl_inquiries, hl_inquiry);
LIST_HEAD(hl_queue_places, hl_queue_place);
enum { HL_PLACE_BUCKETS = 509 }; /* a prime, because a group takes ids in blocks of a power of two */

struct hl_core {
    struct hl_host host;
    struct hl_cell *cell;
    struct hl_route *route;
    struct hl_limits limits;
    char uuid[HL_UUID_LENGTH + 1], label[HL_LABEL_MAX + 1]; /* the parts that all holder ids of this client have
                                                               in common */
    uint64_t id_last;                    /* the last acquisition id that was used or reserved */
    struct hl_table names;
    struct hl_alarms hold_alarms, wait_alarms; /* hold/asking.c; lock/acquire.c */
    struct hl_alarms group_alarms, call_alarms; /* group/group.c; callback.c */
    struct hl_alarms recheck_alarms;     /* hold/recheck.c */
    LIST_HEAD(, hl_recheck) recheck_list; /* hold/recheck.c: all rechecks */
    TAILQ_HEAD(hl_handles, hilock_lock) handles; /* every handle of the user */
    TAILQ_HEAD(hl_holds, hl_hold) live;  /* every hold that is not freed */
    struct hl_notices notices;
    const struct hl_owner_ops *owner;    /* the calls up from holds (hold/hold.h) */
    const struct hl_waiter_ops *waiters; /* the calls up from lines and places (wait/waiter.h) */
    const struct hl_request_ops *hold_requests; /* hold/asking.c */
    struct hl_queue_places *places;      /* wait/grant_channel.c: HL_PLACE_BUCKETS lists of places, by the ids of
                                            their holds. NULL: no place was made yet */
    struct hl_table grant_channels;      /* wait/grant_channel.c: by slot */
    struct hl_terms *undo_terms;         /* the terms whose scripts release unknown grants; referenced. NULL: no
                                            queue was used yet */
    struct hl_inquiries inquiries;       /* lock/inquiry.c */
    struct hl_recent *recent_releases;   /* hold/ending.c; NULL: none yet */
    void *shortage_timer;                /* wait/line.c */
    int is_memory_short;                 /* shortage_timer runs */
    unsigned inquiries_open;             /* how many inquiries are not decided yet */
    unsigned rechecks;                   /* how many names have a recheck (hold/recheck.c) */
    unsigned lines;                      /* how many names are waited for */
    uint64_t earliest_end_us;            /* no hold ends before this time */
    unsigned waiting;                    /* how many acquires wait */
    unsigned held;                       /* how many handles hold a lock */
    unsigned live_holds;                 /* how many holds are in `live` */
    unsigned locks;                      /* how many handles the user has */
    unsigned undoing;                    /* how many holds in `live` are abandoned attempts not yet released at the
                                            store; they count against waiters_max */
    int is_closing;                      /* the client closes: acquires are refused */
    uint64_t silent_releases_until_us;   /* until then another program may hold a name, and its release may wake
                                            no waiter of ours (wait/view.c) */
    int publish_denial_reported;         /* the refusal of PUBLISH was reported; cleared when a PUBLISH is not
                                            refused */
    int is_gone;                         /* the client was abandoned inside a callback; it is freed after that
                                            callback */
};

#endif
