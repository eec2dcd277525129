/* SPDX-License-Identifier: BSD-3-Clause */
/* terms - the options of handles that were made alike, shared by them and by their holds and notices. */
#ifndef HL_LOCK_TERMS_H
#define HL_LOCK_TERMS_H

#include "lock/core.h"

void hl_terms_unref(struct hl_terms *terms);
/* what must be left of a grant when it is reported: by default half */
uint64_t hl_terms_least_us(const struct hl_terms *terms, uint32_t granted_ms);
/* for events of the user's handles; internal ones are silent */
void hl_terms_trace(const struct hl_terms *terms, enum hl_what what, const struct hl_fact *fact);

#endif
