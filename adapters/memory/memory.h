/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - the structs that the parts of hilock-memory share: the store, and the links over which clients reach it.
 *
 * All of this code runs in the callbacks ready and fire of one loop, and in calls of the user. It calls nobody back:
 * answers are written into buffers, and from there to descriptors. Invariant: a link is in `links` from its accept
 * to its end, and its connection at the store is open for the same time; `parcels` are due in their order, and the
 * bytes in `out` are sent before them. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <hilock/loop.h>
#include <hilock/memory.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <utlist.h>

#include "request.h"
#include "store.h"

struct sim_parcel { /* bytes that are sent later */
    struct sim_parcel *prev, *next;
    uint64_t due_us; /* when to send them, on the loop's clock */
    struct sim_buffer said;
};

struct sim_link {
    struct sim_link *prev, *next;
    hilock_memory *memory;
    int fd;
    void *watch;
    unsigned connection; /* the number of its connection at the store */
    int is_last;         /* the client sent something wrong: the link ends after the answer to that */
    struct sim_buffer in, out;
    struct sim_parcel *parcels; /* a list, in which `prev` of the first parcel is the last one */
    size_t parcels_bytes;
};

struct hilock_memory {
    struct hilock_loop loop;
    struct sim_store *store;
    uint64_t advanced_us;
    struct sim_link *links;
    uint32_t links_count;
    struct sim_request request;
    uint32_t delay_ms, refusals; /* refusals: how many requests are still to be refused; HILOCK_FOREVER: all */
    char refusal[256];
    int hangs;
    int fd;
    void *watch, *timer;    /* the timer is set for the first parcel that will be due */
    struct sockaddr_un address;
    char *directory;        /* the directory that this store has made; NULL: none */
    char *url;
    char bytes[64 * 1024]; /* the bytes just read; not on the stack, because musl gives threads a small one */
};

struct sim_store *sim_memory_now(const hilock_memory *memory); /* sets the store's clock, and returns the store */

/* links.c */
int sim_links_listen(hilock_memory *memory); /* at the store's address. Returns 0, or -1 with errno */
void sim_links_unlisten(hilock_memory *memory);
void sim_links_end(hilock_memory *memory); /* ends every link */
void sim_links_hang(hilock_memory *memory, int hangs);
extern const struct sim_store_events sim_links_events;

#endif
