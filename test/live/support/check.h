/* SPDX-License-Identifier: BSD-3-Clause */
/* check - how a live test fails. cmocka's assertions belong to the test's own process, outside of callbacks: they leave by longjmp, past the
 * event loop. A child that the test forked fails by check_fail alone, which knows where it is. */
#ifndef LIVE_CHECK_H
#define LIVE_CHECK_H

#include "../../unit/suite.h"

/* How long any one wait of a test may last. Far more than anything takes on a loaded machine: only a defect gets here. */
enum { CHECK_PATIENCE_MS = 120000 };

/* The test fails here. In a child (check_in_child) and in a thread (check_in_thread) there is no test to return to: told on stderr, and the
 * process ends with status 1. */
void check_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void check_in_child(void);
void check_in_thread(void); /* for the thread that calls it */

#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition))                                                                    \
            check_fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                 \
    } while (0)

unsigned check_count_wanted(const char *variable, unsigned usual); /* of the environment: longer runs than those of every day */
uint64_t check_now_us(void); /* CLOCK_BOOTTIME: one time for all processes */
void check_pause_ms(unsigned ms);

/* Repeats the question until it is so, and fails the test if it never is. */
void check_until(int (*is_so)(void *arg), void *arg, const char *what);

#endif
