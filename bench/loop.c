/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.c - the loops by name, and libevent. */
#include "loop.h"

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <string.h>

static const struct loop_kind *const kinds[] = {
    &loop_libevent,
#ifdef BENCH_LIBUV
    &loop_libuv,
#endif
#ifdef BENCH_LIBEV
    &loop_libev,
#endif
};

const struct loop_kind *loop_find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    fprintf(stderr, "no loop %s; this was built with:", name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fprintf(stderr, " %s", kinds[i]->name);
    fprintf(stderr, "\n");
    return NULL;
}

static void *make(void) { return event_base_new(); }

static hilock_status open_client(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                                 struct hilock_error *ret_error)
{
    return hilock_client_open_libevent(ret_client, native, options, ret_error);
}

static void run(void *native, double seconds)
{
    const struct timeval span = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)};
    if (seconds > 0)
        event_base_loopexit(native, &span);
    event_base_dispatch(native);
}

static void stop(void *native) { event_base_loopbreak(native); }

static void end(void *native) { event_base_free(native); }

const struct loop_kind loop_libevent = {"libevent", make, open_client, run, stop, end};
