/* SPDX-License-Identifier: BSD-3-Clause */
/* fixture - see fixture.h. */
#include "fixture.h"

#include <stdlib.h>

static int begin(void **state, int with_port)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    CHECK(fixture != NULL);
    fixture->test = *state;
    fixture->server = with_port ? server_start_with_port(NULL) : server_start(NULL);
    fixture->redis = redis_open(fixture->server);
    *state = fixture;
    return 0;
}

int fixture_begin(void **state) { return begin(state, 0); }

int fixture_begin_with_port(void **state) { return begin(state, 1); }

static int nobody_is_there(void *arg) { return redis_clients(arg) == 0 && redis_count(arg, "PUBSUB CHANNELS") == 0; }

/* Connections first: the server sees their end a little later than the client makes it. */
void fixture_check_clean(struct redis *redis)
{
    check_until(nobody_is_there, redis, "the clients' connections and subscriptions to end");
    CHECK(redis_lock_keys(redis) == 0);
}

/* Here, and not in teardown: that runs after a failure as well, when clients are still open and traces tell nothing. */
void fixture_run(void **state)
{
    struct fixture *fixture = *state;
    fixture->test->run(fixture);
    fixture_check_clean(fixture->redis);
}

void fixture_take_down(struct fixture *fixture)
{
    redis_close(fixture->redis);
    fixture->redis = NULL;
    server_kill(fixture->server);
}

void fixture_bring_up(struct fixture *fixture)
{
    server_restart(fixture->server);
    fixture->redis = redis_open(fixture->server);
}

/* A test that failed may have left its server suspended. */
int fixture_end(void **state)
{
    struct fixture *fixture = *state;
    if (fixture->server->pid)
        server_resume(fixture->server);
    redis_close(fixture->redis);
    server_end(fixture->server);
    free(fixture);
    return 0;
}
