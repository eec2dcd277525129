/* SPDX-License-Identifier: BSD-3-Clause */
/* shop - an HTTP server that sells pieces of a stock which several such servers share, one lock for each item.
 *
 *   POST /sell?item=NAME    200 sold   409 others were faster for all of WAIT_MS: ask again   410 sold out
 *                           400 no name for an item   503 no lock, or lost on the way: nothing is sold
 *   GET /locks              what this server holds and waits for
 *
 * The stock is a file for each item, "pieces fence"; to sell is to read it, wait for the payment, write it: wrong
 * without the lock. The fence is raised as soon as the lock is held and before the pieces are read, and the write is
 * refused if a later sale has raised it since. One request is one would-be holder, so it has a handle of its own.
 * Invariant: a sale ends in sale_end, from any state, and hilock_lock_free is all that this takes: it cancels, or
 * releases, and nothing calls back after.
 * At SIGTERM the door is shut, sales that hold their locks are ended (5 s at most; a second SIGTERM: now), and the loop
 * turns until the client is closed: so no lock is left taken.
 * usage: shop DIRECTORY [URL [PORT [PAYMENT_MS [WAIT_MS]]]]    (any port, which is printed; 10; 1000) */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <fcntl.h>
#include <hilock/adapters/libevent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

struct shop {
    struct event_base *base;
    const char *directory;
    hilock_client *locks;
    struct evhttp *http;
    struct evhttp_bound_socket *door;
    struct event *on_term;
    struct timeval payment;
    uint32_t wait_ms;
};

struct sale { /* one request */
    struct shop *shop;
    struct evhttp_request *request;
    hilock_lock *lock;
    struct event *buyer;   /* the buyer's descriptor: does he leave? */
    struct event *payment; /* stands for a call to somewhere */
    long pieces;           /* as this sale read them */
    char path[512];
};

enum visit { VISIT_DONE, VISIT_REFUSED, VISIT_FAILED };

static void answer(struct evhttp_request *request, int code, const char *text)
{
    struct evbuffer *body = evbuffer_new();
    if (body)
        evbuffer_add_printf(body, "%s\n", text);
    evhttp_send_reply(request, code, text, body);
    if (body)
        evbuffer_free(body);
}

static void sale_end(struct sale *sale, int code, const char *text)
{
    hilock_lock_free(sale->lock);
    if (sale->buyer)
        event_free(sale->buyer);
    if (sale->payment)
        event_free(sale->payment);
    answer(sale->request, code, text);
    free(sale);
}

/* evhttp does not read while a request has no answer, so its close callback would not run before that. The buyer has
 * left when there is nothing more to read (EV_CLOSED alone would not see a reset). A buyer who sends more, before his
 * answer, is not looked at again. */
static void on_buyer(evutil_socket_t fd, short what, void *user)
{
    char byte;
    (void)what;
    if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0)
        sale_end(user, 503, "the buyer has left"); /* nobody reads it; evhttp closes the connection */
}

static int watch_buyer(struct sale *sale)
{
    struct bufferevent *stream = evhttp_connection_get_bufferevent(evhttp_request_get_connection(sale->request));
    sale->buyer = event_new(sale->shop->base, bufferevent_getfd(stream), EV_READ, on_buyer, sale);
    return sale->buyer ? event_add(sale->buyer, NULL) : -1;
}

/* The fence. Raises it to the sale's token and reads; with `pieces`, writes these: one step, refused if a later sale
 * has been here. flock makes it one step among the shops of this host, for a moment only; a database says the same in
 * one statement (see the guide, "Fencing"). */
static enum visit stock_visit(const char *path, unsigned long long token, const long *pieces, long *ret_pieces)
{
    char line[64] = "";
    unsigned long long fence;
    enum visit visit = VISIT_FAILED;
    int fd = open(path, O_RDWR), length;
    if (fd < 0)
        return VISIT_FAILED;
    if (flock(fd, LOCK_EX) == 0 && pread(fd, line, sizeof line - 1, 0) > 0 &&
        sscanf(line, "%ld %llu", ret_pieces, &fence) == 2) {
        length = snprintf(line, sizeof line, "%10ld %20llu\n", pieces ? *pieces : *ret_pieces, token);
        visit = fence > token                                       ? VISIT_REFUSED
                : pwrite(fd, line, (size_t)length, 0) == length ? VISIT_DONE
                                                                    : VISIT_FAILED;
    }
    close(fd);
    return visit;
}

/* Others may sell from here on. The payment's timer goes with the sale, so nothing is written. */
static void on_lost(const struct hilock_event *event, void *user)
{
    fprintf(stderr, "sale given up: %s\n", event->detail);
    sale_end(user, 503, "the lock was lost");
}

/* In any case the stock is written, and behind the fence: LOST, and a later sale reads what this one
 * wrote. UNKNOWN: only the way to the store is cut; the client goes on releasing. */
static void on_released(const struct hilock_result *result, void *user)
{
    (void)result;
    sale_end(user, HTTP_OK, "sold");
}

static void on_paid(evutil_socket_t fd, short what, void *user)
{
    struct sale *sale = user;
    const long after = sale->pieces - 1;
    long before;
    (void)fd, (void)what;
    if (hilock_lock_remaining_ms(sale->lock) == 0 ||
        stock_visit(sale->path, hilock_lock_token(sale->lock), &after, &before) != VISIT_DONE)
        sale_end(sale, 503, "not sold");
    else if (hilock_release(sale->lock, on_released, sale) != HILOCK_OK)
        sale_end(sale, HTTP_OK, "sold");
}

static void sell(struct sale *sale)
{
    enum visit visit = stock_visit(sale->path, hilock_lock_token(sale->lock), NULL, &sale->pieces);
    if (visit == VISIT_REFUSED) {
        sale_end(sale, 503, "a later sale was here");
        return;
    }
    if (visit == VISIT_FAILED || sale->pieces <= 0) {
        sale_end(sale, 410, "sold out");
        return;
    }
    sale->payment = evtimer_new(sale->shop->base, on_paid, sale);
    if (!sale->payment || evtimer_add(sale->payment, &sale->shop->payment) != 0)
        sale_end(sale, 503, "out of memory");
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct sale *sale = user;
    if (result->status == HILOCK_OK)
        sell(sale);
    else if (result->status == HILOCK_TIMED_OUT)
        sale_end(sale, 409, "others are faster: ask again");
    else {
        fprintf(stderr, "no lock: %s\n", result->detail);
        sale_end(sale, 503, hilock_status_text(result->status));
    }
}

/* The item's name, which is a file's name too. Whether it can be a lock's is hilock's to say. */
static int take_item(struct evhttp_request *request, char *to, size_t size)
{
    struct evkeyvalq query = {0};
    const char *text = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request)), *item = NULL;
    if (text && evhttp_parse_query_str(text, &query) == 0)
        item = evhttp_find_header(&query, "item");
    if (item && (!*item || *item == '.' || strchr(item, '/') || strlen(item) >= size))
        item = NULL;
    snprintf(to, size, "%s", item ? item : "");
    evhttp_clear_headers(&query);
    return item ? 0 : -1;
}

/* A name that cannot be a lock's comes from outside: 400. All else that is refused here is our own doing, or too much load: 503. */
static void on_sell(struct evhttp_request *request, void *user)
{
    struct shop *shop = user;
    struct sale *sale = calloc(1, sizeof *sale);
    char item[200], name[220];
    hilock_status status;
    if (!sale || take_item(request, item, sizeof item) != 0) {
        free(sale);
        answer(request, sale ? 400 : 503, sale ? "not the name of an item" : "out of memory");
        return;
    }
    sale->shop = shop;
    sale->request = request;
    snprintf(sale->path, sizeof sale->path, "%.300s/%s", shop->directory, item);
    snprintf(name, sizeof name, "stock:%s", item);
    status = hilock_lock_create(&sale->lock, shop->locks, name,
                                HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = sale, .lease_ms = 5000, .hold_max_ms = 20000));
    if (status == HILOCK_OK)
        status = hilock_acquire(sale->lock, shop->wait_ms, on_acquired, sale);
    if (status == HILOCK_OK && watch_buyer(sale) != 0)
        sale_end(sale, 503, "out of memory");
    else if (status != HILOCK_OK) {
        fprintf(stderr, "refused: %s\n", hilock_client_refusal(shop->locks));
        sale_end(sale, status == HILOCK_BAD_NAME ? 400 : 503, hilock_status_text(status));
    }
}

static void list(const struct hilock_lock_info *info, void *user)
{
    evbuffer_add_printf(user, "%s %s for %u ms\n", info->state == HILOCK_STATE_HELD ? "holds" : "waits for", info->name, info->age_ms);
}

static void on_locks(struct evhttp_request *request, void *user)
{
    struct shop *shop = user;
    struct evbuffer *body = evbuffer_new();
    if (body)
        hilock_client_each_lock(shop->locks, list, body);
    evhttp_send_reply(request, HTTP_OK, "OK", body);
    if (body)
        evbuffer_free(body);
}

static int open_door(struct shop *shop, unsigned short port)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    shop->door = evhttp_bind_socket_with_handle(shop->http, "127.0.0.1", port);
    if (!shop->door || getsockname(evhttp_bound_socket_get_fd(shop->door), (struct sockaddr *)&address, &length) != 0)
        return -1;
    evhttp_set_allowed_methods(shop->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST);
    evhttp_set_cb(shop->http, "/sell", on_sell, shop);
    evhttp_set_cb(shop->http, "/locks", on_locks, shop);
    printf("http://127.0.0.1:%d\n", ntohs(address.sin_port));
    return fflush(stdout);
}

/* Every lock is given back. The last answers still leave. */
static void on_closed(void *user)
{
    static const struct timeval moment = {0, 100000};
    struct shop *shop = user;
    shop->locks = NULL;
    event_base_loopexit(shop->base, &moment);
}

static void on_term(evutil_socket_t fd, short what, void *user)
{
    struct shop *shop = user;
    (void)fd, (void)what;
    (void)hilock_client_close(shop->locks, shop->door ? 5000 : 0, on_closed, shop);
    if (shop->door)
        evhttp_del_accept_socket(shop->http, shop->door);
    shop->door = NULL;
}

int main(int argc, char **argv)
{
    struct shop shop = {.base = event_base_new(), .directory = argc > 1 ? argv[1] : "."};
    /* Two priorities: hilock takes the first, so after a pause of this host on_lost runs before a payment's timer. */
    shop.http = shop.base && event_base_priority_init(shop.base, 2) == 0 ? evhttp_new(shop.base) : NULL;
    const int payment_ms = argc > 4 ? atoi(argv[4]) : 10;
    struct hilock_error error = {"out of memory"};
    shop.payment = (struct timeval){payment_ms / 1000, payment_ms % 1000 * 1000};
    shop.wait_ms = argc > 5 ? (uint32_t)atoi(argv[5]) : 1000;
    signal(SIGPIPE, SIG_IGN); /* for the buyers' sockets; hilock's raise none */
    if (!shop.http || hilock_client_open_libevent(&shop.locks, shop.base,
                                             HILOCK_CLIENT_OPTIONS(.url = argc > 2 ? argv[2] : NULL, .label = "shop", .on_log = hilock_log_stderr),
                                             &error) != HILOCK_OK)
        return fprintf(stderr, "%s: %s\n", argv[0], error.text), 1;
    if (open_door(&shop, (unsigned short)(argc > 3 ? atoi(argv[3]) : 0)) != 0)
        return fprintf(stderr, "%s: cannot listen: %s\n", argv[0], strerror(errno)), 1;
    shop.on_term = evsignal_new(shop.base, SIGTERM, on_term, &shop);
    if (!shop.on_term || event_add(shop.on_term, NULL) != 0)
        return fprintf(stderr, "%s: out of memory\n", argv[0]), 1;
    event_base_dispatch(shop.base);
    event_free(shop.on_term);
    evhttp_free(shop.http);
    event_base_free(shop.base);
    return 0;
}
