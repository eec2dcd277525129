/* SPDX-License-Identifier: BSD-3-Clause */
/* torture - a play is a client, its handles and what they do at a real server; it is repeated, each time with the next
 * allocation of the program failing, until one goes by in which none was left to fail.
 *
 * A play says what must come of each call. That holds to the letter while memory lasts; where it did not, a call may be refused instead
 * (NO_MEMORY), and what has an end of its own may end without an answer (UNREACHABLE, UNKNOWN). A wait for ever still gets its answer,
 * because one failure is healed. Play by these calls, and nothing crashes, hangs or is left behind: torture_run sees to that. */
#ifndef LIVE_TORTURE_H
#define LIVE_TORTURE_H

#include "support/fixture.h"

struct play {
    struct fixture *fixture;
    const char *url;
    struct client client;
    struct handle **handles; /* made by handle_new; freed by the end at the latest */
    unsigned handles_count;
    long blocks;             /* of the client's allocator, not given back */
    int is_abandoned;        /* holds were left to run out */
};

struct torture {
    const char *name;
    void (*play)(struct play *play);
    const char *user;        /* of the URL, "name:password@"; NULL: none */
    int is_by_name;          /* localhost, to be resolved; else the unix socket */
};

/* As a test of cmocka: its state is the struct torture. server: of all of them. */
void torture_run(void **state);
void torture_begin(struct fixture *fixture);

struct handle *handle_new(struct play *play, const char *name, const struct hilock_lock_options *options);
void ask(struct play *play, struct handle *handle, uint32_t wait_ms);          /* nothing if it was not granted, or holds */
void answered(struct play *play, struct handle *handle, hilock_status status); /* turns until it is, and it is that */
void have(struct play *play, struct handle *handle);                           /* both, for ever, OK */
void give(struct play *play, struct handle *handle, hilock_status status);     /* released, answered so */
int has(const struct handle *handle);                                          /* it holds now */

/* Of a call that is neither: its on_result and user, and what it returned; turns until it is answered, and that is as expected. 1: it was. */
struct outcome { struct told told; };
void outcome_note(const struct hilock_result *result, void *outcome);
int outcome_is(struct play *play, struct outcome *outcome, hilock_status accepted, hilock_status status);

/* Turns until it is so, or stands still for want of memory that it needed: is_so is asked with memory. */
void until(struct play *play, int (*is_so)(void *arg), void *arg, const char *what);
void told(struct play *play, struct handle *handle, const struct told *what, const char *name); /* if it waits or holds */

void at_store(struct play *play, const char *command, ...); /* redis_do, with memory */
void foreign_holds(struct play *play, const char *name);
void foreign_leaves(struct play *play, const char *name);
void cut_all(struct play *play); /* every connection but the test's */

#endif
