/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR among processes that are killed and stopped: the others have it in their order of arrival still, and one
 * that goes on again has kept its place. What a death costs the next one, in exact time: unit/fair and safety_fair,
 * the simulator's I18. */
#include <stdatomic.h>

#include "support/child.h"
#include "support/fixture.h"
#include "support/ledger.h"

enum { PLAYERS = 4, LEASE_MS = 6000 };
enum { WAITING, TURNS, GRANTED, MAY_GO = GRANTED + PLAYERS }; /* words; the last two for each player */

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
static void begin(struct queue *queue, struct fixture *fixture)
{
    static struct player players[PLAYERS];
    queue->fixture = fixture;
    queue->words = ledger_new(1, 1);
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

static int are_two_in_the_queue(void *redis) { return redis_integer(redis, "ZCARD hilock:wait:{stock}") == 2; }

/* A process that stands still looks alive: it is granted what the dead one left, which lapses. Then it finds that
 * out, and asks again. */
LIVE(the_holder_is_killed_and_the_head_stopped)
{
    struct queue queue;
    begin(&queue, fixture);
    child_suspend(queue.pids[1]);
    child_kill(queue.pids[0]);
    until(&queue, GRANTED + 2, 2, "the grant of the next one");
    child_resume(queue.pids[1]);
    check_until(are_two_in_the_queue, queue.fixture->redis, "the stopped one to be back");
    has_its_turn(&queue, 2, 2);
    has_its_turn(&queue, 1, 3);
    has_its_turn(&queue, 3, 4);
    ledger_free(queue.words);
}
