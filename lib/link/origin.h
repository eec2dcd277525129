/* SPDX-License-Identifier: BSD-3-Clause */
/* origin - checks that our calls reach the hiredis that hilock was compiled for.
 *
 * A program may have an hiredis of its own: in its objects, in an archive, as another version of the library, or in the
 * host of a module. The dynamic linker takes the first function of a name, so our calls could reach that one, with
 * structures that it does not know. Nothing else would notice this. So the check runs before a client opens its first
 * link.
 * Invariant: no function of hiredis is used while a call may reach another hiredis. */
#ifndef HL_LINK_ORIGIN_H
#define HL_LINK_ORIGIN_H

#include "base/text.h"

extern const char hl_bundled_mark __attribute__((weak)); /* exists if hiredis is bundled (bundled.c) */

/* Returns HILOCK_OK, or UNSUPPORTED with a sentence in `why`. May be called on any thread. */
hilock_status hl_origin_check(struct hl_text *why);

#endif
