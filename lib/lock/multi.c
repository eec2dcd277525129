/* SPDX-License-Identifier: BSD-3-Clause */
/* multi - see multi.h. */
#include "lock/multi.h"

#include "base/plant.h"
#include "lock/gate.h"

struct hl_names *hl_multi_names_new(const struct hl_memory *memory, struct hl_name *const *names, unsigned count)
{
    struct hl_names *own = hl_memory_new(memory, sizeof *own + count * sizeof own->of[0]);
    if (!own)
        return NULL;
    own->count = count;
    for (unsigned i = 0; i < count; i++)
        own->of[i] = names[i];
    return own;
}

void hl_multi_names_free(struct hl_core *core, const struct hl_memory *memory, struct hl_names *names)
{
    for (unsigned i = 0; i < names->count; i++)
        hl_name_unref(core, memory, names->of[i]);
    hl_memory_free(memory, names);
}

int hl_multi_barred_at(const struct hl_acquire *acquire)
{
    const struct hl_names *names = acquire->lock->terms->multi;
    for (unsigned i = 0; names && !HL_PLANTED(MULTI_PASSES_SIBLINGS) && i < names->count; i++)
        if (i != acquire->at && (names->of[i]->ending || hl_gate_knows_held(names->of[i])))
            return (int)i;
    return -1;
}

int hl_multi_held_at(const struct hilock_lock *lock)
{
    const struct hl_names *names = lock->terms->multi;
    for (unsigned i = 0; names && i < names->count; i++)
        if (hl_gate_knows_held(names->of[i]))
            return (int)i;
    return !names && hl_gate_knows_held(lock->name) ? 0 : -1;
}
