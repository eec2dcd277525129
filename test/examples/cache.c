/* SPDX-License-Identifier: BSD-3-Clause */
/* cache - an HTTP server with a cache that several such servers share: many requests read it together, and one of them
 * makes it anew when it is too old.
 *
 *   GET /page   200 and its two parts, which were made together   503 no lock, or lost on the way: ask again
 *
 * The cache is two files, `first` and `second`, that are read and written one after the other: wrong without a lock. A
 * request reads them under a read lock (holders_max). If they are too old it frees that handle, since it cannot keep it
 * while it waits to hold the name alone, and asks for the write lock by a new one. When it has that it reads again: another
 * may have made them anew meanwhile. A third file, `fence`, has the highest token that was here. Everyone raises it
 * before reading. Who holds alone writes only while it is not above its token. Who shares need not compare; it looks
 * after its last step whether its share still lasts, for then no writer was let in between.
 * Invariant: a visit ends in visit_end, from any state.
 * usage: cache DIRECTORY [URL [FRESH_MS [STEP_MS]]]    (any port, which is printed; 1000; 1) */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <fcntl.h>
#include <hilock/adapters/libevent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

struct cache {
    struct event_base *base;
    const char *directory;
    hilock_client *locks;
    struct evhttp *http;
    struct event *on_term;
    long long fresh_ms;
    struct timeval step; /* how long it takes to come from one part to the other */
};

struct visit { /* one request */
    struct cache *cache;
    struct evhttp_request *request;
    hilock_lock *lock; /* a read lock, and later perhaps the write lock */
    struct event *step;
    int is_writer, is_writing;
    long long first, second; /* when the parts were made, in ms, as this visit read or wrote them */
};

static void visit_end(struct visit *visit, int code)
{
    struct evbuffer *body = evbuffer_new();
    hilock_lock_free(visit->lock);
    event_free(visit->step);
    if (body)
        evbuffer_add_printf(body, "%lld %lld %s\n", visit->first, visit->second, visit->is_writing ? "made" : "read");
    evhttp_send_reply(visit->request, code, code == HTTP_OK ? "OK" : "ask again", body);
    if (body)
        evbuffer_free(body);
    free(visit);
}

static long long number_at(int directory, const char *name)
{
    char text[32] = "";
    int fd = openat(directory, name, O_RDONLY);
    if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
        *text = '\0';
    if (fd >= 0)
        close(fd);
    return atoll(text); /* 0: there is none */
}

static int number_put(int directory, const char *name, long long number)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%20lld\n", number), fd = openat(directory, name, O_WRONLY | O_CREAT, 0666);
    int is_put = fd >= 0 && write(fd, text, (size_t)length) == length;
    if (fd >= 0)
        close(fd);
    return is_put ? 0 : -1;
}

/* Raises the fence; and writes the part, if it is given. -1: a later holder was here, which only matters to a writer.
 * flock makes it one step among the servers of this host. */
static int pass_fence(const struct visit *visit, const char *part, long long number)
{
    long long token = (long long)hilock_lock_token(visit->lock);
    int directory = open(visit->cache->directory, O_RDONLY | O_DIRECTORY), result = -1;
    if (directory >= 0 && flock(directory, LOCK_EX) == 0) {
        long long fence = number_at(directory, "fence");
        if (fence > token)
            result = visit->is_writer ? -1 : 0;
        else if (number_put(directory, "fence", token) == 0)
            result = part ? number_put(directory, part, number) : 0;
    }
    if (directory >= 0)
        close(directory);
    return result;
}

static long long part_read(const struct visit *visit, const char *part)
{
    int directory = open(visit->cache->directory, O_RDONLY | O_DIRECTORY);
    long long number = directory < 0 ? 0 : number_at(directory, part);
    if (directory >= 0)
        close(directory);
    return number;
}

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void ask(struct visit *visit);

static void make_anew(struct visit *visit)
{
    visit->is_writing = 1;
    visit->first = visit->second = now_ms();
    if (pass_fence(visit, "first", visit->first) != 0)
        visit_end(visit, 503);
    else
        event_add(visit->step, &visit->cache->step);
}

static void on_step(evutil_socket_t fd, short what, void *user)
{
    struct visit *visit = user;
    (void)fd, (void)what;
    if (visit->is_writing) {
        visit_end(visit, pass_fence(visit, "second", visit->second) == 0 ? HTTP_OK : 503);
        return;
    }
    visit->second = part_read(visit, "second");
    if (hilock_lock_remaining_ms(visit->lock) == 0) /* the two need not belong together */
        visit_end(visit, 503);
    else if (now_ms() - visit->first < visit->cache->fresh_ms && visit->first == visit->second)
        visit_end(visit, HTTP_OK);
    else if (visit->is_writer)
        make_anew(visit);
    else {
        hilock_lock_free(visit->lock);
        visit->lock = NULL;
        visit->is_writer = 1;
        ask(visit);
    }
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct visit *visit = user;
    if (result->status != HILOCK_OK || pass_fence(visit, NULL, 0) != 0) {
        visit_end(visit, 503);
        return;
    }
    visit->first = part_read(visit, "first");
    event_add(visit->step, &visit->cache->step);
}

static void on_lost(const struct hilock_event *event, void *user)
{
    fprintf(stderr, "given up: %s\n", event->detail);
    visit_end(user, 503);
}

static void ask(struct visit *visit)
{
    const uint32_t holders_max = visit->is_writer ? 0 : HILOCK_ANY_NUMBER;
    if (hilock_lock_create(&visit->lock, visit->cache->locks, "page",
                           HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = visit, .holders_max = holders_max, .hold_max_ms = 60000)) != HILOCK_OK ||
        hilock_acquire(visit->lock, 10000, on_acquired, visit) != HILOCK_OK)
        visit_end(visit, 503);
}

static void on_page(struct evhttp_request *request, void *user)
{
    struct cache *cache = user;
    struct visit *visit = calloc(1, sizeof *visit);
    if (visit)
        *visit = (struct visit){.cache = cache, .request = request, .step = evtimer_new(cache->base, on_step, visit)};
    if (visit && visit->step)
        ask(visit);
    else {
        free(visit);
        evhttp_send_error(request, 503, NULL);
    }
}

static void on_closed(void *user) { event_base_loopbreak(((struct cache *)user)->base); }

static void on_term(evutil_socket_t fd, short what, void *user)
{
    struct cache *cache = user;
    (void)fd, (void)what;
    (void)hilock_client_close(cache->locks, 0, on_closed, cache);
}

int main(int argc, char **argv)
{
    struct cache cache = {.base = event_base_new(), .directory = argc > 1 ? argv[1] : ".", .fresh_ms = argc > 3 ? atoll(argv[3]) : 1000};
    const int step_ms = argc > 4 ? atoi(argv[4]) : 1;
    struct hilock_error error = {"out of memory"};
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    struct evhttp_bound_socket *door;
    cache.step = (struct timeval){step_ms / 1000, step_ms % 1000 * 1000};
    signal(SIGPIPE, SIG_IGN); /* for the visitors' sockets; hilock's raise none */
    if (!cache.base || hilock_client_open_libevent(&cache.locks, cache.base, HILOCK_CLIENT_OPTIONS(.url = argc > 2 ? argv[2] : NULL, .label = "cache"),
                                                   &error) != HILOCK_OK)
        return fprintf(stderr, "%s\n", error.text), 1;
    cache.http = evhttp_new(cache.base);
    door = cache.http ? evhttp_bind_socket_with_handle(cache.http, "127.0.0.1", 0) : NULL;
    cache.on_term = evsignal_new(cache.base, SIGTERM, on_term, &cache);
    if (!door || !cache.on_term || event_add(cache.on_term, NULL) != 0 ||
        getsockname(evhttp_bound_socket_get_fd(door), (struct sockaddr *)&address, &length) != 0)
        return fprintf(stderr, "cannot listen\n"), 1;
    evhttp_set_cb(cache.http, "/page", on_page, &cache);
    printf("http://127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    event_base_dispatch(cache.base);
    event_free(cache.on_term);
    evhttp_free(cache.http);
    event_base_free(cache.base);
    return 0;
}
