/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy - see proxy.h. One mutex guards everything; the thread holds it but for its poll. Only the thread makes, changes and ends pairs: an
 * order is written down, the poll is woken, and a whole turn is waited for. */
#include "proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "secret.h"
#include "server.h"

enum { PAIRS_MAX = 256, CHUNK = 16384 };

struct pipe { /* one direction */
    int from, to;
    unsigned direction;
    char *bytes;
    size_t length, size;
    int is_over; /* from has ended */
};

struct pair { /* one connection; unused: link 0 */
    unsigned link;
    struct pipe requests, replies;
    int is_cut;
    enum { KEEPS_REPLY, AWAITS_REQUEST, LOSES_REPLY } reply; /* AWAITS_REQUEST: until it is with the server */
};

struct proxy {
    pthread_t thread;
    pthread_mutex_t mutex;
    char server_socket[108], socket[108], url[160], tcp_url[96];
    pthread_cond_t served;
    int listeners[2], wake;
    struct pair pairs[PAIRS_MAX];
    struct pollfd fds[3 + 2 * PAIRS_MAX];
    unsigned orders[2][2]; /* by enum order, requests and replies: these links */
    unsigned cuts;         /* these links, in the coming turn */
    int is_refusing, is_over;
    char word[256];
    enum { NO_WORD, LOSE_REPLY, LOSE_REQUEST } word_order;
    uint64_t ordered, done; /* orders given, and carried out */
};

enum order { HELD, DROPPED };

static int is_ordered(const struct proxy *proxy, enum order order, const struct pair *pair, unsigned direction)
{
    return (proxy->orders[order][direction == PROXY_REPLIES] & pair->link) != 0;
}

static void pair_end(struct pair *pair)
{
    close(pair->requests.from);
    close(pair->requests.to);
    free(pair->requests.bytes);
    free(pair->replies.bytes);
    memset(pair, 0, sizeof *pair);
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void accept_one(struct proxy *proxy, int listener)
{
    int near = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), far;
    if (near < 0)
        return;
    far = proxy->is_refusing ? -1 : connect_to(proxy->server_socket);
    for (struct pair *pair = proxy->pairs; far >= 0 && pair < proxy->pairs + PAIRS_MAX; pair++)
        if (!pair->link) {
            pair->link = PROXY_LOGINS;
            pair->requests = (struct pipe){.from = near, .to = far, .direction = PROXY_REQUESTS};
            pair->replies = (struct pipe){.from = far, .to = near, .direction = PROXY_REPLIES};
            return;
        }
    close(near);
    if (far >= 0)
        close(far);
}

static int says(const struct pipe *pipe, const char *word)
{
    return pipe->length && memmem(pipe->bytes, pipe->length, word, strlen(word)) != NULL;
}

static void classify(struct pair *pair)
{
    if (pair->link != PROXY_LOGINS)
        return;
    if (says(&pair->requests, "SUBSCRIBE\r\n"))
        pair->link = PROXY_SUBSCRIPTIONS;
    else if (says(&pair->requests, "\r\nTIME\r\n") || says(&pair->requests, "\r\nLOAD\r\n") || says(&pair->requests, "EVALSHA\r\n"))
        pair->link = PROXY_COMMANDS;
}

static void look_for_word(struct proxy *proxy, struct pair *pair)
{
    if (proxy->word_order == NO_WORD || !says(&pair->requests, proxy->word))
        return;
    if (proxy->word_order == LOSE_REPLY)
        pair->reply = AWAITS_REQUEST;
    else
        pair->is_cut = 1;
    proxy->word_order = NO_WORD;
}

static void pipe_read(struct proxy *proxy, struct pair *pair, struct pipe *pipe)
{
    ssize_t got;
    if (pipe->size - pipe->length < CHUNK) {
        char *grown = realloc(pipe->bytes, pipe->size + 2 * CHUNK);
        if (!grown)
            abort();
        pipe->bytes = grown;
        pipe->size += 2 * CHUNK;
    }
    got = read(pipe->from, pipe->bytes + pipe->length, CHUNK);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        pipe->is_over = 1;
        return;
    }
    pipe->length += (size_t)got;
    if (pipe->direction == PROXY_REQUESTS) {
        classify(pair);
        look_for_word(proxy, pair);
    } else if (pair->reply == LOSES_REPLY)
        pair->is_cut = 1;
}

static void pipe_write(struct proxy *proxy, struct pair *pair, struct pipe *pipe)
{
    ssize_t sent;
    if (is_ordered(proxy, DROPPED, pair, pipe->direction))
        pipe->length = 0;
    if (!pipe->length || pair->is_cut || is_ordered(proxy, HELD, pair, pipe->direction))
        return;
    sent = send(pipe->to, pipe->bytes, pipe->length, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        pair->is_cut = 1;
    if (sent <= 0)
        return;
    pipe->length -= (size_t)sent;
    memmove(pipe->bytes, pipe->bytes + sent, pipe->length);
    if (pipe->direction == PROXY_REQUESTS && !pipe->length && pair->reply == AWAITS_REQUEST)
        pair->reply = LOSES_REPLY;
}

/* An end is passed on when all before it was; one that is held back is not seen by the other side either. */
static int is_at_end(const struct proxy *proxy, const struct pair *pair, const struct pipe *pipe)
{
    return pipe->is_over && !pipe->length && !is_ordered(proxy, HELD, pair, pipe->direction);
}

static void serve(struct proxy *proxy, struct pair *pair, short near, short far)
{
    pair->is_cut |= (proxy->cuts & pair->link) != 0;
    if (near & (POLLIN | POLLHUP | POLLERR) && !pair->requests.is_over)
        pipe_read(proxy, pair, &pair->requests);
    if (far & (POLLIN | POLLHUP | POLLERR) && !pair->replies.is_over)
        pipe_read(proxy, pair, &pair->replies);
    pipe_write(proxy, pair, &pair->requests);
    pipe_write(proxy, pair, &pair->replies);
    if (pair->is_cut || is_at_end(proxy, pair, &pair->requests) || is_at_end(proxy, pair, &pair->replies))
        pair_end(pair);
}

static short interest(const struct proxy *proxy, const struct pair *pair, const struct pipe *in, const struct pipe *out)
{
    int writes = out->length && !is_ordered(proxy, HELD, pair, out->direction);
    return (short)((in->is_over ? 0 : POLLIN) | (writes ? POLLOUT : 0));
}

/* A descriptor whose end was seen is watched no more, or its hang-up would keep the poll awake. */
static struct pollfd watched(int fd, const struct pipe *in, short events) { return (struct pollfd){in->is_over && !events ? -1 : fd, events, 0}; }

static nfds_t collect(struct proxy *proxy)
{
    struct pollfd *fds = proxy->fds;
    nfds_t count = 3;
    fds[0] = (struct pollfd){proxy->wake, POLLIN, 0};
    fds[1] = (struct pollfd){proxy->listeners[0], POLLIN, 0};
    fds[2] = (struct pollfd){proxy->listeners[1], POLLIN, 0};
    for (const struct pair *pair = proxy->pairs; pair < proxy->pairs + PAIRS_MAX; pair++) {
        if (!pair->link)
            continue;
        fds[count++] = watched(pair->requests.from, &pair->requests, interest(proxy, pair, &pair->requests, &pair->replies));
        fds[count++] = watched(pair->replies.from, &pair->replies, interest(proxy, pair, &pair->replies, &pair->requests));
    }
    return count;
}

/* An order given while the poll went on: its wake-up is still to be read, but it is carried out here already. */
static void turn(struct proxy *proxy)
{
    const struct pollfd *next = proxy->fds + 3;
    uint64_t woken;
    if (proxy->fds[0].revents && read(proxy->wake, &woken, sizeof woken) < 0)
        abort();
    for (struct pair *pair = proxy->pairs; pair < proxy->pairs + PAIRS_MAX; pair++)
        if (pair->link) {
            serve(proxy, pair, next[0].revents, next[1].revents);
            next += 2;
        }
    for (int i = 0; i < 2; i++)
        if (proxy->fds[1 + i].revents)
            accept_one(proxy, proxy->listeners[i]);
    proxy->cuts = 0;
    proxy->done = proxy->ordered;
    pthread_cond_broadcast(&proxy->served);
}

static void *run(void *arg)
{
    struct proxy *proxy = arg;
    pthread_mutex_lock(&proxy->mutex);
    while (!proxy->is_over) {
        nfds_t count = collect(proxy);
        pthread_mutex_unlock(&proxy->mutex);
        (void)poll(proxy->fds, count, -1);
        pthread_mutex_lock(&proxy->mutex);
        turn(proxy);
    }
    pthread_mutex_unlock(&proxy->mutex);
    return NULL;
}

/* ---- the test's side ---- */

static void wake(struct proxy *proxy)
{
    uint64_t one = 1;
    if (write(proxy->wake, &one, sizeof one) < 0)
        abort();
}

static void begin_order(struct proxy *proxy) { pthread_mutex_lock(&proxy->mutex); }

static void end_order(struct proxy *proxy)
{
    uint64_t mine = ++proxy->ordered;
    wake(proxy);
    while (proxy->done < mine)
        pthread_cond_wait(&proxy->served, &proxy->mutex);
    pthread_mutex_unlock(&proxy->mutex);
}

static int listen_on(int family, const struct sockaddr *address, socklen_t length)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(fd >= 0 && bind(fd, address, length) == 0 && listen(fd, 64) == 0);
    return fd;
}

static void listen_all(struct proxy *proxy)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof loopback;
    snprintf(local.sun_path, sizeof local.sun_path, "%s", proxy->socket);
    unlink(local.sun_path); /* of a process before this one */
    proxy->listeners[0] = listen_on(AF_UNIX, (struct sockaddr *)&local, sizeof local);
    proxy->listeners[1] = listen_on(AF_INET, (struct sockaddr *)&loopback, sizeof loopback);
    CHECK(getsockname(proxy->listeners[1], (struct sockaddr *)&loopback, &length) == 0);
    snprintf(proxy->url, sizeof proxy->url, "unix://" LIVE_LOGIN "%s", proxy->socket);
    snprintf(proxy->tcp_url, sizeof proxy->tcp_url, "redis://" LIVE_LOGIN "127.0.0.1:%d", ntohs(loopback.sin_port));
}

struct proxy *proxy_start(const struct server *server)
{
    static unsigned count; /* several proxies may stand before one server */
    struct proxy *proxy = calloc(1, sizeof *proxy);
    CHECK(proxy != NULL);
    snprintf(proxy->server_socket, sizeof proxy->server_socket, "%s", server->socket);
    snprintf(proxy->socket, sizeof proxy->socket, "%s/proxy%u", server->directory, count++);
    listen_all(proxy);
    proxy->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(proxy->wake >= 0);
    CHECK(pthread_mutex_init(&proxy->mutex, NULL) == 0 && pthread_cond_init(&proxy->served, NULL) == 0);
    CHECK(pthread_create(&proxy->thread, NULL, run, proxy) == 0);
    return proxy;
}

void proxy_end(struct proxy *proxy)
{
    if (!proxy)
        return;
    begin_order(proxy);
    proxy->cuts = PROXY_ALL;
    proxy->is_over = 1;
    end_order(proxy);
    pthread_join(proxy->thread, NULL);
    for (struct pair *pair = proxy->pairs; pair < proxy->pairs + PAIRS_MAX; pair++)
        if (pair->link) /* accepted in the very last turn */
            pair_end(pair);
    close(proxy->listeners[0]);
    close(proxy->listeners[1]);
    close(proxy->wake);
    pthread_cond_destroy(&proxy->served);
    pthread_mutex_destroy(&proxy->mutex);
    free(proxy);
}

const char *proxy_url(const struct proxy *proxy) { return proxy->url; }

const char *proxy_tcp_url(const struct proxy *proxy) { return proxy->tcp_url; }

void proxy_cut(struct proxy *proxy, unsigned links)
{
    begin_order(proxy);
    proxy->cuts |= links;
    end_order(proxy);
}

static void give_order(struct proxy *proxy, enum order order, unsigned links, unsigned directions)
{
    begin_order(proxy);
    if (directions & PROXY_REQUESTS)
        proxy->orders[order][0] |= links;
    if (directions & PROXY_REPLIES)
        proxy->orders[order][1] |= links;
    end_order(proxy);
}

void proxy_hold(struct proxy *proxy, unsigned links, unsigned directions) { give_order(proxy, HELD, links, directions); }

void proxy_drop(struct proxy *proxy, unsigned links, unsigned directions) { give_order(proxy, DROPPED, links, directions); }

void proxy_pass(struct proxy *proxy)
{
    begin_order(proxy);
    memset(proxy->orders, 0, sizeof proxy->orders);
    end_order(proxy);
}

void proxy_refuse(struct proxy *proxy, int is_refusing)
{
    begin_order(proxy);
    proxy->is_refusing = is_refusing;
    end_order(proxy);
}

static void order_word(struct proxy *proxy, const char *word, int is_request)
{
    begin_order(proxy);
    CHECK(!word || strlen(word) < sizeof proxy->word);
    snprintf(proxy->word, sizeof proxy->word, "%s", word ? word : "");
    proxy->word_order = !word ? NO_WORD : is_request ? LOSE_REQUEST : LOSE_REPLY;
    end_order(proxy);
}

void proxy_lose_reply(struct proxy *proxy, const char *word) { order_word(proxy, word, 0); }

void proxy_lose_request(struct proxy *proxy, const char *word) { order_word(proxy, word, 1); }

size_t proxy_held(struct proxy *proxy, unsigned directions)
{
    size_t bytes = 0;
    pthread_mutex_lock(&proxy->mutex);
    for (const struct pair *pair = proxy->pairs; pair < proxy->pairs + PAIRS_MAX; pair++) {
        bytes += directions & PROXY_REQUESTS ? pair->requests.length : 0;
        bytes += directions & PROXY_REPLIES ? pair->replies.length : 0;
    }
    pthread_mutex_unlock(&proxy->mutex);
    return bytes;
}

int proxy_is_armed(struct proxy *proxy)
{
    int is_so;
    pthread_mutex_lock(&proxy->mutex);
    is_so = proxy->word_order != NO_WORD;
    for (const struct pair *pair = proxy->pairs; pair < proxy->pairs + PAIRS_MAX; pair++)
        is_so = is_so || (pair->link && pair->reply != KEEPS_REPLY);
    pthread_mutex_unlock(&proxy->mutex);
    return is_so;
}
