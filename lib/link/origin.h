/* SPDX-License-Identifier: BSD-3-Clause */
/* origin - is the hiredis that this process reaches the one that hilock was compiled for?
 *
 * A program that has an hiredis of its own (its objects, an archive, another version beside ours, a module's host) puts
 * its functions before ours, as the dynamic linker takes the first of a name. They would be called with structures that
 * they do not know. Nothing else notices: so it is looked at before a client opens its first link.
 * Invariant: as long as another's function may be reached, none of hiredis is called. */
#ifndef HL_LINK_ORIGIN_H
#define HL_LINK_ORIGIN_H

#include "base/text.h"

extern const char hl_bundled_mark __attribute__((weak)); /* bundled.c */

/* HILOCK_OK, or UNSUPPORTED: why has the sentence. Any thread. */
hilock_status hl_origin_check(struct hl_text *why);

#endif
