/* SPDX-License-Identifier: BSD-3-Clause */
/* page [print] - the page of hilock_libevent_metrics as a scrape over loopback gets it: all clients on it, and what goes wrong is
 * answered. `print` writes the page and asks nothing of it. */
#include <hilock/adapters/libevent.h>
#include <hilock/loop.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EXPECT(claim)                                                     \
    do {                                                                  \
        if (!(claim)) {                                                   \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim); \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

struct fixture {
    struct event_base *base;
    struct evhttp *http;
    int port, code;
    char *body, type[80];
    hilock_client *clients[2];
};

static void on_answer(struct evhttp_request *request, void *arg)
{
    struct fixture *fixture = arg;
    EXPECT(request);
    struct evbuffer *body = evhttp_request_get_input_buffer(request);
    size_t length = evbuffer_get_length(body);
    const char *type = evhttp_find_header(evhttp_request_get_input_headers(request), "Content-Type");
    fixture->code = evhttp_request_get_response_code(request);
    snprintf(fixture->type, sizeof fixture->type, "%s", type ? type : "");
    free(fixture->body);
    fixture->body = calloc(1, length + 1);
    EXPECT(fixture->body);
    evbuffer_remove(body, fixture->body, length);
    event_base_loopbreak(fixture->base);
}

static const char *ask(struct fixture *fixture, enum evhttp_cmd_type command, const char *path)
{
    struct evhttp_connection *connection = evhttp_connection_base_new(fixture->base, NULL, "127.0.0.1", (unsigned short)fixture->port);
    struct evhttp_request *request = evhttp_request_new(on_answer, fixture);
    fixture->code = 0;
    EXPECT(evhttp_make_request(connection, request, command, path) == 0);
    while (!fixture->code)
        event_base_dispatch(fixture->base);
    evhttp_connection_free(connection);
    return fixture->body;
}

static hilock_client *open_client(struct fixture *fixture)
{
    hilock_client *client;
    EXPECT(hilock_client_open_libevent(&client, fixture->base, HILOCK_CLIENT_OPTIONS(.url = "unix:///nowhere/socket"), NULL) == HILOCK_OK);
    return client;
}

static void on_closed(void *arg) { event_base_loopbreak(((struct fixture *)arg)->base); }

static unsigned count(const char *text, const char *part)
{
    unsigned found = 0;
    while ((text = strstr(text, part))) {
        found++;
        text += strlen(part);
    }
    return found;
}

static void *adopt(void *client) { return hilock_client_adopt(client) == HILOCK_OK ? client : NULL; }

/* A client of another thread is on the page, too. */
static void play_foreign(struct fixture *fixture)
{
    pthread_t thread;
    void *adopted = NULL;
    EXPECT(pthread_create(&thread, NULL, adopt, fixture->clients[1]) == 0 && pthread_join(thread, &adopted) == 0 && adopted);
    EXPECT(hilock_client_is_connected(fixture->clients[1]) == 0 && strstr(hilock_client_refusal(fixture->clients[1]), "another thread"));
    EXPECT(count(ask(fixture, EVHTTP_REQ_GET, "/metrics"), "hilock_acquires_total{client=\"# HELP x\"} 0\n") == 1);
    EXPECT(hilock_client_adopt(fixture->clients[1]) == HILOCK_OK);
}

static void play_page(struct fixture *fixture)
{
    const char *page = ask(fixture, EVHTTP_REQ_GET, "/metrics");
    EXPECT(fixture->code == 200 && strncmp(fixture->type, "text/plain; version=0.0.4", 25) == 0);
    EXPECT(count(page, "hilock_acquires_total{client=\"shop\"} 0\n") == 1 && count(page, "hilock_acquires_total{client=\"# HELP x\"} 0\n") == 1);
    EXPECT(count(page, "client=\"shop\"") == count(page, "client=\"# HELP x\"") && count(page, "\n\n") == 0);
    EXPECT(strstr(page, "# HELP hilock_granted_total") > strstr(page, "hilock_acquires_total{client=\"# HELP x\"}"));
    ask(fixture, EVHTTP_REQ_POST, "/metrics");
    EXPECT(fixture->code == 405);
    ask(fixture, EVHTTP_REQ_HEAD, "/metrics");
    EXPECT(fixture->code == 200);
}

/* A client that ends leaves the page by itself, and no order of ends does harm. A sanitizer or valgrind looks on. */
static void play_client_first(struct fixture *fixture)
{
    hilock_libevent_page *page;
    hilock_client *one = open_client(fixture), *other = open_client(fixture);
    const struct hilock_libevent_served served[] = {{one, "one"}, {other, "other"}, {NULL, NULL}};
    EXPECT(hilock_libevent_metrics(&page, fixture->http, "/ends", served) == HILOCK_OK);
    hilock_client_abandon(one);
    EXPECT(count(ask(fixture, EVHTTP_REQ_GET, "/ends"), "client=\"one\"") == 0 && fixture->code == 200);
    EXPECT(count(fixture->body, "hilock_acquires_total{client=\"other\"} 0\n") == 1);
    EXPECT(hilock_client_close(other, 0, on_closed, fixture) == HILOCK_OK);
    event_base_dispatch(fixture->base);
    EXPECT(*ask(fixture, EVHTTP_REQ_GET, "/ends") == '\0' && fixture->code == 200);
    hilock_libevent_metrics_drop(page, one);
    hilock_libevent_metrics_free(page);
}

/* ---- a client of another thread that ends during a scrape ---- */

static struct ending {
    pthread_t server;
    uint64_t (*now_us)(const void *clock);
    atomic_int is_read, is_ending, is_over, was_over; /* was_over: the client was gone before its numbers were read */
} ending;

static void until(atomic_int *flag)
{
    while (!atomic_load(flag))
        usleep(100);
}

/* The page reads the clock of a client. While it does, the client ends, which needs some time if nothing stops it. */
static uint64_t slow_now_us(const void *clock)
{
    if (atomic_load(&ending.is_read) != 1 || !pthread_equal(pthread_self(), ending.server))
        return ending.now_us(clock);
    atomic_store(&ending.is_read, 2);
    until(&ending.is_ending);
    usleep(20000);
    atomic_store(&ending.was_over, atomic_load(&ending.is_over));
    return ending.now_us(clock);
}

static void *end_while_read(void *client)
{
    EXPECT(hilock_client_adopt(client) == HILOCK_OK);
    atomic_store(&ending.is_read, 1);
    while (atomic_load(&ending.is_read) != 2)
        usleep(100);
    atomic_store(&ending.is_ending, 1);
    hilock_client_abandon(client);
    atomic_store(&ending.is_over, 1);
    return NULL;
}

static void play_end_elsewhere(struct fixture *fixture)
{
    struct event_base *base = event_base_new();
    struct hilock_loop loop;
    hilock_libevent_page *page;
    hilock_client *client;
    pthread_t thread;
    EXPECT(hilock_libevent_loop(&loop, base) == HILOCK_OK);
    ending.server = pthread_self();
    ending.now_us = loop.now_us;
    loop.now_us = slow_now_us;
    EXPECT(hilock_client_open(&client, &loop, HILOCK_CLIENT_OPTIONS(.url = "unix:///nowhere/socket"), NULL) == HILOCK_OK);
    const struct hilock_libevent_served served[] = {{client, "elsewhere"}, {NULL, NULL}};
    EXPECT(hilock_libevent_metrics(&page, fixture->http, "/elsewhere", served) == HILOCK_OK);
    EXPECT(pthread_create(&thread, NULL, end_while_read, client) == 0);
    until(&ending.is_read);
    EXPECT(count(ask(fixture, EVHTTP_REQ_GET, "/elsewhere"), "hilock_acquires_total{client=\"elsewhere\"} 0\n") == 1);
    EXPECT(pthread_join(thread, NULL) == 0 && !atomic_load(&ending.was_over));
    EXPECT(*ask(fixture, EVHTTP_REQ_GET, "/elsewhere") == '\0' && fixture->code == 200);
    hilock_libevent_metrics_free(page);
    event_base_free(base);
}

static void play_end(struct fixture *fixture, hilock_libevent_page *page)
{
    hilock_libevent_metrics_drop(page, fixture->clients[1]);
    hilock_libevent_metrics_drop(page, fixture->clients[1]);
    hilock_client_abandon(fixture->clients[1]);
    const char *text = ask(fixture, EVHTTP_REQ_GET, "/metrics");
    EXPECT(count(text, "client=\"# HELP x\"") == 0 && count(text, "hilock_acquires_total{client=\"shop\"}") == 1);
    hilock_libevent_metrics_drop(page, fixture->clients[0]);
    EXPECT(*ask(fixture, EVHTTP_REQ_GET, "/metrics") == '\0' && fixture->code == 200);
    hilock_libevent_metrics_free(page);
    hilock_libevent_metrics_free(NULL);
    hilock_libevent_metrics_drop(NULL, fixture->clients[0]);
    ask(fixture, EVHTTP_REQ_GET, "/metrics");
    EXPECT(fixture->code == 404);
    hilock_client_abandon(fixture->clients[0]);
}

static void play_refusals(struct fixture *fixture)
{
    hilock_libevent_page *page = NULL;
    const struct hilock_libevent_served none[] = {{NULL, NULL}}, twins[] = {{fixture->clients[0], NULL}, {fixture->clients[1], ""}, {NULL, NULL}};
    EXPECT(hilock_libevent_metrics(&page, fixture->http, "/other", none) == HILOCK_INVALID);
    EXPECT(hilock_libevent_metrics(&page, fixture->http, "/other", twins) == HILOCK_INVALID);
    EXPECT(hilock_libevent_metrics(&page, fixture->http, "other", twins + 1) == HILOCK_INVALID);
    EXPECT(hilock_libevent_metrics(NULL, fixture->http, "/other", twins + 1) == HILOCK_INVALID);
    EXPECT(hilock_libevent_metrics(&page, NULL, "/other", twins + 1) == HILOCK_INVALID);
    EXPECT(hilock_libevent_metrics(&page, fixture->http, "/metrics", twins + 1) == HILOCK_IN_USE && page == NULL);
}

static void begin(struct fixture *fixture)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    fixture->base = event_base_new();
    fixture->http = evhttp_new(fixture->base);
    struct evhttp_bound_socket *bound = evhttp_bind_socket_with_handle(fixture->http, "127.0.0.1", 0);
    EXPECT(bound && getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&address, &length) == 0);
    fixture->port = ntohs(address.sin_port);
    for (int i = 0; i < 2; i++)
        fixture->clients[i] = open_client(fixture);
}

int main(int argc, char **argv)
{
    struct fixture fixture = {.port = 0};
    hilock_libevent_page *page;
    begin(&fixture);
    const struct hilock_libevent_served served[] = {{fixture.clients[0], "shop"}, {fixture.clients[1], argc > 1 ? "jobs" : "# HELP x"}, {NULL, NULL}};
    EXPECT(hilock_libevent_metrics(&page, fixture.http, "/metrics", served) == HILOCK_OK);
    if (argc > 1 && strcmp(argv[1], "print") == 0)
        fputs(ask(&fixture, EVHTTP_REQ_GET, "/metrics"), stdout);
    else
        play_page(&fixture), play_foreign(&fixture), play_refusals(&fixture), play_client_first(&fixture), play_end_elsewhere(&fixture);
    play_end(&fixture, page);
    evhttp_free(fixture.http);
    event_base_free(fixture.base);
    free(fixture.body);
    return 0;
}
