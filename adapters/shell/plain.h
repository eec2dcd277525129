/* SPDX-License-Identifier: BSD-3-Clause */
/* plain - makes names and holders fit to be printed: they may have any bytes, of which some are commands to a terminal.
 * UTF-8 characters stay, except control characters; other bytes become \xNN, so that a line stays one line. */
#ifndef SHELL_PLAIN_H
#define SHELL_PLAIN_H

#include <stddef.h>

enum { PLAIN_MAX = 4124 }; /* room for a name or a holder of 1024 bytes that are all escaped, and for a few words */
struct plain { char bytes[PLAIN_MAX]; };

struct plain plain_of(const char *text); /* a text that does not fit is cut */
size_t plain_character(const unsigned char *text); /* returns the length of the UTF-8 character there; 0: it is none
                                                      (cut short, overlong, a surrogate, or out of range) */

#endif
