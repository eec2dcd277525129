/* SPDX-License-Identifier: BSD-3-Clause */
/* libevent_close - closes a client and turns its loop until it is gone, for a program whose own turning has ended. */
#include <hilock/adapters/libevent.h>

#include <event2/event.h>

static void on_closed(void *is_closed) { *(int *)is_closed = 1; }

/* If the loop cannot be turned, no answer will come any more: then the client is abandoned. */
hilock_status hilock_client_close_libevent(hilock_client *client, struct event_base *base, uint32_t drain_ms)
{
    int is_closed = 0;
    hilock_status status = client && base ? hilock_client_adopt(client) : HILOCK_INVALID;
    if (status == HILOCK_OK)
        status = hilock_client_close(client, drain_ms, on_closed, &is_closed);
    while (status == HILOCK_OK && !is_closed && event_base_loop(base, EVLOOP_ONCE) == 0)
        ;
    if (status == HILOCK_OK && !is_closed)
        hilock_client_abandon(client);
    return status;
}
