/* SPDX-License-Identifier: BSD-3-Clause */
/* names - see names.h. The adapter's own table, with a resolver of the test's. */
#include "names.h"

#include <arpa/inet.h>
#include <hilock/loop.h>
#include <stdlib.h>

#include "check.h"

struct query {
    struct event *event;
    hilock_resolved_fn *done;
    void *arg;
};

/* A table has no place for the test's own: there is one test at a time, with one base. */
static struct names *answers;
static struct event_base *base;

static void on_time(evutil_socket_t fd, short what, void *user)
{
    struct query query = *(struct query *)user;
    struct sockaddr_in addresses[NAMES_ADDRESSES_MAX];
    const struct sockaddr *list[NAMES_ADDRESSES_MAX];
    size_t count = 0;
    (void)fd;
    (void)what;
    for (; answers->addresses[count]; count++) {
        addresses[count] = (struct sockaddr_in){.sin_family = AF_INET};
        CHECK(inet_pton(AF_INET, answers->addresses[count], &addresses[count].sin_addr) == 1);
        list[count] = (const struct sockaddr *)&addresses[count];
    }
    event_free(query.event);
    free(user);
    query.done(count ? list : NULL, count, count ? NULL : "no such host", query.arg);
}

static void *resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg)
{
    static const struct timeval soon = {0, 1000};
    struct query *query = calloc(1, sizeof *query);
    (void)ctx;
    (void)host;
    CHECK(query != NULL);
    *query = (struct query){event_new(base, -1, 0, on_time, query), done, arg};
    CHECK(query->event && event_priority_set(query->event, 0) == 0 && event_add(query->event, &soon) == 0);
    answers->asked++;
    return query;
}

static void resolve_cancel(void *user)
{
    struct query *query = user;
    event_free(query->event);
    free(query);
}

static hilock_status open_named(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                                struct hilock_error *ret_error)
{
    struct hilock_loop loop;
    base = native;
    CHECK(hilock_libevent_loop(&loop, native) == HILOCK_OK);
    loop.resolve = resolve;
    loop.resolve_cancel = resolve_cancel;
    return hilock_client_open(ret_client, &loop, options, ret_error);
}

void names_open(struct client *client, const struct hilock_client_options *options, struct names *names)
{
    static const struct loop_runner named = {.name = "libevent, names by the test", .open = open_named};
    struct hilock_error error;
    answers = names;
    client->loop = &named;
    client->native = client->base;
    if (client_try(client, options, &error) != HILOCK_OK)
        check_fail("open refused: %s", error.text);
    client->loop = NULL;
    client->native = NULL;
}
