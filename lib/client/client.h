/* SPDX-License-Identifier: BSD-3-Clause */
/* client - the struct that the public calls work on: the lock machine, and around it the options, the ownership, the
 * closing and the observation of a client. core/core.h has the phases of its life.
 *
 * Invariant: one function (destroy, in client.c) gives the client's memory back, at the end of a call from the loop or
 * in hilock_client_abandon. */
#ifndef HL_CLIENT_CLIENT_H
#define HL_CLIENT_CLIENT_H

#include "base/text.h"
#include "core/core.h"
#include "group/group.h"
#include "hold/holds.h"
#include "lock/locks.h"

enum { HL_CLOSERS_MAX = 4 };

/* The pending request to close the client. Any thread may make one. */
struct hl_closing {
    struct hl_closer { hilock_closed_fn *on_closed; void *user; } closers[HL_CLOSERS_MAX];
    unsigned count;
    atomic_flag is_busy;          /* a thread is writing `closers` and `count` */
    atomic_uint_fast64_t ends_us; /* the earliest end of the drain time that any caller has asked for */
    atomic_int is_asked;          /* another thread has asked, and the loop has not begun to close yet */
    atomic_int askers; /* how many threads are inside hilock_client_close: the client stays until they have left it */
};

/* A copy of the present state that other threads may read while the loop turns. The loop's thread writes the copy at
 * the end of each turn. Counters need no copy: other threads read them in place. A time of 0 means that there is
 * none. */
struct hl_gauges {
    atomic_uint waiting, held, locks, inflight, nodes_up, nodes;
    atomic_uint shares, permits;                       /* both as found at `aged_us`, like the two times below */
    atomic_uint_fast64_t hold_since_us, wait_since_us; /* when the oldest hold and the oldest wait began, as found at
                                                          `aged_us` */
    atomic_int are_ages_wanted; /* another thread has read the statistics once, so what needs a visit to every handle
                                   is kept */
    uint64_t aged_us;           /* when that was found last; it is at most about a second old */
};

enum { HL_LOG_KINDS = 7 };

struct hl_log { /* used by log.c alone */
    struct hl_log_kind {
        uint64_t began_us;      /* when the latest line of this kind was written; 0: none was yet */
        unsigned more;          /* how many lines of this kind were left out since */
        hilock_log_level level; /* the most urgent level of those that were left out */
    } kinds[HL_LOG_KINDS];
    unsigned more; /* the sum of `more` over all kinds */
};

struct hilock_client {
    struct hl_core core;
    struct hl_holds holds;
    struct hl_locks locks;
    struct hl_groups groups;
    unsigned handles;    /* how many handles the user has */
    struct hilock_client_options options; /* every default is filled in; a restart_guard_ms of 0 means no guard. Only
                                             the texts name_prefix and tls_server_name were copied: the other text
                                             pointers belong to the user, and may dangle after the open */
    void *close_timer;
    uint64_t phase_ends_us; /* DRAINING, LEAVING */
    uint64_t drain_ends_us; /* LEAVING: until then the client looks after grants that it made and that may lapse */
    struct hl_closing closing;
    struct hl_text refusal;
    char name[HL_UUID_LENGTH + HL_LABEL_MAX + 16]; /* the name that every connection of the client gives itself */
    struct hl_link_factory links;
    int is_secured; /* `links` has been prepared for TLS, which must be undone at the end */
    struct hl_login logins[HL_MASTERS_MAX + 1]; /* one for each url, followed by the one for the sentinels */
    const char *secrets[2 * (HL_MASTERS_MAX + 1) + 1]; /* the users and passwords of the logins, ended by NULL */
    char *strings; /* one block with the secrets, name_prefix and tls_server_name; it is wiped before it is freed */
    size_t strings_size;
    struct hl_terms *terms; /* a reference to the terms of the latest handle: the next one probably has the same */
    struct hilock_stats stats; /* hl_stats_count alone writes the counters */
    struct hl_gauges gauges;
    struct hl_log log;
};

/* The doors by which a client reaches the world, except for its loop, which comes from the adapter. */
struct hl_doors {
    struct hl_link_factory links;
    uint64_t seed;
    const char *uuid;  /* 36 characters */
    const char *label; /* the client's label if its options have none; NULL: no label */
};

/* Does what hilock_client_open does, with the caller's own doors. For the simulator and the tests. */
hilock_status hl_client_open_with(hilock_client **ret_client, const struct hilock_loop *loop,
                                  const struct hl_doors *doors, const struct hilock_client_options *options,
                                  struct hilock_error *ret_error);

/* Copies why a call was refused, for hilock_client_refusal, and logs it. Returns status. */
hilock_status hl_client_refuse(struct hilock_client *client, hilock_status status, const char *why);
/* Returns HILOCK_OK while the client is open; once it is closing refuses the call with HILOCK_CLOSED. what: the plural
 * noun for what a closing client no longer accepts */
hilock_status hl_client_admit_new(struct hilock_client *client, const char *what);

/* Adds to a counter. Only the loop's thread may call this; any thread may read the counter at the same time. */
static inline void hl_stats_count(uint64_t *counter, uint64_t more)
{
    __atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}

/* Makes statistics, log lines and events from what happened. This is the host's on_trace; observe.c has it. */
void hl_observe(void *arg, enum hl_what what, const struct hl_fact *fact);

#endif
