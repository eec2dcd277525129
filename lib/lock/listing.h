/* SPDX-License-Identifier: BSD-3-Clause */
/* listing - the holders of a name, as an operator's request found them: copies of what the store answered, from the
 * answer until the user has been told. The user is told of each holder, in a report of its own, and then of the
 * result. */
#ifndef HL_LOCK_LISTING_H
#define HL_LOCK_LISTING_H

#include "core/lock.h"

struct hl_listing;

/* A request for a list is accepted, with this callback. Returns NULL without memory. */
struct hl_listing *hl_listing_new(const struct hilock_lock *lock, hilock_holder_fn *on_holder);
/* Copies the holders of this answer. Returns 0, or -1 without memory. */
int hl_listing_read(struct hl_listing *listing, const struct hl_reply *reply);
/* Tells the user of the next holder, and returns 1; the listing may be gone after that. 0: all have been told. */
int hl_listing_tell_next(struct hl_listing *listing, struct hilock_lock *lock, void *user);
void hl_listing_free(struct hl_listing *listing); /* NULL is allowed */

#endif
