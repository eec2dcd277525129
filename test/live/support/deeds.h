/* SPDX-License-Identifier: BSD-3-Clause */
/* deeds - all that can be done with a lock, done once by two clients: so that what hilock sends for it can be looked at as a whole. */
#ifndef LIVE_DEEDS_H
#define LIVE_DEEDS_H

#include "client.h"

struct redis;

struct deeds {
    struct client ours, theirs; /* opened by the test, closed by it */
    hilock_kind kind;
    int has_no_multi; /* a quorum has none */
    const char *name;
    struct redis *others[8]; /* another program's connections, to every server that may have the name; NULL: none */
};

/* Acquire, be refused, wait, report, cancel, be woken, renew, extend, re-enter, peek, force release, and let the channels go; several names for
 * the kinds that can; for FAIR its queue, beside a MUTEX of the same name, too. Each is well answered, or the test fails. */
void deeds_do(struct deeds *deeds);
void deeds_do_few(struct deeds *deeds); /* acquire, wait and be woken, release */
void deeds_close(struct deeds *deeds);

#endif
