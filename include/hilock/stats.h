/* stats.h - what a client waits for and holds, and its counters. Part of hilock.h, which includes
 * it. */
#if !defined(HILOCK_H)
#include <hilock/hilock.h>
#elif !defined(HILOCK_STATS_H)
#define HILOCK_STATS_H

HILOCK_BEGIN

struct hilock_lock_info {
    size_t size;
    const char *name;       /* of a multi the first; prefix included; ends with a zero byte */
    size_t name_length;
    hilock_kind kind;
    hilock_state state;
    uint32_t age_ms;        /* in that state */
    uint32_t remaining_ms, hold_count;
    uint64_t fencing_token;
    void *user;             /* of the options */
};
typedef void hilock_visit_fn(const struct hilock_lock_info *info, void *user);
/* Visits all that this client waits for or holds, for a debug page. visit may not call hilock. */
HILOCK_API void hilock_client_each_lock(const hilock_client *client, hilock_visit_fn *visit,
                                        void *user);
/* The same of one handle. Set ret_info->size. */
HILOCK_API void hilock_lock_describe(const hilock_lock *lock, struct hilock_lock_info *ret_info);

/* ---- statistics ------------------------------------------------------------------------------ */

#define HILOCK_BUCKETS 19 /* to .1 .25 .5 1 2 5 10 20 50 100 200 500 ms, 1 2 5 10 30 60 s, inf */
struct hilock_histogram { uint64_t count, sum_us, buckets[HILOCK_BUCKETS]; };
#define HILOCK_STATUSES 64 /* the index is the status without its sign: failed_by[-HILOCK_DENIED] */
struct hilock_stats {
    size_t size;
    /* Acquires by outcome. failed: the store, the network, the set-up or a lack of memory. */
    uint64_t acquires, granted, granted_local, reentered, timed_out, cancelled, refused, failed;
    /* Calls of release; and how many, late ones included, were answered LOST or UNKNOWN. */
    uint64_t released, release_lost, release_unknown;
    uint64_t lost_taken, lost_expired, lost_suspended, lost_hold_max, lost_closing, undone;
    uint64_t renewals, renewals_failed, commands, wakeups, connects, disconnects, redirects;
    uint64_t failovers, server_changes, links_apart, stalls, wrong_thread;
    uint64_t passed_over; /* waiters of this client that lost a turn: its loop stood still */
    /* Places of any client that this client's requests took out of a queue at the store: nobody
     * listened for them; their heartbeat was overdue; their client had let a grant lapse. */
    uint64_t places_unheard, places_overdue, places_lapsed;
    uint64_t failed_by[HILOCK_STATUSES], refused_by[HILOCK_STATUSES]; /* by their status */
    uint32_t waiting, held, locks, inflight, nodes_up, nodes;
    uint32_t oldest_hold_ms, oldest_wait_ms; /* of those that stand now; 0: there is none */
    struct hilock_histogram wait, hold, command;
};
/* Set ret_stats->size. Any thread, as long as the client is there. On another than the loop's each
 * number is right, but they are not of one moment: counters are of now, gauges as of the end of
 * the loop's latest turn, and ages up to a second older, and 0 in the first such call. In a forked
 * child the struct is left as it was. */
HILOCK_API void hilock_client_stats(const hilock_client *client, struct hilock_stats *ret_stats);
/* total += part (of the ages the greater one): one page for the clients of many loops. Set `size`
 * in both. */
HILOCK_API void hilock_stats_add(struct hilock_stats *total, const struct hilock_stats *part);
/* Prometheus text format 0.0.4, labelled client="<label>" (NULL: ""; what is not UTF-8, and control
 * characters, become '?'): hilock_<counter>_total, hilock_<gauge>, the ages
 * hilock_oldest_{hold,wait}_seconds, the histograms hilock_{wait,hold,command}_seconds,
 * hilock_failed_total and hilock_refused_total by reason="DENIED", and hilock_build_info. Returns
 * the length of the whole text like snprintf; buffer may be NULL with size 0. Any thread. */
HILOCK_API size_t hilock_stats_prometheus(const struct hilock_stats *stats, const char *label,
                                          char *buffer, size_t buffer_size);

HILOCK_END

#endif
