/* SPDX-License-Identifier: BSD-3-Clause */
/* Many processes want the same names while the connections die by which they are woken: FAIR, MUTEX and Redisson's RLock one name, and multis several
 * in random orders. No two ever hold one, tokens rise, and none is kept out for ever. MULTI_SECONDS makes the multis' contest longer (figures). */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/child.h"
#include "support/fixture.h"
#include "support/java.h"
#include "support/ledger.h"

enum { NAMES = 10, CLIENTS = 20, SECONDS = 3, CONTENDERS = 5, ROUNDS = 30, LEASE_MS = 30000, KILLS = 20 };
enum { READY, SERVED /* and one more word for each contender */ };

struct contest {
    const struct server *server;
    struct ledger *ledger;
    hilock_kind kind;
    unsigned index;
    uint64_t ends_us;
};

static struct verdict judge(struct fixture *fixture, struct ledger *ledger, const pid_t *children, unsigned count)
{
    struct verdict verdict;
    for (unsigned i = 0; i < KILLS; i++) {
        check_pause_ms(50);
        redis_do(fixture->redis, "CLIENT KILL TYPE pubsub");
    }
    for (unsigned i = 0; i < count; i++)
        child_join(children[i]);
    verdict = ledger_judge(ledger);
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward + verdict.open, 0);
    return verdict;
}

/* ---- kinds ---- */

static void wait_for_all(const struct contest *contest)
{
    atomic_fetch_add(ledger_word(contest->ledger, READY), 1);
    while (atomic_load(ledger_word(contest->ledger, READY)) < CONTENDERS)
        check_pause_ms(1);
}

/* Until each has had it often enough: quicker ones go on, and must not keep the others out. */
static int goes_on(const struct contest *contest)
{
    for (unsigned i = 0; i < CONTENDERS; i++)
        if (atomic_load(ledger_word(contest->ledger, SERVED + i)) < ROUNDS)
            return 1;
    return 0;
}

static void hold(const struct contest *contest, uint64_t token)
{
    size_t grant = ledger_begin(contest->ledger, 0, token);
    check_pause_ms(1);
    ledger_end(contest->ledger, grant);
    atomic_fetch_add(ledger_word(contest->ledger, SERVED + contest->index), 1);
}

static void contend(void *arg)
{
    struct contest *contest = arg;
    struct client client;
    struct handle handle;
    client_open(&client, contest->server->url);
    client_connect(&client);
    handle_open(&handle, &client, "stock", HILOCK_LOCK_OPTIONS(.kind = contest->kind, .lease_ms = LEASE_MS));
    wait_for_all(contest);
    while (goes_on(contest)) {
        CHECK(handle_acquire(&handle, HILOCK_FOREVER) == HILOCK_OK);
        hold(contest, handle.acquired.token);
        CHECK(handle_give(&handle) == HILOCK_OK);
    }
    CHECK(handle.lost.count == 0);
    client_end(&client);
}

static struct redis *listen_to(const struct server *server)
{
    struct redis *ear = redis_open(server);
    redis_do(ear, "SUBSCRIBE redisson_lock__channel:{stock}");
    return ear;
}

/* As RLock waits: for a message, or the end of the lease that it saw. */
static struct redis *hear(struct redis *ear, const struct server *server, long long most_ms)
{
    struct pollfd heard = {.fd = ear->context->fd, .events = POLLIN};
    void *message = NULL;
    if (poll(&heard, 1, most_ms > 1000 ? 1000 : (int)most_ms + 1) <= 0)
        return ear;
    if (redisGetReply(ear->context, &message) == REDIS_OK) {
        freeReplyObject(message);
        return ear;
    }
    redis_close(ear);
    return listen_to(server);
}

/* Its kind of lock has no token of ours: the time of the server stands for one. */
static uint64_t time_of(struct redis *redis)
{
    redisReply *reply = redis_reply(redis, "TIME");
    uint64_t us = strtoull(reply->element[0]->str, NULL, 10) * 1000000 + strtoull(reply->element[1]->str, NULL, 10);
    freeReplyObject(reply);
    return us;
}

static void contend_as_java(void *arg)
{
    static const char holder[] = "6f1c2a3b-0000-4000-8000-00000000beef:57";
    struct contest *contest = arg;
    struct redis *java = redis_open(contest->server), *ear = listen_to(contest->server);
    wait_for_all(contest);
    while (goes_on(contest)) {
        long long left_ms;
        while ((left_ms = java_lock(java, "stock", holder, LEASE_MS)) != JAVA_HAD)
            ear = hear(ear, contest->server, left_ms);
        hold(contest, time_of(java) + 300);
        CHECK(java_unlock(java, "stock", holder, LEASE_MS) == 1);
    }
    redis_close(ear);
    redis_close(java);
}

static void of_all_kinds(void **state)
{
    static const hilock_kind kinds[CONTENDERS] = {HILOCK_FAIR, HILOCK_FAIR, HILOCK_FAIR, HILOCK_MUTEX, HILOCK_MUTEX /* java */};
    struct fixture *fixture = *state;
    struct contest contests[CONTENDERS];
    pid_t children[CONTENDERS];
    struct verdict verdict;
    struct ledger *ledger = ledger_new(1, 200000);
    for (unsigned i = 0; i < CONTENDERS; i++) {
        contests[i] = (struct contest){.server = fixture->server, .ledger = ledger, .kind = kinds[i], .index = i};
        children[i] = child_start(i == CONTENDERS - 1 ? contend_as_java : contend, &contests[i]);
    }
    verdict = judge(fixture, ledger, children, CONTENDERS);
    assert_true(verdict.changes > verdict.grants / 10);
    ledger_free(ledger);
}

/* ---- multis ---- */

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
static void play_round(const struct contest *contest, struct client *client, unsigned short random[3])
{
    static const char *const all[NAMES] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"};
    const char *names[NAMES + 1] = {NULL};
    unsigned order[NAMES], count = 2 + (unsigned)nrand48(random) % (NAMES - 1);
    size_t grants[NAMES];
    struct handle multi;
    shuffle(order, random);
    for (unsigned i = 0; i < count; i++)
        names[i] = all[order[i]];
    handle_open_all(&multi, client, names, NULL);
    CHECK(handle_acquire(&multi, HILOCK_FOREVER) == HILOCK_OK);
    for (unsigned i = 0; i < count; i++)
        grants[i] = ledger_begin(contest->ledger, order[i], hilock_multi_token(multi.lock, i));
    for (unsigned i = 0; i < count; i++)
        ledger_end(contest->ledger, grants[i]);
    CHECK(handle_give(&multi) == HILOCK_OK);
    handle_free(&multi);
}

static void take_several(void *arg)
{
    struct contest *contest = arg;
    unsigned short random[3] = {(unsigned short)contest->index, 7, 11};
    struct client client;
    client_open(&client, contest->server->url);
    client_connect(&client);
    do
        play_round(contest, &client, random);
    while (check_now_us() < contest->ends_us);
    atomic_fetch_add(ledger_word(contest->ledger, SERVED), 1);
    client_end(&client);
}

static void of_multis(void **state)
{
    struct fixture *fixture = *state;
    struct ledger *ledger = ledger_new(NAMES, 4000000);
    struct contest contests[CLIENTS];
    pid_t children[CLIENTS];
    struct verdict verdict;
    unsigned seconds = check_count_wanted("MULTI_SECONDS", SECONDS);
    uint64_t ends_us = check_now_us() + (uint64_t)seconds * 1000000;
    for (unsigned i = 0; i < CLIENTS; i++) {
        contests[i] = (struct contest){.server = fixture->server, .ledger = ledger, .index = i, .ends_us = ends_us};
        children[i] = child_start(take_several, &contests[i]);
    }
    verdict = judge(fixture, ledger, children, CLIENTS);
    printf("figure: %d clients over %d names in random orders for %u s: %zu names held, %zu overlaps, tokens backward %zu, clients served %d\n", CLIENTS, NAMES,
           seconds, verdict.grants, verdict.overlaps + verdict.met, verdict.backward, (int)atomic_load(ledger_word(ledger, SERVED)));
    assert_int_equal(atomic_load(ledger_word(ledger, SERVED)), CLIENTS);
    ledger_free(ledger);
}

/* ---- the judge gets two holders at once, and a token that falls: it must see both ---- */

static void judge_sees_what_is_wrong(void **state)
{
    struct ledger *ledger = ledger_new(2, 8);
    struct verdict verdict;
    size_t first, second;
    (void)state;
    first = ledger_begin(ledger, 0, 10);
    check_pause_ms(2);
    second = ledger_begin(ledger, 0, 11);
    check_pause_ms(2);
    ledger_end(ledger, first);
    ledger_end(ledger, second);
    ledger_end(ledger, ledger_begin(ledger, 1, 20));
    check_pause_ms(2);
    ledger_end(ledger, ledger_begin(ledger, 1, 19));
    check_pause_ms(2);
    ledger_begin(ledger, 1, 21);
    verdict = ledger_judge(ledger);
    assert_true(verdict.grants == 5 && verdict.overlaps == 1 && verdict.met >= 1 && verdict.backward == 1 && verdict.open == 1);
    ledger_free(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judge_sees_what_is_wrong),
        FIXTURE_TEST(of_all_kinds),
        FIXTURE_TEST(of_multis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
