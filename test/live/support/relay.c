/* SPDX-License-Identifier: BSD-3-Clause */
/* relay - see relay.h. */
#include "relay.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "check.h"
#include "server.h"

struct relayed {
    LIST_ENTRY(relayed) entry;
    struct bufferevent *client, *server;
    const struct server *to;
};

struct relay {
    struct event_base *base;
    struct evconnlistener *listener;
    const struct server *to;
    unsigned accepted;
    int port;
    LIST_HEAD(, relayed) list;
};

static void relayed_end(struct relayed *relayed)
{
    LIST_REMOVE(relayed, entry);
    bufferevent_free(relayed->client);
    bufferevent_free(relayed->server);
    free(relayed);
}

static void on_bytes(struct bufferevent *from, void *user)
{
    struct relayed *relayed = user;
    bufferevent_write_buffer(from == relayed->client ? relayed->server : relayed->client, bufferevent_get_input(from));
}

static void on_end(struct bufferevent *from, short what, void *user)
{
    (void)from;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        relayed_end(user);
}

static void begin(struct bufferevent *link, struct relayed *relayed)
{
    CHECK(link && bufferevent_priority_set(link, 0) == 0);
    bufferevent_setcb(link, on_bytes, NULL, on_end, relayed);
    CHECK(bufferevent_enable(link, EV_READ | EV_WRITE) == 0);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from, int length, void *user)
{
    struct relay *relay = user;
    struct relayed *relayed = calloc(1, sizeof *relayed);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)listener;
    (void)from;
    (void)length;
    CHECK(relayed != NULL);
    relay->accepted++;
    relayed->to = relay->to;
    LIST_INSERT_HEAD(&relay->list, relayed, entry);
    relayed->client = bufferevent_socket_new(relay->base, fd, BEV_OPT_CLOSE_ON_FREE);
    relayed->server = bufferevent_socket_new(relay->base, -1, BEV_OPT_CLOSE_ON_FREE);
    begin(relayed->client, relayed);
    begin(relayed->server, relayed);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", relay->to->socket);
    (void)bufferevent_socket_connect(relayed->server, (struct sockaddr *)&address, sizeof address); /* else on_end */
}

struct relay *relay_open(struct event_base *base, const char *host, int port, const struct server *to)
{
    struct relay *relay = calloc(1, sizeof *relay);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t length = sizeof address;
    CHECK(relay != NULL && inet_pton(AF_INET, host, &address.sin_addr) == 1);
    *relay = (struct relay){.base = base, .to = to};
    LIST_INIT(&relay->list);
    signal(SIGPIPE, SIG_IGN); /* a bufferevent writes to who has gone */
    relay->listener = evconnlistener_new_bind(base, on_accept, relay, LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, -1,
                                              (struct sockaddr *)&address, sizeof address);
    CHECK(relay->listener && getsockname(evconnlistener_get_fd(relay->listener), (struct sockaddr *)&address, &length) == 0);
    relay->port = ntohs(address.sin_port);
    return relay;
}

int relay_port(const struct relay *relay) { return relay->port; }
void relay_switch(struct relay *relay, const struct server *to) { relay->to = to; }
unsigned relay_accepted(const struct relay *relay) { return relay->accepted; }

unsigned relay_open_to(const struct relay *relay, const struct server *server)
{
    const struct relayed *relayed;
    unsigned count = 0;
    LIST_FOREACH(relayed, &relay->list, entry)
        count += relayed->to == server;
    return count;
}

void relay_close(struct relay *relay)
{
    while (!LIST_EMPTY(&relay->list))
        relayed_end(LIST_FIRST(&relay->list));
    evconnlistener_free(relay->listener);
    free(relay);
}
