/* SPDX-License-Identifier: BSD-3-Clause */
/* Several names at once: free ones in one round trip; many clients that want them in random orders all get them, and never two one. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/child.h"
#include "support/ledger.h"
#include "support/fixture.h"

enum { NAMES = 10, CLIENTS = 20, SECONDS = 3 };

static const char *const all[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", NULL};

/* The server stands still: all requests are sent before the first answer. */
static void eight_free_names_are_sent_before_the_first_answer_is_read(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle multi;
    const char *const eight[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", NULL};
    uint64_t before;
    client_open(&client, fixture->server->url);
    client_connect(&client);
    handle_open_all(&multi, &client, eight, NULL);
    client_turn(&client);
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    before = client_stats(&client).commands;
    server_suspend(fixture->server);
    handle_ask(&multi, HILOCK_FOREVER);
    client_turn(&client);
    assert_int_equal(client_stats(&client).commands - before, 8);
    server_resume(fixture->server);
    handle_until(&multi, &multi.acquired, 1, "the grant");
    assert_int_equal(multi.acquired.status, HILOCK_OK);
    assert_int_equal(multi.acquired.attempts, 8);
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 8);
    for (size_t i = 0; i < 8; i++)
        assert_true(hilock_multi_token(multi.lock, i) > 0);
    assert_int_equal(handle_give(&multi), HILOCK_OK);
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 16);
    handle_free(&multi);
    client_close(&client);
}

static void nothing_is_kept_for_long_behind_another_program(void **state)
{
    struct fixture *fixture = *state;
    struct client ours, theirs;
    struct handle multi, other;
    client_open(&ours, fixture->server->url);
    client_open_on(&theirs, ours.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    client_connect(&theirs);
    handle_open(&other, &theirs, "n2", NULL);
    handle_open_all(&multi, &ours, all, NULL);
    redis_do(fixture->redis, "HSET n5 another 1");
    redis_do(fixture->redis, "PEXPIRE n5 600000");
    handle_ask(&multi, HILOCK_FOREVER);
    handle_until(&multi, &multi.waiting, 1, "that it waits");
    assert_int_equal(handle_acquire(&other, 20000), HILOCK_OK); /* another client takes what the multi cannot use yet */
    assert_int_equal(handle_give(&other), HILOCK_OK);
    redis_do(fixture->redis, "DEL n5");
    handle_until(&multi, &multi.acquired, 1, "the grant");
    assert_int_equal(multi.acquired.status, HILOCK_OK);
    assert_int_equal(handle_give(&multi), HILOCK_OK);
    handle_free(&multi);
    handle_free(&other);
    client_close(&theirs);
    client_close(&ours);
}

static void one_name_taken_is_all_lost(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle multi;
    client_open(&client, fixture->server->url);
    handle_open_all(&multi, &client, all, HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    assert_int_equal(handle_acquire(&multi, 20000), HILOCK_OK);
    redis_do(fixture->redis, "DEL n7");
    handle_until(&multi, &multi.lost, 1, "the loss");
    assert_int_equal(multi.lost.reason, HILOCK_REASON_TAKEN);
    assert_non_null(strstr(multi.lost.detail, "\"n7\""));
    handle_free(&multi);
    client_close(&client);
}

/* ---- many, in random orders ---- */

struct contest {
    const char *url;
    struct ledger *ledger;
    uint64_t ends_us;
    unsigned number;
};

static void shuffle(unsigned *order, unsigned short random[3])
{
    for (unsigned i = 0; i < NAMES; i++)
        order[i] = i;
    for (unsigned i = NAMES - 1; i > 0; i--) {
        unsigned j = (unsigned)nrand48(random) % (i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* All under one grant: each is written down as held, and as free again before the release leaves. */
static void hold_all(const struct contest *contest, struct handle *multi, const unsigned *order, unsigned count)
{
    size_t grants[NAMES];
    for (unsigned i = 0; i < count; i++)
        grants[i] = ledger_begin(contest->ledger, order[i], hilock_multi_token(multi->lock, i));
    for (unsigned i = 0; i < count; i++)
        ledger_end(contest->ledger, grants[i]);
}

static void play_round(struct contest *contest, struct client *client, unsigned short random[3])
{
    const char *names[NAMES + 1] = {NULL};
    unsigned order[NAMES], count = 2 + (unsigned)nrand48(random) % (NAMES - 1);
    struct handle multi;
    shuffle(order, random);
    for (unsigned i = 0; i < count; i++)
        names[i] = all[order[i]];
    handle_open_all(&multi, client, names, NULL);
    if (handle_acquire(&multi, HILOCK_FOREVER) != HILOCK_OK)
        check_fail("acquire ended %s: %s", hilock_status_name(multi.acquired.status), multi.acquired.detail);
    hold_all(contest, &multi, order, count);
    if (handle_give(&multi) != HILOCK_OK)
        check_fail("release ended %s: %s", hilock_status_name(multi.released.status), multi.released.detail);
    handle_free(&multi);
}

static void play(void *arg)
{
    struct contest *contest = arg;
    unsigned short random[3] = {(unsigned short)contest->number, 7, 11};
    struct client client;
    unsigned rounds = 0;
    client_open(&client, contest->url);
    client_connect(&client);
    do {
        play_round(contest, &client, random);
        rounds++;
    } while (check_now_us() < contest->ends_us);
    CHECK(rounds >= 1);
    atomic_fetch_add(ledger_word(contest->ledger, 0), 1);
    client_close(&client);
}

static void twenty_clients_in_random_orders(void **state)
{
    struct fixture *fixture = *state;
    struct ledger *ledger = ledger_new(NAMES, 4000000);
    struct contest contests[CLIENTS];
    pid_t children[CLIENTS];
    struct verdict verdict;
    uint64_t ends_us = check_now_us() + (uint64_t)check_count_wanted("MULTI_SECONDS", SECONDS) * 1000000;
    for (unsigned i = 0; i < CLIENTS; i++) {
        contests[i] = (struct contest){fixture->server->url, ledger, ends_us, i};
        children[i] = child_start(play, &contests[i]);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        child_join(children[i]);
    verdict = ledger_judge(ledger);
    printf("figure: %d clients over %d names in random orders for %u s: %zu names held, %zu overlaps, tokens backward %zu, clients served %d\n", CLIENTS, NAMES,
           check_count_wanted("MULTI_SECONDS", SECONDS), verdict.grants, verdict.overlaps + verdict.met, verdict.backward, (int)atomic_load(ledger_word(ledger, 0)));
    assert_int_equal(verdict.overlaps, 0);
    assert_int_equal(verdict.met, 0);
    assert_int_equal(verdict.backward, 0);
    assert_int_equal(verdict.open, 0);
    assert_int_equal(atomic_load(ledger_word(ledger, 0)), CLIENTS);
    ledger_free(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(eight_free_names_are_sent_before_the_first_answer_is_read),
        FIXTURE_TEST(nothing_is_kept_for_long_behind_another_program),
        FIXTURE_TEST(one_name_taken_is_all_lost),
        FIXTURE_TEST(twenty_clients_in_random_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
