/* SPDX-License-Identifier: BSD-3-Clause */
/* The runner of libuv. */
#include "runner.h"

#include <hilock/adapters/libuv.h>
#include <stdlib.h>
#include <uv.h>

struct native {
    uv_loop_t loop; /* comes first: this is what the adapter is given */
    uv_timer_t tick;
};

static void *begin(void)
{
    struct native *native = malloc(sizeof *native);
    if (native && (uv_loop_init(&native->loop) != 0 || uv_timer_init(&native->loop, &native->tick) != 0))
        abort();
    return native;
}

static void on_tick(uv_timer_t *tick) { (void)tick; }

static void turn_loop(void *handle)
{
    struct native *native = handle;
    uv_timer_start(&native->tick, on_tick, TURN_MS, 0);
    uv_run(&native->loop, UV_RUN_ONCE);
    uv_timer_stop(&native->tick);
}

static void count_open(uv_handle_t *handle, void *count)
{
    if (!uv_is_closing(handle))
        ++*(int *)count;
}

/* What libuv has still to give back of closed handles and cancelled names: uv_run ends when it has. The tick is there. */
static int is_empty(void *native)
{
    int open = 0;
    uv_walk(native, count_open, &open);
    return open == 1 && uv_run(native, UV_RUN_DEFAULT) == 0;
}

static void end(void *handle)
{
    struct native *native = handle;
    uv_close((uv_handle_t *)&native->tick, NULL);
    uv_run(&native->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&native->loop) != 0)
        abort();
    free(native);
}

LOOP_RUNNER(libuv, hilock_libuv_loop(ret_loop, native),
            hilock_client_open_libuv(ret_client, native, options, ret_error),
            hilock_client_close_libuv(client, native, drain_ms));
