/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves host names to addresses by getaddrinfo(), which blocks. So each query has a thread of its own, which ends
 * with the query. All signals are blocked in that thread, so the program's handlers run on the same threads as
 * before.
 *
 * The thread and the loop share a `lookup` with an eventfd. Each of them has one reference, and dropping the last
 * one frees the lookup. So a query can be cancelled at any time: the loop drops its reference, and the thread's
 * result is not used. Invariant: the thread writes the lookup until it sets `is_done`, and only after that the loop
 * reads it. The thread never touches the nest.
 *
 * A timer delivers a failure that happens before there is a thread, so that it comes on a later turn like every
 * result. */
#include "nest_resolve.h"

#include "nest.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ADDRESSES_MAX = 32 };

const struct addrinfo hl_nest_hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};

struct lookup {
    atomic_int references, is_done;
    int fd; /* an eventfd that is readable when the lookup is done; -1: there is none */
    int error;
    struct addrinfo *found;
    char host[]; /* a copy, because the caller's text may be gone before the thread begins */
};

struct query {
    struct hilock_loop table;
    struct lookup *lookup;
    void *watch;
    struct hl_nest_timer *timer; /* delivers a failure before the thread began; NULL: there was none */
    const char *failure;
    hilock_resolved_fn *done; /* the caller's callback; NULL: it is running */
    void *arg;
};

static void lookup_drop(struct lookup *lookup)
{
    if (atomic_fetch_sub(&lookup->references, 1) > 1)
        return;
    if (lookup->found)
        freeaddrinfo(lookup->found);
    if (lookup->fd >= 0)
        close(lookup->fd);
    free(lookup);
}

static struct lookup *lookup_new(const char *host)
{
    const size_t bytes = strlen(host) + 1;
    struct lookup *lookup = calloc(1, sizeof *lookup + bytes);
    if (!lookup)
        return NULL;
    atomic_init(&lookup->references, 1);
    memcpy(lookup->host, host, bytes);
    lookup->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return lookup;
}

static void *look_up(void *arg)
{
    static const uint64_t one = 1;
    struct lookup *lookup = arg;
    lookup->error = getaddrinfo(lookup->host, NULL, &hl_nest_hints, &lookup->found);
    if (lookup->error != 0)
        lookup->found = NULL;
    atomic_store(&lookup->is_done, 1);
    (void)!write(lookup->fd, &one, sizeof one); /* cannot fail, because the eventfd's counter is 0 */
    lookup_drop(lookup);
    return NULL;
}

/* Starts the thread with all signals blocked: a thread inherits the signal mask of its creator. */
static int thread_start(struct lookup *lookup)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    int status = pthread_attr_init(&attributes);
    if (status != 0)
        return status;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_fetch_add(&lookup->references, 1);
    status = pthread_create(&thread, &attributes, look_up, lookup);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (status != 0)
        lookup_drop(lookup);
    return status;
}

const char *hl_nest_resolve_error(int error)
{
    switch (error) {
    case EAI_NONAME:
#ifdef EAI_NODATA
    case EAI_NODATA:
#endif
        return "no such host in /etc/hosts or DNS: check the name";
    case EAI_AGAIN:
        return "no answer from the nameservers in /etc/resolv.conf: check them and the way to them, or give a numeric "
               "address";
    case EAI_MEMORY:
        return "no memory to resolve the name";
    default:
        return "the nameservers in /etc/resolv.conf cannot answer: check the name and them, or give a numeric address";
    }
}

void hl_nest_deliver(const struct addrinfo *found, const char *error, hilock_resolved_fn *done, void *arg)
{
    const struct sockaddr *addresses[ADDRESSES_MAX];
    size_t count = 0;
    for (; found && count < ADDRESSES_MAX; found = found->ai_next)
        if (found->ai_family == AF_INET || found->ai_family == AF_INET6)
            addresses[count++] = found->ai_addr;
    done(count ? addresses : NULL, count, count ? NULL : error, arg);
}

static void query_end(struct query *query)
{
    if (query->watch)
        query->table.watch_free(query->watch);
    if (query->timer)
        hl_nest_timer_free(query->timer);
    if (query->lookup)
        lookup_drop(query->lookup);
    free(query);
}

static void query_deliver(struct query *query)
{
    hilock_resolved_fn *done = query->done;
    struct lookup *lookup = query->lookup;
    void *arg = query->arg;
    const char *error = query->failure ? query->failure
                                       : hl_nest_resolve_error(lookup->error ? lookup->error : EAI_NONAME);
    if (query->watch)
        query->table.watch_free(query->watch);
    if (query->timer)
        hl_nest_timer_free(query->timer);
    query->watch = query->timer = NULL; /* freed before the callback, because that may end the nest */
    query->done = NULL;
    hl_nest_deliver(query->failure ? NULL : lookup->found, error, done, arg);
    query_end(query);
}

static void on_done(unsigned ready, void *arg)
{
    struct query *query = arg;
    (void)ready;
    if (atomic_load(&query->lookup->is_done))
        query_deliver(query);
}

static void on_failure(void *arg) { query_deliver(arg); }

/* Starts the lookup. Returns NULL, or why there is no thread. */
static const char *query_start(struct query *query)
{
    if (query->lookup->fd < 0)
        return "no descriptor left to resolve the name with: raise the limit of open files, or close some";
    query->watch = query->table.watch_new(query->table.ctx, query->lookup->fd, on_done, query);
    if (!query->watch || query->table.watch_set(query->watch, HILOCK_READABLE) != 0)
        return hl_nest_resolve_error(EAI_MEMORY);
    return thread_start(query->lookup) == 0
               ? NULL
               : "no thread can be started to resolve the name: raise the limit of threads";
}

void *hl_nest_resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg)
{
    struct hl_nest *nest = ctx;
    struct query *query = calloc(1, sizeof *query);
    if (!query)
        return NULL;
    *query = (struct query){.table = hl_nest_table(nest), .lookup = lookup_new(host), .done = done, .arg = arg};
    query->timer = query->lookup ? hl_nest_timer_new(&nest->timers, on_failure, query) : NULL;
    if (!query->timer) {
        query_end(query);
        return NULL;
    }
    query->failure = query_start(query);
    if (query->failure)
        hl_nest_timer_start(query->timer, 0);
    return query;
}

/* While its own callback runs, the query is over already, and is freed when the callback returns. */
void hl_nest_resolve_cancel(void *handle)
{
    struct query *query = handle;
    if (query->done)
        query_end(query);
}
