/* SPDX-License-Identifier: BSD-3-Clause */
/* survey - an operator's question through a quorum's handle: each master gets an inquiry of its own, and the majority's
 * answer is the answer. It does not ask masters that are away, if the others are enough. */
#ifndef HL_GROUP_SURVEY_H
#define HL_GROUP_SURVEY_H

#include "group/group.h"

/* OK, NO_MEMORY; UNSUPPORTED: of several names. holder NULL: any holder. */
hilock_status hl_survey_peek(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user);
hilock_status hl_survey_force(struct hl_core *core, struct hilock_lock *lock, const char *holder,
                              hilock_result_fn *on_result, void *user);

#endif
