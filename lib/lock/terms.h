/* SPDX-License-Identifier: BSD-3-Clause */
/* terms - the options of handles that were made alike, shared by them and by what they left behind. */
#ifndef HL_LOCK_TERMS_H
#define HL_LOCK_TERMS_H

#include "lock/core.h"

void hl_terms_unref(struct hl_terms *terms);

#endif
