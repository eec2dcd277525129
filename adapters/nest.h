/* SPDX-License-Identifier: BSD-3-Clause */
/* nest.h - a loop table behind one descriptor, for any loop that can watch a descriptor: libuv, libev, sd-event. */
#ifndef HL_NEST_H
#define HL_NEST_H

#include "nest_timers.h"

#include <hilock/hilock.h>
#include <hilock/loop.h>
#include <sys/types.h>

struct hl_nest_run;

struct hl_nest { /* the ctx of the table */
    int fd; /* an epoll set, readable when there is something to call back for. The loop watches it, and then runs
               the nest */
    pid_t owner;
    struct hl_nest_timers timers;
    int is_left; /* this is a forked child, and the nest is silent in it */
    struct hl_nest_run *runs; /* the runs that are under way, the innermost first */
    void *outer;              /* belongs to the adapter */
};

int hl_nest_begin(struct hl_nest *nest, void *outer); /* -1 with errno: the nest was not begun */
void hl_nest_end(struct hl_nest *nest);               /* legal inside hl_nest_run; before, the loop stops watching fd */
void hl_nest_run(struct hl_nest *nest);               /* asks the kernel once, and calls back. May end the nest */

/* Fills the table, except for resolve, resolve_cancel, free_ctx and timer_hurry, which the adapter adds. */
struct hilock_loop hl_nest_table(struct hl_nest *nest);
struct hl_nest *hl_nest_of(const struct hl_nest_timer *timer);

#define HL_NEST_CANNOT                                                                                                 \
    "cannot get the two descriptors that hilock is called by: raise the limit of open files, or close some: "

/* Helpers for the exported functions of an adapter: one refuses with a text; the other opens a client, and frees the
 * table if the open is refused. */
hilock_status hl_nest_refuse(struct hilock_error *ret_error, hilock_status status, const char *text, const char *cause);
hilock_status hl_nest_open(hilock_client **ret_client, const struct hilock_loop *table,
                           const struct hilock_client_options *options, struct hilock_error *ret_error);

#endif
