/* SPDX-License-Identifier: BSD-3-Clause */
/* held.h - what a held, watched lock costs in memory. */
#ifndef BENCH_HELD_H
#define BENCH_HELD_H

#include "loop.h"

#include <hilock/hilock.h>

struct held_cost { double bytes, bytes_with_malloc; };

/* Of `count` of them in this process, each; -1: reported on stderr. */
int held_measure(struct loop loop, hilock_client *client, unsigned count, struct held_cost *ret_cost);

#endif
