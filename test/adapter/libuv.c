/* SPDX-License-Identifier: BSD-3-Clause */
/* The conformance runner of the libuv adapter. */
#include "conformance.h"

#include <hilock/adapters/libuv.h>
#include <stdlib.h>
#include <uv.h>

static void *begin(void)
{
    uv_loop_t *native = malloc(sizeof *native);
    if (native && uv_loop_init(native) != 0)
        abort();
    return native;
}

static void turn_loop(void *native) { uv_run(native, UV_RUN_ONCE); }

static void count_open(uv_handle_t *handle, void *count)
{
    if (!uv_is_closing(handle))
        ++*(int *)count;
}

/* What libuv has still to give back of closed handles and cancelled names: uv_run ends when it has. */
static int is_empty(void *native)
{
    int open = 0;
    uv_walk(native, count_open, &open);
    return open == 0 && uv_run(native, UV_RUN_DEFAULT) == 0;
}

static void end(void *native)
{
    if (uv_loop_close(native) != 0)
        abort();
    free(native);
}

LOOP_UNDER_TEST(hilock_libuv_loop(ret_loop, native), hilock_client_open_libuv(ret_client, native, options, ret_error));
