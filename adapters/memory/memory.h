/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - what the parts of hilock-memory share: the store, and the links over which clients reach it.
 *
 * All of it runs from ready and fire of one loop, and from the user's calls, and has no callbacks: answers go into
 * buffers, and from there to descriptors. Invariant: a link is in `links` from its accept to its end, and its
 * connection at the store is open as long; `parcels` are due in their order, and `out` goes before them. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <hilock/loop.h>
#include <hilock/memory.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <utlist.h>

#include "request.h"
#include "store.h"

struct sim_parcel { /* delayed bytes */
    struct sim_parcel *prev, *next;
    uint64_t due_us; /* on the loop's clock */
    struct sim_buffer said;
};

struct sim_link {
    struct sim_link *prev, *next;
    hilock_memory *memory;
    int fd;
    void *watch;
    unsigned connection; /* at the store */
    int is_last;         /* it sent something wrong: it ends once that is answered */
    struct sim_buffer in, out;
    struct sim_parcel *parcels; /* the last one is the first one's prev */
    size_t parcels_bytes;
};

struct hilock_memory {
    struct hilock_loop loop;
    struct sim_store *store;
    uint64_t advanced_us;
    struct sim_link *links;
    uint32_t links_count;
    struct sim_request request;
    uint32_t delay_ms, refusals; /* refusals: how many to come; HILOCK_FOREVER: all */
    char refusal[256];
    int hangs;
    int fd;
    void *watch, *timer;    /* timer: for the first parcel that is due */
    struct sockaddr_un address;
    char *directory;        /* NULL: not ours */
    char *url;
    char bytes[64 * 1024]; /* just read; not on the stack, which is small in threads of musl */
};

struct sim_store *sim_memory_now(const hilock_memory *memory); /* the store, whose clock is set to now */

/* links.c */
int sim_links_listen(hilock_memory *memory); /* at its address; 0, or -1: errno says why */
void sim_links_unlisten(hilock_memory *memory);
void sim_links_end(hilock_memory *memory); /* all of them */
void sim_links_hang(hilock_memory *memory, int hangs);
extern const struct sim_store_events sim_links_events;

#endif
