/* options.h - every option of a client and of a lock. Part of hilock.h, which includes it. The
 * guide's page "operate" says when to change which. */
#if !defined(HILOCK_H)
#include <hilock/hilock.h>
#elif !defined(HILOCK_OPTIONS_H)
#define HILOCK_OPTIONS_H

#include <hilock/trace.h> /* what on_trace gets */

HILOCK_BEGIN

#define HILOCK_NAME_MAX 1024u              /* bytes of a lock's name, prefix included */
#define HILOCK_ANY_NUMBER 0xC0000003u      /* holders_max only: however many share the name */
#define HILOCK_GUARD_OFF 0xC0000002u       /* restart_guard_ms only: no guard, on a quorum too */

/* ERROR: a lock was lost. WARN: somebody should look: a refusal, an outage, failing renewals. INFO:
 * what is well again, and what is rare. DEBUG: each acquire and release. */
typedef enum hilock_log_level {
    HILOCK_LOG_ERROR = 1, HILOCK_LOG_WARN, HILOCK_LOG_INFO, HILOCK_LOG_DEBUG
} hilock_log_level;
/* Such a function may not call hilock. Two of them exist, which ignore user: hilock_log_stderr
 * writes "hilock: warning: ..." to standard error; hilock_log_nothing writes nothing, and costs
 * nothing. */
typedef void hilock_log_fn(hilock_log_level level, const char *line, void *user);
HILOCK_API void hilock_log_stderr(hilock_log_level level, const char *line, void *user);
HILOCK_API void hilock_log_nothing(hilock_log_level level, const char *line, void *user);

/* Give all three functions, or none (then libc is used). It must outlive every object that is made
 * with it. release also runs on the thread that gives back the last reference to a hilock_validity:
 * if that can be another thread, release must be thread-safe. */
struct hilock_allocator {
    void *(*allocate)(size_t bytes, void *ctx);
    void *(*reallocate)(void *memory, size_t bytes, void *ctx);
    void (*release)(void *memory, void *ctx);
    void *ctx;
};

struct hilock_client_options {
    size_t size;

    /* ---- where the locks are kept ---- */
    /* NULL: redis://127.0.0.1:6379/0
     *   redis://[user[:password]@]host[:port][/db]      one server
     *   unix://[user[:password]@]/path[?db=n]           its socket
     *   redis+sentinel://host[:port],...[/master[/db]]  by Sentinel
     *   redis+cluster://host[:port],...                 a cluster
     * With rediss in the place of redis every connection uses TLS. Up to 16 sentinels or nodes. If
     * they are left out, the port is 6379 (of a sentinel 26379), and the master is "mymaster".
     * Credentials before the first host (user:password@) are for the data servers, also with
     * sentinels. Percent-encode characters that a URL reserves. */
    const char *url;
    const char *username, *password; /* NULL: those of the URL. password is wiped from memory when
                                        the client is closed */
    const char *label; /* NULL: program@host/pid. What others see of this client, in its holder ids
                          and in CLIENT LIST. 1..64 letters, digits or _.-+@/=, */
    const char *name_prefix; /* NULL: none. It is put before every lock name, for ACLs and for
                                tenants. It must be able to begin a name */

    /* ---- quorum ---- */
    /* In the place of url: 2..9 URLs of independent masters, then NULL; in the same order in every
     * program. The votes of these masters decide each MUTEX and SIMPLE lock of this client
     * (Redlock). There are no fencing tokens, no multi, no FAIR and no holders_max. The restart
     * guard is on by default. */
    const char *const *quorum_urls;
    uint32_t quorum_needed; /* 0: the majority, which is 1 + n/2. At most n */

    /* ---- Sentinel ---- */
    const char *sentinel_username, *sentinel_password; /* NULL: none. The login at the
                                                             sentinels themselves */

    /* ---- TLS: only with a rediss URL, else they are refused ---- */
    const char *tls_ca_file, *tls_ca_dir; /* who may sign the servers' certificates; both NULL: the
                                             system's authorities. PEM. Files are read by the open,
                                             which may block for that */
    const char *tls_cert_file, *tls_key_file; /* the client's own certificate; NULL: none. Without
                                                 tls_key_file the key is in tls_cert_file. A key
                                                 with a passphrase is refused */
    const char *tls_server_name; /* NULL: each certificate must be for the host by which that server
                                    is reached. Else: the name or IP address that all certificates
                                    are for; it is also sent to the server (SNI) */

    /* ---- time limits ---- */
    uint32_t connect_timeout_ms; /* 5000 */
    uint32_t command_timeout_ms; /* 3000: for one request; a try takes no longer than this */
    uint32_t retry_max_ms;       /* 2000: the longest pause before reconnecting; pauses are
                                    random */
    uint32_t keepalive_ms;       /* 15000: after this idle time a connection is probed */
    uint32_t lease_ms;           /* 30000: the default of the locks. 100..86400000 */
    uint32_t token_ttl_ms;       /* 600000: how long after the last grant the store keeps a
                                    name's token, in case its clock is set back.
                                    1000..86400000 */
    uint32_t restart_guard_ms;   /* until a store has been up for this long it grants nothing, and
                                    a master of a quorum gives no vote. Make it as long as the
                                    longest lease that any program takes at this store; a longer
                                    lease is refused. 0: off, but on a quorum lease_ms.
                                    HILOCK_GUARD_OFF: off, also on a quorum */
    uint32_t stall_report_ms;    /* 1000: if the loop is later than this, LOOP_STALLED is raised */

    /* ---- bounds ---- */
    uint32_t waiters_max;        /* 65536: so many acquires may be pending, counting those that have
                                    ended but may still be granted by a server that does not answer.
                                    More are refused */
    uint32_t name_waiters_max;   /* the same for one name. 0: as waiters_max */
    uint32_t queue_max;          /* 100000: so many waiters of all clients may stand in the queue of
                                    a name at the store. Then an acquire ends QUEUE_FULL */
    uint32_t inflight_max;       /* 16384: so many requests may be on the way to one server; more
                                    wait here */
    uint32_t turns_max;          /* 16: so many handles of this client may have a MUTEX one after
                                    the other by one grant, without a command between. 1..256; 1:
                                    off */

    /* ---- memory, log, events ---- */
    const struct hilock_allocator *allocator; /* NULL: libc */
    hilock_log_level log_level;               /* WARN */
    hilock_log_fn *on_log;     /* NULL: hilock_log_stderr. hilock_log_nothing: silence. No line has
                                  a password or a whole holder id */
    hilock_event_fn *on_event; /* NULL: none. It gets events of the client, not those of locks */
    hilock_trace_fn *on_trace; /* NULL: none, which costs nothing. It gets each step of each lock */
    void *user;                /* passed to all three */
};

/* ---- of a lock ------------------------------------------------------------------------------- */

/* New values may be added; none changes its meaning. The guide's page "choose" compares them. */
typedef enum hilock_kind {
    HILOCK_MUTEX = 0, /* has fencing tokens. It and Redisson's RLock of the same name exclude each
                         other and wake each other's waiters. Clients take turns; handles of one
                         client stand in a line behind that client's turn */
    HILOCK_FAIR = 1,  /* has fencing tokens. First come, first served among all FAIR handles. It
                         excludes MUTEX and Redisson's locks of the same name, which come in
                         between */
    HILOCK_SIMPLE = 2 /* SET key id NX PX, as redsync, redis-py and node-redlock do. No fencing
                         tokens; waiters poll */
} hilock_kind;

typedef enum hilock_renew { HILOCK_RENEW_AUTO = 0, HILOCK_RENEW_NEVER = 1 } hilock_renew;
typedef enum hilock_wake { HILOCK_WAKE_SUBSCRIBE = 0, HILOCK_WAKE_POLL = 1 } hilock_wake;

struct hilock_lock_options {
    size_t size;

    /* ---- what is reported ---- */
    /* Required. Runs when the hold has ended without your release: stop using what it protects. The
     * handle holds nothing now: acquire again, or free it. It runs at most once per hold, and
     * before any other callback of this client. It also runs before the lease ends at the store, if
     * the process is not paused at that time and the store did not end the hold itself. If you ask
     * hilock_lock_remaining_ms() before every write instead, pass hilock_lost_ignored. */
    hilock_event_fn *on_lost;
    hilock_event_fn *on_event; /* NULL: none. It gets WAITING, PASSED_OVER, RENEWAL_FAILED, RENEWED
                                  and RELEASE_SETTLED */
    void *user;                /* passed to both */

    /* ---- kind and time ---- */
    hilock_kind kind;          /* MUTEX */
    uint32_t lease_ms;         /* 0: the client's. The lease is renewed every third of this. After
                                  a crash the lock is free this much later. 100..86400000 */
    hilock_renew renew;        /* AUTO. NEVER: the hold ends lease_ms after the grant, or when an
                                  extend says */
    uint32_t hold_max_ms;      /* ends the hold after this time (HILOCK_REASON_HOLD_MAX), in case
                                  a release is forgotten. 0, HILOCK_FOREVER: no limit; else at least
                                  lease_ms */
    uint32_t min_validity_ms;  /* a grant with less time left than this is given back, and asked for
                                  again. 0: half of what was granted: of the lease, or of the window
                                  of a pushed grant (0.4 s; up to 3 s if the loop is late or the
                                  server far away). If it is longer than the window, each pushed
                                  grant is confirmed by one more request before you get it */
    uint32_t wait_report_ms;   /* how often WAITING is repeated. 0: it is raised once per
                                  acquire */
    int reentrant;             /* 0. 1: an acquire of a handle that holds is accepted, and adds 1
                                  to its count; each release takes 1 off */
    size_t name_length;        /* 0: strlen(name). Names may be any bytes */

    /* ---- sharing: MUTEX and FAIR; not on a quorum, not in a multi ---- */
    uint32_t holders_max;      /* 0, 1: this handle holds the name alone. n: it gets the name while
                                  fewer than n handles share it: a semaphore of n permits, of which
                                  each handle takes one. HILOCK_ANY_NUMBER: however many do: a read
                                  lock. At most 1000000. See SHARING in hilock.h */
    uint32_t share_local_ms;   /* 0: each handle has a share of its own. Else, only with
                                  HILOCK_ANY_NUMBER: for this time after the request of a share was
                                  sent, further readers of this client that ask get the same share,
                                  without a command, even if a writer waits already. If all readers
                                  hold for equally long, a writer waits this much longer at most. A
                                  share that a push granted to a waiter gets no further readers. At
                                  most a third of lease_ms. See SHARING in hilock.h, 6 */

    /* ---- replicas: not on a quorum ---- */
    uint32_t replicas;           /* 0. 1..64: so many replicas must have confirmed a grant (by WAIT)
                                    before you get it. Otherwise it is given back, and tried again
                                    while the wait lasts, or answered NOT_REPLICATED. This is no
                                    consensus: see the guide's page "operate" */
    uint32_t replica_timeout_ms; /* how long to wait for them. 0: 1000, but at most half the
                                    lease. 1..lease_ms */

    /* ---- waiting ---- */
    hilock_wake wake;          /* SUBSCRIBE. POLL: wait without pub/sub, as SIMPLE always does */
    uint32_t poll_min_ms, poll_jitter_ms; /* 50, 50: a handle that polls, also one that lacks the
                                             right to subscribe, asks after the first and a random
                                             part of the second. In a queue it asks more rarely: at
                                             most after that time multiplied by its position */
};

/* An on_lost that does nothing. */
HILOCK_API void hilock_lost_ignored(const struct hilock_event *event, void *user);

#ifndef __cplusplus
/* HILOCK_LOCK_OPTIONS(.on_lost = lost, .lease_ms = 5000) is a pointer to such a struct, good until
 * the enclosing block ends. */
#define HILOCK_CLIENT_OPTIONS(...) \
    (&(const struct hilock_client_options){.size = sizeof(struct hilock_client_options), \
                                           __VA_ARGS__})
#define HILOCK_LOCK_OPTIONS(...) \
    (&(const struct hilock_lock_options){.size = sizeof(struct hilock_lock_options), __VA_ARGS__})
#endif
static inline struct hilock_client_options hilock_client_options_default(void)
{
    struct hilock_client_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}
static inline struct hilock_lock_options hilock_lock_options_default(void)
{
    struct hilock_lock_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

HILOCK_END

#endif
