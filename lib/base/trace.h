/* SPDX-License-Identifier: BSD-3-Clause */
/* trace - the one place that reports inner events.
 * Code that knows of something that happened to a lock, a node or the client reports it here, once. Statistics, log
 * lines and user events are made of it (client/observe.c); nothing else counts or logs. Reported by hl_trace (host.h);
 * a fact lives until that call returns. */
#ifndef HL_BASE_TRACE_H
#define HL_BASE_TRACE_H

#include <hilock/hilock.h>

enum hl_what {
    HL_ACQUIRE_BEGUN,
    HL_ACQUIRE_ASKED,      /* a request for it left */
    HL_ACQUIRE_WAITS,      /* found held */
    HL_ACQUIRE_PLACED,     /* its place in the queue at the store has changed: position, waiters */
    HL_ACQUIRE_PASSED_OVER, /* it lost its turn: the store did not find it ready; its ticket is for life */
    HL_PLACES_REMOVED,     /* from a queue, of waiters that were not ready: count with nobody to hear them, overdue,
                              lapsed */
    HL_ACQUIRE_ENDED,      /* status, waited_us, detail; is_local: the grant is another handle's, handed on */
    HL_ACQUIRE_REENTERED,
    HL_WAKEUP,             /* a waiter got an unlock message or a grant */
    HL_GRANT_DOUBTED,      /* a pushed grant is confirmed first */
    HL_HOLD_RENEWED,       /* count: of failures before it */
    HL_HOLD_RENEWAL_FAILED, /* count in a row, remaining_us, detail */
    HL_HOLD_RELEASED,      /* waited_us: held for */
    HL_RELEASE_ANSWERED,   /* status, even without a callback */
    HL_HOLD_HANDED_ON,     /* to the client's next handle: count of turns before, waited_us since the grant, token */
    HL_HOLD_LOST,          /* reason, held for, detail */
    HL_RELEASE_REFUSED,    /* by the server, and tried again; is_news: its user has no answer yet; detail */
    HL_RELEASE_SETTLED,    /* detail */
    HL_HOLD_UNDONE,        /* an unwanted grant was given back */
    HL_INQUIRY_ENDED,      /* status, detail; count: 1 for a force_release */
    HL_CLOCK_ANOMALY,      /* remaining_us: at the store; detail */
    HL_COMMAND_SENT,
    HL_COMMAND_ANSWERED,   /* waited_us: since its send */
    HL_NODE_UP,
    HL_NODE_DOWN,          /* detail, retry_us; count: 1: it was up; is_news: the first failure of a row */
    HL_ROUTE_UNSETTLED,    /* no server is known for waiting requests: detail, retry_us. Once until there is one */
    HL_ROUTE_SETTLED,
    HL_NODE_RESTS,         /* its links were closed because nothing needs them; detail */
    HL_FAILOVER,           /* another server serves now, node; detail */
    HL_REDIRECTED,         /* a request is redirected: the server named another */
    HL_NODE_FAULT,         /* the link goes on: a refused subscription, a refused CLIENT SETNAME */
    HL_STORE_RESTARTED,    /* detail */
    HL_SERVER_CHANGED,     /* the node's address or name leads to another server now; detail */
    HL_LINKS_APART,        /* the links of a node were at different servers; detail */
    HL_EVICTION_RISK,      /* detail */
    HL_REFUSED,            /* a call of the user; status, detail */
    HL_TURN_REFUSED,       /* the loop turns where the client is not: in a forked child, on another thread; detail */
    HL_LOOP_STALLED        /* waited_us, longest_us: how long it stood still, at least and at most; detail */
};

struct hl_fact { /* members that do not apply are 0 or NULL */
    const struct hilock_lock *lock; /* the handle, if it is the user's */
    const char *name;   /* of the lock */
    const char *node;
    const char *detail;
    uint64_t token, waited_us, longest_us, remaining_us, retry_us;
    unsigned count, position, waiters, overdue, lapsed;
    int is_local, is_news;
    hilock_status status;
    hilock_lost_reason reason;
};

#endif
