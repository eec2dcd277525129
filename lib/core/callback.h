/* SPDX-License-Identifier: BSD-3-Clause */
/* callback - the only place that calls the user of a lock. A callback may free the handle: the handle then stays until
 * the callback has returned. */
#ifndef HL_CORE_CALLBACK_H
#define HL_CORE_CALLBACK_H

#include "core/lock.h"

/* Calls on_result with this result, and adds the state of the handle at this moment. hold_count 0: takes the count from
 * the handle. */
void hl_callback_result(struct hilock_lock *lock, hilock_result_fn *on_result, struct hilock_result result, void *user);
void hl_callback_event(struct hl_core *core, struct hilock_lock *lock, hilock_event_fn *on_event,
                       struct hilock_event *event);
/* Returns 1 if the handle was dropped or freed since the call that this notice is for. */
int hl_callback_is_silenced(const struct hilock_lock *lock, const struct hl_notice *notice);

/* ---- calls that are answered later: extends, re-entries, hand-offs, inquiries ---- */

/* A call keeps its handle alive. It is answered once, or never if the handle was dropped or freed meanwhile. */
struct hl_call { /* an object that embeds a call begins with it, and is freed through it */
    struct hl_notice notice;     /* a call has only one thing to report */
    struct hilock_lock *lock;    /* referenced */
    hilock_result_fn *on_result; /* NULL: no callback */
    void *user;
    uint64_t begun_us;
    /* called when the time limit is over; NULL: there is no limit */
    void (*expire)(struct hl_core *core, struct hl_call *call);
    struct hl_alarm alarm;       /* the alarm for that limit, command_timeout_ms after the begin */
};

/* Makes an object of that size, zeroed except for its call. Returns NULL without memory. */
void *hl_callback_new(struct hl_core *core, size_t size, const struct hl_notice_ops *ops,
                      void (*expire)(struct hl_core *core, struct hl_call *call), struct hilock_lock *lock,
                      hilock_result_fn *on_result, void *user);
void hl_callback_on_alarm(struct hl_alarm *alarm); /* the callback of core->call_alarms */
/* the answer is decided: notices report it, and the time limit ends */
void hl_callback_decided(struct hl_core *core, struct hl_call *call, int is_loss);
void hl_callback_free(struct hl_core *core, struct hl_call *call);
/* Forgets the call as its notice does, then calls the user. The texts of the result must outlive the call. */
void hl_callback_answer(struct hl_core *core, struct hl_call *call, struct hilock_result result);

#endif
