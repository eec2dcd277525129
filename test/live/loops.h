/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.h - the loops that test_live_loops plays on, beside libevent; those that are there. */
#ifndef LIVE_LOOPS_H
#define LIVE_LOOPS_H

#include "support/check.h"
#include "support/client.h"

extern const struct client_loop loop_libuv, loop_libev, loop_sd_event;

#endif
