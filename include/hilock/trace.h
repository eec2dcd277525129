/* trace.h - every step of every lock, with its time, for tracing. Part of hilock.h, which includes
 * it. Use it to observe; act on results and events. */
#if !defined(HILOCK_H)
#include <hilock/hilock.h>
#elif !defined(HILOCK_TRACE_H)
#define HILOCK_TRACE_H

HILOCK_BEGIN

/* The steps of one handle come in this order: ACQUIRE; then any number of ATTEMPT, WAIT, PLACE and
 * HANDOFF; then GRANT or FAILED. After GRANT: any number of RENEW and RENEW_FAILED; then RELEASE or
 * LOSS. If several handles count on one share, RENEW and RENEW_FAILED name one of them. A re-entry
 * is ACQUIRE and then GRANT or FAILED, while the hold goes on. New values may be added; none
 * changes its meaning. */
typedef enum hilock_trace_step {
    HILOCK_TRACE_ACQUIRE = 1,      /* a call of hilock_acquire was accepted */
    HILOCK_TRACE_ATTEMPT = 2,      /* a request for it is sent */
    HILOCK_TRACE_WAIT = 3,         /* the name was found held: it waits. Once per acquire */
    HILOCK_TRACE_PLACE = 4,        /* its position in the queue has changed: position, waiters */
    HILOCK_TRACE_GRANT = 5,        /* the answer is OK. span_us: since ACQUIRE */
    HILOCK_TRACE_FAILED = 6,       /* the answer is another status, or it was dropped. span_us:
                                      since ACQUIRE */
    HILOCK_TRACE_HANDOFF = 7,      /* another handle of this client passed the hold on to this one,
                                      without a command. span_us: since the grant of that hold */
    HILOCK_TRACE_RENEW = 8,        /* a renewal succeeded. span_us: its round trip */
    HILOCK_TRACE_RENEW_FAILED = 9, /* one renewal failed; detail says why */
    HILOCK_TRACE_LOSS = 10,        /* the hold is lost: reason, detail. span_us: since it began */
    HILOCK_TRACE_RELEASE = 11,     /* the hold ends by a release, a drop or a free. span_us: since
                                      it began */
    HILOCK_TRACE_CONNECT = 20,     /* of the client: commands flow to node */
    HILOCK_TRACE_DISCONNECT = 21   /* of the client: detail says why. span_us: until the next
                                      attempt */
} hilock_trace_step;

struct hilock_trace { /* lives until the function returns; so do its texts */
    size_t size;
    hilock_trace_step step;
    uint64_t at_us, span_us; /* at_us: now, by the loop's clock, which is CLOCK_BOOTTIME in
                                adapters. span_us: see the steps; 0: none */
    const hilock_client *client;
    const hilock_lock *lock; /* to tell handles apart; do not pass it to a function. NULL: the
                                step is the client's, or that of one name of a multi */
    void *lock_user;         /* `user` of its options */
    uint64_t fencing_token;  /* of GRANT, HANDOFF, LOSS and RELEASE, as in a result */
    hilock_status status;    /* of GRANT and FAILED */
    hilock_lost_reason reason;
    uint32_t position, waiters;
    const char *name, *node, *detail; /* never NULL */
};
/* It runs inside hilock: it may not call hilock, and should not take long. */
typedef void hilock_trace_fn(const struct hilock_trace *trace, void *user);

HILOCK_END

#endif
