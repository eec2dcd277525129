/* stats.h - what a client holds and waits for, and its counters. Part of hilock.h, which includes
 * it. */
#if !defined(HILOCK_H)
#include <hilock/hilock.h>
#elif !defined(HILOCK_STATS_H)
#define HILOCK_STATS_H

HILOCK_BEGIN

struct hilock_lock_info {
    size_t size;
    const char *name;       /* with the prefix; of a multi the first one; ends with a zero byte */
    size_t name_length;
    hilock_kind kind;
    hilock_state state;
    uint32_t age_ms;        /* how long it is in that state */
    uint32_t remaining_ms, hold_count;
    uint64_t fencing_token;
    void *user;             /* `user` of its options */
};
typedef void hilock_visit_fn(const struct hilock_lock_info *info, void *user);
/* Calls visit for each lock that this client holds or waits for, as for a debug page. visit may not
 * call hilock. */
HILOCK_API void hilock_client_each_lock(const hilock_client *client, hilock_visit_fn *visit,
                                        void *user);
/* The same for one handle. Set ret_info->size first. */
HILOCK_API void hilock_lock_describe(const hilock_lock *lock, struct hilock_lock_info *ret_info);

/* ---- statistics ------------------------------------------------------------------------------ */

#define HILOCK_BUCKETS 19 /* up to .1 .25 .5 1 2 5 10 20 50 100 200 500 ms, 1 2 5 10 30 60 s, inf */
struct hilock_histogram { uint64_t count, sum_us, buckets[HILOCK_BUCKETS]; };
#define HILOCK_STATUSES 64 /* the index is the status without its sign: failed_by[-HILOCK_DENIED] */
struct hilock_stats {
    size_t size;
    /* Acquires, and their outcomes. granted_local: granted without a command, because another
     * handle of this client passed the lock on, or shares it (share_local_ms). failed: because of
     * the store, the network, the set-up or a lack of memory. */
    uint64_t acquires, granted, granted_local, reentered, timed_out, cancelled, refused, failed;
    /* Calls of release, and how many of them were answered LOST or UNKNOWN, also later. */
    uint64_t released, release_lost, release_unknown;
    uint64_t lost_taken, lost_expired, lost_suspended, lost_hold_max, lost_closing, undone;
    uint64_t renewals, renewals_failed, commands, wakeups, connects, disconnects, redirects;
    uint64_t failovers, server_changes, links_apart, stalls, wrong_thread;
    uint64_t passed_over; /* waiters of this client that lost a turn: its loop stood still */
    /* Waiters of any client that this client's requests took out of a queue at the store: because
     * nobody listened for them; because their next heartbeat was overdue; because their client
     * was granted the lock and did not answer in time. */
    uint64_t places_unheard, places_overdue, places_lapsed;
    uint64_t failed_by[HILOCK_STATUSES], refused_by[HILOCK_STATUSES]; /* by their statuses */
    uint32_t waiting, held, locks, inflight, nodes_up, nodes;
    uint32_t shares, permits; /* how many of `held` are shares (holders_max above 1); and how many
                                 of these with a number, so that each is a permit. Handles that
                                 count on one share (share_local_ms) are one share here */
    uint32_t oldest_hold_ms, oldest_wait_ms; /* the age of the oldest one now; 0: there is none */
    struct hilock_histogram wait, hold, command;
};
/* Set ret_stats->size first. Any thread may call it while the client is there. On another thread
 * than the loop's each number is right, but not all are of the same moment: counters are those of
 * now, gauges those at the end of the loop's latest turn. There ages, shares and permits may be up
 * to a second old (and 0 in the first such call). In a forked child the struct is left as it
 * was. */
HILOCK_API void hilock_client_stats(const hilock_client *client, struct hilock_stats *ret_stats);
/* The same of a client that its own thread may end at any moment: any thread may call it, also when
 * the client is gone. The end of a client waits for the copy, some microseconds. Unless it returns
 * OK the struct is left as it was. Do not call it in `now_us` or in `allocator`.
 * Refusals: INVALID (NULL), CLOSED (the client is gone), FORKED. */
HILOCK_API hilock_status
hilock_weak_stats(const hilock_weak *weak, struct hilock_stats *ret_stats);
/* Adds part to total (of ages it takes the greater one), to make one page for the clients of many
 * loops. Set `size` in both first. */
HILOCK_API void hilock_stats_add(struct hilock_stats *total, const struct hilock_stats *part);
/* Writes the statistics in the text format 0.0.4 of Prometheus: hilock_<counter>_total,
 * hilock_<gauge>, the ages hilock_oldest_{hold,wait}_seconds, the histograms
 * hilock_{wait,hold,command}_seconds, hilock_failed_total and hilock_refused_total by
 * reason="DENIED", and hilock_build_info. All are labelled client="<label>"; NULL is "", and what
 * is not UTF-8 or a control character becomes '?'. Returns the length of the whole text, as
 * snprintf does; buffer may be NULL with size 0. Any thread. */
HILOCK_API size_t hilock_stats_prometheus(const struct hilock_stats *stats, const char *label,
                                          char *buffer, size_t buffer_size);

HILOCK_END

#endif
