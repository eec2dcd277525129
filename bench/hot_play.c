/* SPDX-License-Identifier: BSD-3-Clause */
/* hot_play.c - a process of scenario hot: contenders of one client that share a number of tries on one name.
 *
 * A contender takes a try, acquires with the wait limit, holds, and releases; when the release is answered it takes the
 * next try. When the tries are used up and every contender is idle, the process answers the order. */
#include "hot.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct contender {
    struct crowd_member *member;
    hilock_lock *lock;
    struct event *end_of_hold;
};

struct process {
    hilock_client *client;
    struct contender *contenders;
    unsigned tries_left, busy;
};

static void next_try(struct contender *contender);

static struct hot_part *part_of(struct crowd_member *member)
{
    return &((struct hot_board *)member->board)->parts[member->index];
}

static void retire(struct contender *contender)
{
    struct process *process = contender->member->state;
    struct hilock_stats stats = {.size = sizeof stats};
    if (--process->busy)
        return;
    hilock_client_stats(process->client, &stats);
    part_of(contender->member)->holds = stats.granted - stats.granted_local;
    crowd_answer(contender->member);
}

static void on_released(const struct hilock_result *result, void *user)
{
    struct contender *contender = user;
    if (result->status != HILOCK_OK)
        part_of(contender->member)->lost++;
    next_try(contender);
}

static void on_end_of_hold(evutil_socket_t fd, short what, void *user)
{
    struct contender *contender = user;
    (void)fd, (void)what;
    if (hilock_release(contender->lock, on_released, contender) == HILOCK_OK)
        return;
    part_of(contender->member)->lost++;
    next_try(contender);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct contender *contender = user;
    struct hot_board *board = contender->member->board;
    const struct timeval hold = {board->hold_ms / 1000, (suseconds_t)(board->hold_ms % 1000) * 1000};
    if (result->status != HILOCK_OK) {
        part_of(contender->member)->failed++;
        if (result->status != HILOCK_TIMED_OUT)
            fprintf(stderr, "%s: %s\n", hilock_status_name(result->status), result->detail);
        next_try(contender);
        return;
    }
    part_of(contender->member)->acquired++;
    board->tokens[atomic_fetch_add(&board->grants, 1)] = result->fencing_token;
    evtimer_add(contender->end_of_hold, &hold);
}

static void next_try(struct contender *contender)
{
    struct process *process = contender->member->state;
    struct hot_board *board = contender->member->board;
    while (process->tries_left) {
        process->tries_left--;
        if (hilock_acquire(contender->lock, board->wait_ms, on_acquired, contender) == HILOCK_OK)
            return;
        part_of(contender->member)->failed++;
    }
    retire(contender);
}

static int open_contender(struct crowd_member *member, struct contender *contender)
{
    struct process *process = member->state;
    struct hot_board *board = member->board;
    contender->member = member;
    contender->end_of_hold = evtimer_new(member->base, on_end_of_hold, contender);
    if (contender->end_of_hold &&
        hilock_lock_create(&contender->lock, process->client, board->name,
                           HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .kind = board->kind)) == HILOCK_OK)
        return 0;
    fprintf(stderr, "hilock: %s\n", hilock_client_refusal(process->client));
    return -1;
}

static int open_process(struct crowd_member *member)
{
    struct process *process = member->state;
    struct hot_board *board = member->board;
    process->contenders = calloc(board->contenders, sizeof *process->contenders);
    if (!process->contenders)
        return -1;
    if (crowd_open_client(member, &process->client,
                          HILOCK_CLIENT_OPTIONS(.url = board->url, .turns_max = board->turns_max)) != 0)
        return -1;
    for (unsigned i = 0; i < board->contenders; i++)
        if (open_contender(member, &process->contenders[i]) != 0)
            return -1;
    return 0;
}

static void begin(struct crowd_member *member, char order)
{
    struct process *process = member->state;
    const struct hot_board *board = member->board;
    (void)order;
    process->tries_left = board->tries;
    process->busy = board->contenders;
    for (unsigned i = 0; i < board->contenders; i++)
        next_try(&process->contenders[i]);
}

static void close_process(struct crowd_member *member)
{
    struct process *process = member->state;
    const struct hot_board *board = member->board;
    for (unsigned i = 0; i < board->contenders; i++) {
        hilock_lock_free(process->contenders[i].lock);
        event_free(process->contenders[i].end_of_hold);
    }
    free(process->contenders);
    crowd_close_client(member, process->client);
}

const struct crowd_role hot_role = {sizeof(struct process), open_process, begin, close_process};
