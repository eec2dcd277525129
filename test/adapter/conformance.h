/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance.h - what the conformance tests share. */
#ifndef TEST_ADAPTER_CONFORMANCE_H
#define TEST_ADAPTER_CONFORMANCE_H

#include "runner.h"
#include "seen.h"
#include "staged.h"

/* The build names one of them: loop_under_test. */
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
