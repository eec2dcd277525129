/* SPDX-License-Identifier: BSD-3-Clause */
/* bare.h - the commands that the bare loops of all scenarios send: those of hilock's own acquire and release of kind
 * MUTEX. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include "wire/queued.h"

#include <stddef.h>

struct redisContext;

extern const char bare_uuid[], bare_label[]; /* any would do, because there is no contention */

int bare_load_scripts(const char *url); /* -1: reported on stderr */

/* Makes the acquire that hilock's client sends by default, which also asks for a place. Its not_after is a minute
 * ahead of the server's clock, which is in `seconds`. */
struct hl_acquire_params bare_acquire_params(unsigned lease_ms, double seconds);

/* Makes it the acquire of a handle that shares its name with any number of others. */
void bare_share(struct hl_acquire_params *params);

/* Makes the release of such a hold. A hold has no place, so the release names none, like the library's. */
struct hl_release_params bare_release_params(int is_sharded);

/* Runs pairs of one name, one after the other, on a blocking connection. */
struct bare_blocking;
enum bare_pair {
    BARE_MUTEX, /* the EVALSHAs of hilock's MUTEX, with a new holder each time */
    BARE_SET    /* SET NX PX, and the usual script, which deletes the key if the value is still the same */
};
struct bare_blocking *bare_blocking_open(const char *url, unsigned lease_ms); /* NULL: reported on stderr */
void bare_blocking_begin(struct bare_blocking *bare, double seconds);            /* runs pairs for that long */
int bare_blocking_pair(struct bare_blocking *bare, enum bare_pair pair);         /* -1: reported on stderr */
void bare_blocking_close(struct bare_blocking *bare); /* NULL is allowed */

#endif
