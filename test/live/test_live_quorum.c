/* SPDX-License-Identifier: BSD-3-Clause */
/* Votes of real servers: a minority that is dead or hangs costs nothing but its votes, a vote that comes too late is
 * given back, and a member that restarted empty is healed. Split votes: the simulator; all else: unit/quorum. */
#include <string.h>

#include "support/check.h"
#include "support/masters.h"

enum { MASTERS = 5 };

struct trial { struct masters masters; struct client client; };

/* The servers have only just been started, so there is no guard. */
static void begin(struct trial *trial)
{
    masters_start(&trial->masters, MASTERS);
    masters_open(&trial->masters, &trial->client, (struct hilock_client_options){.restart_guard_ms = HILOCK_GUARD_OFF});
    masters_await(&trial->client, MASTERS);
}

static void end(struct trial *trial)
{
    client_close(&trial->client);
    masters_end(&trial->masters);
}

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

/* Those that hang are asked as well, for nobody knows yet; then they are skipped until they answer. */
static void without_two_of_five(void **state)
{
    (void)state;
    for (int is_dead = 0; is_dead < 2; is_dead++) {
        struct trial trial;
        begin(&trial);
        for (unsigned i = 0; i < 2; i++)
            if (is_dead)
                masters_kill(&trial.masters, i);
            else
                server_suspend(trial.masters.servers[i]);
        if (is_dead)
            masters_await(&trial.client, 3);
        else
            granted_at_once(&trial.client, 5);
        client_for_ms(&trial.client, 300);
        granted_at_once(&trial.client, 3);
        for (unsigned i = 0; i < 2 && !is_dead; i++)
            server_resume(trial.masters.servers[i]);
        end(&trial);
    }
}

static void healed_when_members_restarted_empty(void **state)
{
    struct trial trial;
    struct handle stock;
    (void)state;
    begin(&trial);
    handle_open(&stock, &trial.client, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    for (unsigned i = 0; i < 3; i++) {
        masters_restart(&trial.masters, i);
        while (redis_integer(trial.masters.looks[i], "EXISTS stock") == 0)
            client_for_ms(&trial.client, 20);
    }
    assert_int_equal(stock.lost.count, 0);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    end(&trial);
}

/* The majority is another's, and a vote is given when nobody waits for it any more: its key would stay for the whole
 * lease. */
static void a_late_vote_is_given_back(void **state)
{
    struct trial trial;
    struct handle stock;
    struct redis **looks = trial.masters.looks;
    (void)state;
    begin(&trial);
    handle_open(&stock, &trial.client, "stock", NULL);
    for (unsigned i = 0; i < 3; i++)
        redis_do(looks[i], "HSET stock another 1");
    redis_do(looks[4], "CONFIG RESETSTAT");
    server_suspend(trial.masters.servers[4]);
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_TIMED_OUT);
    server_resume(trial.masters.servers[4]);
    while (redis_calls(looks[4], "evalsha") < 2) /* the vote, and its return */
        client_for_ms(&trial.client, 20);
    assert_int_equal(redis_integer(looks[4], "EXISTS stock"), 0);
    for (unsigned i = 0; i < 3; i++)
        redis_do(looks[i], "DEL stock");
    handle_free(&stock);
    end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_two_of_five),
        cmocka_unit_test(healed_when_members_restarted_empty),
        cmocka_unit_test(a_late_vote_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
