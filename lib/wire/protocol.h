/* SPDX-License-Identifier: BSD-3-Clause */
/* protocol - the constants that C and the scripts, or several scripts, agree on. Each is written here once: embed.py
 * puts it where a script has `$NAME`, without the HL_. It reads line by line, and takes numbers and texts as they stand
 * here. README.md says what they mean. */
#ifndef HL_WIRE_PROTOCOL_H
#define HL_WIRE_PROTOCOL_H

#include <stdint.h>

/* ---- keys and channels ---- */
#define HL_KEY_PLACE "hilock:place"
#define HL_KEY_SHARE "hilock:share"
#define HL_KEY_CHANNEL "redisson_lock__channel"  /* the unlock channel, which is Redisson's */
#define HL_KEY_JAVA_QUEUE "redisson_lock_queue"  /* the queue of Redisson's fair lock */
enum {
    HL_KEY_QUEUE_LENGTH = 12,   /* the length of "hilock:queue"; a script finds the name behind it */
    HL_KEY_CHANNEL_LENGTH = 22  /* the length of HL_KEY_CHANNEL */
};

/* ---- a holder ---- */
enum {
    HL_UUID_LENGTH = 36,         /* a holder begins with the uuid of its client */
    HL_LISTED_MAX = 1000,        /* how many holders of a name are listed */
    HL_PEEKED_HOLDER_MAX = 1024  /* a holder that is longer is cut by a peek, and cannot be named */
};

/* ---- a place in the queue, and its heartbeat ---- */
#define HL_RECORD_VERSION "1"
#define HL_CHANNEL_SHARDED "!" /* in front of a channel that is sharded */
#define HL_CHANNEL_POLLS "-"   /* in place of a channel: the waiter polls */
#define HL_CHANNEL_POLLS_FIRST "~" /* the same, in short steps, because it is the first one */
static const uint64_t HL_DUE_NEVER_S = 9999999999; /* due, of a client that does not know the server's clock */
enum {
    HL_QUEUE_MAX = 100000,      /* how many may wait for a name, if a request names no other number */
    HL_QUEUE_LIVES_MS = 90000,  /* without a heartbeat a queue is gone after this time */
    HL_PROMISE_MAX_MS = 10000,  /* no heartbeat comes later than this after the one before */
    HL_QUEUE_PERIOD_US = 30000000 /* the first number that is drawn in a period keeps the queue for as long */
};

/* ---- requests ---- */
#define HL_SHARDED "S"         /* in front of the terms of a request: the channels of its lock are sharded */
#define HL_GUEST "*"           /* in place of a ticket and a place: the request takes no place, and may take a name that
                                  is left to others */
enum {
    HL_NOT_AFTER_DIGITS = 16,
    HL_RESERVED_END = 1000      /* an acquire reserves fewer tokens than this */
};

/* ---- answers ---- */
#define HL_ERROR_LATE "LATE"
enum { /* a sum of these is `hands_over`, in the answer to an acquire */
    HL_HANDS_OVER = 1,          /* the release of the holder grants the name to the next waiter */
    HL_HAS_MORE = 2,            /* more waiters in front are not ready: ask again at once */
    HL_GRANTED_NOW = 4          /* this request granted the name to the holder that the answer names */
};
enum { /* what a release did, if it did more than to free the name */
    HL_FREED_UNHEARD = -1,      /* it freed the name, but the message was refused */
    HL_HANDED_OVER = -2,
    HL_FREED_MORE = -3,         /* more waiters in front are not ready: send it again */
    HL_FREED_LEFT = -4          /* it freed the name, and left it to other programs while somebody waits */
};
enum { /* the places that a request removed, in one sum */
    HL_REMOVED_UNHEARD = 1,     /* nobody listened */
    HL_REMOVED_OVERDUE = 1000,
    HL_REMOVED_LAPSED = 1000000
};

/* ---- grants ---- */
#define HL_GRANT_WORD "G1"
#define HL_ASK_WORD "F1"       /* there is news: the waiter asks again */
enum { /* a client relies on a pushed grant for the window less the part W/50 of it and 20 ms */
    HL_WINDOW_REST_PART = 50,
    HL_WINDOW_REST_MS = 20
};
enum { HL_LEFT_MS = 5 };       /* how long a release leaves a free name to other programs */

#endif
