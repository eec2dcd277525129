/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles that outlive their client: calls answer CLOSED, getters as of an idle handle, and each is freed in peace; so after a close and after
 * abandon, which leaves what is held to its lease. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture.h"

static void no_result(const struct hilock_result *result, void *user)
{
    (void)result;
    ++*(unsigned *)user;
}

static void check_orphan(struct handle *handle, const char *name)
{
    struct hilock_lock_info info = {.size = sizeof info};
    unsigned called = 0;
    assert_int_equal(hilock_acquire(handle->lock, HILOCK_TRY, no_result, &called), HILOCK_CLOSED);
    assert_int_equal(hilock_acquire(handle->lock, HILOCK_FOREVER, no_result, &called), HILOCK_CLOSED);
    assert_int_equal(hilock_release(handle->lock, no_result, &called), HILOCK_CLOSED);
    assert_int_equal(hilock_cancel(handle->lock), HILOCK_CLOSED);
    assert_int_equal(hilock_extend(handle->lock, 3000, no_result, &called), HILOCK_CLOSED);
    assert_int_equal(hilock_peek(handle->lock, no_result, &called), HILOCK_CLOSED);
    assert_int_equal(hilock_force_release(handle->lock, NULL, no_result, &called), HILOCK_CLOSED);
    hilock_lock_drop(handle->lock);
    assert_int_equal(hilock_lock_state(handle->lock), HILOCK_STATE_IDLE);
    assert_int_equal(hilock_lock_remaining_ms(handle->lock), 0);
    assert_true(hilock_lock_token(handle->lock) == 0 && hilock_multi_token(handle->lock, 0) == 0);
    assert_string_equal(hilock_lock_name(handle->lock), name);
    assert_ptr_equal(hilock_lock_user(handle->lock), handle);
    hilock_lock_describe(handle->lock, &info);
    assert_string_equal(info.name, name);
    assert_int_equal(info.state, HILOCK_STATE_IDLE);
    assert_true(info.remaining_ms == 0 && info.age_ms == 0 && info.hold_count == 0 && info.fencing_token == 0);
    assert_ptr_equal(info.user, handle);
    assert_string_equal(hilock_client_refusal(NULL), "the client is closed");
    assert_int_equal(called, 0);
}

struct family { struct client client; struct handle idle, held, waiting, behind; };

static struct family *family_new(struct fixture *fixture)
{
    struct family *family = calloc(1, sizeof *family);
    client_open(&family->client, fixture->server->url);
    redis_do(fixture->redis, "HSET foreign another 1");
    handle_open(&family->idle, &family->client, "idle", NULL);
    handle_open(&family->held, &family->client, "held", NULL);
    handle_open(&family->waiting, &family->client, "foreign", NULL);
    handle_open(&family->behind, &family->client, "held", NULL);
    assert_int_equal(handle_acquire(&family->held, 20000), HILOCK_OK);
    handle_ask(&family->waiting, HILOCK_FOREVER);
    handle_ask(&family->behind, HILOCK_FOREVER);
    handle_until(&family->waiting, &family->waiting.waiting, 1, "WAITING");
    return family;
}

static void family_check(struct family *family)
{
    check_orphan(&family->idle, "idle");
    check_orphan(&family->held, "held");
    check_orphan(&family->waiting, "foreign");
    check_orphan(&family->behind, "held");
}

static void family_free(struct family *family)
{
    handle_free(&family->behind);
    handle_free(&family->held);
    handle_free(&family->waiting);
    handle_free(&family->idle);
    free(family);
}

static void after_a_close(void **state)
{
    struct fixture *fixture = *state;
    struct family *family = family_new(fixture);
    client_close(&family->client);
    assert_int_equal(family->waiting.acquired.status, HILOCK_CLOSED);
    assert_int_equal(family->behind.acquired.status, HILOCK_CLOSED);
    assert_int_equal(family->held.lost.reason, HILOCK_REASON_CLOSING);
    family_check(family);
    redis_do(fixture->redis, "DEL foreign");
    family_free(family);
}

/* No traffic and no callback: the key stays, and the server sees no more than the end of the connections. */
static void after_abandon(void **state)
{
    struct fixture *fixture = *state;
    struct family *family = family_new(fixture);
    long long commands = redis_calls(fixture->redis, "evalsha");
    hilock_client_abandon(family->client.hilock);
    family->client.hilock = NULL;
    client_turn(&family->client);
    family_check(family);
    assert_int_equal(family->waiting.acquired.count + family->behind.acquired.count + family->held.lost.count, 0);
    client_close(&family->client); /* checks that the loop is empty */
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), commands);
    assert_int_equal(redis_integer(fixture->redis, "HLEN held"), 2);
    assert_true(redis_integer(fixture->redis, "PTTL held") > 0);
    assert_true(redis_integer(fixture->redis, "PTTL hilock:wait:{foreign}") > 0); /* its place is given up by nobody */
    redis_do(fixture->redis, "DEL foreign held hilock:wait:{foreign}");
    family_free(family);
}

static void abandon_of_one_that_never_connected(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock:42", NULL);
    handle_ask(&stock, HILOCK_FOREVER);
    hilock_client_abandon(client.hilock);
    client.hilock = NULL;
    check_orphan(&stock, "stock:42");
    handle_free(&stock);
    client_close(&client);
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 0);
}

/* Between close and on_closed the client is still there: releases are taken, new work is not. */
static void while_it_closes(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held, idle;
    hilock_lock *none = NULL;
    unsigned called = 0;
    client_open(&client, fixture->server->url);
    handle_open(&held, &client, "held", NULL);
    handle_open(&idle, &client, "idle", NULL);
    assert_int_equal(handle_acquire(&held, 20000), HILOCK_OK);
    assert_int_equal(hilock_client_close(client.hilock, HILOCK_FOREVER, NULL, NULL), HILOCK_OK);
    assert_int_equal(hilock_acquire(idle.lock, HILOCK_TRY, no_result, &called), HILOCK_CLOSED);
    assert_non_null(strstr(hilock_client_refusal(client.hilock), "closing"));
    assert_int_equal(hilock_lock_create(&none, client.hilock, "new", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)), HILOCK_CLOSED);
    assert_null(none);
    assert_int_equal(hilock_lock_state(held.lock), HILOCK_STATE_HELD);
    assert_true(hilock_lock_remaining_ms(held.lock) > 0);
    assert_int_equal(handle_give(&held), HILOCK_OK);
    client.hilock = NULL; /* its end needs only turns of the loop, and calls nothing back */
    event_free(client.tick);
    client.tick = NULL;
    assert_true(event_base_dispatch(client.base) >= 0);
    check_orphan(&held, "held");
    handle_free(&held);
    handle_free(&idle);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(after_a_close),
        FIXTURE_TEST(after_abandon),
        FIXTURE_TEST(abandon_of_one_that_never_connected),
        FIXTURE_TEST(while_it_closes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
