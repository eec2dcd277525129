/* SPDX-License-Identifier: BSD-3-Clause */
/* channel - the unlock channel of a name with waiters: news wakes the waiter whose turn it is.
 * Invariant: a sleeping waiter has asked after the latest news, and after the channel was on (R7). */
#ifndef HL_WAIT_CHANNEL_H
#define HL_WAIT_CHANNEL_H

#include "wait/waiter.h"

int hl_channel_may_sleep(const struct hl_acquire *acquire); /* listens. 0: there is newer news: it asks again */
/* another program holds: listens also to the channel on which its release wakes an heir; NULL: none is known */
void hl_channel_hear_heir(const struct hl_acquire *acquire, const char *heir, size_t length);
void hl_channel_leave(const struct hl_name *name); /* no other program has held it lately */
void hl_channels_retry_at(struct hl_core *core, const struct hl_node *node); /* its link is back: waiters try again */
void hl_channels_follow(struct hl_core *core); /* names have moved: listens and tries again at their new node */

#endif
