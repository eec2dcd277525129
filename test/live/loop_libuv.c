/* SPDX-License-Identifier: BSD-3-Clause */
/* libuv as a loop of live tests. */
#include <hilock/adapters/libuv.h>
#include <stdlib.h>
#include <uv.h>

#include "loops.h"

enum { TICK_MS = 10 };

struct native {
    uv_loop_t loop;
    uv_timer_t tick;
};

static void on_tick(uv_timer_t *tick) { (void)tick; }

static void *begin(void)
{
    struct native *native = calloc(1, sizeof *native);
    CHECK(native && uv_loop_init(&native->loop) == 0);
    CHECK(uv_timer_init(&native->loop, &native->tick) == 0 && uv_timer_start(&native->tick, on_tick, TICK_MS, TICK_MS) == 0);
    return native;
}

static hilock_status open_client(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                                 struct hilock_error *ret_error)
{
    return hilock_client_open_libuv(ret_client, &((struct native *)native)->loop, options, ret_error);
}

static void turn(void *native) { uv_run(&((struct native *)native)->loop, UV_RUN_ONCE); }

static void count_open(uv_handle_t *handle, void *count) { *(unsigned *)count += !uv_is_closing(handle); }

static int end(void *handle)
{
    struct native *native = handle;
    unsigned open = 0;
    uv_close((uv_handle_t *)&native->tick, NULL);
    uv_walk(&native->loop, count_open, &open);
    int is_empty = open == 0 && uv_run(&native->loop, UV_RUN_DEFAULT) == 0 && uv_loop_close(&native->loop) == 0;
    free(native);
    return is_empty;
}

const struct client_loop loop_libuv = {"libuv", begin, open_client, turn, end};
