/* SPDX-License-Identifier: BSD-3-Clause */
/* sale.c - one sale under one lock.
 *
 *   POST /sell --> wait for the item's lock --> look at the stock --> think --> write one piece less
 *              --> answer, release
 *
 * Between look and write no other may touch that item: that is the lock's work. If the process sleeps past its lease in
 * between, no lock can help: on waking it learns of the loss, and the till refuses its token: the fence's work. A real
 * shop would give the sale up in on_lost; this one writes on purpose, like one whose write was already on its way, so
 * that the demo can show the refusal.
 *
 * Each request has a lock handle of its own. A sale has one thing under way at a time (a lock call, a till call or the
 * timer), and ends when that has called back; hilock_lock_free silences the rest. */
#include "shop.h"

#include "plan.h"
#include "story.h"
#include "till.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/util.h>
#include <stdio.h>
#include <stdlib.h>

struct sale {
    struct shop *shop;
    struct evhttp_request *request; /* NULL: answered, or the buyer hung up */
    unsigned number;                /* its place among this shop's sales, from 1 */
    hilock_lock *lock;              /* NULL: without */
    struct event *thinking;
    struct till_sale till;          /* what is written in the end */
    uint64_t lost_token;            /* not 0: reported as lost, and not yet noted in the ledger */
};

void sale_tell(const struct shop *shop, const void *sale, const char *step, uint64_t token)
{
    const struct sale *of = sale;
    story_tell(shop->story, step, "\"sale\": %u, \"item\": %u, \"token\": %llu, \"piece\": %lld", of->number,
               of->till.item, (unsigned long long)token, of->till.piece);
}

static void tell(const struct sale *sale, const char *step)
{
    sale_tell(sale->shop, sale, step, sale->till.token);
}

static void answer(struct sale *sale, int code, const char *reason)
{
    struct evbuffer *body;
    if (!sale->request)
        return;
    body = evbuffer_new();
    if (body)
        evbuffer_add_printf(body, "item %u: %s\n", sale->till.item, reason);
    evhttp_connection_set_closecb(evhttp_request_get_connection(sale->request), NULL, NULL);
    evhttp_send_reply(sale->request, code, reason, body);
    sale->request = NULL;
    if (body)
        evbuffer_free(body);
}

static void end(struct sale *sale)
{
    struct shop *shop = sale->shop;
    hilock_lock_free(sale->lock);
    if (sale->thinking)
        event_free(sale->thinking);
    free(sale);
    shop_sale_ended(shop);
}

static void fail(struct sale *sale, int code, const char *reason)
{
    answer(sale, code, reason);
    end(sale);
}

static void on_noted(long long noted, void *user)
{
    (void)noted;
    end(user);
}

/* The last step of every sale that held the lock. The loss is written down here, where nothing else of this sale is
 * under way. */
static void finish(struct sale *sale)
{
    struct till_sale *till = &sale->till;
    if (sale->lost_token == 0 || till_note_lost(sale->shop->till, till->item, sale->lost_token, on_noted, sale) != 0)
        end(sale);
}

static void on_lost(const struct hilock_event *event, void *user)
{
    struct sale *sale = user;
    sale->lost_token = event->fencing_token;
    fprintf(stderr, "told the loss of item %u: %s\n", sale->till.item, event->detail);
}

static void on_released(const struct hilock_result *result, void *user)
{
    struct sale *sale = user;
    if (result->status == HILOCK_LOST) { /* reported here instead of by on_lost */
        sale->lost_token = sale->till.token;
        fprintf(stderr, "told the loss of item %u: %s\n", sale->till.item, result->detail);
    }
    finish(sale);
}

static void release(struct sale *sale)
{
    if (!sale->lock || hilock_release(sale->lock, on_released, sale) != HILOCK_OK) /* NOT_HELD: on_lost has run */
        finish(sale);
}

static void on_sold(long long verdict, void *user)
{
    struct sale *sale = user;
    if (verdict != TILL_FAILED)
        tell(sale, verdict == 1 ? "sold" : "refused");
    if (verdict == 1)
        answer(sale, HTTP_OK, "Sold");
    else
        answer(sale, HTTP_SERVUNAVAIL, verdict == TILL_STALE ? "Too late, the token is stale" : "No till");
    release(sale);
}

static void on_thought(evutil_socket_t fd, short what, void *user)
{
    struct sale *sale = user;
    (void)fd, (void)what;
    if (till_sell(sale->shop->till, &sale->till, on_sold, sale) != 0)
        fail(sale, HTTP_SERVUNAVAIL, "No till");
}

static void on_looked(long long left, void *user)
{
    struct sale *sale = user;
    const struct plan *plan = sale->shop->plan;
    long think_ms = plan->think_min_ms + random() % (plan->think_max_ms - plan->think_min_ms + 1);
    const struct timeval think_time = {0, think_ms * 1000};
    if (left <= 0) {
        answer(sale, left == 0 ? 410 : HTTP_SERVUNAVAIL, left == 0 ? "Sold out" : "No till");
        release(sale);
        return;
    }
    sale->till.piece = left;
    tell(sale, "looked");
    sale->thinking = evtimer_new(sale->shop->base, on_thought, sale);
    if (!sale->thinking || evtimer_add(sale->thinking, &think_time) != 0)
        fail(sale, HTTP_SERVUNAVAIL, "Out of memory");
}

static void look(struct sale *sale)
{
    if (till_look(sale->shop->till, sale->till.item, sale->till.token, on_looked, sale) != 0)
        fail(sale, HTTP_SERVUNAVAIL, "No till");
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct sale *sale = user;
    if (result->status == HILOCK_OK) {
        sale->till.token = result->fencing_token;
        sale->till.waited_ms = result->waited_ms;
        look(sale);
    } else if (result->status == HILOCK_TIMED_OUT) {
        fail(sale, 409, "Busy");
    } else {
        if (result->status != HILOCK_CLOSED)
            fprintf(stderr, "no lock: %s\n", result->detail);
        fail(sale, HTTP_SERVUNAVAIL, hilock_status_text(result->status));
    }
}

static void ask_for_lock(struct sale *sale)
{
    hilock_client *locks = sale->shop->locks;
    const struct plan *plan = sale->shop->plan;
    char name[32];
    hilock_status status;
    snprintf(name, sizeof name, "item:%u", sale->till.item);
    status = hilock_lock_create(&sale->lock, locks, name,
                                HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = sale,
                                                    .hold_max_ms = 4 * plan->lease_ms));
    if (status == HILOCK_OK)
        status = hilock_acquire(sale->lock, plan->wait_ms, on_acquired, sale);
    if (status != HILOCK_OK) {
        if (status != HILOCK_CLOSED)
            fprintf(stderr, "no lock: %s\n", hilock_client_refusal(locks));
        fail(sale, HTTP_SERVUNAVAIL, hilock_status_text(status));
    }
}

/* The buyer hung up. A sale that only waits gives its place up at once; one under way goes on to its end,
 * unanswered. */
static void on_gone(struct evhttp_connection *connection, void *user)
{
    struct sale *sale = user;
    (void)connection;
    sale->request = NULL;
    if (hilock_lock_state(sale->lock) == HILOCK_STATE_WAITING)
        end(sale);
}

static int item_of(struct evhttp_request *request)
{
    struct evkeyvalq query = {0};
    const char *uri_query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request)), *text = NULL;
    long item = -1;
    char *rest = NULL;
    if (uri_query && evhttp_parse_query_str(uri_query, &query) == 0)
        text = evhttp_find_header(&query, "item");
    if (text && *text)
        item = strtol(text, &rest, 10);
    if (!rest || *rest || item < 0 || item >= ITEMS_MAX)
        item = -1;
    evhttp_clear_headers(&query);
    return (int)item;
}

void sale_begin(struct evhttp_request *request, void *user)
{
    struct shop *shop = user;
    int item = item_of(request);
    struct sale *sale = item < 0 || shop->is_closing ? NULL : calloc(1, sizeof *sale);
    if (!sale) {
        evhttp_send_error(request, item < 0 ? HTTP_BADREQUEST : HTTP_SERVUNAVAIL, NULL);
        return;
    }
    sale->shop = shop;
    sale->request = request;
    sale->till.item = (unsigned)item;
    shop->sales++;
    sale->number = ++shop->begun;
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_gone, sale);
    if (shop->has_locks)
        ask_for_lock(sale);
    else
        look(sale);
}
