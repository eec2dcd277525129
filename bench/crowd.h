/* SPDX-License-Identifier: BSD-3-Clause */
/* crowd.h - processes that begin the same play together, and the shared memory in which they record it for their
 * parent. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <hilock/hilock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct crowd_link;

struct crowd_member { /* one member, in a process of its own */
    unsigned index, count;   /* count: how many members there are */
    struct event_base *base; /* its timers are more exact than a millisecond */
    void *board;             /* memory that all members and the parent share */
    void *state;             /* memory of this member alone */
    int is_connected;        /* used by crowd_open_client alone */
    struct crowd_link *link;
};

struct crowd_role {
    size_t state_bytes; /* the size of a member's state, which is zeroed first */
    int (*open)(struct crowd_member *member); /* -1: reported on stderr; the process ends */
    void (*on_order)(struct crowd_member *member, char order);
    void (*close)(struct crowd_member *member); /* must call crowd_leave when everything is closed */
};

/* For members. A member must answer once after it was opened, and once to each order. */
void crowd_answer(struct crowd_member *member);
void crowd_leave(struct crowd_member *member);
/* Opens the member's client on its base, and answers when the client is connected for the first time. The options have
 * everything but on_event and user. Returns 0, or -1: reported on stderr. */
int crowd_open_client(struct crowd_member *member, hilock_client **ret_client,
                      const struct hilock_client_options *options);
void crowd_close_client(struct crowd_member *member, hilock_client *client); /* without draining; then crowd_leave */

enum { CROWD_MAX = 256 };
struct crowd {
    const struct crowd_role *role;
    void *board;
    unsigned count;
    pid_t pids[CROWD_MAX];
    int fds[CROWD_MAX];
};

/* For the parent. All return 0, or -1: reported on stderr, and all processes have ended. The parent may have no
 * event base open, because forked processes would share it. */
/* Starts the processes, and returns when each has answered. */
int crowd_start(struct crowd *ret_crowd, const struct crowd_role *role, unsigned count, void *board);
int crowd_order(struct crowd *crowd, char order);
int crowd_await(struct crowd *crowd); /* waits for an answer of each process */
void crowd_stop(struct crowd *crowd);

/* Makes zeroed memory that is shared with processes forked later. NULL: reported on stderr. */
void *crowd_board(size_t bytes);
void crowd_board_free(void *board, size_t bytes);

uint64_t crowd_now_ns(void); /* the clock is the same for all processes */
void crowd_rest(double seconds); /* sleeps; for members only until their loop runs */

#endif
