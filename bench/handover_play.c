/* SPDX-License-Identifier: BSD-3-Clause */
/* handover_play.c - a process of scenario handover. It repeats: think, acquire, hold, release.
 *
 * A process has one client and a handle for each kind; an order names the handle to use. The callback records a
 * grant before it does anything else, so the next holder cannot write earlier. The processes begin at times that are
 * spread over one round of all, so that they do not all ask at once. */
#include "handover.h"

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>

struct process {
    hilock_client *client;
    hilock_lock *mutex, *fair, *lock; /* lock: the handle in use */
    struct event *timer;
    struct ring *ring;
    struct handover_grant *grant; /* the grant that is held; NULL: the stretch is over */
    uint64_t asked_ns;
    bool is_connected, is_holding;
};

static struct handover_board *board_of(struct crowd_member *member)
{
    return member->board;
}

static void after(struct process *process, uint32_t us)
{
    const struct timeval span = {us / 1000000, us % 1000000};
    evtimer_add(process->timer, &span);
}

static void on_acquired(const struct hilock_result *result, void *user);

static void fail(struct crowd_member *member, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    event_base_loopbreak(member->base);
}

static void ask(struct crowd_member *member)
{
    struct process *process = member->state;
    if (board_of(member)->is_over) {
        crowd_answer(member);
        return;
    }
    process->asked_ns = crowd_now_ns();
    if (hilock_acquire(process->lock, HILOCK_FOREVER, on_acquired, member) != HILOCK_OK)
        fail(member, "acquire", hilock_client_refusal(process->client));
}

static void let_go(struct crowd_member *member)
{
    struct process *process = member->state;
    uint32_t think_us = board_of(member)->think_us;
    process->is_holding = false;
    if (process->grant)
        process->grant->released_ns = crowd_now_ns();
    if (hilock_release(process->lock, NULL, NULL) != HILOCK_OK)
        fail(member, "release", hilock_client_refusal(process->client));
    else if (think_us)
        after(process, think_us);
    else
        ask(member);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct crowd_member *member = user;
    struct process *process = member->state;
    struct handover_board *board = board_of(member);
    uint64_t now_ns = crowd_now_ns();
    if (result->status != HILOCK_OK) {
        fail(member, "acquire", result->detail);
        return;
    }
    board->grants_all++;
    board->heartbeats += result->attempts - 1;
    process->grant = NULL;
    process->is_holding = true;
    if (!board->is_over && board->grants < HANDOVER_GRANTS_MAX) {
        process->grant = &board->grant[board->grants++];
        *process->grant = (struct handover_grant){process->asked_ns, now_ns, 0, member->index};
    }
    after(process, board->is_over ? 0 : board->hold_us);
}

static void on_timer(evutil_socket_t fd, short what, void *user)
{
    struct crowd_member *member = user;
    struct process *process = member->state;
    (void)fd, (void)what;
    if (process->is_holding)
        let_go(member);
    else
        ask(member);
}

static void on_lost(const struct hilock_event *event, void *user)
{
    fail(user, "lost", event->detail);
}

static void on_ring_ready(struct crowd_member *member)
{
    crowd_answer(member);
}

static void on_event(const struct hilock_event *event, void *user)
{
    struct crowd_member *member = user;
    struct process *process = member->state;
    if (event->kind != HILOCK_EVENT_CONNECTED || process->is_connected)
        return;
    process->is_connected = true;
    process->ring = ring_open(member, on_ring_ready);
    if (!process->ring)
        event_base_loopbreak(member->base);
}

static int make_lock(struct crowd_member *member, hilock_kind kind, hilock_lock **ret_lock)
{
    struct process *process = member->state;
    char name[96];
    snprintf(name, sizeof name, "%s:%d", board_of(member)->name, kind);
    if (hilock_lock_create(ret_lock, process->client, name,
                           HILOCK_LOCK_OPTIONS(.kind = kind, .on_lost = on_lost, .user = member)) == HILOCK_OK)
        return 0;
    if (member->index == 0)
        fprintf(stderr, "hilock: %s\n", hilock_client_refusal(process->client));
    return -1;
}

static int open_process(struct crowd_member *member)
{
    struct process *process = member->state;
    const struct handover_board *board = board_of(member);
    bool polls = member->index + board->pollers >= member->count;
    struct hilock_error error;
    process->timer = evtimer_new(member->base, on_timer, member);
    if (!process->timer)
        return -1;
    if (hilock_client_open_libevent(
            &process->client, member->base,
            HILOCK_CLIENT_OPTIONS(.url = polls ? board->poller_url : board->url, .on_event = on_event, .user = member),
            &error) != HILOCK_OK) {
        fprintf(stderr, "hilock: %s\n", error.text);
        return -1;
    }
    if (make_lock(member, HILOCK_MUTEX, &process->mutex) != 0)
        return -1;
    return board->has_fair ? make_lock(member, HILOCK_FAIR, &process->fair) : 0;
}

static void begin(struct crowd_member *member, char order)
{
    struct process *process = member->state;
    const struct handover_board *board = board_of(member);
    uint64_t round_us = (uint64_t)board->hold_us + board->think_us;
    if (order == HANDOVER_PUBLISH) {
        ring_begin(process->ring);
        return;
    }
    process->lock = order == HANDOVER_FAIR ? process->fair : process->mutex;
    after(process, (uint32_t)(round_us * member->index / member->count));
}

static void on_closed(void *user)
{
    crowd_leave(user);
}

static void close_process(struct crowd_member *member)
{
    struct process *process = member->state;
    ring_close(process->ring);
    event_free(process->timer);
    hilock_lock_free(process->mutex);
    hilock_lock_free(process->fair);
    hilock_client_close(process->client, 0, on_closed, member);
}

const struct crowd_role handover_role = {sizeof(struct process), open_process, begin, close_process};
