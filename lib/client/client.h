/* SPDX-License-Identifier: BSD-3-Clause */
/* client - what the public calls work on: the lock machine, and around it options, ownership, closing and observation.
 *
 *   OPEN -> DRAINING (holds live on) -> LEAVING (releases are answered) -> gone
 *
 * Invariant: memory is given back in one place (destroy, in client.c), at the end of a call from the loop or by
 * abandon. */
#ifndef HL_CLIENT_CLIENT_H
#define HL_CLIENT_CLIENT_H

#include "base/text.h"
#include "core/core.h"

enum { HL_CLOSERS_MAX = 4 };

/* Who asked for the end, from whatever thread. */
struct hl_closing {
    struct hl_closer { hilock_closed_fn *on_closed; void *user; } closers[HL_CLOSERS_MAX];
    unsigned count;
    atomic_flag is_busy; /* somebody writes these two */
    atomic_uint_fast64_t ends_us; /* the earliest that was asked for */
    atomic_int is_asked;
    atomic_int askers; /* threads that are inside of the call: the client stays until they have left it */
};

/* What another thread may read while the loop turns, as of the end of its latest turn; counters are read where they
 * are. Of a time 0: there is none. */
struct hl_gauges {
    atomic_uint waiting, held, locks, inflight, nodes_up, nodes;
    atomic_uint_fast64_t hold_since_us, wait_since_us; /* the oldest of each; at most a second old */
    atomic_int are_ages_wanted;                        /* another thread has read once: so they are looked for */
    uint64_t aged_us;                                  /* when they were */
};

enum { HL_LOG_KINDS = 7 };

struct hl_log { /* log.h */
    struct hl_log_kind {
        uint64_t began_us; /* the latest line; 0: none */
        unsigned more;     /* left out since */
        hilock_log_level level;
    } kinds[HL_LOG_KINDS];
    unsigned more; /* of all */
};

enum hl_client_phase { CLIENT_OPEN, CLIENT_DRAINING, CLIENT_LEAVING };

struct hilock_client {
    struct hl_core core; /* first: core/callback.c, which does not know this struct, makes a client of it */
    struct hilock_client_options options; /* with every default; guard 0: off. Of its texts only name_prefix and
                                             tls_server_name are kept; the others are the user's, and may be gone */
    enum hl_client_phase phase;
    void *close_timer;
    uint64_t phase_ends_us; /* DRAINING, LEAVING */
    uint64_t drain_ends_us; /* LEAVING: until then it looks after grants that may lapse */
    struct hl_closing closing;
    struct hl_text refusal;
    char name[HL_UUID_LENGTH + HL_LABEL_MAX + 16]; /* of its connections */
    struct hl_link_factory links;
    int is_secured; /* gives it back */
    struct hl_login logins[HL_MASTERS_MAX + 1]; /* of each url; then the sentinels' */
    const char *secrets[2 * (HL_MASTERS_MAX + 1) + 1]; /* users and passwords of the logins, ended by NULL */
    char *strings; /* these, the prefix and tls_server_name of the options: one block, wiped */
    size_t strings_size;
    struct hl_terms *terms; /* of the handle made last, referenced: the next one probably has the same */
    struct hilock_stats stats; /* its counters are written by hl_stats_count alone */
    struct hl_gauges gauges;
    struct hl_log log;
};

/* The doors by which a client reaches the world; its loop comes from the adapter. */
struct hl_doors {
    struct hl_link_factory links;
    uint64_t seed;
    const char *uuid;  /* 36 characters */
    const char *label; /* where the options have none; NULL: no label */
};

/* hilock_client_open with the caller's own doors, for the simulator and the tests. */
hilock_status hl_client_open_with(hilock_client **ret_client, const struct hilock_loop *loop,
                                  const struct hl_doors *doors, const struct hilock_client_options *options,
                                  struct hilock_error *ret_error);

/* Keeps the reason of a refusal for hilock_client_refusal, and logs it. Returns status. */
__attribute__((format(printf, 3, 4))) hilock_status hl_client_refuse(struct hilock_client *client, hilock_status status,
                                                                     const char *format, ...);
/* HILOCK_CLOSED, with the reason: it is closing. what: what it no longer accepts */
hilock_status hl_client_admit_new(struct hilock_client *client, const char *what);

/* The loop's thread alone writes; any thread may read. */
static inline void hl_stats_count(uint64_t *counter, uint64_t more)
{
    __atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}

void hl_observe(void *arg, enum hl_what what, const struct hl_fact *fact); /* the host's on_trace; observe.c */

#endif
