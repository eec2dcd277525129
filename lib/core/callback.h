/* SPDX-License-Identifier: BSD-3-Clause */
/* callback - the only place that calls the user of a lock. A callback may free the handle: the handle then stays until
 * the callback has returned. */
#ifndef HL_CORE_CALLBACK_H
#define HL_CORE_CALLBACK_H

#include "core/lock.h"

/* Completes this result with the present state of the handle, and calls on_result with it. If its hold_count is 0, the
 * count of the handle is used. */
void hl_callback_result(struct hilock_lock *lock, hilock_result_fn *on_result, struct hilock_result result, void *user);
void hl_callback_event(struct hl_core *core, struct hilock_lock *lock, hilock_event_fn *on_event,
                       struct hilock_event *event);
/* Returns 1 if the handle was dropped or freed after the call that this notice answers: then no callback may run. */
int hl_callback_is_silenced(const struct hilock_lock *lock, const struct hl_notice *notice);

/* ---- calls that are answered later: extends, re-entries, hand-offs, inquiries ---- */

/* A call keeps its handle alive. It is answered once, or never if the handle was dropped or freed meanwhile. */
struct hl_call { /* an object that embeds a call begins with it, and is freed through it */
    struct hl_notice notice;     /* a call has one report: its answer */
    struct hilock_lock *lock;    /* referenced */
    hilock_result_fn *on_result; /* NULL: no callback */
    void *user;
    uint64_t begun_us;
    /* called when the answer did not come within command_timeout_ms; NULL: there is no time limit */
    void (*expire)(struct hl_core *core, struct hl_call *call);
    struct hl_alarm alarm;       /* the alarm for that limit; it counts from begun_us */
};

/* Returns a new object of this size, zeroed except for the call at its start; NULL without memory. */
void *hl_callback_new(struct hl_core *core, size_t size, const struct hl_notice_ops *ops,
                      void (*expire)(struct hl_core *core, struct hl_call *call), struct hilock_lock *lock,
                      hilock_result_fn *on_result, void *user);
void hl_callback_on_alarm(struct hl_alarm *alarm); /* the callback of core->call_alarms */
/* The answer is decided: posts the notice that reports it, before all news if is_loss, and ends the time limit. */
void hl_callback_decided(struct hl_core *core, struct hl_call *call, int is_loss);
void hl_callback_free(struct hl_core *core, struct hl_call *call);
/* Frees the call by the `forget` of its notice, then calls the user. The texts of the result must not be part of the
 * call. */
void hl_callback_answer(struct hl_core *core, struct hl_call *call, struct hilock_result result);

#endif
