/* SPDX-License-Identifier: BSD-3-Clause */
/* FAIR, MUTEX and Redisson's RLock want one name at once: no two ever hold it, tokens rise, and none is kept out for ever. */
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support/child.h"
#include "support/java.h"
#include "support/ledger.h"
#include "support/fixture.h"

enum { ROUNDS = 30, LEASE_MS = 30000, READY = 0, SERVED = 1 /* and one more word for each contender */ };
enum { CONTENDERS = 5 };

struct contest {
    const char *url;
    const struct server *server;
    struct ledger *ledger;
    hilock_kind kind;
    unsigned index;
};

static void wait_for_all(struct contest *contest)
{
    atomic_fetch_add(ledger_word(contest->ledger, READY), 1);
    while (atomic_load(ledger_word(contest->ledger, READY)) < CONTENDERS)
        check_pause_ms(1);
}

static void serve(const struct contest *contest) { atomic_fetch_add(ledger_word(contest->ledger, SERVED + contest->index), 1); }

/* Until each has had it often enough: quicker ones go on, and must not keep the others out. */
static int goes_on(const struct contest *contest)
{
    for (unsigned i = 0; i < CONTENDERS; i++)
        if (atomic_load(ledger_word(contest->ledger, SERVED + i)) < ROUNDS)
            return 1;
    return 0;
}

static void contend(void *arg)
{
    struct contest *contest = arg;
    struct client client;
    struct handle handle;
    client_open(&client, contest->url);
    client_connect(&client);
    handle_open(&handle, &client, "stock", HILOCK_LOCK_OPTIONS(.kind = contest->kind, .lease_ms = LEASE_MS));
    wait_for_all(contest);
    while (goes_on(contest)) {
        size_t grant;
        CHECK(handle_acquire(&handle, HILOCK_FOREVER) == HILOCK_OK);
        grant = ledger_begin(contest->ledger, 0, handle.acquired.token);
        check_pause_ms(1);
        ledger_end(contest->ledger, grant);
        CHECK(handle_give(&handle) == HILOCK_OK);
        serve(contest);
    }
    CHECK(handle.lost.count == 0);
    handle_free(&handle);
    client_close(&client);
}

/* As RLock waits: for a message, or the end of the lease that it saw. */
static void hear(struct redis *ear, long long most_ms)
{
    struct pollfd heard = {.fd = ear->context->fd, .events = POLLIN};
    void *message = NULL;
    if (poll(&heard, 1, most_ms > 1000 ? 1000 : (int)most_ms + 1) <= 0)
        return;
    CHECK(redisGetReply(ear->context, &message) == REDIS_OK);
    freeReplyObject(message);
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
    struct redis *java = redis_open(contest->server), *ear = redis_open(contest->server);
    redis_do(ear, "SUBSCRIBE redisson_lock__channel:{stock}");
    wait_for_all(contest);
    while (goes_on(contest)) {
        long long left_ms;
        size_t grant;
        while ((left_ms = java_lock(java, "stock", holder, LEASE_MS)) != JAVA_HAD)
            hear(ear, left_ms);
        grant = ledger_begin(contest->ledger, 0, time_of(java) + 300);
        check_pause_ms(1);
        ledger_end(contest->ledger, grant);
        CHECK(java_unlock(java, "stock", holder, LEASE_MS) == 1);
        serve(contest);
    }
    redis_close(ear);
    redis_close(java);
}

static void nobody_is_kept_out(void **state)
{
    static const hilock_kind kinds[CONTENDERS] = {HILOCK_FAIR, HILOCK_FAIR, HILOCK_FAIR, HILOCK_MUTEX, HILOCK_MUTEX /* java */};
    struct fixture *fixture = *state;
    struct contest contests[CONTENDERS];
    pid_t pids[CONTENDERS];
    struct verdict verdict;
    struct ledger *ledger = ledger_new(1, 200000);
    for (unsigned i = 0; i < CONTENDERS; i++) {
        contests[i] = (struct contest){fixture->server->url, fixture->server, ledger, kinds[i], i};
        pids[i] = child_start(i == CONTENDERS - 1 ? contend_as_java : contend, &contests[i]);
    }
    for (unsigned i = 0; i < CONTENDERS; i++)
        child_join(pids[i]);
    verdict = ledger_judge(ledger);
    print_message("%zu grants, %zu of them after one of another process; of each:", verdict.grants, verdict.changes);
    for (unsigned i = 0; i < CONTENDERS; i++)
        print_message(" %llu", (unsigned long long)atomic_load(ledger_word(ledger, SERVED + i)));
    print_message("\n");
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward + verdict.open, 0);
    assert_true(verdict.changes > verdict.grants / 10);
    ledger_free(ledger);
}

/* The judge gets two holders at once, and a token that falls: it must see both. */
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
    assert_int_equal(verdict.grants, 5);
    assert_int_equal(verdict.overlaps, 1);
    assert_true(verdict.met >= 1);
    assert_int_equal(verdict.backward, 1);
    assert_int_equal(verdict.open, 1);
    ledger_free(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judge_sees_what_is_wrong),
        FIXTURE_TEST(nobody_is_kept_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
