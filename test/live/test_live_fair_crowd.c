/* SPDX-License-Identifier: BSD-3-Clause */
/* Ten thousand waits of kind FAIR for one name in one client, each with a place of its own in the queue at the store, and one wait in each of many
 * clients: served in the order in which they asked, each answered once; what is cancelled leaves the queue; a client that closes leaves none. */
#include <stdlib.h>

#include "support/fixture.h"

enum { MANY = 10000, SERVED = 2000, CANCELLED = 4000, CLIENTS = 100 };

struct crowd {
    struct client client;
    hilock_lock *locks[MANY];
    unsigned char answers[MANY];
    struct fixture *fixture;
    unsigned next, waiting, cancelled, closed, others; /* next: to be granted */
    long long queued;                                  /* at the store, awaited */
};

struct wait { struct crowd *crowd; unsigned index; };

static void on_event(const struct hilock_event *event, void *user)
{
    struct wait *wait = user;
    wait->crowd->waiting += event->kind == HILOCK_EVENT_WAITING;
    wait->crowd->others += event->kind == HILOCK_EVENT_LOST && event->reason != HILOCK_REASON_CLOSING;
}

static void on_result(const struct hilock_result *result, void *user)
{
    struct wait *wait = user;
    struct crowd *crowd = wait->crowd;
    crowd->answers[wait->index]++;
    crowd->cancelled += result->status == HILOCK_CANCELLED;
    crowd->closed += result->status == HILOCK_CLOSED;
    crowd->others += result->status != HILOCK_OK && result->status != HILOCK_CANCELLED && result->status != HILOCK_CLOSED;
    if (result->status != HILOCK_OK)
        return;
    crowd->others += wait->index != crowd->next++; /* not in order */
    if (wait->index < SERVED && wait->index)
        hilock_release(result->lock, NULL, NULL);
}

static void ask(struct wait *wait)
{
    struct crowd *crowd = wait->crowd;
    hilock_lock **lock = &crowd->locks[wait->index];
    assert_int_equal(hilock_lock_create(lock, crowd->client.hilock, "stock",
                                        HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .on_lost = on_event, .on_event = on_event, .user = wait, .lease_ms = 120000)), HILOCK_OK);
    assert_int_equal(hilock_acquire(*lock, HILOCK_FOREVER, on_result, wait), HILOCK_OK);
}

static int all_wait(void *arg) { return ((struct crowd *)arg)->waiting == MANY - 1; }
static int has_served(void *arg) { return ((struct crowd *)arg)->next > SERVED; }

static int is_queue_so_long(void *arg)
{
    struct crowd *crowd = arg;
    return redis_integer(crowd->fixture->redis, "ZCARD hilock:wait:{stock}") == crowd->queued;
}

static void until_queued(struct crowd *crowd, long long length)
{
    crowd->queued = length;
    client_until(&crowd->client, is_queue_so_long, crowd, "the length of the queue");
}

static void ten_thousand_in_one_client(void **state)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);
    struct wait *waits = calloc(MANY, sizeof *waits);
    assert_true(crowd && waits);
    crowd->fixture = *state;
    client_open_with(&crowd->client, HILOCK_CLIENT_OPTIONS(.url = crowd->fixture->server->url, .command_timeout_ms = 60000));
    for (unsigned i = 0; i < MANY; i++) {
        waits[i] = (struct wait){crowd, i};
        ask(&waits[i]);
    }
    client_until(&crowd->client, all_wait, crowd, "all to wait");
    until_queued(crowd, MANY - 1);
    hilock_release(crowd->locks[0], NULL, NULL);
    client_until(&crowd->client, has_served, crowd, "turns");
    for (unsigned i = 0; i < CANCELLED; i++)
        assert_int_equal(hilock_cancel(crowd->locks[MANY - 1 - i]), HILOCK_OK);
    until_queued(crowd, MANY - SERVED - 1 - CANCELLED);
    assert_int_equal(crowd->next, SERVED + 1);
    client_close(&crowd->client);
    assert_int_equal(crowd->cancelled, CANCELLED);
    assert_int_equal(crowd->closed, MANY - SERVED - 1 - CANCELLED);
    assert_int_equal(crowd->others, 0);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(crowd->answers[i], 1);
        hilock_lock_free(crowd->locks[i]);
    }
    assert_int_equal(redis_lock_keys(crowd->fixture->redis), 0);
    free(waits);
    free(crowd);
}

/* ---- many clients ---- */

struct fleet {
    struct client clients[CLIENTS];
    struct handle handles[CLIENTS];
    unsigned next;
    int is_out_of_order;
};

static void on_granted(struct handle *handle)
{
    struct fleet *fleet = handle->user;
    fleet->is_out_of_order |= handle != &fleet->handles[fleet->next++];
    if (handle != &fleet->handles[0])
        handle_release(handle);
}

static int all_are_released(void *arg)
{
    const struct fleet *fleet = arg;
    for (unsigned i = 0; i < CLIENTS; i++)
        if (!fleet->handles[i].released.count)
            return 0;
    return 1;
}

static int is_connected(void *arg) { return hilock_client_is_connected(((struct client *)arg)->hilock); }

/* Two commands for each, once grants can reach all of them. */
static void one_in_each_of_many_clients(void **state)
{
    struct fixture *fixture = *state;
    struct fleet *fleet = calloc(1, sizeof *fleet);
    struct event_base *base = event_base_new();
    assert_true(fleet && base);
    for (unsigned i = 0; i < CLIENTS; i++) {
        client_open_on(&fleet->clients[i], base, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
        client_until(&fleet->clients[i], is_connected, &fleet->clients[i], "a connection");
        handle_open(&fleet->handles[i], &fleet->clients[i], "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 60000));
        fleet->handles[i].on_acquired = on_granted;
        fleet->handles[i].user = fleet;
    }
    while (redis_count(fixture->redis, "PUBSUB CHANNELS hilock:grant:*") < CLIENTS)
        client_for_ms(&fleet->clients[0], 10);
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    for (unsigned i = 0; i < CLIENTS; i++) {
        handle_ask(&fleet->handles[i], HILOCK_FOREVER);
        handle_until(&fleet->handles[i], i ? &fleet->handles[i].waiting : &fleet->handles[i].acquired, 1, "a place");
    }
    handle_release(&fleet->handles[0]);
    client_until(&fleet->clients[0], all_are_released, fleet, "all to be served");
    print_message("%d clients: %.2f commands for each grant\n", CLIENTS, (double)redis_calls(fixture->redis, "evalsha") / CLIENTS);
    assert_int_equal(fleet->next, CLIENTS);
    assert_false(fleet->is_out_of_order);
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_int_equal(fleet->handles[i].released.status, HILOCK_OK);
        handle_free(&fleet->handles[i]);
        client_close(&fleet->clients[i]);
    }
    event_base_free(base);
    free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(ten_thousand_in_one_client),
        FIXTURE_TEST(one_in_each_of_many_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
