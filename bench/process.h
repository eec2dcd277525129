/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - child processes that never outlive us. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Runs argv[0] (looked up in PATH) with output_fd as its stdout and stderr (-1: ours). Returns 0, or the errno that
 * says why not: ENOENT when there is no such program. */
int process_start(pid_t *ret_pid, const char *const *argv, int output_fd);

/* Runs work(arg) in a child that is a copy of us; it ends with what work returns. Returns 0, or the errno that says why
 * not. What is buffered on stdout and stderr is written before. */
int process_fork(pid_t *ret_pid, int (*work)(void *arg), void *arg);

/* Returns true once the child has ended, and its wait status then. Never blocks. */
bool process_has_ended(pid_t pid, int *ret_status);

/* Asks by SIGTERM, insists by SIGKILL after patience_ms, and reaps. Returns the wait status. */
int process_stop(pid_t pid, uint32_t patience_ms);

#endif
