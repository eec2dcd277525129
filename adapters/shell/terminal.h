/* SPDX-License-Identifier: BSD-3-Clause */
/* terminal - passes the terminal between process groups. The command has a process group of its own. If hilock was
 * in the foreground, the command is in the foreground while it runs, so that it can read the keyboard and gets the
 * signals that are typed. Callers must have blocked SIGTTOU. */
#ifndef SHELL_TERMINAL_H
#define SHELL_TERMINAL_H

#include <sys/types.h>

int terminal_is_ours(void);           /* returns 1 if this process group is in the foreground */
void terminal_give(pid_t group);      /* does nothing without a terminal */

#endif
