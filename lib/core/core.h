/* SPDX-License-Identifier: BSD-3-Clause */
/* core - the lock machine of one client: what its layers share. Each part's rules stand in the file named after it.
 *
 *   lock (handle)  --acquire-->  acquire (a wait)  in a  line (one a waited-for name)
 *        |                           |
 *        +---- hold (what the store keeps for us) and its request to the node of its name
 *
 * Objects report by notices (notice.h): no callback runs inside a user's call. Made and ended by lock/machine.c. */
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
enum { HL_PLACE_BUCKETS = 509 }; /* buckets; a prime, because a group takes ids in blocks of a power of two */

struct hl_core {
    struct hl_host host;
    struct hl_cell *cell;
    struct hl_route *route;
    struct hl_limits limits;
    char uuid[HL_UUID_LENGTH + 1], label[HL_LABEL_MAX + 1]; /* of every holder of this client */
    uint64_t id_last;                    /* acquisition ids used or reserved */
    struct hl_table names;
    struct hl_alarms hold_alarms, wait_alarms; /* hold/asking.c; lock/acquire.c */
    struct hl_alarms group_alarms, call_alarms; /* group/group.c; callback.c */
    struct hl_alarms recheck_alarms;     /* hold/recheck.c */
    LIST_HEAD(, hl_recheck) recheck_list; /* the same: all of them */
    TAILQ_HEAD(hl_handles, hilock_lock) handles; /* every handle of the user */
    TAILQ_HEAD(hl_holds, hl_hold) live;  /* every hold that is not over */
    struct hl_notices notices;
    const struct hl_owner_ops *owner;    /* of holds (hold/hold.h) */
    const struct hl_waiter_ops *waiters; /* wait/waiter.h */
    const struct hl_request_ops *hold_requests; /* hold/asking.c */
    struct hl_queue_places *places;      /* wait/grant_channel.c: HL_PLACE_BUCKETS of them, by the ids of their holds.
                                            NULL: none yet */
    struct hl_table grant_channels;      /* wait/grant_channel.c: by slot */
    struct hl_terms *queue_terms;        /* whose scripts release unknown grants, referenced. NULL: no queue was used */
    struct hl_inquiries inquiries;       /* lock/inquiry.c */
    struct hl_recent *recent_releases;   /* hold/ending.c; NULL: none yet */
    void *shortage_timer;                /* wait/line.c */
    int is_memory_short;                 /* it runs */
    unsigned inquiries_open;             /* of them: not decided */
    unsigned rechecks;                   /* grants of ours that may lapse (hold/recheck.c) */
    unsigned lines;                      /* names that are waited for */
    uint64_t earliest_end_us;            /* no hold's belief ends before this */
    unsigned waiting, held, live_holds, locks; /* acquires pending; handles holding; holds in `live`; handles */
    unsigned undoing;                    /* of those in `live`: abandoned attempts not yet released at the store; they
                                            count against waiters_max */
    int is_closing;                      /* acquires are refused */
    uint64_t silent_until_us;            /* wait/view.c: a program was seen whose release may wake no waiter of ours */
    int publish_denial_reported;         /* that PUBLISH is refused; cleared when one is not */
    int is_gone;                         /* abandoned inside a callback; freed after it */
};

#endif
