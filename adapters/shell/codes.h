/* SPDX-License-Identifier: BSD-3-Clause */
/* codes - the exit codes of hilock. `run` ends with the exit code of the command (128 + n if signal n ended the
 * command), or with one of these. */
#ifndef SHELL_CODES_H
#define SHELL_CODES_H

#include <hilock/hilock.h>

#include <sysexits.h>

enum {
    CODE_NOT_HAD = 124,        /* the lock was not acquired in time; the code of timeout(1) */
    CODE_CUT = 125,            /* hilock ended the command, because the lock was lost */
    CODE_NOT_EXECUTABLE = 126, /* the codes of env(1) */
    CODE_NOT_FOUND = 127,
    CODE_SIGNAL = 128
};

int code_of(hilock_status status); /* returns CODE_NOT_HAD, or a code of sysexits.h */
const char *advice_of(hilock_status status); /* returns what to do; NULL: the library's text has it */

#endif
