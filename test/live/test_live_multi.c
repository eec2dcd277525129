/* SPDX-License-Identifier: BSD-3-Clause */
/* Several names at once: many clients that want them in random orders all get them, and never two one. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/child.h"
#include "support/ledger.h"
#include "support/fixture.h"

enum { NAMES = 10, CLIENTS = 20, SECONDS = 3 };

static const char *const all[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", NULL};

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
        FIXTURE_TEST(twenty_clients_in_random_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
