/* SPDX-License-Identifier: BSD-3-Clause */
/* loop_libuv.c - libuv for scenario pairs. */
#include "loop.h"

#include <hilock/adapters/libuv.h>
#include <stdlib.h>
#include <uv.h>

struct native {
    uv_loop_t loop;
    uv_timer_t timer;
};

static void *make(void)
{
    struct native *native = calloc(1, sizeof *native);
    if (native && uv_loop_init(&native->loop) == 0 && uv_timer_init(&native->loop, &native->timer) == 0)
        return native;
    free(native);
    return NULL;
}

static hilock_status open_client(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                                 struct hilock_error *ret_error)
{
    return hilock_client_open_libuv(ret_client, &((struct native *)native)->loop, options, ret_error);
}

static void on_timer(uv_timer_t *timer) { uv_stop(timer->loop); }

static void run(void *handle, double seconds)
{
    struct native *native = handle;
    if (seconds > 0) {
        uv_update_time(&native->loop);
        uv_timer_start(&native->timer, on_timer, (uint64_t)(seconds * 1e3), 0);
    }
    uv_run(&native->loop, UV_RUN_DEFAULT);
    uv_timer_stop(&native->timer);
}

static void stop(void *native) { uv_stop(&((struct native *)native)->loop); }

static void end(void *handle)
{
    struct native *native = handle;
    uv_close((uv_handle_t *)&native->timer, NULL);
    uv_run(&native->loop, UV_RUN_DEFAULT);
    uv_loop_close(&native->loop);
    free(native);
}

const struct loop_kind loop_libuv = {"libuv", make, open_client, run, stop, end};
