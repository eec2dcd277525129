/* SPDX-License-Identifier: BSD-3-Clause */
/* bare.h - what the bare loops of all scenarios send: the commands of hilock's own acquire and release of kind
 * MUTEX. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include "wire/queued.h"

#include <stddef.h>

struct redisContext;

extern const char bare_uuid[], bare_label[]; /* as good as any: there is no contention */

int bare_load_scripts(const char *url); /* -1: reported on stderr */

/* What hilock's client sends by default, with the place that each acquire asks for; not_after like its own, a minute
 * ahead of the server's clock in `seconds`. */
struct hl_params bare_params(unsigned lease_ms, double seconds, int is_sharded);

/* A hold has no place, so its release names none, as the library's. */
void bare_release(struct hl_command *command, const struct hl_target *target, const struct hl_params *params);

/* Pairs on a blocking connection: of one name, one after the other. */
struct bare_blocking;
enum bare_pair {
    BARE_MUTEX, /* the EVALSHAs of hilock's MUTEX, a holder of its own each time */
    BARE_SET    /* SET NX PX, and the usual script: DEL, if it is still ours */
};
struct bare_blocking *bare_blocking_open(const char *url, unsigned lease_ms); /* NULL: reported on stderr */
void bare_blocking_begin(struct bare_blocking *bare, double seconds);            /* runs pairs for that long */
int bare_blocking_pair(struct bare_blocking *bare, enum bare_pair pair);         /* -1: reported on stderr */
void bare_blocking_close(struct bare_blocking *bare); /* NULL is allowed */

#endif
