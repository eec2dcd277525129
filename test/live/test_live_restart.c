/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that cannot serve for a while. One that dies and comes back on the same address empty has forgotten every
 * hold, and everybody learns it; with its data kept, holds and waits go on as if nothing had been. One that answers,
 * but cannot, is asked until the wait ends, and costs no hold. */
#include <stdatomic.h>
#include <string.h>

#include "support/child.h"
#include "support/fixture.h"
#include "support/ledger.h"

/* One holds, the other waits. Of what was forgotten the waiter may have it before the holder learns of the loss: the
 * token protects against that. */
static void is_restarted(struct fixture *fixture, int is_kept)
{
    struct client holding, waiting;
    struct handle first, second;
    client_open(&holding, fixture->server->url);
    client_open(&waiting, fixture->server->url);
    holding.watched = "restarted";
    handle_open(&first, &holding, "stock:42", NULL);
    handle_open(&second, &waiting, "stock:42", NULL);
    assert_int_equal(handle_acquire(&first, 20000), HILOCK_OK);
    handle_ask(&second, HILOCK_FOREVER);
    handle_until(&second, &second.waiting, 1, "WAITING");
    if (is_kept)
        redis_do(fixture->redis, "SAVE");
    fixture_take_down(fixture);
    fixture_bring_up(fixture);
    if (is_kept) {
        client_until(&holding, client_has_renewed, &holding, "the renewal that verifies the hold");
        assert_int_equal(first.lost.count + first.renewal_failed.count + second.acquired.count, 0);
        assert_true(hilock_lock_token(first.lock) == first.acquired.token);
        assert_int_equal(handle_give(&first), HILOCK_OK);
    } else {
        handle_until(&first, &first.lost, 1, "the holder's loss");
        assert_true(first.lost.reason == HILOCK_REASON_TAKEN && first.lost.token == first.acquired.token);
        assert_true(holding.watched_count == 1 && holding.other_events == 1); /* STORE_RESTARTED */
    }
    handle_until(&second, &second.acquired, 1, "the waiter's grant");
    assert_true(second.acquired.status == HILOCK_OK && second.acquired.token > first.acquired.token);
    assert_int_equal(handle_give(&second), HILOCK_OK);
    assert_int_equal(redis_lock_keys(fixture->redis), 0); /* what was forgotten was not made again */
    client_end(&holding);
    client_end(&waiting);
}

LIVE(what_was_forgotten_is_lost_and_granted_anew) { is_restarted(fixture, 0); }
LIVE(with_data_kept_all_goes_on) { is_restarted(fixture, 1); }

/* ---- a server that loads its data, so slowly that it can be asked meanwhile ---- */

enum { SAW_LOADING, LOADED };

struct load { struct fixture *fixture; struct ledger *ledger; };

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
    CHECK(strstr(tried.acquired.detail, "LOADING") && wanted.acquired.count == 0);
    atomic_store(ledger_word(load->ledger, SAW_LOADING), 1);
    handle_until(&wanted, &wanted.acquired, 1, "the grant");
    CHECK(wanted.acquired.status == HILOCK_OK);
    client_until(&client, has_loaded, ledger_word(load->ledger, LOADED), "the parent");
    client_end(&client);
}

/* Commands are let in after each 1024 bytes, so some data is there; the delay is for each key of it. */
LIVE(while_it_loads)
{
    static const char *const slowly[] = {"--key-load-delay", "10000", "--loading-process-events-interval-bytes",
                                         "1024", NULL};
    struct load load = {fixture, ledger_new(1, 1)};
    for (int i = 0; i < 100; i++)
        redis_do(fixture->redis, "SETRANGE fill:%d 2000 x", i);
    redis_do(fixture->redis, "CONFIG SET rdbcompression no");
    redis_do(fixture->redis, "SAVE");
    fixture_take_down(fixture);
    pid_t child = child_start(ask_while_it_loads, &load);
    fixture->server->arguments = slowly;
    fixture_bring_up(fixture);
    redis_do(fixture->redis, "EVAL %s 0", "for i = 0, 99 do redis.call('DEL', 'fill:' .. i) end");
    atomic_store(ledger_word(load.ledger, LOADED), 1);
    child_join(child);
    assert_true(atomic_load(ledger_word(load.ledger, SAW_LOADING)) == 1);
    ledger_free(load.ledger);
}

/* ---- one that answers, but cannot ---- */

/* How it is brought about, and the words in its refusal. */
struct trouble { const char *begin, *end, *words; };

/* A server that is no master is asked for that alone, at each attempt. */
static int has_failed(void *arg)
{
    const struct client *client = arg;
    return client_stats(client).commands >= 6 || client->disconnected >= 6;
}

static void wait_through(struct fixture *fixture, const struct trouble *trouble)
{
    struct client client;
    struct handle held, wanted;
    client_open(&client, fixture->server->url);
    handle_open(&held, &client, "held", NULL);
    handle_open(&wanted, &client, "wanted", NULL);
    assert_int_equal(handle_acquire(&held, 20000), HILOCK_OK);
    redis_do(fixture->redis, trouble->begin);
    assert_int_equal(handle_acquire(&wanted, 500), HILOCK_UNWRITABLE);
    assert_non_null(strstr(wanted.acquired.detail, trouble->words));
    assert_true(wanted.acquired.waited_ms >= 500 && (wanted.acquired.attempts > 1 || client.disconnected > 1));
    handle_ask(&wanted, HILOCK_FOREVER);
    client_until(&client, has_failed, &client, "more requests");
    assert_int_equal(wanted.acquired.count, 1);
    redis_do(fixture->redis, trouble->end);
    handle_until(&wanted, &wanted.acquired, 2, "the grant");
    assert_int_equal(wanted.acquired.status, HILOCK_OK);
    assert_int_equal(held.lost.count, 0);
    client_end(&client);
}

LIVE(is_retried_until_it_can)
{
    static const struct trouble troubles[] = {
        {"REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "not a master"},
        {"CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "OOM"},
        {"CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0", "NOREPLICAS"},
    };
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++)
        wait_through(fixture, &troubles[i]);
}
