/* SPDX-License-Identifier: BSD-3-Clause */
/* runner.h - what a loop must give to be tested: against loop.h, and under whole clients in ../live. */
#ifndef TEST_ADAPTER_RUNNER_H
#define TEST_ADAPTER_RUNNER_H

#include <hilock/hilock.h>
#include <hilock/loop.h>

struct loop_runner {
    const char *name;
    void *(*begin)(void); /* a native loop */
    hilock_status (*table)(struct hilock_loop *ret_loop, void *native); /* the adapter's two functions */
    hilock_status (*open)(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                          struct hilock_error *ret_error);
    hilock_status (*close)(hilock_client *client, void *native, uint32_t drain_ms); /* turns it until the client is gone */
    void (*turn)(void *native);    /* one turn; waits for TURN_MS at most, so that a test can look about meanwhile */
    int (*is_empty)(void *native); /* nothing keeps this loop running; it may turn for that */
    void (*end)(void *native);     /* after free_ctx */
};
extern const struct loop_runner loop_libevent, loop_libev, loop_libuv, loop_sd_event; /* those that are there */

enum { TURN_MS = 10 };

/* Defines one: calls of the adapter's three functions, and what a runner calls begin, turn_loop, is_empty and end. */
#define LOOP_RUNNER(loop, loop_call, open_call, close_call)                                                     \
    static hilock_status table(struct hilock_loop *ret_loop, void *native) { return loop_call; }                \
    static hilock_status open_client(hilock_client **ret_client, void *native,                                  \
                                     const struct hilock_client_options *options,                               \
                                     struct hilock_error *ret_error)                                            \
    {                                                                                                           \
        return open_call;                                                                                       \
    }                                                                                                           \
    static hilock_status close_client(hilock_client *client, void *native, uint32_t drain_ms)                   \
    {                                                                                                           \
        return close_call;                                                                                      \
    }                                                                                                           \
    const struct loop_runner loop_##loop = {#loop, begin, table, open_client, close_client, turn_loop, is_empty, end}

#endif
