/* SPDX-License-Identifier: BSD-3-Clause */
/* known - what a gate knows about its name: the store's latest answer, to which acquire, and how long a waiter may
 * sleep after it. */
#ifndef HL_WAIT_KNOWN_H
#define HL_WAIT_KNOWN_H

#include "wait/waiter.h"

/* The store's answer to this acquire, for all waiters of the name. */
void hl_known_learn(const struct hl_acquire *acquire, const struct hl_response *said); /* NULL: none came */
uint64_t hl_known_sleep_us(struct hl_core *core, const struct hl_acquire *acquire); /* how long until the next try */
int hl_known_is_held(const struct hl_name *name);

/* TIMED_OUT: held by another; UNREACHABLE: no answer; else the store's latest fault */
hilock_status hl_known_status(struct hl_core *core, const struct hl_acquire *acquire);

enum { HL_KNOWN_HOLDER_MAX = 255 }; /* a longer one is cut */

struct hl_known { /* for the words of an answer */
    hilock_status status;
    char holder[HL_KNOWN_HOLDER_MAX + 1]; /* also of our own hold; "" */
    uint32_t holder_remaining_ms;
    const char *note;                     /* the server's words about a fault; "" */
};
struct hl_known hl_known_of(struct hl_core *core, const struct hl_acquire *acquire);

#endif
