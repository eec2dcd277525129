/* SPDX-License-Identifier: BSD-3-Clause */
/* loop_libev.c - libev for scenario pairs. */
#include "loop.h"

#include <ev.h>
#include <hilock/adapters/libev.h>

static void *make(void) { return ev_loop_new(EVFLAG_AUTO); }

static hilock_status open_client(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                                 struct hilock_error *ret_error)
{
    return hilock_client_open_libev(ret_client, native, options, ret_error);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer, (void)events;
    ev_break(loop, EVBREAK_ONE);
}

static void run(void *native, double seconds)
{
    ev_timer timer;
    ev_timer_init(&timer, on_timer, seconds, 0);
    if (seconds > 0) {
        ev_now_update(native);
        ev_timer_start(native, &timer);
    }
    ev_run(native, 0);
    ev_timer_stop(native, &timer);
}

static void stop(void *native) { ev_break(native, EVBREAK_ONE); }

static void end(void *native) { ev_loop_destroy(native); }

const struct loop_kind loop_libev = {"libev", make, open_client, run, stop, end};
