/* SPDX-License-Identifier: BSD-3-Clause */
/* A forked child shares its parent's sockets and epoll set, and may only give memory back, in any order, or go on with
 * a client of its own: its parent renews and is woken as before. If it turns the loop nothing is sent: neither does it
 * disturb a parent that lives, nor renew what a dead one held. What is refused there: unit/client, safety_server. */
#include <string.h>

#include "support/child.h"
#include "support/fixture.h"

struct trial {
    struct fixture *fixture;
    struct client client;
    struct handle held, waiting;
};

static void begin(struct trial *trial, struct fixture *fixture)
{
    trial->fixture = fixture;
    client_open(&trial->client, trial->fixture->server->url);
    handle_open(&trial->held, &trial->client, "held", HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    handle_open(&trial->waiting, &trial->client, "foreign", NULL);
    redis_do(trial->fixture->redis, "HSET foreign another:1 1");
    assert_int_equal(handle_acquire(&trial->held, 20000), HILOCK_OK);
    handle_ask(&trial->waiting, HILOCK_FOREVER);
    handle_until(&trial->waiting, &trial->waiting.waiting, 1, "WAITING");
    while (redis_channels(trial->fixture->redis) == 0)
        client_turn(&trial->client);
}

/* Renewals are timers, wakes are messages: both still come. */
static void end(struct trial *trial)
{
    client_until(&trial->client, client_has_renewed, &trial->client, "a renewal");
    redis_do(trial->fixture->redis, "DEL foreign");
    redis_do(trial->fixture->redis, "PUBLISH redisson_lock__channel:{foreign} 0");
    handle_until(&trial->waiting, &trial->waiting.acquired, 1, "the wake");
    assert_int_equal(trial->waiting.acquired.status, HILOCK_OK);
    assert_true(client_stats(&trial->client).wakeups > 0);
    assert_int_equal(handle_give(&trial->held), HILOCK_OK);
    assert_int_equal(trial->held.lost.count + trial->held.renewal_failed.count + trial->client.disconnected, 0);
    client_end(&trial->client);
}

static void no_result(const struct hilock_result *result, void *user)
{
    (void)result;
    (void)user;
    CHECK(0 && "called back");
}

/* Asks in vain, abandons, frees. */
static void child_that_gives_back(void *arg)
{
    struct trial *trial = arg;
    CHECK(hilock_release(trial->held.lock, no_result, NULL) == HILOCK_FORKED);
    CHECK(hilock_client_close(trial->client.hilock, 0, NULL, NULL) == HILOCK_FORKED);
    CHECK(event_reinit(trial->client.base) == 0);
    hilock_client_abandon(trial->client.hilock);
    trial->client.hilock = NULL;
    client_end(&trial->client); /* checks that the loop is empty */
}

static void child_with_a_client_of_its_own(void *arg)
{
    struct trial *trial = arg;
    struct client client;
    struct handle own, parents;
    child_that_gives_back(trial);
    client_open(&client, trial->fixture->server->url);
    handle_open(&own, &client, "child", NULL);
    handle_open(&parents, &client, "held", NULL);
    CHECK(handle_acquire(&own, 20000) == HILOCK_OK);
    CHECK(handle_acquire(&parents, HILOCK_TRY) == HILOCK_TIMED_OUT);
    client_end(&client);
}

LIVE(children_cost_their_parent_nothing)
{
    struct trial trial;
    begin(&trial, fixture);
    long long evalsha = redis_calls(trial.fixture->redis, "evalsha");
    child_join(child_start(child_that_gives_back, &trial));
    assert_int_equal(redis_calls(trial.fixture->redis, "evalsha"), evalsha);
    assert_int_equal(redis_integer(trial.fixture->redis, "HLEN held"), 2);
    child_join(child_start(child_with_a_client_of_its_own, &trial));
    end(&trial);
}

/* ---- a child that turns the loop ---- */

enum { TURNS_MAX = 20000 }; /* far more than it needs while nothing is ready, and far less than when it spins */

struct child {
    struct trial *trial;
    struct redis *redis; /* its own */
    const char *until;   /* it turns until this key is there, or is not */
    int is_there, is_reinited;
    unsigned turns;
};

static int is_over(void *arg)
{
    struct child *child = arg;
    child->turns++;
    return redis_integer(child->redis, "EXISTS %s", child->until) == child->is_there;
}

static void child_that_turns(void *arg)
{
    struct child *child = arg;
    struct trial *trial = child->trial;
    unsigned warnings = trial->client.warnings;
    child->redis = redis_open(trial->fixture->server);
    if (child->is_reinited)
        CHECK(event_reinit(trial->client.base) == 0);
    client_until(&trial->client, is_over, child, child->until);
    CHECK(trial->client.warnings == warnings + 1 && strstr(trial->client.log, "forked child turns this client's loop"));
    CHECK(trial->held.lost.count + trial->held.renewal_failed.count + trial->client.disconnected == 0);
    CHECK(child->turns < TURNS_MAX);
    redis_close(child->redis);
}

LIVE(a_child_that_turns_the_loop_disturbs_nothing)
{
    struct trial trial;
    struct child child = {.trial = &trial, .until = "over", .is_there = 1};
    begin(&trial, fixture);
    pid_t pid = child_start(child_that_turns, &child);
    client_until(&trial.client, client_has_renewed, &trial.client, "a renewal");
    redis_do(fixture->redis, "SET over 1");
    child_join(pid);
    redis_do(fixture->redis, "DEL over");
    end(&trial);
}

/* The parent stands still for ever: the lease of its lock ends, whatever comes over its connections meanwhile. */
static void the_lease_ends(struct fixture *fixture, int is_reinited)
{
    struct trial trial;
    struct child child = {.trial = &trial, .until = "brief", .is_reinited = is_reinited};
    begin(&trial, fixture);
    handle_free(&trial.held);
    handle_open(&trial.held, &trial.client, "brief", HILOCK_LOCK_OPTIONS(.lease_ms = 1200));
    assert_int_equal(handle_acquire(&trial.held, 20000), HILOCK_OK);
    pid_t pid = child_start(child_that_turns, &child);
    redis_do(fixture->redis, "PUBLISH redisson_lock__channel:{foreign} 0");
    child_join(pid);
    handle_until(&trial.held, &trial.held.lost, 1, "the loss");
    redis_do(fixture->redis, "DEL foreign");
    client_end(&trial.client);
}

LIVE(a_child_renews_nothing) { the_lease_ends(fixture, 0); }

LIVE(a_child_renews_nothing_after_event_reinit) { the_lease_ends(fixture, 1); }
