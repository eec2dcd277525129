/* SPDX-License-Identifier: BSD-3-Clause */
/* signals - the signals that `run` takes and passes on to the command. A signal that was ignored when hilock began
 * (nohup) stays ignored. */
#ifndef SHELL_SIGNALS_H
#define SHELL_SIGNALS_H

#include <signal.h>

int signals_take(sigset_t *ret_before); /* blocks them, and SIGCHLD and SIGTTOU; returns a signalfd to read them from,
                                           or -1 */
int signals_next(int fd);               /* returns the next signal; 0: there is none */

#endif
