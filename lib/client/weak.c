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

void hilock_weak_unref(hilock_weak *weak)
{
    if (weak)
        hl_cell_unref(cell_of(weak));
}
