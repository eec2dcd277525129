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
    HL_WINDOW_MIN_MS = 400, HL_WINDOW_MAX_MS = 3000, /* how long a pushed grant lasts, unless it is renewed */
    HL_PROMISE_MIN_MS = 3000, HL_PROMISE_MAX_MS = 10000, /* within which time a waiter's next heartbeat comes */
    HL_LEFT_LOOK_MS = 10,     /* after a name was left to other programs, whoever left it looks again */
    HL_YIELD_MAX_MS = 1000,  /* the longest pause that a message asks for */
    HL_QUEUE_MAX = 100000,   /* waiters of a name, if a request says nothing else: as in the scripts */
    HL_QUEUE_LIVES_MS = 90000 /* a queue is gone after that long without a heartbeat: as in place.lua */
};
/* For how long a grant that stands for a window may be believed in: by then its client must have renewed it. The rest
 * is for whoever made the grant to look whether it was taken, before anybody else can find the name free. */
static inline uint32_t hl_queued_usable_ms(uint64_t window_ms)
{
    uint64_t rest_ms = window_ms / 50 + 20;
    return window_ms > rest_ms ? (uint32_t)(window_ms - rest_ms) : 0;
}
#define HL_DUE_NEVER_S 9999999999u /* a due second for a client that does not know the server's clock */

struct hl_push {
    enum { HL_PUSH_GRANT, HL_PUSH_ASK, HL_PUSH_INVALID } what; /* ASK: there is news, ask */
    uint64_t id;          /* of the acquisition */
    uint64_t number;      /* GRANT: of the heartbeat that it counts from */
    uint64_t asked_us;    /* GRANT: when that heartbeat ran, by the server's clock; 0: it is the first question, which
                             drew the ticket: the ticket is that time */
    uint64_t granted_us;  /* GRANT: by the server's clock */
    uint64_t window_ms;   /* GRANT */
    uint64_t token;       /* GRANT */
    uint64_t pause_us;    /* ASK: the name is left to other programs so long; 0: ask at once */
    uint64_t server_us;   /* the server's clock, if the message has it; else 0 */
    const char *name;     /* of the lock; dies with the message */
    size_t name_length;
};

hl_encode_fn hl_queued_acquire, hl_queued_renew, hl_queued_release, hl_queued_peek;
hl_parse_fn hl_queued_acquired, hl_queued_released;

/* The channel on which a client hears of its grants, as its places name it; sharded: the channel itself begins after
 * the '!'. tag: "", or the hash tag of the lock's slot. */
void hl_queued_channel(char to[HL_GRANT_CHANNEL_MAX], const char *uuid, const char *tag, int is_sharded);
/* The second part of an answer of form NEXT: an acquire's, about the next acquisition. 0: it was not asked for */
int hl_queued_next(const struct hl_reply *reply, struct hl_reply *ret_next);
/* another client's holder: NONSENSE */
struct hl_push hl_queued_read_push(const struct hl_reply *message, const char *uuid);

#endif
