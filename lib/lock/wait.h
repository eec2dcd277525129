/* SPDX-License-Identifier: BSD-3-Clause */
/* wait - what an acquire has while it waits: the name of its line, and an alarm. So little that very many can wait: one
 * behind another in line has no hold, and an alarm only if its wait has a limit or reports. When its turn to ask comes
 * it gets its hold, whose alarm has nothing else to do until the grant, and is the wait's until then. */
#ifndef HL_LOCK_WAIT_H
#define HL_LOCK_WAIT_H

#include "lock/core.h"

uint64_t hl_wait_report_us(const struct hl_acquire *acquire); /* the next WAITING event; UINT64_MAX: never */

int hl_wait_is_behind_others(const struct hl_acquire *acquire); /* the holder is another program, whose release does not
                                                                   hand over */

void hl_wait_resume_at(struct hl_acquire *acquire, uint64_t at_us); /* wakes then, or at its end; with a hold */
void hl_wait_sleep_on(struct hl_acquire *acquire); /* as before, with its end and its report looked at again */
int hl_wait_take_alarm(struct hl_core *core, struct hl_acquire *acquire); /* without a hold. 0: no memory */
void hl_wait_stop(struct hl_acquire *acquire);     /* it needs no more alarm of its own */

#endif
