/* SPDX-License-Identifier: BSD-3-Clause */
/* crowd.h - processes that begin the same play together, and what they record for their parent. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct crowd_link;

struct crowd_member { /* in its own process */
    unsigned index, count; /* out of how many */
    struct event_base *base; /* its timers are exact, not to the millisecond */
    void *board;             /* memory that all members and the parent see */
    void *state;             /* its own */
    struct crowd_link *link;
};

struct crowd_role {
    size_t state_bytes; /* zeroed at the begin */
    int (*open)(struct crowd_member *member);               /* -1: reported on stderr; the process ends */
    void (*on_order)(struct crowd_member *member, char order);
    void (*close)(struct crowd_member *member);             /* in time calls crowd_leave */
};

/* By members. An answer is due once after open, and once to each order. */
void crowd_answer(struct crowd_member *member);
void crowd_leave(struct crowd_member *member);

enum { CROWD_MAX = 256 };
struct crowd {
    const struct crowd_role *role;
    void *board;
    unsigned count;
    pid_t pids[CROWD_MAX];
    int fds[CROWD_MAX];
};

/* By the parent; -1: reported on stderr, and the crowd is gone. No event base may be open in it: forked processes would
 * share it. */
/* returns when each has answered */
int crowd_start(struct crowd *ret_crowd, const struct crowd_role *role, unsigned count, void *board);
int crowd_order(struct crowd *crowd, char order);
int crowd_await(struct crowd *crowd); /* an answer from each */
void crowd_stop(struct crowd *crowd);

/* Zeroed memory shared with the processes forked later; NULL: reported on stderr. */
void *crowd_board(size_t bytes);
void crowd_board_free(void *board, size_t bytes);

uint64_t crowd_now_ns(void); /* one clock for all processes */

#endif
