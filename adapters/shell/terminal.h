/* SPDX-License-Identifier: BSD-3-Clause */
/* terminal - which process group has the terminal. The command has a process group of its own; if hilock was in the
 * foreground, the command is there while it runs, so that it reads the keyboard and gets the signals that are typed.
 * SIGTTOU is blocked where these functions are called. */
#ifndef SHELL_TERMINAL_H
#define SHELL_TERMINAL_H

#include <sys/types.h>

int terminal_is_ours(void);           /* this process group is in the foreground */
void terminal_give(pid_t group);      /* does nothing without a terminal */

#endif
