/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock's loop table over sd-event: a nest (nest.c) whose descriptor an IO source watches. sd-event dispatches only
 * the most urgent source in a turn; with a nest, that one source is everything that hilock has to do in the turn.
 * sd-event has no resolver, so the nest's resolves host names. */
#include "nest.h"
#include "nest_resolve.h"

#include <hilock/adapters/sd-event.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

struct outer {
    sd_event_source *source; /* owns a reference to its loop */
    struct hl_nest nest;
};

/* Always returns 0, because sd-event switches a source off whose callback returns a negative number. */
static int on_io(sd_event_source *source, int fd, uint32_t events, void *user)
{
    struct outer *outer = user;
    (void)source, (void)fd, (void)events;
    hl_nest_run(&outer->nest);
    return 0;
}

/* May run inside on_io, because sd-event keeps the source until that returns. The source is switched off first, so that
 * it leaves the loop's epoll set before fd is closed. In a forked child sd-event refuses to, and the set is the
 * parent's. */
static void free_ctx(void *ctx)
{
    struct hl_nest *nest = ctx;
    struct outer *outer = nest->outer;
    (void)sd_event_source_set_enabled(outer->source, SD_EVENT_OFF);
    sd_event_source_unref(outer->source);
    hl_nest_end(nest);
    free(outer);
}

/* Returns 0, or a negative errno. */
static int outer_begin(struct outer *outer, sd_event *native)
{
    int status;
    if (hl_nest_begin(&outer->nest, outer) != 0)
        return -errno;
    status = sd_event_add_io(native, &outer->source, outer->nest.fd, EPOLLIN, on_io, outer);
    if (status >= 0)
        status = sd_event_source_set_priority(outer->source, SD_EVENT_PRIORITY_IMPORTANT);
    if (status >= 0) {
        (void)sd_event_source_set_description(outer->source, "hilock");
        return 0;
    }
    sd_event_source_unref(outer->source);
    hl_nest_end(&outer->nest);
    return status;
}

static hilock_status table_fill(struct hilock_loop *ret_loop, sd_event *native, struct hilock_error *ret_error)
{
    struct outer *outer;
    int status;
    if (!native)
        return hl_nest_refuse(ret_error, HILOCK_INVALID,
                              "event is NULL: pass the sd_event that this client's thread runs", "");
    outer = calloc(1, sizeof *outer);
    status = outer ? outer_begin(outer, native) : -ENOMEM;
    if (status != 0) {
        free(outer);
        return hl_nest_refuse(ret_error, HILOCK_NO_MEMORY, HL_NEST_CANNOT, strerror(-status));
    }
    *ret_loop = hl_nest_table(&outer->nest);
    ret_loop->resolve = hl_nest_resolve;
    ret_loop->resolve_cancel = hl_nest_resolve_cancel;
    ret_loop->free_ctx = free_ctx;
    return HILOCK_OK;
}

hilock_status hilock_sd_event_loop(struct hilock_loop *ret_loop, sd_event *event)
{
    return ret_loop ? table_fill(ret_loop, event, NULL) : HILOCK_INVALID;
}

hilock_status hilock_client_open_sd_event(hilock_client **ret_client, sd_event *event,
                                          const struct hilock_client_options *options, struct hilock_error *ret_error)
{
    struct hilock_loop table;
    const hilock_status status = table_fill(&table, event, ret_error);
    return status == HILOCK_OK ? hl_nest_open(ret_client, &table, options, ret_error) : status;
}
