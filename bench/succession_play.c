/* SPDX-License-Identifier: BSD-3-Clause */
/* succession_play.c - a process of scenario succession. It holds the lock, or waits until it is killed or stopped, or
 * waits and survives. */
#include "succession.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

struct process {
    hilock_client *client;
    hilock_lock **locks;
    unsigned count;
};

static struct succession_board *board_of(struct crowd_member *member)
{
    return member->board;
}

static void fail(struct crowd_member *member, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    event_base_loopbreak(member->base);
}

static void on_held(const struct hilock_result *result, void *user)
{
    if (result->status != HILOCK_OK)
        fail(user, "acquire", result->detail);
    else
        crowd_answer(user);
}

static void on_lived(const struct hilock_result *result, void *user)
{
    struct crowd_member *member = user;
    board_of(member)->granted_ns = crowd_now_ns();
    on_held(result, user);
}

static void on_released(const struct hilock_result *result, void *user)
{
    if (result->status != HILOCK_OK)
        fail(user, "release", result->detail);
    else
        crowd_answer(user);
}

/* Ignores the result: a process that was stopped goes on only to be killed. */
static void on_end_of_wait(const struct hilock_result *result, void *user)
{
    (void)result, (void)user;
}

static void acquire(struct crowd_member *member, unsigned i, hilock_result_fn *on_result)
{
    struct process *process = member->state;
    if (hilock_acquire(process->locks[i], HILOCK_FOREVER, on_result, member) != HILOCK_OK)
        fail(member, "acquire", hilock_client_refusal(process->client));
}

static void on_order(struct crowd_member *member, char order)
{
    struct process *process = member->state;
    switch (order) {
    case SUCCESSION_HOLD: acquire(member, 0, on_held); break;
    case SUCCESSION_LIVE: acquire(member, 0, on_lived); break;
    case SUCCESSION_WAIT:
        for (unsigned i = 0; i < process->count; i++)
            acquire(member, i, on_end_of_wait);
        crowd_answer(member);
        break;
    case SUCCESSION_RELEASE:
        board_of(member)->released_ns = crowd_now_ns();
        if (hilock_release(process->locks[0], on_released, member) != HILOCK_OK)
            fail(member, "release", hilock_client_refusal(process->client));
        break;
    default: fail(member, "order", "unknown");
    }
}

static int open_process(struct crowd_member *member)
{
    struct process *process = member->state;
    const struct succession_board *board = board_of(member);
    process->count = board->handles;
    process->locks = calloc(process->count, sizeof *process->locks);
    if (!process->locks)
        return -1;
    if (crowd_open_client(member, &process->client,
                          HILOCK_CLIENT_OPTIONS(.url = board->url, .lease_ms = board->lease_ms)) != 0)
        return -1;
    for (unsigned i = 0; i < process->count; i++)
        if (hilock_lock_create(&process->locks[i], process->client, board->name,
                               HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .kind = board->kind)) != HILOCK_OK) {
            fprintf(stderr, "hilock: %s\n", hilock_client_refusal(process->client));
            return -1;
        }
    return 0;
}

static void close_process(struct crowd_member *member)
{
    struct process *process = member->state;
    for (unsigned i = 0; i < process->count; i++)
        hilock_lock_free(process->locks[i]);
    free(process->locks);
    crowd_close_client(member, process->client);
}

const struct crowd_role succession_role = {sizeof(struct process), open_process, on_order, close_process};
