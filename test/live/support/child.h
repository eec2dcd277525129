/* SPDX-License-Identifier: BSD-3-Clause */
/* child - processes of a test's own: each runs one function and ends. Fork before any client is made, and while no proxy runs. They never
 * outlive the test. A child fails by check_fail or CHECK; cmocka's own assertions would carry on with the parent's tests in it. */
#ifndef LIVE_CHILD_H
#define LIVE_CHILD_H

#include <sys/types.h>

typedef void child_fn(void *arg);

pid_t child_start(child_fn *run, void *arg);
void child_join(pid_t pid); /* waits for its end; the test fails unless that was with status 0 */
void child_kill(pid_t pid); /* SIGKILL, and reaps it */
void child_suspend(pid_t pid); /* SIGSTOP; has stopped when it returns */
void child_resume(pid_t pid);

#endif
