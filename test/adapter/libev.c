/* SPDX-License-Identifier: BSD-3-Clause */
/* The runner of libev. */
#include "runner.h"

#include <ev.h>
#include <hilock/adapters/libev.h>

static void *begin(void) { return ev_loop_new(EVFLAG_AUTO); }

static void on_late(struct ev_loop *native, ev_timer *late, int events) { (void)native, (void)late, (void)events; }

/* It begins with what was pending. */
static void turn_loop(void *native)
{
    ev_timer late;
    ev_timer_init(&late, on_late, TURN_MS / 1000.0, 0);
    ev_timer_start(native, &late);
    ev_run(native, EVRUN_ONCE);
    ev_timer_stop(native, &late);
}

/* What was pending of a watcher that has ended is a blank, which goes in one turn. */
static int is_empty(void *native) { return !ev_run(native, EVRUN_NOWAIT) && ev_pending_count(native) == 0; }

static void end(void *native) { ev_loop_destroy(native); }

LOOP_RUNNER(libev, hilock_libev_loop(ret_loop, native),
            hilock_client_open_libev(ret_client, native, options, ret_error),
            hilock_client_close_libev(client, native, drain_ms));
