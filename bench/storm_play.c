/* SPDX-License-Identifier: BSD-3-Clause */
/* storm_play.c - a process of scenario storm: many clients on one loop, whose handles never rest.
 *
 * A handle acquires with a random wait, and acquires again as soon as that wait has ended. When it is granted the
 * lock, it holds, releases, and acquires again without waiting for the release's answer. So the load grows when
 * answers become slow, as it does for a service whose users try again. */
#include "storm.h"

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <stdlib.h>

enum { REFUSED_PAUSE_MS = 10 };

struct process {
    struct client *clients;
    unsigned count, connected, closed;
    unsigned waiting; /* how many handles wait or hold */
    uint64_t random;
};

struct handle {
    struct crowd_member *member;
    hilock_lock *lock;
    struct event *timer; /* ends the hold, or the pause after a refusal */
    bool is_waiting, is_holding;
};

struct client {
    struct crowd_member *member;
    hilock_client *client;
    struct handle *handles;
    bool is_connected;
};

static struct storm_board *board_of(struct crowd_member *member)
{
    return member->board;
}

static uint32_t draw(struct process *process, uint32_t least, uint32_t most)
{
    process->random = process->random * 6364136223846793005u + 1442695040888963407u;
    return least + (uint32_t)((process->random >> 33) % (most - least + 1));
}

static void after(struct handle *handle, uint32_t ms)
{
    const struct timeval span = {ms / 1000, (suseconds_t)(ms % 1000) * 1000};
    evtimer_add(handle->timer, &span);
}

static void on_acquired(const struct hilock_result *result, void *user);

static void retire(struct handle *handle)
{
    struct process *process = handle->member->state;
    if (--process->waiting == 0)
        crowd_answer(handle->member);
}

static void ask(struct handle *handle)
{
    struct storm_board *board = board_of(handle->member);
    if (board->is_over) {
        retire(handle);
        return;
    }
    handle->is_waiting = hilock_acquire(handle->lock,
                                        draw(handle->member->state, board->wait_least_ms, board->wait_most_ms),
                                        on_acquired, handle) == HILOCK_OK;
    if (!handle->is_waiting) {
        board->refused++;
        after(handle, REFUSED_PAUSE_MS);
    }
}

static void on_timer(evutil_socket_t fd, short what, void *user)
{
    struct handle *handle = user;
    (void)fd, (void)what;
    if (handle->is_holding && hilock_release(handle->lock, NULL, NULL) != HILOCK_OK)
        board_of(handle->member)->refused++;
    handle->is_holding = false;
    ask(handle);
}

static void record(struct storm_board *board)
{
    uint64_t step = (crowd_now_ns() - board->began_ns) / 1000000 / STORM_STEP_MS;
    if (step < STORM_STEPS_MAX)
        board->grants[step]++;
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct handle *handle = user;
    struct storm_board *board = board_of(handle->member);
    handle->is_waiting = false;
    if (result->status == HILOCK_OK) {
        if (!board->is_over)
            record(board);
        handle->is_holding = true;
        after(handle, board->hold_ms);
    } else if (result->status == HILOCK_TIMED_OUT || result->status == HILOCK_CANCELLED) {
        board->timed_out += result->status == HILOCK_TIMED_OUT;
        ask(handle);
    } else {
        *(result->status == HILOCK_UNREACHABLE ? &board->silent : &board->refused) += 1;
        after(handle, REFUSED_PAUSE_MS);
    }
}

static void on_event(const struct hilock_event *event, void *user)
{
    struct client *client = user;
    struct process *process = client->member->state;
    if (event->kind != HILOCK_EVENT_CONNECTED || client->is_connected)
        return;
    client->is_connected = true;
    if (++process->connected == process->count)
        crowd_answer(client->member);
}

static int open_handle(struct crowd_member *member, struct client *client, unsigned i)
{
    struct handle *handle = &client->handles[i];
    const struct storm_board *board = board_of(member);
    handle->member = member;
    handle->timer = evtimer_new(member->base, on_timer, handle);
    if (handle->timer &&
        hilock_lock_create(&handle->lock, client->client, board->name,
                           HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored,
                                               .kind = board->kinds[i % board->kinds_count])) == HILOCK_OK)
        return 0;
    fprintf(stderr, "hilock: %s\n", hilock_client_refusal(client->client));
    return -1;
}

static int open_client(struct crowd_member *member, struct client *client)
{
    const struct storm_board *board = board_of(member);
    struct hilock_error error;
    client->member = member;
    client->handles = calloc(board->handles, sizeof *client->handles);
    if (!client->handles)
        return -1;
    if (hilock_client_open_libevent(&client->client, member->base,
                                    HILOCK_CLIENT_OPTIONS(.url = board->url, .on_event = on_event, .user = client),
                                    &error) != HILOCK_OK) {
        fprintf(stderr, "hilock: %s\n", error.text);
        return -1;
    }
    for (unsigned i = 0; i < board->handles; i++)
        if (open_handle(member, client, i) != 0)
            return -1;
    return 0;
}

static int open_process(struct crowd_member *member)
{
    struct process *process = member->state;
    const struct storm_board *board = board_of(member);
    process->random = member->index + 1;
    process->count = board->clients / member->count + (member->index < board->clients % member->count);
    process->clients = calloc(process->count, sizeof *process->clients);
    if (!process->clients)
        return -1;
    for (unsigned i = 0; i < process->count; i++)
        if (open_client(member, &process->clients[i]) != 0)
            return -1;
    return 0;
}

static void begin(struct crowd_member *member)
{
    struct process *process = member->state;
    const struct storm_board *board = board_of(member);
    process->waiting = process->count * board->handles;
    for (unsigned i = 0; i < process->count; i++)
        for (unsigned j = 0; j < board->handles; j++)
            after(&process->clients[i].handles[j], draw(process, 0, board->wait_least_ms));
    crowd_answer(member);
}

static void end(struct crowd_member *member)
{
    struct process *process = member->state;
    const struct storm_board *board = board_of(member);
    for (unsigned i = 0; i < process->count; i++)
        for (unsigned j = 0; j < board->handles; j++)
            if (process->clients[i].handles[j].is_waiting)
                hilock_cancel(process->clients[i].handles[j].lock);
}

static void on_order(struct crowd_member *member, char order)
{
    if (order == STORM_BEGIN)
        begin(member);
    else
        end(member);
}

static void on_closed(void *user)
{
    struct crowd_member *member = user;
    struct process *process = member->state;
    if (++process->closed == process->count)
        crowd_leave(member);
}

static void close_process(struct crowd_member *member)
{
    struct process *process = member->state;
    const struct storm_board *board = board_of(member);
    for (unsigned i = 0; i < process->count; i++) {
        for (unsigned j = 0; j < board->handles; j++) {
            hilock_lock_free(process->clients[i].handles[j].lock);
            event_free(process->clients[i].handles[j].timer);
        }
        free(process->clients[i].handles);
        hilock_client_close(process->clients[i].client, 0, on_closed, member);
    }
}

const struct crowd_role storm_role = {sizeof(struct process), open_process, on_order, close_process};
