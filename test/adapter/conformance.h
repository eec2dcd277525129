/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance.h - what a loop must give to be tested against loop.h, and what the conformance tests share. */
#ifndef TEST_ADAPTER_CONFORMANCE_H
#define TEST_ADAPTER_CONFORMANCE_H

#include <hilock/hilock.h>
#include <hilock/loop.h>

/* cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "seen.h"

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

int conformance_open(void);
int conformance_clock(void);
int conformance_watch(void);
int conformance_timer(void);
int conformance_resolve(void);
int conformance_end(void);

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_begin, fixture_end)

#endif
