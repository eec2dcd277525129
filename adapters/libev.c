/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock's loop table over libev: a nest (nest.c) whose descriptor an ev_io watches, at the most urgent priority. libev
 * has no resolver, so the nest's resolves host names. libev's timers and its cached time are not used. */
#include "nest.h"
#include "nest_resolve.h"

#include <hilock/adapters/libev.h>

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>

struct outer {
    ev_io io;
    struct ev_loop *native;
    struct hl_nest nest;
};

static void on_io(struct ev_loop *native, ev_io *io, int events)
{
    struct outer *outer = io->data;
    (void)native, (void)events;
    hl_nest_run(&outer->nest);
}

/* May run inside on_io, because libev does not touch a watcher after its callback. */
static void free_ctx(void *ctx)
{
    struct hl_nest *nest = ctx;
    struct outer *outer = nest->outer;
    ev_io_stop(outer->native, &outer->io);
    hl_nest_end(nest);
    free(outer);
}

/* Feeding the event costs no system call, and is enough: a turn runs callbacks until none is pending. */
static void timer_hurry(void *handle)
{
    struct outer *outer = hl_nest_of(handle)->outer;
    hl_nest_timer_due(handle);
    ev_feed_event(outer->native, &outer->io, EV_READ);
}

static struct outer *outer_new(struct ev_loop *native)
{
    struct outer *outer = calloc(1, sizeof *outer);
    if (!outer || hl_nest_begin(&outer->nest, outer) != 0) {
        free(outer);
        return NULL;
    }
    outer->native = native;
    ev_io_init(&outer->io, on_io, outer->nest.fd, EV_READ);
    ev_set_priority(&outer->io, EV_MAXPRI);
    outer->io.data = outer;
    ev_io_start(native, &outer->io);
    return outer;
}

static hilock_status table_fill(struct hilock_loop *ret_loop, struct ev_loop *native, struct hilock_error *ret_error)
{
    struct outer *outer;
    if (!native)
        return hl_nest_refuse(ret_error, HILOCK_INVALID,
                              "loop is NULL: pass the ev_loop that this client's thread runs", "");
    outer = outer_new(native);
    if (!outer)
        return hl_nest_refuse(ret_error, HILOCK_NO_MEMORY, HL_NEST_CANNOT, strerror(errno));
    *ret_loop = hl_nest_table(&outer->nest);
    ret_loop->resolve = hl_nest_resolve;
    ret_loop->resolve_cancel = hl_nest_resolve_cancel;
    ret_loop->free_ctx = free_ctx;
    ret_loop->timer_hurry = timer_hurry;
    return HILOCK_OK;
}

hilock_status hilock_libev_loop(struct hilock_loop *ret_loop, struct ev_loop *loop)
{
    return ret_loop ? table_fill(ret_loop, loop, NULL) : HILOCK_INVALID;
}

hilock_status hilock_client_open_libev(hilock_client **ret_client, struct ev_loop *loop,
                                       const struct hilock_client_options *options, struct hilock_error *ret_error)
{
    struct hilock_loop table;
    const hilock_status status = table_fill(&table, loop, ret_error);
    return status == HILOCK_OK ? hl_nest_open(ret_client, &table, options, ret_error) : status;
}
