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

static hilock_status table(struct hilock_loop *ret_loop, void *native) { return hilock_libuv_loop(ret_loop, native); }

static hilock_status open_client(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                                 struct hilock_error *ret_error)
{
    return hilock_client_open_libuv(ret_client, native, options, ret_error);
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

const struct loop_runner loop_under_test = {begin, table, open_client, turn_loop, is_empty, end};
