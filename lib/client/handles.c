/* SPDX-License-Identifier: BSD-3-Clause */
/* handles - see handles.h. */
#include "client/handles.h"

#include "group/group.h"
#include "lock/walk.h"

void hl_handles_visit(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg)
{
    hl_walk_locks(core, visit, arg);
    hl_groups_visit(core, visit, arg);
}
