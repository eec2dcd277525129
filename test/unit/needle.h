/* SPDX-License-Identifier: BSD-3-Clause */
/* needle - whether a secret stands anywhere in this process' memory, in what was given back to the heap too. It is kept in disguise, so that
 * looking for it does not make it be there. */
#ifndef TEST_NEEDLE_H
#define TEST_NEEDLE_H

enum { NEEDLE_LENGTH = 48 };

void needle_write(char to[NEEDLE_LENGTH + 1]); /* terminated. The writer must wipe it */
unsigned needle_count(void);                   /* how often it stands in the writable memory, but for stacks */

#endif
