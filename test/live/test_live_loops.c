/* SPDX-License-Identifier: BSD-3-Clause */
/* Each loop that has an adapter bears a client's whole life: a host name, a grant, a wait, links that carry nothing,
 * a close that leaves the loop empty. libevent is one of them here; all other live tests are played on it alone. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/child.h"
#include "support/fixture.h"
#include "support/secret.h"

static const struct loop_runner *const loops[] = {
    NULL, /* libevent */
#ifdef LIVE_LIBUV
    &loop_libuv,
#endif
#ifdef LIVE_LIBEV
    &loop_libev,
#endif
#ifdef LIVE_SD_EVENT
    &loop_sd_event,
#endif
};

static const struct loop_runner *loop; /* the one that is played on */

/* LIFE(life) { ... } is a test on each of the loops. */
#define LIFE(life)                                                                     \
    static void on_one_##life(struct fixture *fixture);                                \
    LIVE_WITH_PORT(life)                                                               \
    {                                                                                  \
        for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {                    \
            loop = loops[i];                                                           \
            print_message("%s\n", loop ? loop->name : "libevent");                     \
            on_one_##life(fixture);                                                    \
            fixture_check_clean(fixture->redis);                                       \
        }                                                                              \
    }                                                                                  \
    static void on_one_##life(struct fixture *fixture)

static void begin(struct client *client, const struct hilock_client_options *options)
{
    if (loop)
        client_open_in(client, loop, options);
    else
        client_open_with(client, options);
}

LIFE(by_host_name)
{
    struct client client;
    struct handle stock;
    char url[128];
    snprintf(url, sizeof url, "redis://" LIVE_LOGIN "localhost:%d", fixture->server->port);
    begin(&client, HILOCK_CLIENT_OPTIONS(.url = url));
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    client_end(&client);
}

/* First in vain, then until the release wakes it. */
LIFE(wait_and_be_woken)
{
    struct client ours, theirs;
    struct handle held, wanted;
    begin(&ours, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    client_open(&theirs, fixture->server->url);
    handle_open(&held, &theirs, "stock:42", NULL);
    handle_open(&wanted, &ours, "stock:42", NULL);
    assert_int_equal(handle_acquire(&held, 20000), HILOCK_OK);
    client_connect(&ours);
    assert_int_equal(handle_acquire(&wanted, 500), HILOCK_TIMED_OUT);
    handle_ask(&wanted, HILOCK_FOREVER);
    handle_until(&wanted, &wanted.waiting, 2, "WAITING");
    assert_int_equal(handle_give(&held), HILOCK_OK);
    handle_until(&wanted, &wanted.acquired, 2, "the grant");
    assert_int_equal(wanted.acquired.status, HILOCK_OK);
    assert_true(client_stats(&ours).wakeups > 0);
    client_end(&ours);
    client_end(&theirs);
}

static int is_found_out(void *arg) { return ((const struct client *)arg)->disconnected > 0; }

/* The server stands still: what is sent is never answered. Then all links end at once. */
LIFE(links_that_carry_nothing)
{
    struct client client;
    struct handle stock;
    begin(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .keepalive_ms = 300, .command_timeout_ms = 500));
    client_connect(&client);
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 20000));
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    server_suspend(fixture->server);
    client_until(&client, is_found_out, &client, "the link to be given up");
    server_resume(fixture->server);
    client_connect(&client);
    redis_do(fixture->redis, "CLIENT KILL USER default SKIPME yes");
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    assert_int_equal(stock.lost.count, 0);
    client_end(&client);
}

static void free_it(struct handle *handle) { handle_free(handle); }

/* What is held, what waits, and a handle that is freed as it is answered. client_close looks whether the loop is empty. */
LIFE(close_with_all_under_way)
{
    struct client client;
    struct handle held, wanted, passing;
    begin(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&held, &client, "held", NULL);
    handle_open(&wanted, &client, "held", NULL);
    handle_open(&passing, &client, "passing", NULL);
    passing.on_acquired = free_it;
    assert_int_equal(handle_acquire(&held, 20000), HILOCK_OK);
    handle_ask(&wanted, HILOCK_FOREVER);
    handle_ask(&passing, 20000);
    handle_until(&passing, &passing.acquired, 1, "the grant");
    client_close(&client);
    assert_int_equal(held.lost.reason, HILOCK_REASON_CLOSING);
    assert_int_equal(wanted.acquired.status, HILOCK_CLOSED);
    handle_free(&held);
    handle_free(&wanted);
}

static void abandon_it(struct handle *handle)
{
    hilock_client_abandon(handle->client->hilock);
    handle->client->hilock = NULL;
}

/* With no turn of its own: what it asked for is on the way, and a hold was handed on, which nobody knows yet. Then
 * inside a callback. */
LIFE(abandon)
{
    struct client client;
    struct handle stock, first, next;
    begin(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&stock, &client, "stock:42", NULL);
    handle_open(&first, &client, "shelf", NULL);
    handle_open(&next, &client, "shelf", NULL);
    assert_int_equal(handle_acquire(&first, 20000), HILOCK_OK);
    handle_ask(&next, HILOCK_FOREVER);
    handle_release(&first);
    handle_ask(&stock, HILOCK_TRY);
    abandon_it(&stock);
    assert_int_equal(first.released.count + next.acquired.count, 0);
    client_end(&client);
    redis_do(fixture->redis, "DEL stock:42 shelf");
    begin(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&stock, &client, "stock:42", NULL);
    stock.on_acquired = abandon_it;
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    client_end(&client);
    redis_do(fixture->redis, "DEL stock:42");
}

struct outsider { hilock_client *client; atomic_int is_closed; hilock_status status; };

static void on_closed(void *outsider) { atomic_store(&((struct outsider *)outsider)->is_closed, 1); }

static void *close_it(void *arg)
{
    struct outsider *outsider = arg;
    outsider->status = hilock_client_close(outsider->client, 0, on_closed, outsider);
    return NULL;
}

static int is_told(void *outsider) { return atomic_load(&((struct outsider *)outsider)->is_closed); }

/* A thread that never turned the loop asks for the end, and it comes though nothing else happens. */
LIFE(closed_by_another_thread)
{
    struct client client;
    struct handle stock;
    struct outsider outsider;
    pthread_t thread;
    begin(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    outsider = (struct outsider){.client = client.hilock};
    assert_int_equal(pthread_create(&thread, NULL, close_it, &outsider), 0);
    client_until(&client, is_told, &outsider, "on_closed");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(outsider.status, HILOCK_OK);
    assert_int_equal(stock.lost.reason, HILOCK_REASON_CLOSING);
    client.hilock = NULL;
    handle_free(&stock);
    client_close(&client);
}

/* One call turns the loop until the client is gone. */
LIFE(closed_in_one_call)
{
    struct client client;
    struct handle stock;
    begin(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    if (loop)
        assert_int_equal(loop->close(client.hilock, client.native, 0), HILOCK_OK);
    else
        assert_int_equal(hilock_client_close_libevent(client.hilock, client.base, 0), HILOCK_OK);
    assert_int_equal(stock.lost.reason, HILOCK_REASON_CLOSING);
    client.hilock = NULL;
    handle_free(&stock);
    client_close(&client);
}

struct child { struct client *client; struct redis *redis; const struct server *server; };

static int is_gone(void *arg) { return redis_integer(((struct child *)arg)->redis, "EXISTS stock:42") == 0; }

static void child_that_turns(void *arg)
{
    struct child *child = arg;
    unsigned warnings = child->client->warnings;
    child->redis = redis_open(child->server);
    client_until(child->client, is_gone, child, "the end of the lease");
    CHECK(child->client->warnings == warnings + 1 && strstr(child->client->log, "forked child"));
    redis_close(child->redis);
    execl("/bin/true", "true", (char *)NULL); /* what threads of its parent's had is no leak of the child's */
}

/* The parent does not turn its loop meanwhile. */
LIFE(a_forked_child_renews_nothing)
{
    struct client client;
    struct handle stock;
    struct child child = {.client = &client, .server = fixture->server};
    if (loop && strcmp(loop->name, "sd_event") == 0)
        return; /* it refuses to turn in a child */
    begin(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 1000));
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    child_join(child_start(child_that_turns, &child));
    handle_until(&stock, &stock.lost, 1, "the loss");
    client_end(&client);
}
