/* SPDX-License-Identifier: BSD-3-Clause */
/* call - a call of the user that is answered later: an extend, a re-entry, a hand-off, an inquiry. A call keeps its
 * handle alive. It is answered once, or never if the handle was dropped or freed meanwhile. */
#ifndef HL_CORE_CALL_H
#define HL_CORE_CALL_H

#include "core/lock.h"

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
void *hl_call_new(struct hl_core *core, size_t size, const struct hl_notice_ops *ops,
                  void (*expire)(struct hl_core *core, struct hl_call *call), struct hilock_lock *lock,
                  hilock_result_fn *on_result, void *user);
void hl_call_on_alarm(struct hl_alarm *alarm); /* the callback of core->call_alarms */
/* The answer is decided: posts the notice that reports it, before all news if is_loss, and ends the time limit. */
void hl_call_decided(struct hl_core *core, struct hl_call *call, int is_loss);
void hl_call_free(struct hl_core *core, struct hl_call *call);
/* Frees the call by the `forget` of its notice, then calls the user. The texts of the result must not be part of the
 * call. */
void hl_call_answer(struct hl_core *core, struct hl_call *call, struct hilock_result result);

#endif
