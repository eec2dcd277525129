/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR among processes: strict order of arrival; what a death costs the next one, the holder's its lease, a waiter's nothing, a fresh
 * holder's two windows at most; two commands a grant, however many wait. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/child.h"
#include "support/ledger.h"
#include "support/scene.h"

enum { PLAYERS = 4, LEASE_MS = 6000, WINDOW_MS = 3000, CROWD_MAX = 32, ROUNDS = 12 };
enum { NOBODY = PLAYERS };

/* Shared by the processes of one play. */
struct play {
    const char *url;
    atomic_uint waiting;          /* how many have been told that they wait */
    atomic_uint dies;             /* who dies in the callback that grants */
    _Atomic uint64_t granted_us[PLAYERS], let_go_us[PLAYERS];
    atomic_uint may_go[PLAYERS];  /* release now */
};

struct player { struct play *play; unsigned index; };

static void *shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

static void on_granted(struct handle *handle)
{
    const struct player *player = handle->user;
    CHECK(handle->acquired.status == HILOCK_OK);
    if (atomic_load(&player->play->dies) == player->index)
        kill(getpid(), SIGKILL);
    atomic_store(&player->play->granted_us[player->index], check_now_us());
}

static int may_go(void *arg)
{
    const struct player *player = arg;
    return atomic_load(&player->play->may_go[player->index]) != 0;
}

static int is_in_play(void *arg)
{
    const struct handle *handle = arg;
    return handle->waiting.count || handle->acquired.count;
}

static void play_on(void *arg)
{
    struct player *player = arg;
    struct client client;
    struct handle handle;
    client_open(&client, player->play->url);
    client_connect(&client);
    handle_open(&handle, &client, "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = LEASE_MS));
    handle.on_acquired = on_granted;
    handle.user = player;
    client_for_ms(&client, 50); /* until it can be told of grants, as any client that has been up for a moment */
    handle_ask(&handle, HILOCK_FOREVER);
    client_until(&client, is_in_play, &handle, "an answer");
    atomic_fetch_add(&player->play->waiting, 1);
    client_until(&client, may_go, player, "the word to go on");
    CHECK(handle.acquired.count == 1);
    atomic_store(&player->play->let_go_us[player->index], check_now_us());
    CHECK(handle_give(&handle) == HILOCK_OK);
    handle_free(&handle);
    client_close(&client);
}

/* ---- the parent's side ---- */

struct stage {
    struct play *play;
    struct player players[PLAYERS];
    pid_t pids[PLAYERS];
};

struct awaited { struct play *play; unsigned index; };

static int are_waiting(void *arg)
{
    const struct awaited *awaited = arg;
    return atomic_load(&awaited->play->waiting) > awaited->index;
}

static int has_been_granted(void *arg)
{
    const struct awaited *awaited = arg;
    return atomic_load(&awaited->play->granted_us[awaited->index]) != 0;
}

static uint64_t granted_us(struct stage *stage, unsigned index)
{
    struct awaited awaited = {stage->play, index};
    check_until(has_been_granted, &awaited, "a grant");
    return atomic_load(&stage->play->granted_us[index]);
}

/* Player 0 holds, the others wait in their order. */
static void set(struct stage *stage, struct scene *scene)
{
    stage->play = shared(sizeof *stage->play);
    stage->play->url = scene->server->url;
    atomic_store(&stage->play->dies, NOBODY);
    for (unsigned i = 0; i < PLAYERS; i++) {
        struct awaited awaited = {stage->play, i};
        stage->players[i] = (struct player){stage->play, i};
        stage->pids[i] = child_start(play_on, &stage->players[i]);
        check_until(are_waiting, &awaited, "a player to wait");
    }
    assert_true(granted_us(stage, 0) != 0);
}

static uint64_t let_go(struct stage *stage, unsigned index)
{
    atomic_store(&stage->play->may_go[index], 1);
    child_join(stage->pids[index]);
    return atomic_load(&stage->play->let_go_us[index]);
}

/* What the dead left runs out by itself; the rest of the test need not wait for it. */
static void strike(struct stage *stage, struct scene *scene)
{
    munmap(stage->play, sizeof *stage->play);
    redis_do(scene->redis, "FLUSHALL");
}

static void order_is_that_of_arrival(void **state)
{
    struct stage stage;
    uint64_t released_us;
    set(&stage, *state);
    for (unsigned i = 0; i < PLAYERS; i++) {
        uint64_t at_us = granted_us(&stage, i);
        for (unsigned later = i + 1; later < PLAYERS; later++)
            assert_int_equal(atomic_load(&stage.play->granted_us[later]), 0);
        released_us = let_go(&stage, i);
        assert_true(released_us >= at_us);
    }
    munmap(stage.play, sizeof *stage.play);
}

static void a_holder_s_death_costs_its_lease(void **state)
{
    struct stage stage;
    uint64_t killed_us;
    set(&stage, *state);
    killed_us = check_now_us();
    child_kill(stage.pids[0]);
    assert_true(granted_us(&stage, 1) > killed_us + (uint64_t)LEASE_MS * 500); /* what was left after the latest renewal: nobody came too soon */
    assert_true(granted_us(&stage, 1) < killed_us + (uint64_t)(LEASE_MS + WINDOW_MS / 2) * 1000);
    for (unsigned i = 1; i < PLAYERS; i++) {
        granted_us(&stage, i);
        let_go(&stage, i);
    }
    strike(&stage, *state);
}

/* Whoever of the others dies: the one behind has the lock in no more than a fraction of any time that is waited for here. */
static void a_waiter_s_death_costs_nothing(void **state, unsigned dead)
{
    struct stage stage;
    set(&stage, *state);
    child_kill(stage.pids[dead]);
    for (unsigned i = 0, next = 1; i < PLAYERS; i = next++) {
        uint64_t released_us;
        next += next == dead;
        granted_us(&stage, i);
        released_us = let_go(&stage, i);
        if (next < PLAYERS)
            assert_true(granted_us(&stage, next) < released_us + (uint64_t)WINDOW_MS * 500);
    }
    strike(&stage, *state);
}

static void the_head_s_death_costs_nothing(void **state) { a_waiter_s_death_costs_nothing(state, 1); }
static void a_death_in_the_middle_costs_nothing(void **state) { a_waiter_s_death_costs_nothing(state, 2); }

static void a_fresh_holder_s_death_costs_two_windows(void **state)
{
    struct stage stage;
    uint64_t released_us;
    set(&stage, *state);
    atomic_store(&stage.play->dies, 1);
    released_us = let_go(&stage, 0);
    assert_true(granted_us(&stage, 2) > released_us + (uint64_t)WINDOW_MS * 900);
    assert_true(granted_us(&stage, 2) < released_us + (uint64_t)(2 * WINDOW_MS + WINDOW_MS / 2) * 1000);
    assert_int_equal(atomic_load(&stage.play->granted_us[3]), 0);
    let_go(&stage, 2);
    granted_us(&stage, 3);
    let_go(&stage, 3);
    child_kill(stage.pids[1]); /* only its body is left */
    strike(&stage, *state);
}

/* A process that stands still looks alive: it is granted the lock, which lapses with the window; nobody is kept out for longer. */
static void a_stopped_head_costs_two_windows_and_comes_back(void **state)
{
    struct stage stage;
    uint64_t released_us;
    set(&stage, *state);
    child_suspend(stage.pids[1]);
    released_us = let_go(&stage, 0);
    assert_true(granted_us(&stage, 2) < released_us + (uint64_t)(2 * WINDOW_MS + WINDOW_MS / 2) * 1000);
    child_resume(stage.pids[1]);
    let_go(&stage, 2);
    granted_us(&stage, 1);
    assert_int_equal(atomic_load(&stage.play->granted_us[3]), 0); /* it kept its place */
    let_go(&stage, 1);
    granted_us(&stage, 3);
    let_go(&stage, 3);
    strike(&stage, *state);
}

/* ---- a crowd ---- */

struct crowd {
    const char *url;
    struct ledger *ledger;
    unsigned processes;
    atomic_uint ready, is_on, through;
};

struct member {
    struct crowd *crowd;
    unsigned rounds_left;
    size_t grant;
    struct event *timer;
    struct handle *handle;
};

static void on_time_over(evutil_socket_t fd, short what, void *arg)
{
    struct member *member = arg;
    (void)fd, (void)what;
    ledger_end(member->crowd->ledger, member->grant);
    handle_release(member->handle);
}

static void on_member_granted(struct handle *handle)
{
    static const struct timeval hold = {0, 1000};
    struct member *member = handle->user;
    CHECK(handle->acquired.status == HILOCK_OK);
    member->grant = ledger_begin(member->crowd->ledger, 0, handle->acquired.token);
    event_add(member->timer, &hold);
}

static void on_member_released(struct handle *handle)
{
    struct member *member = handle->user;
    CHECK(handle->released.status == HILOCK_OK);
    if (--member->rounds_left)
        handle_ask(handle, HILOCK_FOREVER);
}

static int is_on(void *arg) { return atomic_load(&((struct crowd *)arg)->is_on) != 0; }
static int is_through(void *arg) { return ((struct member *)arg)->rounds_left == 0; }

static void join_in(void *arg)
{
    struct crowd *crowd = arg;
    struct client client;
    struct handle handle;
    struct member member = {crowd, ROUNDS, 0, NULL, &handle};
    client_open(&client, crowd->url);
    client_connect(&client);
    handle_open(&handle, &client, "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    handle.on_acquired = on_member_granted;
    handle.on_released = on_member_released;
    handle.user = &member;
    member.timer = event_new(client.base, -1, 0, on_time_over, &member);
    CHECK(member.timer != NULL);
    client_for_ms(&client, 50);
    atomic_fetch_add(&crowd->ready, 1);
    client_until(&client, is_on, crowd, "the start");
    handle_ask(&handle, HILOCK_FOREVER);
    client_until(&client, is_through, &member, "all rounds");
    event_free(member.timer);
    atomic_fetch_add(&crowd->through, 1);
    handle_free(&handle);
    client_close(&client);
}

static int all_are_ready(void *arg)
{
    const struct crowd *crowd = arg;
    return atomic_load(&crowd->ready) == crowd->processes;
}

static void two_commands_a_grant(struct scene *scene, unsigned processes)
{
    struct crowd *crowd = shared(sizeof *crowd);
    pid_t pids[CROWD_MAX];
    struct verdict verdict;
    long long commands;
    crowd->url = scene->server->url;
    crowd->ledger = ledger_new(1, (size_t)processes * ROUNDS);
    crowd->processes = processes;
    for (unsigned i = 0; i < processes; i++)
        pids[i] = child_start(join_in, crowd);
    check_until(all_are_ready, crowd, "the crowd");
    redis_do(scene->redis, "CONFIG RESETSTAT");
    atomic_store(&crowd->is_on, 1);
    for (unsigned i = 0; i < processes; i++)
        child_join(pids[i]);
    commands = redis_calls(scene->redis, "evalsha");
    verdict = ledger_judge(crowd->ledger);
    print_message("%u processes: %zu grants, %.2f commands for each\n", processes, verdict.grants, (double)commands / (double)verdict.grants);
    assert_int_equal(verdict.grants, (size_t)processes * ROUNDS);
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward + verdict.open, 0);
    assert_true((unsigned long long)commands * 10 <= verdict.grants * 22);
    ledger_free(crowd->ledger);
    munmap(crowd, sizeof *crowd);
}

static void two_commands_a_grant_of_8(void **state) { two_commands_a_grant(*state, 8); }
static void two_commands_a_grant_of_32(void **state) { two_commands_a_grant(*state, CROWD_MAX); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE_TEST(order_is_that_of_arrival),
        SCENE_TEST(a_holder_s_death_costs_its_lease),
        SCENE_TEST(the_head_s_death_costs_nothing),
        SCENE_TEST(a_death_in_the_middle_costs_nothing),
        SCENE_TEST(a_fresh_holder_s_death_costs_two_windows),
        SCENE_TEST(a_stopped_head_costs_two_windows_and_comes_back),
        SCENE_TEST(two_commands_a_grant_of_8),
        SCENE_TEST(two_commands_a_grant_of_32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
