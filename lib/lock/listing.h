/* SPDX-License-Identifier: BSD-3-Clause */
/* listing - the holders of a name, as an operator's request found them: copies of what the store answered, from the
 * answer until the user has been told. The user is told of each holder, and then of the result. A callback may free the
 * handle or abandon the client: then nothing more is told. */
#ifndef HL_LOCK_LISTING_H
#define HL_LOCK_LISTING_H

#include "core/lock.h"

struct hl_listing;

/* A request for a list is accepted, with these callbacks. Returns NULL without memory. */
struct hl_listing *hl_listing_new(const struct hilock_lock *lock, hilock_holder_fn *on_holder,
                                  hilock_result_fn *on_result, void *user);
/* Copies the holders of this answer. Returns 0, or -1 without memory. */
int hl_listing_read(struct hl_listing *listing, const struct hl_reply *reply);
/* A hilock_result_fn whose user is the listing: tells the user all of it, and frees it. */
void hl_listing_tell(const struct hilock_result *result, void *listing);
void hl_listing_free(struct hl_listing *listing); /* NULL is allowed */

#endif
