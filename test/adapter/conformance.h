/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance.h - what a loop must give to be tested against loop.h, and what the conformance tests share. */
#ifndef TEST_ADAPTER_CONFORMANCE_H
#define TEST_ADAPTER_CONFORMANCE_H

#include <hilock/hilock.h>
#include <hilock/loop.h>

#include "seen.h"
#include "staged.h"

/* One loop's answers. Each adapter's runner defines loop_under_test. */
struct loop_runner {
    void *(*begin)(void); /* a native loop */
    hilock_status (*table)(struct hilock_loop *ret_loop, void *native); /* the adapter's two functions */
    hilock_status (*open)(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                          struct hilock_error *ret_error);
    void (*turn)(void *native);    /* one turn; may wait for something to happen, a second or so at most */
    int (*is_empty)(void *native); /* nothing keeps this loop running; it may turn for that */
    void (*end)(void *native);     /* after free_ctx */
};
extern const struct loop_runner loop_under_test;

/* Defines it: calls of the adapter's two functions, and what a runner calls begin, turn_loop, is_empty and end. */
#define LOOP_UNDER_TEST(loop_call, open_call)                                                                   \
    static hilock_status table(struct hilock_loop *ret_loop, void *native) { return loop_call; }                \
    static hilock_status open_client(hilock_client **ret_client, void *native,                                  \
                                     const struct hilock_client_options *options,                               \
                                     struct hilock_error *ret_error)                                            \
    {                                                                                                           \
        return open_call;                                                                                       \
    }                                                                                                           \
    const struct loop_runner loop_under_test = {begin, table, open_client, turn_loop, is_empty, end}

struct fixture {
    struct hilock_loop loop;
    void *native;
};

void *runner_make(struct hilock_loop *ret_loop); /* a native loop with the adapter's table on it; NULL: cannot */
int fixture_begin(void **state);
int fixture_end(void **state); /* free_ctx, which must leave the loop empty */

void turn(struct fixture *fixture);
void turn_until(struct fixture *fixture, const struct seen *seen, int count);
/* Turns until a timer of this delay has fired: what was due before would have fired too. */
void turn_past(struct fixture *fixture, uint64_t delay_us);

#define CONFORMS(name) STAGED(name, struct fixture, fixture, fixture_begin, fixture_end)

#endif
