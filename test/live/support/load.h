/* SPDX-License-Identifier: BSD-3-Clause */
/* load - processes that repeatedly want the same few locks while a test disturbs the servers: every other lock is of
 * kind FAIR. Every wait must be served: an acquire that ends otherwise fails its process, for its wait is longer
 * than any fault. Losses and unanswered releases are counted, and belief is judged by the ledger, for each of the
 * kinds. Each holds for HOLD_MS of the environment, or 10: less costs more. */
#ifndef LIVE_LOAD_H
#define LIVE_LOAD_H

#include <sys/types.h>

#include "ledger.h"

enum { LOAD_PROCESSES = 4, LOAD_NAMES = 8, LOAD_WAIT_MS = 90000 };

enum load_kind { LOAD_MUTEX, LOAD_FAIR, LOAD_KINDS };

struct load {
    const char *url;   /* set by the test, as are: */
    unsigned replicas; /* that must confirm each grant */
    unsigned hold_ms;  /* filled in here */
    struct ledger *ledger;
    pid_t pids[LOAD_PROCESSES];
};

struct load_counts { uint64_t lost, unclear, longest_wait_ms; }; /* unclear: releases LOST or UNKNOWN */

void load_start(struct load *load, unsigned faults); /* so many are to come. Returns once all of them have had a lock */
void load_stop(struct load *load); /* everybody who waits is served first */
struct load_counts load_counts(const struct load *load, enum load_kind kind);

enum load_kind load_kind_of(unsigned lock);
const char *load_kind_name(enum load_kind kind);
uint64_t load_locks(enum load_kind kind); /* a set for the ledger */

/* How long until the next grant, after each of the faults, by kind. */
struct load_spans { uint64_t us[512]; unsigned count; };
void load_add_span(struct load_spans *spans, const struct load *load, uint64_t locks, uint64_t at_us); /* of one of them, after at; load is over */

/* Prints what came of it for this kind ("50 failovers", "the promotion"), and demands that all grants have ended and that the locks went round. The
 * ledger has been judged before. */
void load_tell(struct load *load, enum load_kind kind, const char *what, const char *since, struct load_spans *spans);

#endif
