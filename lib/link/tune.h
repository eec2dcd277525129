/* SPDX-License-Identifier: BSD-3-Clause */
/* tune - the socket of a connection: not inherited, never descriptor 0, and by TCP without delay and with
 * keep-alive. */
#ifndef HL_LINK_TUNE_H
#define HL_LINK_TUNE_H

#include <hiredis/hiredis.h>

void hl_tune_socket(redisContext *context, int is_tcp);

#endif
