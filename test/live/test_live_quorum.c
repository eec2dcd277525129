/* SPDX-License-Identifier: BSD-3-Clause */
/* Votes of real servers: a minority that is dead or hangs costs nothing but its votes, split votes resolve, and nothing stays behind. */
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/masters.h"

enum { ROUNDS = 10 };

/* The servers have only just been started. */
static const struct hilock_client_options no_guard = {.restart_guard_ms = HILOCK_GUARD_OFF};

/* Granted by one round of questions: as many as could be asked, and each once. */
static void granted_at_once(struct client *client, unsigned asked)
{
    uint64_t before = client_stats(client).commands;
    struct handle stock;
    handle_open(&stock, client, "stock", NULL);
    handle_ask(&stock, HILOCK_TRY);
    handle_until(&stock, &stock.acquired, 1, "the answer");
    assert_int_equal(stock.acquired.status, HILOCK_OK);
    assert_int_equal(client_stats(client).commands - before, asked);
    assert_int_equal(stock.acquired.attempts, asked);
    assert_in_range(stock.acquired.votes, 3, asked);
    assert_true(stock.acquired.remaining_ms > 50000);
    assert_non_null(strstr(stock.acquired.detail, "of 5 masters said yes"));
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
}

static void with_all_up(void **state)
{
    struct masters five;
    struct client client;
    (void)state;
    masters_start(&five, 5);
    masters_open(&five, &client, no_guard);
    masters_await(&client, 5);
    granted_at_once(&client, 5);
    client_close(&client);
    masters_end(&five);
}

static void with_two_killed(void **state)
{
    struct masters five;
    struct client client;
    (void)state;
    masters_start(&five, 5);
    masters_open(&five, &client, no_guard);
    masters_await(&client, 5);
    masters_kill(&five, 1);
    masters_kill(&five, 4);
    masters_await(&client, 3);
    granted_at_once(&client, 3);
    client_close(&client);
    masters_end(&five);
}

/* Asked as well, for nobody knows yet; then skipped until they answer. */
static void with_two_stopped(void **state)
{
    struct masters five;
    struct client client;
    (void)state;
    masters_start(&five, 5);
    masters_open(&five, &client, no_guard);
    masters_await(&client, 5);
    server_suspend(five.servers[0]);
    server_suspend(five.servers[3]);
    granted_at_once(&client, 5);
    client_for_ms(&client, 300);
    granted_at_once(&client, 3);
    server_resume(five.servers[0]);
    server_resume(five.servers[3]);
    client_close(&client);
    masters_end(&five);
}

static void healed_when_a_member_restarted_empty(void **state)
{
    struct masters three;
    struct client client;
    struct handle stock;
    (void)state;
    masters_start(&three, 3);
    masters_open(&three, &client, no_guard);
    masters_await(&client, 3);
    handle_open(&stock, &client, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    for (unsigned i = 0; i < 3; i++) {
        masters_restart(&three, i);
        while (redis_integer(three.looks[i], "EXISTS stock") == 0)
            client_for_ms(&client, 20);
    }
    assert_int_equal(stock.lost.count, 0);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
    masters_end(&three);
}

/* ---- split votes ---- */

struct contender { struct handle handle; unsigned rounds_left; };

static void on_acquired(struct handle *handle)
{
    CHECK(handle->acquired.status == HILOCK_OK);
    handle_release(handle);
}

static void on_released(struct handle *handle)
{
    struct contender *contender = handle->user;
    CHECK(handle->released.status == HILOCK_OK);
    if (--contender->rounds_left)
        handle_ask(handle, HILOCK_FOREVER);
}

static void split(unsigned clients_count)
{
    struct masters five;
    struct client clients[5];
    struct contender contenders[5];
    struct event_base *base = event_base_new();
    masters_start(&five, 5);
    for (unsigned i = 0; i < clients_count; i++)
        client_open_on(&clients[i], base, HILOCK_CLIENT_OPTIONS(.quorum_urls = five.urls, .restart_guard_ms = HILOCK_GUARD_OFF));
    for (unsigned i = 0; i < clients_count; i++) {
        masters_await(&clients[i], 5);
        handle_open(&contenders[i].handle, &clients[i], "stock", NULL);
        contenders[i].rounds_left = ROUNDS;
        contenders[i].handle.user = &contenders[i];
        contenders[i].handle.on_acquired = on_acquired;
        contenders[i].handle.on_released = on_released;
    }
    for (unsigned i = 0; i < clients_count; i++)
        handle_ask(&contenders[i].handle, HILOCK_FOREVER);
    for (unsigned i = 0; i < clients_count; i++)
        handle_until(&contenders[i].handle, &contenders[i].handle.released, ROUNDS, "all its rounds");
    for (unsigned i = 0; i < clients_count; i++) {
        handle_free(&contenders[i].handle);
        client_close(&clients[i]);
    }
    event_base_free(base);
    masters_end(&five);
}

static void a_split_vote_of_2_resolves(void **state) { (void)state, split(2); }
static void a_split_vote_of_3_resolves(void **state) { (void)state, split(3); }
static void a_split_vote_of_5_resolves(void **state) { (void)state, split(5); }

/* ---- what others do wrong ---- */

static void take(struct masters *masters, unsigned i) { redis_do(masters->looks[i], "HSET stock another 1"); }
static void let_go(struct masters *masters, unsigned i) { redis_do(masters->looks[i], "DEL stock"); }

/* Its own vote of the attempt before, at the third master, would be in its way. */
static void the_self_block_of_node_redlock(void **state)
{
    struct masters three;
    struct client client;
    struct handle stock;
    (void)state;
    masters_start(&three, 3);
    masters_open(&three, &client, no_guard);
    masters_await(&client, 3);
    handle_open(&stock, &client, "stock", NULL);
    for (int round = 0; round < ROUNDS; round++) {
        take(&three, 0);
        take(&three, 1);
        assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_TIMED_OUT);
        let_go(&three, 0);
        let_go(&three, 1);
        take(&three, 0); /* now the third one's vote is needed */
        assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_OK);
        assert_int_equal(stock.acquired.votes, 2);
        assert_int_equal(handle_give(&stock), HILOCK_OK);
        let_go(&three, 0);
    }
    handle_free(&stock);
    client_close(&client);
    masters_end(&three);
}

/* A vote that is given when nobody waits for it any more: its key would stay for the whole lease of a minute. */
static void the_leaked_key_of_redis_plus_plus(void **state)
{
    struct masters three;
    struct client client;
    struct handle stock;
    (void)state;
    masters_start(&three, 3);
    masters_open(&three, &client, no_guard);
    masters_await(&client, 3);
    handle_open(&stock, &client, "stock", NULL);
    take(&three, 0);
    take(&three, 1);
    redis_do(three.looks[2], "CONFIG RESETSTAT");
    server_suspend(three.servers[2]);
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_TIMED_OUT);
    server_resume(three.servers[2]);
    while (redis_calls(three.looks[2], "evalsha") < 2) /* the vote, and its return */
        client_for_ms(&client, 20);
    assert_int_equal(redis_integer(three.looks[2], "EXISTS stock"), 0);
    let_go(&three, 0);
    let_go(&three, 1);
    handle_free(&stock);
    client_close(&client);
    masters_end(&three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_all_up),
        cmocka_unit_test(with_two_killed),
        cmocka_unit_test(with_two_stopped),
        cmocka_unit_test(healed_when_a_member_restarted_empty),
        cmocka_unit_test(a_split_vote_of_2_resolves),
        cmocka_unit_test(a_split_vote_of_3_resolves),
        cmocka_unit_test(a_split_vote_of_5_resolves),
        cmocka_unit_test(the_self_block_of_node_redlock),
        cmocka_unit_test(the_leaked_key_of_redis_plus_plus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
