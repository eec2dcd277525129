/* SPDX-License-Identifier: BSD-3-Clause */
/* callback - the only place that calls a lock's user. It keeps the handle until then, even if the callback frees it. */
#ifndef HL_CORE_CALLBACK_H
#define HL_CORE_CALLBACK_H

#include "core/lock.h"

/* Adds how the handle stands right now; hold_count 0: what it has. */
void hl_callback_result(struct hilock_lock *lock, hilock_result_fn *on_result, struct hilock_result result, void *user);
void hl_callback_event(struct hl_core *core, struct hilock_lock *lock, hilock_event_fn *on_event,
                       struct hilock_event *event);
/* The handle was dropped or freed meanwhile. */
int hl_callback_is_off(const struct hilock_lock *lock, const struct hl_notice *notice);

/* ---- calls that are answered later: extends, re-entries, hand-offs, inquiries ---- */

/* A call keeps its handle, and is answered once, unless the handle was dropped or freed meanwhile. */
struct hl_call { /* an object with one begins with it, and is freed as it */
    struct hl_notice notice;     /* one thing to report */
    struct hilock_lock *lock;    /* referenced */
    hilock_result_fn *on_result; /* NULL: no callback */
    void *user;
    uint64_t begun_us;
    void (*expire)(struct hl_core *core, struct hl_call *call); /* its time is over; NULL: it has no limit */
    struct hl_alarm alarm;       /* for that: command_timeout_ms after its begin */
};

/* An object of that size, zeroed but for its call. NULL: no memory */
void *hl_callback_new(struct hl_core *core, size_t size, const struct hl_notice_ops *ops,
                      void (*expire)(struct hl_core *core, struct hl_call *call), struct hilock_lock *lock,
                      hilock_result_fn *on_result, void *user);
void hl_callback_on_alarm(struct hl_alarm *alarm); /* of core->call_alarms */
void hl_callback_decided(struct hl_core *core, struct hl_call *call, int is_loss); /* to be reported; no more limit */
void hl_callback_free(struct hl_core *core, struct hl_call *call);
/* Forgets the call, as its notice does, then calls the user. The texts of the result must outlive it. */
void hl_callback_answer(struct hl_core *core, struct hl_call *call, struct hilock_result result);

#endif
