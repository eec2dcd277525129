/* SPDX-License-Identifier: BSD-3-Clause */
/* multi_play.c - a process of scenario multi: it chooses names, acquires them, holds, releases, thinks, and chooses
 * again. It answers the order when the play is over and it neither holds nor waits. */
#include "multi.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

struct process {
    hilock_client *client;
    hilock_lock *lock; /* for the names that the process wants now; NULL: it thinks */
    struct event *next;
    uint64_t asked_ns;
    bool holds;
};

static void acquire(struct crowd_member *member);

static void after_us(struct process *process, uint32_t us)
{
    const struct timeval span = {us / 1000000, (suseconds_t)(us % 1000000)};
    evtimer_add(process->next, &span);
}

static void record(struct crowd_member *member, uint64_t waited_ns)
{
    struct multi_board *board = member->board;
    struct multi_waits *waits = member->index < board->multis ? &board->of_multis : &board->of_singles;
    unsigned at = atomic_fetch_add(&waits->count, 1);
    if (at < MULTI_WAITS_MAX)
        waits->us[at] = (uint32_t)(waited_ns / 1000);
    if (!board->is_over)
        board->grants[member->index]++;
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct crowd_member *member = user;
    struct process *process = member->state;
    const struct multi_board *board = member->board;
    if (result->status != HILOCK_OK) {
        fprintf(stderr, "%s: %s\n", hilock_status_name(result->status), result->detail);
        exit(1);
    }
    record(member, crowd_now_ns() - process->asked_ns);
    process->holds = true;
    after_us(process, board->hold_us);
}

static void on_released(const struct hilock_result *result, void *user)
{
    struct crowd_member *member = user;
    struct process *process = member->state;
    const struct multi_board *board = member->board;
    (void)result;
    hilock_lock_free(process->lock);
    process->lock = NULL;
    if (board->is_over)
        crowd_answer(member);
    else
        after_us(process, board->think_us);
}

static void on_next(evutil_socket_t fd, short what, void *user)
{
    struct crowd_member *member = user;
    struct process *process = member->state;
    (void)fd, (void)what;
    if (!process->holds) {
        acquire(member);
        return;
    }
    process->holds = false;
    if (hilock_release(process->lock, on_released, member) != HILOCK_OK)
        exit(1); /* the hold was lost, which cannot happen: the lease is far longer than any hold */
}

/* Chooses `each` different numbers from 0 to names - 1. */
static void choose(const struct multi_board *board, unsigned each, unsigned *ret_chosen)
{
    for (unsigned i = 0; i < each; i++) {
        unsigned j = 0;
        ret_chosen[i] = (unsigned)random() % board->names;
        while (ret_chosen[j] != ret_chosen[i])
            j++;
        i -= j != i;
    }
}

static hilock_status make(struct process *process, unsigned count, const unsigned *chosen)
{
    const struct hilock_lock_options *options = HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored);
    char text[MULTI_EACH_MAX][32];
    const char *names[MULTI_EACH_MAX + 1];
    for (unsigned i = 0; i < count; i++) {
        snprintf(text[i], sizeof text[i], MULTI_NAME, chosen[i]);
        names[i] = text[i];
    }
    names[count] = NULL;
    return count == 1 ? hilock_lock_create(&process->lock, process->client, names[0], options)
                      : hilock_multi_create(&process->lock, process->client, names, options);
}

static void acquire(struct crowd_member *member)
{
    struct process *process = member->state;
    const struct multi_board *board = member->board;
    unsigned chosen[MULTI_EACH_MAX], each = member->index < board->multis ? board->each : 1;
    choose(board, each, chosen);
    process->asked_ns = crowd_now_ns();
    if (make(process, each, chosen) == HILOCK_OK &&
        hilock_acquire(process->lock, HILOCK_FOREVER, on_acquired, member) == HILOCK_OK)
        return;
    fprintf(stderr, "hilock: %s\n", hilock_client_refusal(process->client));
    exit(1);
}

static int open_process(struct crowd_member *member)
{
    struct process *process = member->state;
    struct multi_board *board = member->board;
    srandom(member->index + 1);
    process->next = evtimer_new(member->base, on_next, member);
    if (process->next)
        return crowd_open_client(member, &process->client, HILOCK_CLIENT_OPTIONS(.url = board->url));
    fprintf(stderr, "hilock: out of memory\n");
    return -1;
}

static void begin(struct crowd_member *member, char order)
{
    (void)order;
    acquire(member);
}

static void close_process(struct crowd_member *member)
{
    struct process *process = member->state;
    event_free(process->next);
    crowd_close_client(member, process->client);
}

const struct crowd_role multi_role = {sizeof(struct process), open_process, begin, close_process};
