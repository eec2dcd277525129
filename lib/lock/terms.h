/* SPDX-License-Identifier: BSD-3-Clause */
/* terms - the options of handles that were made alike, shared by them and by their holds and notices. */
#ifndef HL_LOCK_TERMS_H
#define HL_LOCK_TERMS_H

#include "lock/core.h"

void hl_terms_unref(struct hl_terms *terms);
/* what must be left when the user gets it: half of what was granted, unless the user said */
uint64_t hl_terms_least_us(const struct hl_terms *terms, uint32_t granted_ms);
/* for what a user did or lost; internal handles are silent */
void hl_terms_trace(const struct hl_terms *terms, enum hl_what what, const struct hl_fact *fact);

#endif
