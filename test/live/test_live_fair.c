/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR among processes that are killed and stopped: the others have it in their order of arrival all the same, and one that goes on again has
 * kept its place. What a death costs the next one, in exact time: unit/fair and safety_fair, the simulator's I18. */
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "support/child.h"
#include "support/fixture.h"
#include "support/ledger.h"

enum { PLAYERS = 4, LEASE_MS = 6000, WINDOW_MS = 3000 };
enum { WAITING, TURNS, DIES, GRANTED, GRANTED_US = GRANTED + PLAYERS, MAY_GO = GRANTED_US + PLAYERS }; /* words; the last three for each player */

struct queue {
    struct fixture *fixture;
    struct ledger *words;
    pid_t pids[PLAYERS];
};

struct player { struct queue *queue; unsigned index; };

static _Atomic uint64_t *word(const struct queue *queue, unsigned index) { return ledger_word(queue->words, index); }

/* ---- the players: each has it from its grant until it gets the order to release ---- */

static void on_granted(struct handle *handle)
{
    const struct player *player = handle->user;
    CHECK(handle->acquired.status == HILOCK_OK);
    if (atomic_load(word(player->queue, DIES)) == player->index)
        kill(getpid(), SIGKILL);
    atomic_store(word(player->queue, GRANTED_US + player->index), check_now_us());
    atomic_store(word(player->queue, GRANTED + player->index), 1 + atomic_fetch_add(word(player->queue, TURNS), 1));
}

static int is_in_play(void *arg)
{
    const struct handle *handle = arg;
    return handle->waiting.count || handle->acquired.count;
}

static int may_go(void *arg)
{
    const struct handle *handle = arg;
    const struct player *player = handle->user;
    return handle->acquired.count && atomic_load(word(player->queue, MAY_GO + player->index));
}

static void play_on(void *arg)
{
    struct player *player = arg;
    struct client client;
    struct handle handle;
    client_open(&client, player->queue->fixture->server->url);
    client_connect(&client);
    handle_open(&handle, &client, "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = LEASE_MS));
    handle.on_acquired = on_granted;
    handle.user = player;
    client_for_ms(&client, 50); /* until grants can reach it, as any client that has been up for a moment */
    handle_ask(&handle, HILOCK_FOREVER);
    client_until(&client, is_in_play, &handle, "an answer");
    atomic_fetch_add(word(player->queue, WAITING), 1);
    client_until(&client, may_go, &handle, "the order to release");
    client_end(&client);
}

/* ---- the test's side ---- */

struct awaited { const struct queue *queue; unsigned word; uint64_t least; };

static int has_come(void *arg)
{
    const struct awaited *awaited = arg;
    return atomic_load(word(awaited->queue, awaited->word)) >= awaited->least;
}

static void until(const struct queue *queue, unsigned index, uint64_t least, const char *what)
{
    check_until(has_come, &(struct awaited){queue, index, least}, what);
}

/* Player 0 has it, the others wait in their order. */
static void begin(struct queue *queue, void **state)
{
    static struct player players[PLAYERS];
    queue->fixture = *state;
    queue->words = ledger_new(1, 1);
    atomic_store(word(queue, DIES), PLAYERS);
    for (unsigned i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){queue, i};
        queue->pids[i] = child_start(play_on, &players[i]);
        until(queue, WAITING, i + 1, "a player to wait");
    }
    until(queue, GRANTED, 1, "the first grant");
}

/* That player is the next to have it, and gives it back. */
static void has_its_turn(struct queue *queue, unsigned player, unsigned turn)
{
    until(queue, GRANTED + player, 1, "a grant");
    assert_int_equal(atomic_load(word(queue, GRANTED + player)), turn);
    atomic_store(word(queue, MAY_GO + player), 1);
    child_join(queue->pids[player]);
}

/* What the dead left runs out by itself; the rest of the test need not wait for it. */
static void end(struct queue *queue)
{
    ledger_free(queue->words);
    redis_do(queue->fixture->redis, "FLUSHALL");
}

static void a_waiter_dies(void **state)
{
    struct queue queue;
    begin(&queue, state);
    child_kill(queue.pids[1]);
    has_its_turn(&queue, 0, 1);
    has_its_turn(&queue, 2, 2);
    has_its_turn(&queue, 3, 3);
    end(&queue);
}

/* It was granted the lock, which nobody else has before that has lapsed. */
static void a_fresh_holder_dies(void **state)
{
    struct queue queue;
    uint64_t from_us;
    begin(&queue, state);
    atomic_store(word(&queue, DIES), 1);
    from_us = check_now_us();
    has_its_turn(&queue, 0, 1);
    has_its_turn(&queue, 2, 2);
    assert_true(atomic_load(word(&queue, GRANTED_US + 2)) > from_us + (uint64_t)WINDOW_MS * 900);
    has_its_turn(&queue, 3, 3);
    child_kill(queue.pids[1]); /* only its body is left */
    end(&queue);
}

static int are_two_waiting(void *redis) { return redis_integer(redis, "ZCARD hilock:wait:{stock}") == 2; }

/* A process that stands still looks alive: it is granted the lock, which lapses. Then it finds that out, and asks again. */
static void the_head_is_stopped_and_comes_back(void **state)
{
    struct queue queue;
    begin(&queue, state);
    child_suspend(queue.pids[1]);
    atomic_store(word(&queue, MAY_GO), 1);
    child_join(queue.pids[0]);
    until(&queue, GRANTED + 2, 2, "the grant of the next one");
    child_resume(queue.pids[1]);
    check_until(are_two_waiting, queue.fixture->redis, "the stopped one to be back");
    has_its_turn(&queue, 2, 2);
    has_its_turn(&queue, 1, 3);
    has_its_turn(&queue, 3, 4);
    end(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_waiter_dies),
        FIXTURE_TEST(a_fresh_holder_dies),
        FIXTURE_TEST(the_head_is_stopped_and_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
