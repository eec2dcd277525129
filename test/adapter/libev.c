/* SPDX-License-Identifier: BSD-3-Clause */
/* The conformance runner of the libev adapter. */
#include "conformance.h"

#include <ev.h>
#include <hilock/adapters/libev.h>

static void *begin(void) { return ev_loop_new(EVFLAG_AUTO); }

static hilock_status table(struct hilock_loop *ret_loop, void *native) { return hilock_libev_loop(ret_loop, native); }

static hilock_status open_client(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                                 struct hilock_error *ret_error)
{
    return hilock_client_open_libev(ret_client, native, options, ret_error);
}

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

const struct loop_runner loop_under_test = {begin, table, open_client, turn_loop, is_empty, end};
