/* SPDX-License-Identifier: BSD-3-Clause */
/* known - what a gate knows of its name: what the store said last, to whom, and for how long one may sleep on that. */
#ifndef HL_LOCK_KNOWN_H
#define HL_LOCK_KNOWN_H

#include "lock/core.h"

/* What the store said to this acquire, for all who wait for the name. */
void hl_known_learn(struct hl_core *core, const struct hl_acquire *acquire, const struct hl_asked *asked);
void hl_known_hear(struct hl_core *core, const struct hl_acquire *acquire, const struct hl_asked *asked); /* one master's HELD or FAULT; the verdict follows */
unsigned hl_known_silences(const struct hl_name *name); /* ballots in a row that ended in silence, cut at 5 */
uint64_t hl_known_sleep_us(struct hl_core *core, const struct hl_acquire *acquire); /* how long until the next try */
int hl_known_is_held(const struct hl_name *name);

struct hl_known { /* for an answer's words */
    hilock_status status;        /* TIMED_OUT: held by another; UNREACHABLE: nothing heard; else the store's latest fault */
    const char *holder;          /* "" */
    uint32_t holder_remaining_ms;
    const char *note;            /* the server's words of a fault; "" */
};
struct hl_known hl_known_of(struct hl_core *core, const struct hl_acquire *acquire);

#endif
