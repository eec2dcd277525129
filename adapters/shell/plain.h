/* SPDX-License-Identifier: BSD-3-Clause */
/* plain - names and holders for human eyes: they may be any bytes, and on a terminal some of these are commands. What
 * is UTF-8 and no control character stays; other bytes become \xNN, so that a line stays one line. */
#ifndef SHELL_PLAIN_H
#define SHELL_PLAIN_H

#include <stddef.h>

enum { PLAIN_MAX = 4100 }; /* a name, or a holder, of 1024 bytes that are all escaped */
struct plain { char bytes[PLAIN_MAX]; };

struct plain plain_of(const char *text); /* what does not fit is cut */
size_t plain_character(const unsigned char *text); /* length of the UTF-8 character there; 0: none (cut, overlong, a
                                                      surrogate, out of range) */

#endif
