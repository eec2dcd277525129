/* SPDX-License-Identifier: BSD-3-Clause */
/* walk - see walk.h. A handle waits in a gate until its acquire is decided; then the acquire is among the news. */
#include "lock/walk.h"

#include "lock/gate.h"
#include "lock/hold.h"

static void walk_decided(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg),
                         void *arg)
{
    const struct hl_notice *notice;
    TAILQ_FOREACH(notice, &core->notices.news, entry)
    {
        const struct hl_acquire *acquire = (const struct hl_acquire *)(const void *)notice;
        if (notice->ops == core->acquire_notice && acquire->state == ACQUIRE_DECIDED &&
            !acquire->lock->terms->is_internal)
            visit(acquire->lock, arg);
    }
}

void hl_walk_locks(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg)
{
    const struct hl_hold *hold;
    TAILQ_FOREACH(hold, &core->live, live)
        if (hl_hold_is_told(hold) && !hold->terms->is_internal)
            visit(hold->lock, arg);
    walk_decided(core, visit, arg);
    hl_gates_visit(core, visit, arg);
}
