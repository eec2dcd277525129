/* SPDX-License-Identifier: BSD-3-Clause */
/* walk - see walk.h. Who waits stands in a gate until it is decided, and among the news from then on. */
#include "lock/walk.h"

#include "lock/gate.h"

static void walk(const struct hl_notices *list, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg)
{
    const struct hl_notice *notice;
    TAILQ_FOREACH(notice, list, entry)
    {
        const struct hl_hold *hold = (const struct hl_hold *)(const void *)notice;
        const struct hl_acquire *acquire = (const struct hl_acquire *)(const void *)notice;
        if (notice->kind == NOTICE_ACQUIRE && acquire->state == ACQUIRE_DECIDED)
            visit(acquire->lock, arg);
        else if (notice->kind == NOTICE_HOLD && hold->is_told && hold->owner.lock)
            visit(hold->owner.lock, arg);
    }
}

void hl_walk_locks(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg)
{
    walk(&core->losses, visit, arg);
    walk(&core->news, visit, arg);
    walk(&core->holds, visit, arg);
    hl_gates_visit(core, visit, arg);
}

static void walk_held(struct hl_notices *list, void (*visit)(struct hl_hold *hold, void *arg), void *arg)
{
    struct hl_notice *notice, *next = TAILQ_FIRST(list);
    while ((notice = next) != NULL) {
        struct hl_hold *hold = (struct hl_hold *)(void *)notice;
        next = TAILQ_NEXT(notice, entry);
        if (notice->kind == NOTICE_HOLD && hold->state == HOLD_HELD)
            visit(hold, arg);
    }
}

/* A hold with something to tell stands among the news; one that ends under the walk goes to the losses, and a wait to the news: never to a
 * place where it would be met again. */
void hl_walk_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg)
{
    walk_held(&core->holds, visit, arg);
    walk_held(&core->news, visit, arg);
}
