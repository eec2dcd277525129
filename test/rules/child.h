/* SPDX-License-Identifier: BSD-3-Clause */
/* child - the tests of a program that breaks the library on purpose, and one of them in a child process of its own:
 * what is broken may end it, or make it run for ever. The tests enter themselves (unit/suite.h). */
#ifndef TEST_RULES_CHILD_H
#define TEST_RULES_CHILD_H

#include "unit/suite.h"

struct child {
    void (*break_it)(int what); /* there, before the test */
    int what;
    double processor_s; /* then it hangs: of a processor, a busy machine makes no bug */
    unsigned asleep_s;  /* by the clock, without what it waited for a processor; 0: it may sleep for ever */
    int out;            /* where what it says goes, a file descriptor */
};

struct child_end {
    int status; /* as wait() has it; 0: green */
    double processor_s;
};

extern struct CMUnitTest child_tests[];
extern size_t child_tests_count;

struct child_end child_play(const struct CMUnitTest *test, const struct child *child);

#endif
