/* SPDX-License-Identifier: BSD-3-Clause */
/* client - see client.h. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "secret.h"

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

void client_hears(struct client *client, const char *text) { client->has_told_secret |= strstr(text, TEST_SECRET) != NULL; }

static void on_event(const struct hilock_event *event, void *user)
{
    struct client *client = user;
    client_hears(client, event->node);
    client_hears(client, event->detail);
    if (event->kind == HILOCK_EVENT_CONNECTED)
        client->connected++;
    else if (event->kind == HILOCK_EVENT_DISCONNECTED)
        client->disconnected++;
    else if (event->kind != HILOCK_EVENT_CLOCK_ANOMALY)
        client->other_events++;
}

static void on_log(hilock_log_level level, const char *line, void *user)
{
    struct client *client = user;
    if (getenv("LIVE_VERBOSE"))
        hilock_log_stderr(level, line, NULL);
    client_hears(client, line);
    client->watched_count += client->watched && strstr(line, client->watched);
    if (level > HILOCK_LOG_WARN)
        return;
    client->warnings++;
    snprintf(client->log, sizeof client->log, "%s", line);
}

static void prepare(struct client *client, struct event_base *base)
{
    static const struct timeval tick = {0, 10000};
    memset(client, 0, sizeof *client);
    client->base = base;
    client->tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);
    CHECK(client->tick && event_priority_set(client->tick, 0) == 0 && event_add(client->tick, &tick) == 0);
}

hilock_status client_try(struct client *client, const struct hilock_client_options *options, struct hilock_error *ret_error)
{
    struct hilock_client_options mine = *options;
    hilock_status status;
    mine.label = mine.label ? mine.label : "live";
    mine.on_log = on_log;
    mine.log_level = HILOCK_LOG_DEBUG;
    mine.on_event = on_event;
    mine.user = client;
    status = client->loop ? client->loop->open(&client->hilock, client->native, &mine, ret_error)
                          : hilock_client_open_libevent(&client->hilock, client->base, &mine, ret_error);
    if (status != HILOCK_OK) /* else nothing was written there */
        client_hears(client, ret_error->text);
    return status;
}

static void must_open(struct client *client, const struct hilock_client_options *options)
{
    struct hilock_error error;
    if (client_try(client, options, &error) != HILOCK_OK)
        check_fail("open refused: %s", error.text);
}

void client_open_on(struct client *client, struct event_base *base, const struct hilock_client_options *options)
{
    prepare(client, base);
    must_open(client, options);
}

void client_prepare(struct client *client)
{
    struct event_base *base = event_base_new();
    CHECK(base != NULL);
    prepare(client, base);
    client->has_own_base = 1;
}

void client_open_with(struct client *client, const struct hilock_client_options *options)
{
    client_prepare(client);
    must_open(client, options);
}

void client_open_in(struct client *client, const struct loop_runner *loop, const struct hilock_client_options *options)
{
    memset(client, 0, sizeof *client);
    client->loop = loop;
    client->native = loop->begin();
    CHECK(client->native != NULL);
    must_open(client, options);
}

void client_open(struct client *client, const char *url) { client_open_with(client, HILOCK_CLIENT_OPTIONS(.url = url)); }

void client_turn(struct client *client) { CHECK(event_base_loop(client->base, EVLOOP_NONBLOCK) >= 0); }

void client_until(struct client *client, int (*is_so)(void *arg), void *arg, const char *what)
{
    uint64_t begun_us = check_now_us();
    while (!is_so(arg)) {
        if (client->loop)
            client->loop->turn(client->native);
        else
            CHECK(event_base_loop(client->base, EVLOOP_ONCE) >= 0);
        if (check_now_us() - begun_us > (uint64_t)CHECK_PATIENCE_MS * 1000 && !is_so(arg))
            check_fail("waited %d s in vain for %s; last warning: %s", CHECK_PATIENCE_MS / 1000, what, client->log);
    }
}

static int is_connected(void *arg) { return hilock_client_is_connected(((struct client *)arg)->hilock); }

void client_connect(struct client *client) { client_until(client, is_connected, client, "a connection"); }

static int is_past(void *arg) { return check_now_us() >= *(const uint64_t *)arg; }

void client_for_ms(struct client *client, uint32_t span_ms)
{
    uint64_t until_us = check_now_us() + (uint64_t)span_ms * 1000;
    client_until(client, is_past, &until_us, "time to pass");
}

struct hilock_stats client_stats(const struct client *client)
{
    struct hilock_stats stats;
    memset(&stats, 0xa5, sizeof stats);
    stats.size = sizeof stats;
    hilock_client_stats(client->hilock, &stats);
    return stats;
}

/* Every acquire has one outcome or still waits, every grant one end or is still held. Nothing tells the password. */
static void check_balance(struct client *client)
{
    struct hilock_stats stats = client_stats(client);
    char page[32768];
    CHECK(hilock_stats_prometheus(&stats, "live", page, sizeof page) < sizeof page);
    client_hears(client, page);
    client_hears(client, hilock_client_refusal(client->hilock));
    uint64_t ended = stats.released + stats.lost_taken + stats.lost_expired + stats.lost_suspended + stats.lost_hold_max + stats.lost_closing;
    CHECK(stats.acquires == stats.granted + stats.reentered + stats.timed_out + stats.cancelled + stats.failed + stats.waiting);
    CHECK(stats.granted == ended + stats.held);
    CHECK(stats.wait.count == stats.granted + stats.timed_out + stats.cancelled + stats.failed);
    CHECK(stats.hold.count == ended);
    CHECK(stats.nodes >= 1);
    CHECK(!client->has_told_secret);
}

static void on_closed(void *user)
{
    struct client *client = user;
    client->is_closed = 1;
    client->hilock = NULL;
}

int client_has_renewed(void *client) { return client_stats(client).renewals > 0; }

static int is_closed(void *arg) { return ((struct client *)arg)->is_closed; }

void client_close(struct client *client)
{
    if (client->hilock) {
        check_balance(client);
        CHECK(hilock_client_close(client->hilock, 0, on_closed, client) == HILOCK_OK);
        client_until(client, is_closed, client, "on_closed");
    }
    if (client->tick)
        event_free(client->tick);
    client->tick = NULL;
    if (client->base && client->has_own_base) {
        CHECK(event_base_get_num_events(client->base, EVENT_BASE_COUNT_ADDED) == 0);
        event_base_free(client->base);
    }
    client->base = NULL;
    if (client->native) {
        CHECK(client->loop->is_empty(client->native));
        client->loop->end(client->native);
    }
    client->native = NULL;
}
