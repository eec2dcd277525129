/* trace.h - every step of every lock, with its time, for tracing. Part of hilock.h, which includes
 * it. For observation: a program acts on results and events. */
#if !defined(HILOCK_H)
#include <hilock/hilock.h>
#elif !defined(HILOCK_TRACE_H)
#define HILOCK_TRACE_H

HILOCK_BEGIN

/* Of one handle in this order: ACQUIRE, any of ATTEMPT, WAIT, PLACE and HANDOFF, then GRANT or
 * FAILED. Behind GRANT any of RENEW and RENEW_FAILED, then RELEASE or LOSS. A re-entry is ACQUIRE
 * and GRANT, or FAILED, while the hold goes on. Values are only ever added. */
typedef enum hilock_trace_step {
    HILOCK_TRACE_ACQUIRE = 1,      /* a call was accepted */
    HILOCK_TRACE_ATTEMPT = 2,      /* a request for it leaves */
    HILOCK_TRACE_WAIT = 3,         /* found held: it waits, once per acquire */
    HILOCK_TRACE_PLACE = 4,        /* it has another place in the queue: position, waiters */
    HILOCK_TRACE_GRANT = 5,        /* the answer, OK. span_us: since ACQUIRE */
    HILOCK_TRACE_FAILED = 6,       /* the answer, another status; or it was dropped. Likewise */
    HILOCK_TRACE_HANDOFF = 7,      /* another handle of this client handed the hold on to this one,
                                      with no command. span_us: since its grant */
    HILOCK_TRACE_RENEW = 8,        /* span_us: its round trip */
    HILOCK_TRACE_RENEW_FAILED = 9, /* one renewal; detail says why */
    HILOCK_TRACE_LOSS = 10,        /* reason, detail. span_us: since the hold began */
    HILOCK_TRACE_RELEASE = 11,     /* the hold ends by a release, a drop or a free. Likewise */
    HILOCK_TRACE_CONNECT = 20,     /* of a client: commands flow to node */
    HILOCK_TRACE_DISCONNECT = 21   /* detail says why. span_us: until the next try */
} hilock_trace_step;

struct hilock_trace { /* lives until the function returns; so do its texts */
    size_t size;
    hilock_trace_step step;
    uint64_t at_us, span_us; /* now, by the loop's clock (of adapters CLOCK_BOOTTIME); 0: none */
    const hilock_client *client;
    const hilock_lock *lock; /* to tell handles apart: it may not be called. NULL: of a client, or
                                of one name of a multi */
    void *lock_user;         /* of its options */
    uint64_t fencing_token;  /* GRANT, HANDOFF, LOSS, RELEASE; as in a result */
    hilock_status status;    /* GRANT, FAILED */
    hilock_lost_reason reason;
    uint32_t position, waiters;
    const char *name, *node, *detail; /* never NULL */
};
/* Runs inside of hilock: it may not call hilock, and should not take long. */
typedef void hilock_trace_fn(const struct hilock_trace *trace, void *user);

HILOCK_END

#endif
