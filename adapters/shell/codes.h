/* SPDX-License-Identifier: BSD-3-Clause */
/* codes - the exit codes of hilock. `run` ends with the command's own status (128 + n if signal n ended it), or with
 * one of these. */
#ifndef SHELL_CODES_H
#define SHELL_CODES_H

#include <hilock/hilock.h>

#include <sysexits.h>

enum {
    CODE_NOT_HAD = 124,        /* not acquired in time. As timeout(1) */
    CODE_CUT = 125,            /* we ended the command, because the lock was lost */
    CODE_NOT_EXECUTABLE = 126, /* as env(1) */
    CODE_NOT_FOUND = 127,
    CODE_SIGNAL = 128
};

int code_of(hilock_status status); /* CODE_NOT_HAD, or one of sysexits.h */
const char *advice_of(hilock_status status); /* what to do; NULL: the sentence says it */

#endif
