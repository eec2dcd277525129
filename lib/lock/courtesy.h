/* SPDX-License-Identifier: BSD-3-Clause */
/* courtesy - who was served lets the others who wait go first, each of them once.
 *
 * A message wakes all who listen, in the order in which they subscribed, and who holds back only once is early enough again the time after:
 * of three clients that want a name all the time two would take turns, and the third wait for ever. So a release counts who listened, and
 * until so many others were seen to hold the name each wake-up is answered late: by two usual round trips, at least a millisecond, and a random bit.
 * Nothing is lost when they do not want it any more, but that moment. Who stays away for longer than that, and then comes again, is behind
 * nobody: listeners linger, so most of them may want nothing. */
#ifndef HL_LOCK_COURTESY_H
#define HL_LOCK_COURTESY_H

#include "lock/core.h"

uint64_t hl_courtesy_others(struct hl_core *core, const struct hl_name *name, uint64_t listeners); /* of those that a release's answer counts */
uint64_t hl_courtesy_span_us(struct hl_core *core, const struct hl_name *name);
void hl_courtesy_for(struct hl_courtesy *courtesy, struct hl_core *core, uint64_t span_us); /* from now */

void hl_courtesy_begin(struct hl_courtesy *courtesy, struct hl_core *core, const struct hl_name *name, uint64_t listeners); /* a release's answer */
void hl_courtesy_go_on(struct hl_courtesy *courtesy, struct hl_core *core, const struct hl_name *name);                    /* a message */
void hl_courtesy_come_back(struct hl_courtesy *courtesy, struct hl_core *core);                                             /* somebody waits again */
void hl_courtesy_done(struct hl_courtesy *courtesy);                                                                       /* another holds */

#endif
