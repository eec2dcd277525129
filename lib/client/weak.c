/* SPDX-License-Identifier: BSD-3-Clause */
/* weak - a reference to a client that does not keep the client alive. The reference is the cell, which the client
 * shares with its handles and which outlives them all (core/cell.h). So making one needs no memory, and it finds out
 * that the client has ended in the same way as a handle does. */
#include "base/container.h"
#include "client/client.h"

static struct hl_cell *cell_of(const hilock_weak *weak) { return (struct hl_cell *)(uintptr_t)weak; }

hilock_weak *hilock_client_weak(const hilock_client *client)
{
    if (!client)
        return NULL;
    hl_cell_ref(client->core.cell);
    return (hilock_weak *)(void *)client->core.cell;
}

hilock_client *hilock_weak_client(const hilock_weak *weak)
{
    if (!weak || hl_cell_is_forked(cell_of(weak)))
        return NULL;
    struct hl_core *core = cell_of(weak)->core;
    return core ? HL_CONTAINER(core, struct hilock_client, core) : NULL;
}

hilock_status hilock_weak_stats(const hilock_weak *weak, struct hilock_stats *ret_stats)
{
    if (!weak || !ret_stats)
        return HILOCK_INVALID;
    if (hl_cell_is_forked(cell_of(weak)))
        return HILOCK_FORKED;
    const struct hl_core *core = hl_cell_begin_read(cell_of(weak));
    if (!core)
        return HILOCK_CLOSED;
    hilock_client_stats(HL_CONTAINER(core, const struct hilock_client, core), ret_stats);
    hl_cell_end_read(cell_of(weak));
    return HILOCK_OK;
}

void hilock_weak_unref(hilock_weak *weak)
{
    if (weak)
        hl_cell_unref(cell_of(weak));
}
