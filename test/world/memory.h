/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - an allocator that counts, and can run out at a chosen moment: also for the timers, links and queries that are asked of the
 * world, so that each place that may lack memory is found by the same count. */
#ifndef TEST_WORLD_MEMORY_H
#define TEST_WORLD_MEMORY_H

#include <hilock/hilock.h>

struct world_memory {
    size_t blocks, bytes, bytes_most;
    uint64_t asked;   /* how often, so far */
    uint64_t fail_at; /* from that one on `fails` are refused; 0: none */
    uint64_t fails;
    uint64_t refused;
    int is_out;       /* every one is refused */
    int (*refuses)(void *arg); /* asked at each of them; NULL: nobody */
    int (*sends)(void *arg);   /* asked at each command instead: 0 refuses it; NULL: nobody */
    void *arg;
    int spares_links; /* but not what a link needs to send */
    const char *secret; /* looked for in every block that is given back; NULL: none */
    unsigned secrets;
};

struct hilock_allocator world_memory_allocator(struct world_memory *memory);
int world_memory_takes(struct world_memory *memory); /* counts one; 0: refused. NULL: always 1 */
int world_memory_sends(struct world_memory *memory); /* the same, for a command */

#endif
