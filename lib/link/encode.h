/* SPDX-License-Identifier: BSD-3-Clause */
/* encode - a command's argv as the bytes that a server reads, written where they are sent from. hiredis' formatter took
 * two fifths of a request's cost for the client, and leaves a copy in the heap: it may be a password. */
#ifndef HL_LINK_ENCODE_H
#define HL_LINK_ENCODE_H

#include <stddef.h>

size_t hl_encode_room(int argc, const size_t *lengths); /* what it needs at most */
/* Returns the length. */
size_t hl_encode(char *to, int argc, const char *const *argv, const size_t *lengths);

#endif
