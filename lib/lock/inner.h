/* SPDX-License-Identifier: BSD-3-Clause */
/* inner - what a group uses of its members, beyond the calls that every handle has: when they ask, what they know, and
 * what is left of their holds. A member is a handle of one name, which the library made. The folder `group` calls these
 * functions alone, and sees neither an acquire nor a hold; the build suite checks that. */
#ifndef HL_LOCK_INNER_H
#define HL_LOCK_INNER_H

#include "core/lock.h"

struct hl_result_words;

/* ---- a member that asks ---- */

/* Begins an acquire. limit_us UINT64_MAX: the wait has no limit. Returns HILOCK_OK or HILOCK_NO_MEMORY. */
hilock_status hl_inner_ask(struct hilock_lock *lock, int is_try, uint64_t limit_us, hilock_result_fn *on_result,
                           void *user);
int hl_inner_is_asking(const struct hilock_lock *lock); /* its acquire has no answer yet */
int hl_inner_is_trying(const struct hilock_lock *lock); /* likewise, and that acquire is a try */
uint32_t hl_inner_attempts(const struct hilock_lock *lock); /* how often its acquire was tried; 0: it does not ask */
void hl_inner_withdraw(struct hilock_lock *lock); /* it asks: ends the acquire without a callback */
/* It asks: the answer if the acquire ended now, and the words of that answer, which the caller owns. */
hilock_status hl_inner_outlook(const struct hilock_lock *lock);
struct hl_result_words *hl_inner_outlook_words(const struct hilock_lock *lock, hilock_status status);
/* It asks. Returns 1 if, by the latest answer, another program holds the name: its release grants it to no waiter. */
int hl_inner_is_behind_other_program(const struct hilock_lock *lock);
/* It asks, and no other program holds the name: sends the request again, to learn who the holder is now. */
void hl_inner_refresh_holder(struct hilock_lock *lock);

/* ---- its name ---- */

int hl_inner_is_name_held(const struct hilock_lock *lock); /* by anybody, as the store last answered */
unsigned hl_inner_waiting(const struct hilock_lock *lock); /* how many handles of this client wait for it, but tries */

/* ---- a member that holds ---- */

int hl_inner_is_held(const struct hilock_lock *lock);
/* It holds, or its hold is lost and the report of that is pending. With 0 nothing of it needs a release. */
int hl_inner_has_hold(const struct hilock_lock *lock);
uint64_t hl_inner_deadline_us(const struct hilock_lock *lock); /* 0: it does not hold */
/* It is held: when the hold ends, at the deadline or earlier because of hold_max_ms */
uint64_t hl_inner_ends_us(const struct hilock_lock *lock);
/* It is held: when the request was sent that its lease counts from */
uint64_t hl_inner_proved_us(const struct hilock_lock *lock);
/* It is held. Returns 1 if enough is left for a grant with these terms, and the present server has the hold. */
int hl_inner_is_good(const struct hilock_lock *lock, const struct hl_terms *terms);
int hl_inner_is_failing(const struct hilock_lock *lock);   /* it is held: its renewals fail, and that was reported */
int hl_inner_is_extending(const struct hilock_lock *lock); /* an extend is not answered yet */
/* It is held: from now on these terms are valid for it, and its tenure began at since_us. */
void hl_inner_change_terms(struct hilock_lock *lock, struct hl_terms *terms, uint64_t since_us);
void hl_inner_renew_now(struct hilock_lock *lock); /* it is held */
/* It has a hold. Releases it; on_result may be NULL. */
void hl_inner_release(struct hilock_lock *lock, hilock_result_fn *on_result, void *user);

#endif
