/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - the buyers: an HTTP client each, all on the driver's event_base.
 *
 *   pause --> POST /sell?item=(any that is not known to be sold out) --> answer, or the connection breaks --> pause
 *
 * Each is a regular customer of one shop and keeps its connection; while the shop is closed it comes back every 100 ms,
 * and when the shop opens again on another port it goes there. It has one request under way at most.
 * Connections are freed in the pause, by the timer, never inside evhttp's callback, where evhttp still uses them. */
#include "load.h"

#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAUSE_MS = 2, CLOSED_PAUSE_MS = 100, PATIENCE_S = 30 };

struct buyer {
    struct load *load;
    const struct branch *shop;
    struct evhttp_connection *connection; /* NULL: none */
    unsigned port;                        /* where the connection leads; 0: it broke */
    unsigned item;
    struct event *pause;
};

struct load {
    struct event_base *base;
    const struct plan *plan;
    struct load_figures figures;
    bool is_sold_out[ITEMS_MAX];
    struct buyer buyers[BUYERS_MAX];
};

static void rest(struct buyer *buyer, long pause_ms)
{
    const struct timeval pause = {0, pause_ms * 1000};
    evtimer_add(buyer->pause, &pause);
}

static void on_answer(struct evhttp_request *request, void *user)
{
    struct buyer *buyer = user;
    struct load_figures *figures = &buyer->load->figures;
    int code = request ? evhttp_request_get_response_code(request) : 0;
    figures->waiting[buyer->item]--;
    if (code == 0) {
        figures->hung_up++;
        buyer->port = 0;
    } else if (code == HTTP_OK) {
        figures->sold++;
    } else if (code == 410) {
        figures->sold_out++;
        buyer->load->is_sold_out[buyer->item] = true;
    } else if (code == HTTP_SERVUNAVAIL) {
        figures->too_late++;
    } else {
        figures->other++;
    }
    rest(buyer, code == HTTP_OK || code == 410 ? PAUSE_MS : CLOSED_PAUSE_MS);
}

/* False: everything is sold out. */
static bool choose_item(struct buyer *buyer)
{
    unsigned items = buyer->load->plan->items, first = (unsigned)random() % items;
    for (unsigned i = 0; i < items; i++) {
        buyer->item = (first + i) % items;
        if (!buyer->load->is_sold_out[buyer->item])
            return true;
    }
    return false;
}

static bool connect_to_shop(struct buyer *buyer)
{
    if (buyer->connection && buyer->port == buyer->shop->port)
        return true;
    if (buyer->connection)
        evhttp_connection_free(buyer->connection);
    buyer->port = buyer->shop->port;
    buyer->connection = evhttp_connection_base_new(buyer->load->base, NULL, "127.0.0.1", (unsigned short)buyer->port);
    if (buyer->connection)
        evhttp_connection_set_timeout(buyer->connection, PATIENCE_S);
    return buyer->connection;
}

static bool ask(struct buyer *buyer)
{
    char path[32];
    struct evhttp_request *request = evhttp_request_new(on_answer, buyer);
    if (!request)
        return false;
    snprintf(path, sizeof path, "/sell?item=%u", buyer->item);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Host", "127.0.0.1");
    buyer->load->figures.waiting[buyer->item]++; /* before the call: a refused connection answers inside it */
    if (evhttp_make_request(buyer->connection, request, EVHTTP_REQ_POST, path) == 0)
        return true;
    buyer->load->figures.waiting[buyer->item]--; /* evhttp has freed the request */
    return false;
}

static void on_pause_over(evutil_socket_t fd, short what, void *user)
{
    struct buyer *buyer = user;
    (void)fd, (void)what;
    if (!choose_item(buyer))
        return;
    if (buyer->shop->port == 0 || !connect_to_shop(buyer) || !ask(buyer))
        rest(buyer, CLOSED_PAUSE_MS);
}

struct load *load_start(struct event_base *base, const struct branch *branches, const struct plan *plan)
{
    struct load *load = calloc(1, sizeof *load);
    if (!load)
        return NULL;
    load->base = base;
    load->plan = plan;
    for (unsigned i = 0; i < plan->buyers; i++) {
        struct buyer *buyer = &load->buyers[i];
        *buyer = (struct buyer){.load = load, .shop = &branches[i % SHOPS]};
        buyer->pause = evtimer_new(base, on_pause_over, buyer);
        if (!buyer->pause) {
            load_free(load);
            return NULL;
        }
        rest(buyer, PAUSE_MS);
    }
    return load;
}

bool load_is_done(const struct load *load)
{
    for (unsigned item = 0; item < load->plan->items; item++)
        if (!load->is_sold_out[item] || load->figures.waiting[item] > 0)
            return false;
    return true;
}

const struct load_figures *load_figures(const struct load *load)
{
    return &load->figures;
}

void load_quit(struct load *load)
{
    for (unsigned i = 0; i < load->plan->buyers; i++) {
        struct buyer *buyer = &load->buyers[i];
        if (buyer->connection)
            evhttp_connection_free(buyer->connection); /* may call back, and so start the pause */
        buyer->connection = NULL;
        if (buyer->pause)
            event_free(buyer->pause);
        buyer->pause = NULL;
    }
}

void load_free(struct load *load)
{
    if (!load)
        return;
    load_quit(load);
    free(load);
}
