/* SPDX-License-Identifier: BSD-3-Clause */
/* run - runs a command under a lock. This process is the holder: it has the client and the lock, and the guard
 * (guard.h) is its child. */
#ifndef SHELL_RUN_H
#define SHELL_RUN_H

#include "options.h"

int run_command(const struct options *options); /* returns the exit code */

#endif
