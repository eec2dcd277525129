/* SPDX-License-Identifier: BSD-3-Clause */
/* shop - an HTTP server that sells pieces of a stock which several such servers share, one lock for each item.
 *
 *   POST /sell?item=NAME    200 sold   409 others were faster for a whole second: ask again   410 sold out
 *                           400 no name for an item   503 no lock, or it was lost on the way: nothing is known to be sold
 *   GET /locks              what this server holds and waits for
 *
 * The stock is a file for each item, "pieces token"; to sell is to read it, wait for the payment, write it: wrong without the lock. One request
 * is one would-be holder, so it has a handle of its own. Invariant: a sale ends in sale_end, from any state, and hilock_lock_free is all
 * that this takes: it cancels, or releases, and nothing calls back after.
 * usage: shop DIRECTORY [URL [PORT]]    port 0 (default): any; it is printed */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <hilock/adapters/libevent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct shop {
    struct event_base *base;
    const char *directory;
    hilock_client *locks;
};

struct stock {
    long pieces;
    unsigned long long token; /* of the sale that wrote it */
};

struct sale { /* one request */
    struct shop *shop;
    struct evhttp_request *request; /* NULL: the buyer has gone */
    hilock_lock *lock;
    struct event *payment; /* stands for a call to somewhere */
    unsigned long long token;
    struct stock stock;
    char path[512];
};

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
    if (sale->request) {
        evhttp_connection_set_closecb(evhttp_request_get_connection(sale->request), NULL, NULL);
        answer(sale->request, code, text);
    }
    hilock_lock_free(sale->lock);
    if (sale->payment)
        event_free(sale->payment);
    free(sale);
}

static void on_gone(struct evhttp_connection *connection, void *user)
{
    struct sale *sale = user;
    (void)connection;
    sale->request = NULL;
    sale_end(sale, 0, NULL);
}

static int stock_read(const char *path, struct stock *ret_stock)
{
    FILE *file = fopen(path, "r");
    int fields = file ? fscanf(file, "%ld %llu", &ret_stock->pieces, &ret_stock->token) : 0;
    if (file)
        fclose(file);
    return fields == 2 ? 0 : -1;
}

/* The fence: a sale that was delayed until after a later one must not write over it. A database says the same in one statement
 * (UPDATE .. SET pieces = .., token = :token WHERE item = .. AND token < :token); between two calls on a file there is a gap. */
static int stock_write(const char *path, const struct stock *stock)
{
    char temporary[600];
    struct stock there;
    FILE *file;
    int is_written;
    if (stock_read(path, &there) != 0 || there.token >= stock->token)
        return -1;
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    file = fopen(temporary, "w");
    if (!file)
        return -1;
    is_written = fprintf(file, "%ld %llu\n", stock->pieces, stock->token) > 0;
    is_written = fclose(file) == 0 && is_written;
    return is_written && rename(temporary, path) == 0 ? 0 : -1;
}

/* Others may sell from here on. The payment's timer goes with the sale, so nothing is written. */
static void on_lost(const struct hilock_event *event, void *user)
{
    fprintf(stderr, "sale given up: %s\n", event->detail);
    sale_end(user, 503, "the lock was lost");
}

/* LOST: the hold was over before the release came, so another sale may have read the stock that this one then wrote. UNKNOWN: the stock is
 * written, and only the way to the store is cut; the client goes on releasing. */
static void on_released(const struct hilock_result *result, void *user)
{
    if (result->status == HILOCK_LOST)
        sale_end(user, 503, "the lock was lost");
    else
        sale_end(user, HTTP_OK, "sold");
}

static void on_paid(evutil_socket_t fd, short what, void *user)
{
    struct sale *sale = user;
    const struct stock after = {sale->stock.pieces - 1, sale->token};
    (void)fd, (void)what;
    if (hilock_lock_remaining_ms(sale->lock) == 0 || stock_write(sale->path, &after) != 0)
        sale_end(sale, 503, "not sold");
    else if (hilock_release(sale->lock, on_released, sale) != HILOCK_OK)
        sale_end(sale, 503, "the lock was lost");
}

static void sell(struct sale *sale)
{
    static const struct timeval payment = {0, 10000};
    if (stock_read(sale->path, &sale->stock) != 0 || sale->stock.pieces <= 0) {
        sale_end(sale, 410, "sold out");
        return;
    }
    sale->payment = evtimer_new(sale->shop->base, on_paid, sale);
    if (!sale->payment || evtimer_add(sale->payment, &payment) != 0)
        sale_end(sale, 503, "out of memory");
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct sale *sale = user;
    sale->token = result->fencing_token;
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
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_gone, sale);
    snprintf(sale->path, sizeof sale->path, "%.300s/%s", shop->directory, item);
    snprintf(name, sizeof name, "stock:%s", item);
    status = hilock_lock_create(&sale->lock, shop->locks, name,
                                HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = sale, .lease_ms = 5000, .hold_max_ms = 20000));
    if (status == HILOCK_OK)
        status = hilock_acquire(sale->lock, 1000, on_acquired, sale);
    if (status != HILOCK_OK) {
        fprintf(stderr, "refused: %s\n", hilock_client_refusal(shop->locks));
        sale_end(sale, status == HILOCK_BAD_NAME ? 400 : 503, hilock_status_text(status));
    }
}

static void list(const struct hilock_lock_info *info, void *user)
{
    evbuffer_add_printf(user, "%s %s for %u ms\n", info->state == HILOCK_HELD ? "holds" : "waits for", info->name, info->age_ms);
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

static int open_door(struct shop *shop, struct evhttp *http, unsigned short port)
{
    struct evhttp_bound_socket *door = evhttp_bind_socket_with_handle(http, "127.0.0.1", port);
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    if (!door || getsockname(evhttp_bound_socket_get_fd(door), (struct sockaddr *)&address, &length) != 0)
        return -1;
    evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_POST);
    evhttp_set_cb(http, "/sell", on_sell, shop);
    evhttp_set_cb(http, "/locks", on_locks, shop);
    printf("http://127.0.0.1:%d\n", ntohs(address.sin_port));
    return fflush(stdout);
}

int main(int argc, char **argv)
{
    struct shop shop = {.base = event_base_new(), .directory = argc > 1 ? argv[1] : "."};
    struct evhttp *http = shop.base ? evhttp_new(shop.base) : NULL;
    struct hilock_error error = {"out of memory"};
    signal(SIGPIPE, SIG_IGN); /* for the buyers' sockets; hilock's raise none */
    if (!http || hilock_client_open_libevent(&shop.locks, shop.base,
                                             HILOCK_CLIENT_OPTIONS(.url = argc > 2 ? argv[2] : NULL, .label = "shop", .on_log = hilock_log_stderr),
                                             &error) != HILOCK_OK)
        return fprintf(stderr, "%s: %s\n", argv[0], error.text), 1;
    if (open_door(&shop, http, (unsigned short)(argc > 3 ? atoi(argv[3]) : 0)) != 0)
        return fprintf(stderr, "%s: cannot listen: %s\n", argv[0], strerror(errno)), 1;
    return event_base_dispatch(shop.base);
}
