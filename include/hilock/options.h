/* options.h - every option of a client and of a lock. Part of hilock.h, which includes it. The
 * guide's page "operate" says when to change which. */
#if !defined(HILOCK_H)
#include <hilock/hilock.h>
#elif !defined(HILOCK_OPTIONS_H)
#define HILOCK_OPTIONS_H

#include <hilock/trace.h> /* what on_trace gets */

HILOCK_BEGIN

#define HILOCK_NAME_MAX 1024u              /* bytes of a lock's name, prefix included */
#define HILOCK_GUARD_OFF 0xC0000002u       /* restart_guard_ms only: no guard, on a quorum too */

/* ERROR: a lock was lost. WARN: look into it: a refusal, an outage, failing renewals. INFO: what is
 * well again, and what is rare. DEBUG: each acquire and release. */
typedef enum hilock_log_level {
    HILOCK_LOG_ERROR = 1, HILOCK_LOG_WARN, HILOCK_LOG_INFO, HILOCK_LOG_DEBUG
} hilock_log_level;
/* May not call hilock. Two are ready-made, which ignore user: hilock_log_stderr writes "hilock:
 * warning: ..." to standard error, hilock_log_nothing is silence, and costs nothing. */
typedef void hilock_log_fn(hilock_log_level level, const char *line, void *user);
HILOCK_API void hilock_log_stderr(hilock_log_level level, const char *line, void *user);
HILOCK_API void hilock_log_nothing(hilock_log_level level, const char *line, void *user);

/* All three functions, or none (libc). Must outlive every object made with it. release runs on the
 * thread that gives back the last reference to a hilock_validity: if that can be another thread, it
 * must be thread-safe. */
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
     *   redis[s]://[user[:password]@]host[:port][/db]       one server; s: by TLS, always
     *   unix://[user[:password]@]/path[?db=n]
     *   redis[s]+sentinel://host[:port],...[/master[/db]]   the master that Sentinel names
     *   redis[s]+cluster://host[:port],...                  Redis Cluster
     * Up to 16 sentinels or nodes; ports 26379 and 6379, master "mymaster" where left out.
     * user:password@ before the first is the servers'. Other letters than a URL's are %-escaped. */
    const char *url;
    const char *username, *password; /* NULL: the URL's. password is wiped from memory at close */
    const char *label; /* NULL: program@host/pid. This client's name for others, in its holders and
                          in CLIENT LIST. 1..64 letters, digits or _.-+@/=, */
    const char *name_prefix; /* NULL: none. Put before every lock name: for ACLs and tenants */

    /* ---- quorum ---- */
    /* Instead of url: 2..9 URLs of independent masters, then NULL, in the same order in every
     * program. Each MUTEX or SIMPLE lock of this client is then decided by their votes (Redlock):
     * no tokens, no multi, no FAIR. The restart guard is on by default. */
    const char *const *quorum_urls;
    uint32_t quorum_needed; /* 0: the majority, 1 + n/2. At most all of them */

    /* ---- Sentinel ---- */
    const char *sentinel_username, *sentinel_password; /* NULL: none. The sentinels' own login */

    /* ---- TLS: with a rediss URL only, else refused ---- */
    const char *tls_ca_file, *tls_ca_dir; /* authorities that sign the servers' certificates; NULL,
                                             NULL: the system's. PEM; read at open, which may block
                                             for it */
    const char *tls_cert_file, *tls_key_file; /* NULL: no client certificate; NULL: the key is in
                                                 tls_cert_file. Without a passphrase */
    const char *tls_server_name; /* NULL: the host by which each server is reached. Else the name or
                                    IP address in all certificates, also asked for (SNI) */

    /* ---- time limits ---- */
    uint32_t connect_timeout_ms; /* 5000 */
    uint32_t command_timeout_ms; /* 3000: one request, and the longest that a try may take */
    uint32_t retry_max_ms;       /* 2000: the longest (random) pause before reconnecting */
    uint32_t keepalive_ms;       /* 15000: idle time before a link is probed */
    uint32_t lease_ms;           /* 30000: default of the locks; 100..86400000 */
    uint32_t token_ttl_ms;       /* 600000: how long after the last grant the store remembers a
                                    name's token, in case its clock steps back. 1000..86400000 */
    uint32_t restart_guard_ms;   /* a store up for less than this grants nothing (quorum: no vote);
                                    at least the longest lease taken there, longer ones are refused.
                                    0: off; on a quorum: lease_ms, and HILOCK_GUARD_OFF is off */
    uint32_t stall_report_ms;    /* 1000: a loop that is this late raises LOOP_STALLED */

    /* ---- bounds ---- */
    uint32_t waiters_max;        /* 65536: pending acquires, and ended ones that a silent server may
                                    still grant; above it acquire is refused */
    uint32_t name_waiters_max;   /* 0: waiters_max. The same for one name */
    uint32_t queue_max;          /* 100000: so many waiters, of all clients, stand in the queue of
                                    a name at the store; above it an acquire ends QUEUE_FULL */
    uint32_t inflight_max;       /* 16384: requests on the wire per node; more queue here */
    uint32_t turns_max;          /* 16: how many handles of this client one grant of a MUTEX may
                                    serve in a row, with no command between; 1..256, 1: off */

    /* ---- memory, log, events ---- */
    const struct hilock_allocator *allocator; /* NULL: libc */
    hilock_log_level log_level;               /* WARN */
    hilock_log_fn *on_log;     /* NULL: hilock_log_stderr. hilock_log_nothing: silence. Never gets a
                                  password or a whole holder id */
    hilock_event_fn *on_event; /* NULL: none. Events of the client only */
    hilock_trace_fn *on_trace; /* NULL: none, at no cost. Each step of each lock */
    void *user;                /* for all three */
};

/* ---- of a lock ------------------------------------------------------------------------------- */

/* Values are only ever added. The guide's page "choose" compares them. */
typedef enum hilock_kind {
    HILOCK_MUTEX = 0, /* Redisson's RLock: they exclude and wake each other. Fencing token. Clients
                         take turns; the handles of one client stand in line behind its turn */
    HILOCK_FAIR = 1,  /* first come, first served among all handles. Fencing token. Excludes MUTEX
                         and Redisson's locks of that name, and takes turns with them */
    HILOCK_SIMPLE = 2 /* SET key id NX PX, as redsync, redis-py, node-redlock. Polls; no token */
} hilock_kind;

typedef enum hilock_renew { HILOCK_RENEW_AUTO = 0, HILOCK_RENEW_NEVER = 1 } hilock_renew;
typedef enum hilock_wake { HILOCK_WAKE_SUBSCRIBE = 0, HILOCK_WAKE_POLL = 1 } hilock_wake;

struct hilock_lock_options {
    size_t size;

    /* ---- what is reported ---- */
    /* Required. The hold ended without your release: stop using what it protects. The handle holds
     * nothing now; acquire again, or free it. At most once per hold, and before any other callback
     * of this client; if the process runs at the deadline, before the lease ends at the store. If
     * you ask hilock_lock_remaining_ms() before every write instead: hilock_lost_ignored. */
    hilock_event_fn *on_lost;
    hilock_event_fn *on_event; /* NULL: none. WAITING, PASSED_OVER, RENEWAL_FAILED, RENEWED,
                                  RELEASE_SETTLED */
    void *user;                /* for both */

    /* ---- kind and time ---- */
    hilock_kind kind;          /* MUTEX */
    uint32_t lease_ms;         /* 0: the client's. Renewed each third; after a crash the lock is
                                  free this much later. 100..86400000 */
    hilock_renew renew;        /* AUTO. NEVER: ends lease_ms after the grant, or as extended */
    uint32_t hold_max_ms;      /* 0, HILOCK_FOREVER: no limit; else at least lease_ms. The hold ends
                                  here (HILOCK_REASON_HOLD_MAX), in case a release is forgotten */
    uint32_t min_validity_ms;  /* 0: half of what was granted: of the lease, or of the window of a
                                  pushed grant (0.4 s; up to 3 s if the loop is late, or the
                                  server far away). A grant with less is given back, or confirmed
                                  by one more request first: so is every pushed grant if this is
                                  longer than the window */
    uint32_t wait_report_ms;   /* 0: WAITING is raised once per acquire */
    int reentrant;             /* 0. 1: acquire while held counts up; as many releases are needed */
    size_t name_length;        /* 0: strlen(name). Names are any bytes */

    /* ---- replicas: not on a quorum ---- */
    uint32_t replicas;           /* 0. 1..64: so many replicas must have a grant before you get it
                                    (WAIT); else it is given back and tried again, or ends
                                    NOT_REPLICATED. No consensus: see the guide */
    uint32_t replica_timeout_ms; /* 0: 1000, at most half the lease. 1..lease_ms */

    /* ---- waiting ---- */
    hilock_wake wake;          /* SUBSCRIBE. POLL: without pub/sub; always so for SIMPLE */
    uint32_t poll_min_ms, poll_jitter_ms; /* 50, 50. For handles that poll, also for lack of rights.
                                             In a queue this times the place at most */
};

/* For on_lost: does nothing. */
HILOCK_API void hilock_lost_ignored(const struct hilock_event *event, void *user);

#ifndef __cplusplus
/* HILOCK_LOCK_OPTIONS(.on_lost = lost, .lease_ms = 5000): good until the enclosing block ends. */
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
