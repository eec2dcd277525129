/* SPDX-License-Identifier: BSD-3-Clause */
/* Ten thousand waits of kind FAIR for one name in one client, each with a place of its own in the queue at the store:
 * served in the order in which they asked, each answered once; what is cancelled leaves the queue; a client that closes
 * leaves none. */
#include <stdlib.h>

#include "support/fixture.h"

enum { MANY = 10000, SERVED = 2000, CANCELLED = 4000 };

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(ten_thousand_in_one_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
