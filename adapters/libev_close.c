/* SPDX-License-Identifier: BSD-3-Clause */
/* libev_close - closes a client and turns its loop until it is gone, for a program whose own turning has ended. */
#include <hilock/adapters/libev.h>

#include <ev.h>

static void on_closed(void *is_closed) { *(int *)is_closed = 1; }

/* If the loop cannot be turned, no answer will come any more: then the client is abandoned. */
hilock_status hilock_client_close_libev(hilock_client *client, struct ev_loop *loop, uint32_t drain_ms)
{
    int is_closed = 0;
    hilock_status status = client && loop ? hilock_client_adopt(client) : HILOCK_INVALID;
    if (status == HILOCK_OK)
        status = hilock_client_close(client, drain_ms, on_closed, &is_closed);
    while (status == HILOCK_OK && !is_closed && ev_run(loop, EVRUN_ONCE))
        ;
    if (status == HILOCK_OK && !is_closed)
        hilock_client_abandon(client);
    return status;
}
