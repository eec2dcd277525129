/* SPDX-License-Identifier: BSD-3-Clause */
/* The runner of libevent. With HILOCK_LIBEVENT_DEBUG in the environment libevent checks that every event is set up
 * and torn down in order. */
#include "runner.h"

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdlib.h>

static void *begin(void)
{
    static int has_debug;
    if (!has_debug && getenv("HILOCK_LIBEVENT_DEBUG")) {
        event_enable_debug_mode();
        has_debug = 1;
    }
    return event_base_new();
}

static void turn_loop(void *native) { event_base_loop(native, EVLOOP_ONCE); }

/* What evdns has still to deliver of a cancelled query goes in one turn. */
static int is_empty(void *native)
{
    event_base_loop(native, EVLOOP_NONBLOCK);
    return event_base_get_num_events(native, EVENT_BASE_COUNT_ADDED | EVENT_BASE_COUNT_ACTIVE | EVENT_BASE_COUNT_VIRTUAL) == 0;
}

static void end(void *native) { event_base_free(native); }

LOOP_RUNNER(libevent, hilock_libevent_loop(ret_loop, native),
            hilock_client_open_libevent(ret_client, native, options, ret_error),
            hilock_client_close_libevent(client, native, drain_ms));
