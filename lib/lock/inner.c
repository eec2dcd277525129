/* SPDX-License-Identifier: BSD-3-Clause */
/* inner - see inner.h. */
#include "lock/inner.h"

#include "hold/validity.h"
#include "hold/watchdog.h"
#include "lock/acquire.h"
#include "lock/line.h"
#include "lock/tenure.h"
#include "lock/view.h"

hilock_status hl_inner_ask(struct hilock_lock *lock, int is_try, uint64_t limit_us, hilock_result_fn *on_result,
                           void *user)
{
    return hl_acquire_begin(hl_lock_core(lock), lock, is_try, limit_us, on_result, user);
}

int hl_inner_is_asking(const struct hilock_lock *lock) { return lock->acquire != NULL; }

int hl_inner_is_trying(const struct hilock_lock *lock) { return lock->acquire && hl_acquire_is_try(lock->acquire); }

uint32_t hl_inner_attempts(const struct hilock_lock *lock) { return lock->acquire ? lock->acquire->attempts : 0; }

void hl_inner_withdraw(struct hilock_lock *lock) { hl_acquire_drop(lock->acquire); }

hilock_status hl_inner_outlook(const struct hilock_lock *lock)
{
    return hl_view_status(hl_lock_core(lock), lock->acquire);
}

struct hl_result_words *hl_inner_outlook_words(const struct hilock_lock *lock, hilock_status status)
{
    return hl_view_result_words(hl_lock_core(lock), lock->acquire, status);
}

int hl_inner_is_behind_other_program(const struct hilock_lock *lock)
{
    return hl_acquire_is_behind_other_program(lock->acquire);
}

void hl_inner_refresh_holder(struct hilock_lock *lock) { hl_acquire_refresh_holder(lock->acquire); }

int hl_inner_is_name_held(const struct hilock_lock *lock) { return hl_line_is_name_held(lock->name); }

unsigned hl_inner_waiting(const struct hilock_lock *lock) { return hl_line_waiting(lock->name); }

int hl_inner_is_held(const struct hilock_lock *lock) { return lock->hold && hl_hold_is_held(lock->hold); }

int hl_inner_has_hold(const struct hilock_lock *lock) { return lock->hold != NULL; }

uint64_t hl_inner_deadline_us(const struct hilock_lock *lock)
{
    return lock->hold ? hl_hold_deadline_us(lock->hold) : 0;
}

uint64_t hl_inner_ends_us(const struct hilock_lock *lock) { return hl_hold_ends_at_us(lock->hold, lock); }

uint64_t hl_inner_proved_us(const struct hilock_lock *lock) { return lock->hold->request.sent_us; }

int hl_inner_is_good(const struct hilock_lock *lock, const struct hl_terms *terms)
{
    return hl_hold_lasts_for(lock->hold, terms, hl_hold_now_us(lock->hold)) && !hl_hold_needs_verification(lock->hold);
}

int hl_inner_is_failing(const struct hilock_lock *lock) { return hl_watchdog_is_failing(lock->hold); }

int hl_inner_is_extending(const struct hilock_lock *lock)
{
    return lock->extras && !TAILQ_EMPTY(&lock->extras->extends);
}

void hl_inner_change_terms(struct hilock_lock *lock, struct hl_terms *terms, uint64_t since_us)
{
    hl_tenure_change_terms(lock->hold, terms, since_us);
    hl_validity_follow(lock);
}

void hl_inner_renew_now(struct hilock_lock *lock) { hl_watchdog_verify(lock->hold, 1); }

void hl_inner_release(struct hilock_lock *lock, hilock_result_fn *on_result, void *user)
{
    (void)hl_tenure_release(hl_lock_core(lock), lock, on_result, user);
}
