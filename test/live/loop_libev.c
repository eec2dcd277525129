/* SPDX-License-Identifier: BSD-3-Clause */
/* libev as a loop of live tests. */
#include <ev.h>
#include <hilock/adapters/libev.h>
#include <stdlib.h>

#include "loops.h"

#define TICK_S 0.01

struct native {
    struct ev_loop *loop;
    ev_timer tick;
};

static void on_tick(struct ev_loop *loop, ev_timer *tick, int events) { (void)loop, (void)tick, (void)events; }

static void *begin(void)
{
    struct native *native = calloc(1, sizeof *native);
    CHECK(native && (native->loop = ev_loop_new(EVFLAG_AUTO)) != NULL);
    ev_timer_init(&native->tick, on_tick, TICK_S, TICK_S);
    ev_timer_start(native->loop, &native->tick);
    return native;
}

static hilock_status open_client(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                                 struct hilock_error *ret_error)
{
    return hilock_client_open_libev(ret_client, ((struct native *)native)->loop, options, ret_error);
}

static void turn(void *native) { ev_run(((struct native *)native)->loop, EVRUN_ONCE); }

static int end(void *handle)
{
    struct native *native = handle;
    ev_timer_stop(native->loop, &native->tick);
    int is_empty = !ev_run(native->loop, EVRUN_NOWAIT);
    ev_loop_destroy(native->loop);
    free(native);
    return is_empty;
}

const struct client_loop loop_libev = {"libev", begin, open_client, turn, end};
