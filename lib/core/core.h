/* SPDX-License-Identifier: BSD-3-Clause */
/* core - the state of one client, which the folders of the lock machine (hold, lock, group) share. The rules of
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

/* The life of a client:
 *
 *   OPEN --close--> DRAINING --nothing is held, or the drain time is over--> LEAVING --releases are answered--> GONE
 *     `----------------`----------------------------------------------------------`---------abandon------------^
 *
 * From DRAINING on nothing new is accepted, and all waits have ended CLOSED. */
enum hl_phase {
    PHASE_OPEN, PHASE_DRAINING, PHASE_LEAVING,
    PHASE_GONE /* everything is freed but the memory of the client, which a callback on the stack may still read */
};

struct hl_core {
    struct hl_host host;
    struct hilock_client *client;        /* the client around this core, for the user's events */
    struct hl_cell *cell;
    struct hl_route *route;
    struct hl_limits limits;
    char uuid[HL_UUID_LENGTH + 1], label[HL_LABEL_MAX + 1]; /* the parts that all holder ids of this client have
                                                               in common */
    uint64_t id_last;                    /* the last acquisition id that was used or reserved */
    struct hl_table names;
    struct hl_alarms call_alarms;        /* call.c */
    TAILQ_HEAD(hl_handles, hilock_lock) handles; /* every handle of the user */
    struct hl_notices notices;
    unsigned waiting;                    /* how many acquires wait */
    unsigned held;                       /* how many handles hold a lock */
    enum hl_phase phase;
    /* What each folder above keeps for the client. Only that folder, and those above it, know what is inside. */
    struct hl_holds *holds;              /* hold/holds.h */
    struct hl_locks *locks;              /* lock/locks.h */
    struct hl_groups *groups;            /* group/group.h */
};

#endif
