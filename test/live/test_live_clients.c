/* SPDX-License-Identifier: BSD-3-Clause */
/* Several clients on one base: each its own identity, links, statistics and end; what one does the others do not feel. */
#include <stdio.h>
#include <string.h>

#include "support/fixture.h"

static int has_four_links(void *arg) { return redis_clients(arg) == 4; }

static void are_strangers_to_each_other(void **state)
{
    struct fixture *fixture = *state;
    struct client first, second;
    struct handle ours, theirs;
    client_open(&first, fixture->server->url);
    client_open_on(&second, first.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    assert_string_not_equal(hilock_client_uuid(first.hilock), hilock_client_uuid(second.hilock));
    handle_open(&ours, &first, "stock", NULL);
    handle_open(&theirs, &second, "stock", NULL);
    assert_int_equal(handle_acquire(&ours, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_acquire(&theirs, HILOCK_TRY), HILOCK_TIMED_OUT);
    assert_int_equal(theirs.acquired.attempts, 1); /* asked the store: a base makes no siblings */
    assert_memory_equal(theirs.acquired.holder, hilock_client_uuid(first.hilock), 36);
    handle_ask(&theirs, HILOCK_FOREVER);
    handle_until(&theirs, &theirs.waiting, 1, "the wait");
    assert_int_equal(handle_give(&ours), HILOCK_OK);
    handle_until(&theirs, &theirs.acquired, 2, "the grant");
    assert_int_equal(theirs.acquired.status, HILOCK_OK);
    assert_int_equal(client_stats(&first).granted, 1);
    assert_int_equal(client_stats(&first).timed_out, 0);
    assert_int_equal(client_stats(&second).granted, 1);
    assert_int_equal(client_stats(&second).timed_out, 1);
    client_until(&first, has_four_links, fixture->redis, "two links each");
    handle_free(&ours);
    handle_free(&theirs);
    client_close(&second);
    client_close(&first);
}

/* One closes while the other holds, renews and waits. */
static void end_on_their_own(void **state)
{
    struct fixture *fixture = *state;
    struct client stays, goes;
    struct handle kept, blocked, blocking;
    client_open(&stays, fixture->server->url);
    client_open_on(&goes, stays.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&kept, &stays, "kept", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    handle_open(&blocked, &stays, "passed on", NULL);
    handle_open(&blocking, &goes, "passed on", NULL);
    assert_int_equal(handle_acquire(&kept, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_acquire(&blocking, HILOCK_TRY), HILOCK_OK);
    handle_ask(&blocked, HILOCK_FOREVER);
    handle_until(&blocked, &blocked.waiting, 1, "the wait");
    client_close(&goes);
    assert_int_equal(blocking.lost.count, 1);
    assert_int_equal(blocking.lost.reason, HILOCK_REASON_CLOSING);
    handle_until(&blocked, &blocked.acquired, 1, "the grant");
    assert_int_equal(blocked.acquired.status, HILOCK_OK);
    assert_true(blocked.acquired.at_us >= blocking.lost.at_us);
    assert_int_equal(hilock_acquire(blocking.lock, HILOCK_TRY, NULL, NULL), HILOCK_CLOSED); /* an orphan now */
    handle_free(&blocking);
    client_for_ms(&stays, 1500);
    assert_int_equal(kept.lost.count, 0);
    assert_true(client_stats(&stays).renewals >= 1);
    handle_free(&kept);
    handle_free(&blocked);
    client_close(&stays);
}

static void close_the_other(struct handle *handle)
{
    struct client *other = handle->user;
    if (hilock_client_close(other->hilock, 0, NULL, NULL) != HILOCK_OK)
        check_fail("close refused");
    hilock_client_abandon(other->hilock);
    other->hilock = NULL;
}

/* Closed and abandoned from within a callback of its neighbour. */
static void end_in_each_others_callbacks(void **state)
{
    struct fixture *fixture = *state;
    struct client first, second;
    struct handle ours, theirs;
    client_open(&first, fixture->server->url);
    client_open_on(&second, first.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&ours, &first, "ours", NULL);
    handle_open(&theirs, &second, "theirs", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    assert_int_equal(handle_acquire(&theirs, HILOCK_TRY), HILOCK_OK);
    ours.on_acquired = close_the_other;
    ours.user = &second;
    assert_int_equal(handle_acquire(&ours, HILOCK_TRY), HILOCK_OK);
    assert_null(second.hilock);
    client_turn(&first);
    assert_int_equal(handle_give(&ours), HILOCK_OK);
    assert_int_equal(theirs.lost.count, 0); /* abandoned: nothing is reported */
    assert_int_equal(hilock_lock_remaining_ms(theirs.lock), 0);
    handle_free(&theirs);
    handle_free(&ours);
    handle_open(&ours, &first, "theirs", NULL);
    assert_int_equal(handle_acquire(&ours, HILOCK_FOREVER), HILOCK_OK); /* what was abandoned runs out at the server */
    handle_free(&ours);
    client_close(&second);
    client_close(&first);
}

/* Two servers, one name: two locks, as everywhere else. */
static void at_different_servers(void **state)
{
    struct fixture *fixture = *state;
    struct server *server = server_start(NULL);
    struct redis *redis = redis_open(server);
    struct client here, there;
    struct handle ours, theirs;
    client_open(&here, fixture->server->url);
    client_open_on(&there, here.base, HILOCK_CLIENT_OPTIONS(.url = server->url));
    handle_open(&ours, &here, "stock", NULL);
    handle_open(&theirs, &there, "stock", NULL);
    assert_int_equal(handle_acquire(&ours, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_acquire(&theirs, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(redis_lock_keys(redis), 1);
    assert_int_equal(handle_give(&ours), HILOCK_OK);
    assert_int_equal(redis_lock_keys(fixture->redis), 0);
    assert_int_equal(redis_lock_keys(redis), 1);
    assert_int_equal(handle_give(&theirs), HILOCK_OK);
    handle_free(&ours);
    handle_free(&theirs);
    client_close(&there);
    client_close(&here);
    fixture_check_clean(redis);
    redis_close(redis);
    server_end(server);
}

/* Opened and closed a hundred times on one base, in every state of connecting: nothing stays. */
static void come_and_go(void **state)
{
    enum { TIMES = 100 };
    struct fixture *fixture = *state;
    struct client lasting, passing;
    struct handle kept;
    client_open(&lasting, fixture->server->url);
    handle_open(&kept, &lasting, "kept", NULL);
    assert_int_equal(handle_acquire(&kept, HILOCK_TRY), HILOCK_OK);
    for (int i = 0; i < TIMES; i++) {
        client_open_on(&passing, lasting.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
        for (int turns = i % 7; turns; turns--)
            client_turn(&passing);
        if (i % 3 == 0) {
            hilock_client_abandon(passing.hilock);
            passing.hilock = NULL;
        }
        client_close(&passing);
    }
    assert_int_equal(kept.lost.count, 0);
    assert_int_equal(handle_give(&kept), HILOCK_OK);
    handle_free(&kept);
    client_close(&lasting);
}

static void add_up_in_statistics(void **state)
{
    struct fixture *fixture = *state;
    struct client first, second;
    struct handle ours, theirs;
    struct hilock_stats total = {.size = sizeof total}, part;
    client_open(&first, fixture->server->url);
    client_open_on(&second, first.base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    handle_open(&ours, &first, "a", NULL);
    handle_open(&theirs, &second, "a", NULL);
    assert_int_equal(handle_acquire(&ours, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(handle_acquire(&theirs, HILOCK_TRY), HILOCK_TIMED_OUT);
    part = client_stats(&first);
    hilock_stats_add(&total, &part);
    part = client_stats(&second);
    hilock_stats_add(&total, &part);
    assert_int_equal(total.acquires, 2);
    assert_int_equal(total.granted, 1);
    assert_int_equal(total.timed_out, 1);
    assert_int_equal(total.held, 1);
    assert_int_equal(total.locks, 2);
    assert_int_equal(total.nodes, 2);
    assert_int_equal(total.nodes_up, 2);
    assert_int_equal(total.connects, 2);
    assert_int_equal(total.wait.count, 2);
    assert_int_equal(total.command.count, total.commands);
    assert_int_equal(total.inflight, 0);
    handle_free(&ours);
    handle_free(&theirs);
    client_close(&second);
    client_close(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(are_strangers_to_each_other),  FIXTURE_TEST(end_on_their_own), FIXTURE_TEST(end_in_each_others_callbacks),
        FIXTURE_TEST(at_different_servers),         FIXTURE_TEST(come_and_go),      FIXTURE_TEST(add_up_in_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
