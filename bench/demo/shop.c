/* SPDX-License-Identifier: BSD-3-Clause */
/* shop.c - a shop: an HTTP server on libevent, with hilock embedded, that sells from the shared stock. usage:
 * hilock-demo-shop NAME PREFIX [--no-lock] [--plan NAME] [--story FILE]
 * (HILOCK_URL: the server; its password does not belong into an argument)
 *
 * One event_base carries it all: the HTTP server, the lock client, the till's own hiredis connection, the sales'
 * timers. It prints "open PORT UUID" once it listens (on a free loopback port; UUID begins every holder this process
 * puts into the store), and after that only lines for a reader. SIGTERM closes it: no new sales, waiting ones end with
 * 503, those that hold their lock are finished, and the exit status is 0. */
#include "shop.h"

#include "plan.h"
#include "story.h"
#include "till.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/http.h>
#include <getopt.h>
#include <hilock/adapters/libevent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end_loop_when_done(struct shop *shop)
{
    if (shop->is_closing && !shop->locks && shop->sales == 0)
        event_base_loopexit(shop->base, NULL);
}

void shop_sale_ended(struct shop *shop)
{
    shop->sales--;
    end_loop_when_done(shop);
}

static void on_closed(void *user)
{
    struct shop *shop = user;
    shop->locks = NULL;
    end_loop_when_done(shop);
}

static void on_terminate(evutil_socket_t signal_number, short what, void *user)
{
    struct shop *shop = user;
    (void)signal_number, (void)what;
    if (shop->is_closing)
        return;
    shop->is_closing = true;
    hilock_libevent_metrics_free(shop->page);
    shop->page = NULL;
    if (shop->locks)
        hilock_client_close(shop->locks, shop->plan->lease_ms, on_closed, shop);
    end_loop_when_done(shop);
}

static void on_till_gone(void *user)
{
    struct shop *shop = user;
    fprintf(stderr, "the till's connection is gone: closed\n");
    on_terminate(SIGTERM, 0, shop);
}

/* A free loopback port; 0: none. */
static unsigned listen_anywhere(struct evhttp *http)
{
    struct evhttp_bound_socket *bound = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    if (!bound || getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&address, &length) != 0)
        return 0;
    return ntohs(address.sin_port);
}

/* Each step of each lock, as hilock saw it. */
static void on_trace(const struct hilock_trace *trace, void *user)
{
    static const char *const steps[] = {
        [HILOCK_TRACE_ACQUIRE] = "acquire", [HILOCK_TRACE_WAIT] = "wait", [HILOCK_TRACE_GRANT] = "grant",
        [HILOCK_TRACE_FAILED] = "failed",   [HILOCK_TRACE_LOSS] = "loss", [HILOCK_TRACE_RELEASE] = "release",
        [HILOCK_TRACE_HANDOFF] = "handoff", [HILOCK_TRACE_RENEW] = "renew"};
    const struct shop *shop = user;
    if (trace->step < sizeof steps / sizeof *steps && steps[trace->step] && trace->lock_user)
        sale_tell(shop, trace->lock_user, steps[trace->step], trace->fencing_token);
}

static int open_locks(struct shop *shop, const char *url, const char *prefix)
{
    struct hilock_error error;
    char label[32];
    snprintf(label, sizeof label, "shop-%s", shop->name);
    if (hilock_client_open_libevent(&shop->locks, shop->base,
                                    HILOCK_CLIENT_OPTIONS(.url = url, .label = label, .name_prefix = prefix,
                                                          .lease_ms = shop->plan->lease_ms,
                                                          .log_level = HILOCK_LOG_ERROR,
                                                          .on_log = hilock_log_stderr,
                                                          .on_trace = shop->story ? on_trace : NULL, .user = shop),
                                    &error) == HILOCK_OK)
        return 0;
    fprintf(stderr, "no locks: %s\n", error.text);
    return -1;
}

static int serve_metrics(struct shop *shop, struct evhttp *http)
{
    const struct hilock_libevent_served served[] = {{shop->locks, shop->name}, {NULL, NULL}};
    return hilock_libevent_metrics(&shop->page, http, "/metrics", served) == HILOCK_OK ? 0 : -1;
}

static int open_shop(struct shop *shop, struct evhttp *http, const char *url, const char *prefix)
{
    unsigned port;
    shop->till = till_open(shop->base, url, prefix, shop->name, on_till_gone, shop);
    if (!shop->till || (shop->has_locks && (open_locks(shop, url, prefix) != 0 || serve_metrics(shop, http) != 0)))
        return -1;
    evhttp_set_allowed_methods(http, EVHTTP_REQ_POST | EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_cb(http, "/sell", sale_begin, shop);
    port = listen_anywhere(http);
    if (port == 0) {
        fprintf(stderr, "no free port on 127.0.0.1\n");
        return -1;
    }
    printf("open %u %s\n", port, shop->has_locks ? hilock_client_uuid(shop->locks) : "-");
    return fflush(stdout);
}

/* -1: usage, or a file that cannot be written; reported. */
static int read_arguments(struct shop *shop, int argc, char **argv)
{
    static const struct option options[] = {{"no-lock", no_argument, NULL, 'n'},
                                            {"plan", required_argument, NULL, 'p'},
                                            {"story", required_argument, NULL, 's'},
                                            {NULL, 0, NULL, 0}};
    const char *story = NULL;
    int option;
    *shop = (struct shop){.has_locks = true, .plan = &plan_crowd};
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'n')
            shop->has_locks = false;
        else if (option == 'p')
            shop->plan = plan_named(optarg);
        else if (option == 's')
            story = optarg;
        else
            shop->plan = NULL;
    }
    if (!shop->plan || argc - optind != 2) {
        fprintf(stderr, "usage: hilock-demo-shop NAME PREFIX [--no-lock] [--plan NAME] [--story FILE]\n");
        return -1;
    }
    shop->name = argv[optind];
    shop->story = story ? story_open(story, shop->name) : NULL;
    if (!story || shop->story)
        return 0;
    fprintf(stderr, "%s: %s\n", story, strerror(errno));
    return -1;
}

int main(int argc, char **argv)
{
    struct shop shop;
    const char *url = getenv("HILOCK_URL");
    struct evhttp *http;
    struct event *terminate;
    int status = 1;
    if (read_arguments(&shop, argc, argv) != 0)
        return 2;
    signal(SIGPIPE, SIG_IGN); /* for the buyers' and the till's sockets; hilock's raise none */
    srandom((unsigned)getpid());
    shop.base = event_base_new();
    http = evhttp_new(shop.base);
    terminate = evsignal_new(shop.base, SIGTERM, on_terminate, &shop);
    if (http && terminate && evsignal_add(terminate, NULL) == 0 &&
        open_shop(&shop, http, url ? url : "redis://127.0.0.1:6379", argv[optind + 1]) == 0) {
        event_base_dispatch(shop.base);
        status = 0;
    }
    if (terminate)
        event_free(terminate);
    hilock_libevent_metrics_free(shop.page);
    if (http)
        evhttp_free(http);
    hilock_client_abandon(shop.locks); /* only when the opening failed; a closed shop has none */
    till_close(shop.till);
    event_base_dispatch(shop.base); /* until the till has said goodbye */
    event_base_free(shop.base);
    libevent_global_shutdown();
    story_close(shop.story);
    return status;
}
