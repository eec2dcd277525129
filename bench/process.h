/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - child processes that never outlive this one. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Runs argv[0], which is looked up in PATH, with output_fd as its stdout and stderr (-1: those of this process).
 * Returns 0, or an errno: ENOENT if there is no such program. */
int process_start(pid_t *ret_pid, const char *const *argv, int output_fd);

/* Forks a child that runs work(arg) and exits with its return value. Returns 0, or an errno. Buffered output on
 * stdout and stderr is written before. */
int process_fork(pid_t *ret_pid, int (*work)(void *arg), void *arg);

/* Returns true, and the wait status, once the child has ended. Never blocks. */
bool process_has_ended(pid_t pid, int *ret_status);

/* Ends a child by SIGTERM, and by SIGKILL after patience_ms. Reaps it, and returns the wait status. */
int process_stop(pid_t pid, uint32_t patience_ms);

#endif
