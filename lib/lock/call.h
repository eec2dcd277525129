/* SPDX-License-Identifier: BSD-3-Clause */
/* call - a call on a handle that is answered later: what extends, re-entries, hand-offs and inquiries have in common.
 * It keeps its handle; it is answered once, unless the handle was dropped or freed meanwhile. */
#ifndef HL_LOCK_CALL_H
#define HL_LOCK_CALL_H

#include "lock/core.h"

struct hl_call { /* an object with one begins with it */
    struct hl_notice notice;     /* one thing to report */
    struct hilock_lock *lock;    /* referenced */
    hilock_result_fn *on_result; /* NULL: no callback */
    void *user;
    uint64_t begun_us;
};

/* An object of that size, zeroed but for its call. NULL: no memory */
void *hl_call_new(struct hl_core *core, size_t size, const struct hl_notice_ops *ops, struct hilock_lock *lock,
                  hilock_result_fn *on_result, void *user);
void hl_call_free(struct hl_core *core, struct hl_call *call);
/* Forgets the call, as its notice does, then calls the user. The texts of the result must outlive it. */
void hl_call_answer(struct hl_core *core, struct hl_call *call, struct hilock_result result);

#endif
