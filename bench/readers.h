/* SPDX-License-Identifier: BSD-3-Clause */
/* readers.h - scenario readers: orders to its processes, and what they record. */
#ifndef BENCH_READERS_H
#define BENCH_READERS_H

#include "crowd.h"

#include <hilock/hilock.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { READERS_GRANTS_MAX = 1 << 18 };

struct readers_grant { /* nanoseconds of one clock */
    uint64_t asked_ns, granted_ns, releasing_ns; /* the acquire call, its callback, the release call; 0: not yet */
    bool is_writer;
};

struct readers_board {
    char url[512], name[64];
    unsigned handles;     /* of each process but the first, which has the writer */
    unsigned clients;     /* that these handles are of, and so many connections listen to the bare messages */
    uint32_t holders_max; /* of these handles */
    uint32_t share_local_ms; /* likewise, if they are readers */
    uint32_t hold_us;     /* of the busy ones */
    atomic_bool is_over, has_writer;
    _Atomic uint64_t began_ns; /* of one release, or one script: when it was called, */
    _Atomic uint64_t last_ns;  /* and when the last handle was granted, or the last message came */
    atomic_uint grants_all;    /* of the busy ones */
    atomic_uint grants;        /* those of them that are recorded */
    struct readers_grant grant[READERS_GRANTS_MAX];
};

/* Orders. All processes answer each. */
enum {
    READERS_WRITE = 'w',   /* the writer acquires; answered when it has the name */
    READERS_WAIT = 'a',    /* all handles acquire; answered at once */
    READERS_LET_IN = 'r',  /* the writer releases; answered when all handles of this process have the name */
    READERS_LEAVE = 'l',   /* all handles release; answered when the store has answered */
    READERS_MESSAGES = 'm', /* one script publishes a message for each handle; answered when all have come */
    READERS_BUSY = 'b'     /* all handles acquire, hold, release and begin again; the writer too, if it is to. Answered
                              when the stretch is over, and nothing is held or awaited */
};
extern const struct crowd_role readers_role;

/* The bare messages, in the same processes (readers_news.c). NULL: reported on stderr. */
struct news;
struct news *news_open(struct crowd_member *member, void (*on_ready)(struct crowd_member *member));
void news_begin(struct news *news); /* answers the order when this process has had its messages */
void news_close(struct news *news); /* NULL is allowed */

#endif
