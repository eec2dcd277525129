/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of one client take turns on one hold: counted at the server. And two processes that both want a name all the time: neither starves,
 * hand-off or not; tokens rise through all of it. */
#include <stdatomic.h>

#include "support/child.h"
#include "support/ledger.h"
#include "support/fixture.h"

/* ---- one process: what it costs ---- */

enum { CROWD = 32, TURNS = 16 };

struct row {
    struct handle handles[CROWD + 1];
    unsigned served;
    uint64_t token;
    int has_fallen;
};

static void next_please(struct handle *handle)
{
    struct row *row = handle->user;
    row->has_fallen |= handle->acquired.status != HILOCK_OK || handle->acquired.token <= row->token;
    row->token = handle->acquired.token;
    row->served++;
    handle_release(handle);
}

static int all_are_served(void *arg) { return ((struct row *)arg)->served == CROWD + 1; }

static void sixteen_handles_share_one_command(void **state)
{
    struct fixture *fixture = *state;
    static struct row row;
    struct client client;
    struct hilock_stats stats;
    client_open(&client, fixture->server->url);
    client_connect(&client);
    for (int i = 0; i <= CROWD; i++) {
        handle_open(&row.handles[i], &client, "stock", NULL);
        row.handles[i].user = &row;
    }
    assert_int_equal(handle_acquire(&row.handles[0], HILOCK_FOREVER), HILOCK_OK);
    row.token = row.handles[0].acquired.token;
    row.served = 1;
    for (int i = 1; i <= CROWD; i++) {
        row.handles[i].on_acquired = next_please;
        handle_ask(&row.handles[i], HILOCK_FOREVER);
    }
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    handle_release(&row.handles[0]);
    client_until(&client, all_are_served, &row, "everybody's turn");
    for (int i = 0; i <= CROWD; i++)
        handle_until(&row.handles[i], &row.handles[i].released, 1, "every release");
    assert_false(row.has_fallen);
    /* rows of 16, 16 and 1: each release asks for the next one, too */
    assert_int_equal(redis_calls(fixture->redis, "evalsha"), 3);
    stats = client_stats(&client);
    assert_int_equal(stats.granted, CROWD + 1);
    assert_int_equal(stats.granted_local, CROWD + 1 - 3);
    assert_int_equal(stats.released, CROWD + 1);
    for (int i = 0; i <= CROWD; i++)
        handle_free(&row.handles[i]);
    client_close(&client);
}

/* ---- two processes ---- */

enum { PROCESSES = 2, HANDLES_MAX = 10, GRANTS = 1500, READY = 0, SERVED = 1, HOLD_US = 1000 };

struct rivalry {
    const char *url;
    struct ledger *ledger;
    unsigned handles, turns_max;
    int asks_in_callback; /* in that of its release; else right behind the call */
};

struct rival {
    struct handle handle;
    struct rivalry *rivalry;
    struct event *timer;
    size_t grant;
    unsigned process;
    int is_through;
};

static int is_over(struct rival *rival)
{
    rival->is_through = atomic_load(ledger_word(rival->rivalry->ledger, SERVED)) + atomic_load(ledger_word(rival->rivalry->ledger, SERVED + 1)) >= GRANTS;
    return rival->is_through;
}

static void let_go(evutil_socket_t fd, short what, void *arg)
{
    struct rival *rival = arg;
    (void)fd;
    (void)what;
    ledger_end(rival->rivalry->ledger, rival->grant);
    handle_release(&rival->handle);
    if (!rival->rivalry->asks_in_callback && !is_over(rival))
        handle_ask(&rival->handle, HILOCK_FOREVER);
}

static void on_acquired(struct handle *handle)
{
    const struct timeval hold = {0, HOLD_US};
    struct rival *rival = handle->user;
    if (handle->acquired.status != HILOCK_OK)
        check_fail("acquire ended %s: %s", hilock_status_name(handle->acquired.status), handle->acquired.detail);
    rival->grant = ledger_begin(rival->rivalry->ledger, 0, handle->acquired.token);
    if (!is_over(rival))
        atomic_fetch_add(ledger_word(rival->rivalry->ledger, SERVED + rival->process), 1);
    event_add(rival->timer, &hold);
}

static void on_released(struct handle *handle)
{
    struct rival *rival = handle->user;
    if (rival->rivalry->asks_in_callback && !is_over(rival))
        handle_ask(handle, HILOCK_FOREVER);
}

static int everybody_is_ready(void *arg)
{
    return atomic_load(ledger_word(((struct rivalry *)arg)->ledger, READY)) == PROCESSES;
}

static int all_are_through(void *arg)
{
    const struct rival *rivals = arg;
    for (unsigned i = 0; i < rivals->rivalry->handles; i++)
        if (!rivals[i].is_through || hilock_lock_state(rivals[i].handle.lock) != HILOCK_STATE_IDLE)
            return 0;
    return 1;
}

static void compete(struct rivalry *rivalry, unsigned process)
{
    static struct rival rivals[HANDLES_MAX];
    struct client client;
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = rivalry->url, .turns_max = rivalry->turns_max));
    client_connect(&client);
    for (unsigned i = 0; i < rivalry->handles; i++) {
        struct rival *rival = &rivals[i];
        handle_open(&rival->handle, &client, "stock", NULL);
        rival->handle.on_acquired = on_acquired;
        rival->handle.on_released = on_released;
        rival->handle.user = rival;
        rival->rivalry = rivalry;
        rival->process = process;
        rival->timer = event_new(client.base, -1, 0, let_go, rival);
        CHECK(rival->timer != NULL);
    }
    atomic_fetch_add(ledger_word(rivalry->ledger, READY), 1);
    client_until(&client, everybody_is_ready, rivalry, "both processes");
    for (unsigned i = 0; i < rivalry->handles; i++)
        handle_ask(&rivals[i].handle, HILOCK_FOREVER);
    client_until(&client, all_are_through, rivals, "all grants");
    for (unsigned i = 0; i < rivalry->handles; i++) {
        handle_free(&rivals[i].handle);
        event_free(rivals[i].timer);
    }
    client_close(&client);
}

static void compete_first(void *arg) { compete(arg, 0); }
static void compete_second(void *arg) { compete(arg, 1); }

static struct verdict play(struct fixture *fixture, struct rivalry *rivalry, uint64_t served[PROCESSES])
{
    struct verdict verdict;
    pid_t pids[PROCESSES];
    rivalry->url = fixture->server->url;
    rivalry->ledger = ledger_new(1, GRANTS + 2 * PROCESSES * HANDLES_MAX);
    pids[0] = child_start(compete_first, rivalry);
    pids[1] = child_start(compete_second, rivalry);
    for (int i = 0; i < PROCESSES; i++)
        child_join(pids[i]);
    for (unsigned i = 0; i < PROCESSES; i++)
        served[i] = atomic_load(ledger_word(rivalry->ledger, SERVED + i));
    verdict = ledger_judge(rivalry->ledger);
    print_message("%u handles each, turns_max %u: %llu and %llu grants, %zu changes, longest run %zu\n", rivalry->handles, rivalry->turns_max,
                  (unsigned long long)served[0], (unsigned long long)served[1], verdict.changes, verdict.longest);
    assert_int_equal(verdict.overlaps, 0);
    assert_int_equal(verdict.met, 0);
    assert_int_equal(verdict.backward, 0);
    assert_int_equal(verdict.open, 0);
    ledger_free(rivalry->ledger);
    return verdict;
}

static void each_has_its_share(void **state)
{
    uint64_t served[PROCESSES];
    struct rivalry rivalry = {.handles = HANDLES_MAX, .turns_max = TURNS};
    play(*state, &rivalry, served);
    assert_true(4 * served[0] >= served[0] + served[1]);
    assert_true(4 * served[1] >= served[0] + served[1]);
}

/* A run is that of one hold, or of a process that was not run by its machine in time; on the whole the lock goes from one to the other. */
static void two_greedy_ones_take_turns(void **state)
{
    uint64_t served[PROCESSES];
    struct rivalry rivalry = {.handles = 1, .turns_max = TURNS};
    assert_true(20 * play(*state, &rivalry, served).changes >= GRANTS);
    rivalry.asks_in_callback = 1;
    assert_true(20 * play(*state, &rivalry, served).changes >= GRANTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(sixteen_handles_share_one_command),
        FIXTURE_TEST(each_has_its_share),
        FIXTURE_TEST(two_greedy_ones_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
