/* SPDX-License-Identifier: BSD-3-Clause */
/* queue - see queue.h. */
#include "queue.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "client.h"

enum { NOBODY = QUEUE_PLAYERS };

struct player { struct queue *queue; unsigned index; };

struct queue_play {
    struct player players[QUEUE_PLAYERS];
    atomic_uint waiting; /* how many got WAITING or a grant */
    atomic_uint dies;    /* the one that dies in the callback of its grant */
    _Atomic uint64_t granted_us[QUEUE_PLAYERS], let_go_us[QUEUE_PLAYERS];
    atomic_uint may_go[QUEUE_PLAYERS];
};

static struct queue_play *play_of(const struct player *player) { return player->queue->play; }

/* ---- the players ---- */

static void on_granted(struct handle *handle)
{
    const struct player *player = handle->user;
    CHECK(handle->acquired.status == HILOCK_OK);
    if (atomic_load(&play_of(player)->dies) == player->index)
        kill(getpid(), SIGKILL);
    atomic_store(&play_of(player)->granted_us[player->index], check_now_us());
}

static int may_go(const struct player *player)
{
    return atomic_load(&play_of(player)->may_go[player->index]) != 0;
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
    client_open(&client, player->queue->url);
    client_connect(&client);
    handle_open(&handle, &client, player->queue->name, HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = player->queue->lease_ms));
    handle.on_acquired = on_granted;
    handle.user = player;
    client_for_ms(&client, 50); /* until grants can reach it, as any client that has been up for a moment */
    handle_ask(&handle, HILOCK_FOREVER);
    client_until(&client, is_in_play, &handle, "an answer");
    atomic_fetch_add(&play_of(player)->waiting, 1);
    while (!may_go(player) || !handle.acquired.count) /* the test may take its time */
        client_for_ms(&client, 20);
    atomic_store(&play_of(player)->let_go_us[player->index], check_now_us());
    CHECK(handle_give(&handle) == HILOCK_OK);
    handle_free(&handle);
    client_close(&client);
}

/* ---- the test's side ---- */

struct awaited { struct queue_play *play; unsigned index; };

static int are_waiting(void *arg)
{
    const struct awaited *awaited = arg;
    return atomic_load(&awaited->play->waiting) > awaited->index;
}

static int is_granted(void *arg)
{
    const struct awaited *awaited = arg;
    return atomic_load(&awaited->play->granted_us[awaited->index]) != 0;
}

int queue_has_been_granted(const struct queue *queue, unsigned player) { return is_granted(&(struct awaited){queue->play, player}); }

uint64_t queue_granted_us(struct queue *queue, unsigned player)
{
    check_until(is_granted, &(struct awaited){queue->play, player}, "a grant");
    return atomic_load(&queue->play->granted_us[player]);
}

void queue_set(struct queue *queue)
{
    struct queue_play *play = mmap(NULL, sizeof *play, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(play != MAP_FAILED);
    queue->play = play;
    atomic_store(&play->dies, NOBODY);
    for (unsigned i = 0; i < QUEUE_PLAYERS; i++) {
        play->players[i] = (struct player){queue, i};
        queue->pids[i] = child_start(play_on, &play->players[i]);
        check_until(are_waiting, &(struct awaited){play, i}, "a player to wait");
    }
    CHECK(queue_granted_us(queue, 0) != 0);
}

void queue_end(struct queue *queue) { munmap(queue->play, sizeof *queue->play); }

uint64_t queue_let_go(struct queue *queue, unsigned player)
{
    atomic_store(&queue->play->may_go[player], 1);
    child_join(queue->pids[player]);
    return atomic_load(&queue->play->let_go_us[player]);
}

void queue_dies_when_granted(struct queue *queue, unsigned player) { atomic_store(&queue->play->dies, player); }
