/* SPDX-License-Identifier: BSD-3-Clause */
/* No server where the address points: every wait ends at its own time as UNREACHABLE and says why, nothing crashes, and as soon as a server is
 * there what still waits is granted. */
#include <string.h>
#include <unistd.h>

#include "support/fixture.h"

#define HASTY(address) HILOCK_CLIENT_OPTIONS(.url = (address), .connect_timeout_ms = 300, .command_timeout_ms = 500)

static int was_refused(void *client) { return ((struct client *)client)->disconnected > 0; }

static void must_say(const struct handle *handle, const char *words)
{
    if (!strstr(handle->acquired.detail, words))
        check_fail("\"%s\" does not say %s", handle->acquired.detail, words);
}

static void check_unreachable(struct client *client, const char *address, const char *why)
{
    struct handle tried, awaited;
    /* else a try might end before on a busy machine, and not know why */
    client_until(client, was_refused, client, "the first connection to fail");
    handle_open(&tried, client, "tried", NULL);
    handle_open(&awaited, client, "awaited", NULL);
    assert_int_equal(handle_acquire(&tried, HILOCK_TRY), HILOCK_UNREACHABLE);
    must_say(&tried, address);
    must_say(&tried, why);
    assert_int_equal(handle_acquire(&awaited, 700), HILOCK_UNREACHABLE);
    assert_true(awaited.acquired.waited_ms >= 700 && tried.acquired.waited_ms >= 500);
    assert_true(awaited.acquired.attempts == 0 && tried.acquired.attempts == 0);
    must_say(&awaited, address);
    must_say(&awaited, why);
    assert_false(hilock_client_is_connected(client->hilock));
    assert_true(client->connected == 0 && client->disconnected > 0);
    handle_free(&tried);
    handle_free(&awaited);
}

/* The server is there at last. */
static void bring_up(struct fixture *fixture, struct client *client)
{
    struct handle stock;
    handle_open(&stock, client, "stock:42", NULL);
    handle_ask(&stock, HILOCK_FOREVER);
    client_turn(client);
    fixture_bring_up(fixture);
    handle_until(&stock, &stock.acquired, 1, "the grant");
    assert_int_equal(stock.acquired.status, HILOCK_OK);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
}

/* A socket that nobody listens on, one that is not there, and a port. */
LIVE_WITH_PORT(nobody_listens)
{
    const struct { const char *url, *address, *why; int is_removed; } rows[] = {
        {fixture->server->url, fixture->server->socket, "refused", 0},
        {fixture->server->url, fixture->server->socket, "No such file", 1},
        {fixture->server->tcp_url, strstr(fixture->server->tcp_url, "127"), "refused", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct client client;
        fixture_take_down(fixture);
        assert_true(!rows[i].is_removed || unlink(fixture->server->socket) == 0);
        client_open_with(&client, HASTY(rows[i].url));
        check_unreachable(&client, rows[i].address, rows[i].why);
        bring_up(fixture, &client);
        client_close(&client);
    }
}

LIVE(server_with_too_many_clients)
{
    struct client client;
    struct handle stock;
    redis_do(fixture->redis, "CONFIG SET maxclients 1");
    client_open_with(&client, HASTY(fixture->server->url));
    handle_open(&stock, &client, "stock:42", NULL);
    client_until(&client, was_refused, &client, "the first connection to be refused");
    while (handle_acquire(&stock, HILOCK_TRY) != HILOCK_UNWRITABLE) /* no connection was tried meanwhile */
        assert_int_equal(stock.acquired.status, HILOCK_UNREACHABLE);
    must_say(&stock, "max number of clients");
    redis_do(fixture->redis, "CONFIG SET maxclients 100");
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
    client_end(&client);
}
