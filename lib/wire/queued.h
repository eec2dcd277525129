/* SPDX-License-Identifier: BSD-3-Clause */
/* queued - the commands and answers of kinds MUTEX and FAIR: argv out, replies and pushes in. Pure: no state, no I/O;
 * reached by hl_queued_mutex and hl_queued_fair (kind.h). A hash with Redisson's layout, so that Java services and ours
 * exclude each other (README.md here), and beside it a queue. A release makes the first ready waiter the holder, in the
 * same script, and publishes that on the channel that the waiter named. Such a grant stands for a window only. It has
 * the server's own stamps of the waiter's heartbeat and of the grant, so that the deadline counts from when that
 * heartbeat was sent (R1), never from when the push came. */
#ifndef HL_WIRE_QUEUED_H
#define HL_WIRE_QUEUED_H

#include "wire/kind.h"

enum {
    HL_FAIR_WINDOW_MS = 3000, /* for how long a grant that was pushed stands, unless it is renewed */
    HL_FAIR_ALIVE_MS = 30000, /* a waiter without a heartbeat for so long is dead: as in choose.lua */
    HL_FAIR_QUEUE_MS = 90000  /* a queue without a heartbeat for so long is gone: as in mutex_acquire.lua */
};

struct hl_push {
    enum { HL_PUSH_GRANT, HL_PUSH_YIELD, HL_PUSH_NONSENSE } what;
    uint64_t id;          /* of the acquisition */
    uint64_t number;      /* GRANT: of the heartbeat it counts from */
    uint64_t since_us;    /* GRANT: from that to the grant, by the server's clock; UINT64_MAX: it was set back
                             between them */
    uint64_t lease_us;    /* GRANT */
    uint64_t token;       /* GRANT */
    uint64_t pause_us;    /* YIELD */
    const char *name;     /* GRANT: of the lock; dies with the message */
    size_t name_length;
};

hl_say_fn hl_queued_acquire, hl_queued_renew, hl_queued_release;
hl_hear_fn hl_queued_acquired, hl_queued_renewed, hl_queued_released, hl_queued_forced;
hl_force_fn hl_queued_force;

enum { HL_FAIR_CHANNEL_MAX = 64 };
/* The channel on which a client hears of its grants, as its heartbeats name it; sharded: the channel itself begins
 * after the '!'. tag: "", or the hash tag of the lock's slot. */
void hl_queued_channel(char to[HL_FAIR_CHANNEL_MAX], const char *uuid, const char *tag, int is_sharded);
/* What the release of form NEXT was answered about the next acquisition, as an acquire is. 0: that was not asked for */
int hl_queued_next(const struct hl_reply *reply, struct hl_reply *ret_next);
/* of another client's holder: NONSENSE */
struct hl_push hl_queued_heard(const struct hl_reply *message, const char *uuid);

#endif
