/* SPDX-License-Identifier: BSD-3-Clause */
/* seen - what a loop called back, counted; the descriptors that it watches here, and the threads that it makes. */
#ifndef TEST_ADAPTER_SEEN_H
#define TEST_ADAPTER_SEEN_H

#include <hilock/loop.h>

struct seen {
    int count;
    unsigned ready;
    int is_inside_call; /* set around calls of the table, in which nothing may call back */
};
hilock_fire_fn on_fire_count;
hilock_ready_fn on_ready_count;

struct pair { int near, far; }; /* sockets: each is writable, and readable once the other one has been written to */
struct pair pair_open(void);
void pair_write(const struct pair *pair); /* near is readable then */
void pair_close(const struct pair *pair);

extern int epoll_ctl_calls, epoll_ctl_fails; /* of the whole program; set: of what is not taken out */

extern int has_no_threads; /* set: none can be made */
void threads_join(void);   /* those that would end by themselves, unseen */

int lowest_free_fd(void);
void limit_fds(int most); /* no descriptor from this number on; 0: as it was */

#endif
