/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog - keeps a hold: renews at a third of its lease (renewal.c), sooner after a failure, and ends belief in time.
 * Invariants: only "not yours" ends a hold before its deadline, error replies and silence never do (R5); every other end of belief is
 * followed by a release of that id (R5). */
#ifndef HL_LOCK_WATCHDOG_H
#define HL_LOCK_WATCHDOG_H

#include "lock/core.h"

void hl_watchdog_begin(struct hl_hold *hold);
uint64_t hl_watchdog_early_us(const struct hl_hold *hold); /* HELD: when it asks the store, if that is before its next renewal; UINT64_MAX: it is not */
void hl_watchdog_go_on(struct hl_hold *hold, uint64_t early_us); /* a new turn begins: it asks then, unless it does at once */
void hl_watchdog_tick(struct hl_hold *hold);
void hl_watchdog_lose(struct hl_core *core, struct hl_hold *hold, hilock_lost_reason reason); /* HELD and told: told first of all, then ended */
void hl_watchdog_ask(struct hl_hold *hold); /* HELD: an extend was accepted */
void hl_watchdog_end(struct hl_hold *hold, hilock_lost_reason reason); /* HELD: lost, or if nobody was told of it, got anew */
void hl_watchdog_sleep(struct hl_hold *hold); /* HELD: until the next renewal, or the end */
void hl_watchdog_sleep_until(struct hl_hold *hold, uint64_t next_us); /* HELD: then, or when belief ends, or an extend is to be answered */
uint64_t hl_watchdog_stood_us(const struct hl_hold *hold); /* HELD: for how long what was granted, or renewed, last */
int hl_watchdog_has_ended(struct hl_hold *hold); /* HELD: looks now. 1: it is lost, which is not told yet, or got anew */
void hl_watchdog_taken(struct hl_hold *hold);                      /* HELD: the store says that it is not ours */
void hl_watchdog_verify(struct hl_hold *hold, uint64_t within_us); /* the link is back: renew soon */
/* How long until the first hold ends that is to be renewed at this node (NULL: at any); UINT64_MAX: there is none. Looks at all that is held. */
uint64_t hl_watchdog_left_us(struct hl_core *core, const struct hl_node *node);
void hl_watchdog_sweep(struct hl_core *core);                      /* loses every hold that has expired (R6) */

#endif
