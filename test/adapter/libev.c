/* SPDX-License-Identifier: BSD-3-Clause */
/* The conformance runner of the libev adapter. */
#include "conformance.h"

#include <ev.h>
#include <hilock/adapters/libev.h>

static void *begin(void) { return ev_loop_new(EVFLAG_AUTO); }

static void on_late(struct ev_loop *native, ev_timer *late, int events) { (void)native, (void)late, (void)events; }

/* It begins with what was pending, and would then wait for ever if nothing else comes. */
static void turn_loop(void *native)
{
    ev_timer late;
    ev_timer_init(&late, on_late, 1, 0);
    ev_timer_start(native, &late);
    ev_run(native, EVRUN_ONCE);
    ev_timer_stop(native, &late);
}

static int is_empty(void *native) { return ev_pending_count(native) == 0 && !ev_run(native, EVRUN_NOWAIT); }

static void end(void *native) { ev_loop_destroy(native); }

LOOP_UNDER_TEST(hilock_libev_loop(ret_loop, native), hilock_client_open_libev(ret_client, native, options, ret_error));
