/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.h - acquire and release, again and again, by hilock and by a bare hiredis loop, and how these two compare. */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include "line.h"
#include "loop.h"

#include <hilock/hilock.h>
#include <stdint.h>

struct event_base;

enum { PAIRS_LEASE_MS = 30000, PAIRS_NAME_SIZE = 17 }; /* names have 16 bytes */

/* ---- the two loops together (pairs_compare.c) ---- */

struct pairs_play {
    const char *url;
    const struct loop_kind *loop; /* of hilock's half */
    unsigned inflight, rounds;
    double seconds;   /* of each loop in each round */
    unsigned sharers; /* 0: each pair has a name of its own. n: all pairs join and leave one name that n others share */
};

struct pairs_figures {
    struct { double least, median, most; } ratio; /* of hilock's rate to that of the bare loop, round by round */
    double ours_per_s, bare_per_s;
    double ours_us, bare_us; /* of this process' CPU time, for a pair */
    double server_us;        /* of the server's CPU time in user mode, for a pair of hilock's */
    double commands;         /* of hilock's clients, for a pair */
};

int pairs_compare(const struct pairs_play *play, struct pairs_figures *ret_figures); /* -1: reported on stderr */
void pairs_tell_json(struct json *json, const struct pairs_play *play, const struct pairs_figures *figures);

/* ---- each loop ---- */

/* `open` returns NULL, reported on stderr, if the loop cannot be made. shared: the name that all lanes share, of at
 * most 16 bytes; NULL: each lane has a name of its own, and holds it alone. `run` acquires and releases the names,
 * each again and again, for so many seconds, and lets the last pairs end. It returns the number of pairs, or 0 after a
 * failure, reported on stderr. */
struct pairs_ours *pairs_ours_open(struct loop loop, const char *url, unsigned inflight, const char *shared);
uint64_t pairs_ours_run(struct pairs_ours *ours, double seconds);
int pairs_ours_hold(struct pairs_ours *ours); /* instead: acquires all, until it is closed. -1: reported on stderr */
void pairs_ours_close(struct pairs_ours *ours); /* NULL is allowed, as by the other */

struct pairs_bare *pairs_bare_open(struct event_base *base, const char *url, unsigned inflight, const char *shared);
uint64_t pairs_bare_run(struct pairs_bare *bare, double seconds);
void pairs_bare_close(struct pairs_bare *bare);

#endif
