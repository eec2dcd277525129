/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.h - the two loops that scenario pairs compares. */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include "loop.h"

#include <hilock/hilock.h>
#include <stdint.h>

struct event_base;

enum { PAIRS_LEASE_MS = 30000, PAIRS_NAME_SIZE = 17 }; /* names have 16 bytes */

/* For both loops: `open` returns NULL, reported on stderr, if the loop cannot be made. `run` acquires and releases
 * the names, each again and again, for so many seconds, and lets the last pairs end. It returns the number of pairs,
 * or 0 after a failure, reported on stderr. */
struct pairs_ours *pairs_ours_open(struct loop loop, const char *url, unsigned inflight);
uint64_t pairs_ours_run(struct pairs_ours *ours, double seconds);
void pairs_ours_close(struct pairs_ours *ours);

struct pairs_bare *pairs_bare_open(struct event_base *base, const char *url, unsigned inflight);
uint64_t pairs_bare_run(struct pairs_bare *bare, double seconds);
void pairs_bare_close(struct pairs_bare *bare);


#endif
