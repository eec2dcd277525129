/* SPDX-License-Identifier: BSD-3-Clause */
/* terminal - see terminal.h. The terminal is the one at stdin: a command that reads from elsewhere needs none. */
#include "terminal.h"

#include <unistd.h>

int terminal_is_ours(void) { return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp(); }

void terminal_give(pid_t group)
{
    if (isatty(STDIN_FILENO))
        tcsetpgrp(STDIN_FILENO, group);
}
