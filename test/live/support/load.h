/* SPDX-License-Identifier: BSD-3-Clause */
/* load - processes that want the same few locks again and again while a test does things to the servers. Every wait must be served: an
 * acquire that ends otherwise fails its process, for its wait is longer than any fault. Losses and unanswered releases are
 * counted, and belief is judged by the ledger. */
#ifndef LIVE_LOAD_H
#define LIVE_LOAD_H

#include <sys/types.h>

#include "ledger.h"

enum { LOAD_PROCESSES = 4, LOAD_NAMES = 8, LOAD_WAIT_MS = 90000, LOAD_HOLD_MS = 4 };

struct load {
    const char *url;   /* set by the test, as are: */
    unsigned replicas; /* that must confirm each grant */
    int is_fair;       /* kind FAIR instead of MUTEX */
    struct ledger *ledger;
    pid_t pids[LOAD_PROCESSES];
};

struct load_counts { uint64_t lost, unclear, longest_wait_ms, grants; }; /* unclear: releases LOST or UNKNOWN */

void load_start(struct load *load, size_t grants_max); /* returns once all of them have had a lock */
void load_stop(struct load *load); /* everybody who waits is served first */
struct load_counts load_counts(const struct load *load);

#endif
