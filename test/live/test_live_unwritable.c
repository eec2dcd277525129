/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that answers, but cannot: that is retried until the wait ends, costs no hold, and is UNWRITABLE if it was
 * never healed. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/child.h"
#include "support/ledger.h"
#include "support/fixture.h"

/* What a server can be for a while, how it is brought about, the words in its refusal, and whether a release, which
 * needs no memory, still goes through. */
struct trouble { const char *begin, *end, *words; int takes_releases; };

static const struct trouble troubles[] = {
    {"REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "READONLY", 0},
    {"CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "OOM", 1},
    {"CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0", "NOREPLICAS", 0},
};

static int has_failed(void *arg) { return client_stats(arg).commands >= 6; }

static void wait_through(struct fixture *fixture, const struct trouble *trouble)
{
    struct client client;
    struct handle held, wanted;
    client_open(&client, fixture->server->url);
    handle_open(&held, &client, "held", NULL);
    handle_open(&wanted, &client, "wanted", NULL);
    assert_int_equal(handle_acquire(&held, 20000), HILOCK_OK);
    redis_do(fixture->redis, trouble->begin);
    assert_int_equal(handle_acquire(&wanted, HILOCK_TRY), HILOCK_UNWRITABLE);
    if (!strstr(wanted.acquired.detail, trouble->words))
        check_fail("%s: \"%s\"", trouble->words, wanted.acquired.detail);
    assert_int_equal(handle_acquire(&wanted, 500), HILOCK_UNWRITABLE);
    assert_true(wanted.acquired.waited_ms >= 500 && wanted.acquired.attempts > 1);
    handle_ask(&wanted, HILOCK_FOREVER);
    client_until(&client, has_failed, &client, "more requests");
    assert_int_equal(wanted.acquired.count, 2);
    if (trouble->takes_releases)
        assert_int_equal(handle_give(&held), HILOCK_OK);
    redis_do(fixture->redis, trouble->end);
    handle_until(&wanted, &wanted.acquired, 3, "the grant");
    assert_int_equal(wanted.acquired.status, HILOCK_OK);
    assert_int_equal(held.lost.count, 0);
    if (!trouble->takes_releases)
        assert_int_equal(handle_give(&held), HILOCK_OK);
    handle_free(&held);
    handle_free(&wanted);
    client_close(&client);
}

static void is_retried_until_it_can(void **state)
{
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++)
        wait_through(*state, &troubles[i]);
}

/* ---- a server that loads its data: so slowly that it can be asked meanwhile ---- */

enum { SAW_LOADING, LOADED };

struct load { struct fixture *fixture; struct ledger *ledger; };

/* Commands are let in after each 1024 bytes, so some data is there; the delay is for each key of it. */
static const char *const slow_loading[] = {"--key-load-delay", "10000", "--loading-process-events-interval-bytes", "1024", NULL};

static int has_loaded(void *arg) { return atomic_load((_Atomic uint64_t *)arg) != 0; }

static void ask_while_it_loads(void *arg)
{
    const struct load *load = arg;
    struct client client;
    struct handle tried, wanted;
    client_open(&client, load->fixture->server->url);
    handle_open(&tried, &client, "tried", NULL);
    handle_open(&wanted, &client, "wanted", NULL);
    handle_ask(&wanted, HILOCK_FOREVER);
    while (handle_acquire(&tried, HILOCK_TRY) != HILOCK_UNWRITABLE)
        CHECK(tried.acquired.status == HILOCK_UNREACHABLE);
    CHECK(strstr(tried.acquired.detail, "LOADING"));
    CHECK(wanted.acquired.count == 0);
    atomic_store(ledger_word(load->ledger, SAW_LOADING), 1);
    handle_until(&wanted, &wanted.acquired, 1, "the grant");
    CHECK(wanted.acquired.status == HILOCK_OK);
    client_until(&client, has_loaded, ledger_word(load->ledger, LOADED), "the parent");
    handle_free(&tried);
    handle_free(&wanted);
    client_close(&client);
}

static void while_it_loads(void **state)
{
    struct fixture *fixture = *state;
    struct load load = {fixture, ledger_new(1, 1)};
    pid_t child;
    for (int i = 0; i < 300; i++)
        redis_do(fixture->redis, "SETRANGE fill:%d 2000 x", i);
    redis_do(fixture->redis, "CONFIG SET rdbcompression no");
    redis_do(fixture->redis, "SAVE");
    redis_close(fixture->redis);
    server_kill(fixture->server);
    child = child_start(ask_while_it_loads, &load);
    fixture->server->arguments = slow_loading;
    server_restart(fixture->server);
    fixture->redis = redis_open(fixture->server);
    atomic_store(ledger_word(load.ledger, LOADED), 1);
    child_join(child);
    redis_do(fixture->redis, "EVAL %s 0", "for i = 0, 299 do redis.call('DEL', 'fill:' .. i) end");
    assert_true(atomic_load(ledger_word(load.ledger, SAW_LOADING)) == 1);
    ledger_free(load.ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(is_retried_until_it_can),
        FIXTURE_TEST(while_it_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
