/* SPDX-License-Identifier: BSD-3-Clause */
/* busy URL PORT LABEL - a program whose page of statistics has something on it: buyers that want one of a few names for a
 * while, hold it, and think. It serves /metrics on loopback until its input ends. For preview.py. */
#include <event2/event.h>
#include <event2/http.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUYERS = 12, NAMES = 3, LEASE_MS = 2000, WAIT_MS = 400, HOLD_MS = 60, THINK_MS = 300 };
enum { PERMITS = 2 }; /* of the first name; the others are held alone */

struct buyer {
    hilock_client *client;
    hilock_lock *lock;
    struct event *next;
    int is_holding;
};

static void after(struct buyer *buyer, int most_ms)
{
    const struct timeval span = {0, (1 + (int)(random() % most_ms)) * 1000};
    evtimer_add(buyer->next, &span);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct buyer *buyer = user;
    buyer->is_holding = result->status == HILOCK_OK;
    after(buyer, buyer->is_holding ? HOLD_MS : THINK_MS);
}

/* A hold that was lost needs no release. */
static void on_next(evutil_socket_t fd, short what, void *user)
{
    struct buyer *buyer = user;
    (void)fd, (void)what;
    if (buyer->is_holding)
        hilock_release(buyer->lock, NULL, NULL);
    else if (hilock_acquire(buyer->lock, WAIT_MS, on_acquired, buyer) == HILOCK_OK)
        return;
    buyer->is_holding = 0;
    after(buyer, THINK_MS);
}

static void on_input(evutil_socket_t fd, short what, void *user)
{
    char byte;
    (void)what;
    if (read(fd, &byte, 1) <= 0)
        event_base_loopbreak(user);
}

int main(int argc, char **argv)
{
    static struct buyer buyers[BUYERS];
    struct event_base *base = event_base_new();
    struct evhttp *http = evhttp_new(base);
    hilock_libevent_page *page;
    hilock_client *client;
    struct hilock_error error;
    if (argc != 4 || evhttp_bind_socket(http, "127.0.0.1", (unsigned short)atoi(argv[2])) != 0)
        return 2;
    if (hilock_client_open_libevent(&client, base, HILOCK_CLIENT_OPTIONS(.url = argv[1], .lease_ms = LEASE_MS), &error) != HILOCK_OK)
        return fprintf(stderr, "%s\n", error.text), 2;
    const struct hilock_libevent_served served[] = {{client, argv[3]}, {NULL, NULL}};
    if (hilock_libevent_metrics(&page, http, "/metrics", served) != HILOCK_OK)
        return 2;
    srandom((unsigned)getpid());
    for (int i = 0; i < BUYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "item:%d", i % NAMES);
        buyers[i].next = evtimer_new(base, on_next, &buyers[i]);
        if (hilock_lock_create(&buyers[i].lock, client, name,
                               HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .holders_max = i % NAMES ? 1 : PERMITS)) != HILOCK_OK)
            return fprintf(stderr, "%s\n", hilock_client_refusal(client)), 2;
        after(&buyers[i], THINK_MS);
    }
    event_add(event_new(base, 0, EV_READ | EV_PERSIST, on_input, base), NULL);
    return event_base_dispatch(base);
}
