/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.h - the event loops that hilock's half of scenario pairs can live on: libevent, and those that were there when
 * this was built. */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <hilock/hilock.h>

struct loop_kind {
    const char *name;
    void *(*make)(void); /* makes a loop; NULL: it cannot */
    hilock_status (*open)(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                          struct hilock_error *ret_error);
    /* turns the loop until it is stopped; if seconds is above 0, for at most so long */
    void (*run)(void *native, double seconds);
    void (*stop)(void *native);
    void (*end)(void *native);
};

struct loop {
    const struct loop_kind *kind;
    void *native;
};

extern const struct loop_kind loop_libevent, loop_libuv, loop_libev;
const struct loop_kind *loop_find(const char *name); /* NULL: the loop is unknown or not built; reported on stderr */

#endif
