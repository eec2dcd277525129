/* SPDX-License-Identifier: BSD-3-Clause */
/* trace - every inner event is reported here, and nowhere else.
 * The code that sees that something happened to a lock, a node or the client reports it once, by hl_trace (host.h). A
 * fact is valid until that call returns. client/observe.c makes statistics, log lines and user events from it; nothing
 * else counts or logs. The comments below name the members of hl_fact that an event fills. */
#ifndef HL_BASE_TRACE_H
#define HL_BASE_TRACE_H

#include <hilock/hilock.h>

enum hl_what {
    HL_ACQUIRE_BEGUN,
    HL_ACQUIRE_ASKED,      /* a request for it was sent */
    HL_ACQUIRE_WAITS,      /* another holder has the lock */
    HL_ACQUIRE_PLACED,     /* its place in the store's wait queue has changed: position, waiters */
    HL_ACQUIRE_PASSED_OVER, /* it missed its turn, because it was not ready; it keeps its ticket */
    HL_PLACES_REMOVED,     /* the store removed the places of waiters that were not ready: overdue, lapsed, and count of
                              those whose channel has no listener */
    HL_ACQUIRE_ENDED,      /* status, waited_us, detail; is_local: without a command, by the hold
                              of another handle of the client */
    HL_ACQUIRE_REENTERED,
    HL_WAKEUP,             /* a waiter got an unlock message or a grant */
    HL_GRANT_DOUBTED,      /* a pushed grant must be confirmed before it counts */
    HL_HOLD_RENEWED,       /* count: failures in a row before it */
    HL_HOLD_RENEWAL_FAILED, /* count: failures in a row; remaining_us, detail */
    HL_HOLD_RELEASED,      /* waited_us: how long it was held */
    HL_RELEASE_ANSWERED,   /* status; reported even without a callback */
    HL_HOLD_HANDED_ON,     /* to the client's next handle; count: tenures before; waited_us: since the grant; token */
    HL_HOLD_LOST,          /* reason, detail; waited_us: how long it was held */
    /* The server refused it, and it is tried again; is_news: the user has no answer yet; detail. */
    HL_RELEASE_REFUSED,
    HL_RELEASE_SETTLED,    /* one or more releases that had no answer have ended; detail */
    HL_HOLD_UNDONE,        /* a grant that came too late was released */
    HL_INQUIRY_ENDED,      /* status, detail; count: 1 for a force_release */
    HL_CLOCK_ANOMALY,      /* remaining_us: what is left of the lease at the store; detail */
    HL_COMMAND_SENT,
    HL_COMMAND_ANSWERED,   /* waited_us: since the command was sent */
    HL_NODE_UP,
    HL_NODE_DOWN,          /* detail, retry_us; count 1: it was up; is_news: the first failure in a row */
    HL_ROUTE_UNSETTLED,    /* no server is known for waiting requests; reported once; detail, retry_us */
    HL_ROUTE_SETTLED,      /* a server is known for them again */
    HL_NODE_RESTS,         /* its links were closed, because nothing needs them; detail */
    HL_FAILOVER,           /* another server took over; node, detail */
    HL_REDIRECTED,         /* the server named another one, and the request is sent there */
    HL_NODE_FAULT,         /* something was refused, but the link stays, as after a refused CLIENT SETNAME */
    HL_STORE_RESTARTED,    /* detail */
    HL_SERVER_CHANGED,     /* the node's name or address now leads to another server; detail */
    HL_LINKS_APART,        /* the links of one node reached different servers; detail */
    HL_EVICTION_RISK,      /* detail */
    HL_REFUSED,            /* a call of the user was refused; status, detail */
    HL_TURN_REFUSED,       /* the loop turned in a forked child or on another thread; detail */
    HL_LOOP_STALLED        /* waited_us, longest_us: it stood still for at least, and at most, so long; detail */
};

struct hl_fact { /* members that an event does not fill are 0 or NULL */
    const struct hilock_lock *lock; /* a handle of the user; NULL: an internal one, or none */
    const char *name;   /* the name of the lock */
    const char *node;
    const char *detail;
    uint64_t token, waited_us, longest_us, remaining_us, retry_us;
    unsigned count, position, waiters, overdue, lapsed;
    int is_local, is_news;
    hilock_status status;
    hilock_lost_reason reason;
};

#endif
