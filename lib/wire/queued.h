/* SPDX-License-Identifier: BSD-3-Clause */
/* queued - the commands and answers of kinds MUTEX and FAIR: argv out, replies and pushes in. Pure: no state, no I/O;
 * reached by hl_queued_mutex and hl_queued_fair (kind.h). A hash with Redisson's layout, so that Java services and ours
 * exclude each other (README.md here), and beside it a queue. A release makes the first ready waiter the holder, in the
 * same script, and publishes that on the channel that the waiter named. Such a grant lasts for a window only. It has
 * the server's own times of the waiter's heartbeat and of the grant, so that the deadline counts from the send of that
 * heartbeat (R1), never from the arrival of the push. */
#ifndef HL_WIRE_QUEUED_H
#define HL_WIRE_QUEUED_H

#include "wire/kind.h"

enum {
    HL_FAIR_WINDOW_MS = 3000, /* how long a pushed grant lasts, unless it is renewed */
    HL_FAIR_ALIVE_MS = 30000, /* a waiter is dead after that long without a heartbeat: as in choose.lua */
    HL_FAIR_YIELD_MAX_MS = 1000, /* the longest pause that a message asks for */
    HL_FAIR_QUEUE_MS = 90000  /* a queue is gone after that long without a heartbeat: as in mutex_acquire.lua */
};

struct hl_push {
    enum { HL_PUSH_GRANT, HL_PUSH_YIELD, HL_PUSH_NONSENSE } what;
    uint64_t id;          /* of the acquisition */
    uint64_t number;      /* GRANT: of the heartbeat that it counts from */
    uint64_t since_us;    /* GRANT: from that to the grant, by the server's clock; UINT64_MAX: which was set back */
    uint64_t lease_us;    /* GRANT */
    uint64_t token;       /* GRANT */
    uint64_t pause_us;    /* YIELD */
    const char *name;     /* GRANT: of the lock; dies with the message */
    size_t name_length;
};

hl_encode_fn hl_queued_acquire, hl_queued_renew, hl_queued_release, hl_queued_peek;
hl_parse_fn hl_queued_acquired, hl_queued_released;

enum { HL_FAIR_CHANNEL_MAX = 64 };
/* The channel on which a client hears of its grants, as its heartbeats name it; sharded: the channel itself begins
 * after the '!'. tag: "", or the hash tag of the lock's slot. */
void hl_queued_channel(char to[HL_FAIR_CHANNEL_MAX], const char *uuid, const char *tag, int is_sharded);
/* The second part of an answer of form NEXT: an acquire's, about the next acquisition. 0: it was not asked for */
int hl_queued_next(const struct hl_reply *reply, struct hl_reply *ret_next);
/* another client's holder: NONSENSE */
struct hl_push hl_queued_heard(const struct hl_reply *message, const char *uuid);

#endif
