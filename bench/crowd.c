/* SPDX-License-Identifier: BSD-3-Clause */
/* crowd.c - processes that begin the same play together.
 *
 * Parent and member have a pair of sockets: an order is a byte in one direction, an answer is a byte in the other. A
 * member ends when the parent's side is closed, also by the parent's death. The run fails, and does not hang, when a
 * member's side is closed.
 * Invariant: crowd->pids[i] runs exactly while i < crowd->count. */
#include "crowd.h"

#include "process.h"

#include <errno.h>
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

struct crowd_link {
    struct crowd_member *member;
    const struct crowd *crowd;
    const struct crowd_role *role;
    struct event *orders;
    int fd;
};

uint64_t crowd_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void crowd_rest(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0)
        ;
}

void *crowd_board(size_t bytes)
{
    void *board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board != MAP_FAILED)
        return board;
    fprintf(stderr, "no %zu bytes of shared memory: %s\n", bytes, strerror(errno));
    return NULL;
}

void crowd_board_free(void *board, size_t bytes)
{
    if (board)
        munmap(board, bytes);
}

/* ---- a member ---- */

void crowd_answer(struct crowd_member *member)
{
    if (send(member->link->fd, ".", 1, MSG_NOSIGNAL) != 1)
        event_base_loopbreak(member->base);
}

void crowd_leave(struct crowd_member *member)
{
    event_base_loopexit(member->base, NULL);
}

static void on_event(const struct hilock_event *event, void *user)
{
    struct crowd_member *member = user;
    if (event->kind != HILOCK_EVENT_CONNECTED || member->is_connected)
        return;
    member->is_connected = 1;
    crowd_answer(member);
}

int crowd_open_client(struct crowd_member *member, hilock_client **ret_client,
                      const struct hilock_client_options *options)
{
    struct hilock_client_options own = *options;
    struct hilock_error error;
    own.on_event = on_event;
    own.user = member;
    if (hilock_client_open_libevent(ret_client, member->base, &own, &error) == HILOCK_OK)
        return 0;
    fprintf(stderr, "hilock: %s\n", error.text);
    return -1;
}

static void on_closed(void *user)
{
    crowd_leave(user);
}

void crowd_close_client(struct crowd_member *member, hilock_client *client)
{
    hilock_client_close(client, 0, on_closed, member);
}

static void on_order(evutil_socket_t fd, short what, void *user)
{
    struct crowd_link *link = user;
    char order;
    ssize_t got = recv(fd, &order, 1, MSG_DONTWAIT);
    (void)what;
    if (got < 0)
        return;
    if (got == 1) {
        link->role->on_order(link->member, order);
        return;
    }
    event_del(link->orders);
    link->role->close(link->member);
}

static struct event_base *exact_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base;
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static int live(void *arg)
{
    struct crowd_member *member = arg;
    struct crowd_link *link = member->link;
    int status = 1;
    for (unsigned i = 0; i <= member->index; i++)
        close(link->crowd->fds[i]); /* the parent's sides, of which a copy here would outlive the parent */
    member->state = calloc(1, link->role->state_bytes);
    member->base = exact_base();
    link->orders = member->base ? event_new(member->base, link->fd, EV_READ | EV_PERSIST, on_order, link) : NULL;
    if (member->state && link->orders && event_add(link->orders, NULL) == 0 && link->role->open(member) == 0) {
        event_base_dispatch(member->base);
        status = 0;
    }
    if (link->orders)
        event_free(link->orders);
    if (member->base)
        event_base_free(member->base);
    free(member->state);
    return status;
}

/* ---- the parent ---- */

static int hire(struct crowd *crowd, unsigned count)
{
    struct crowd_link link = {.crowd = crowd, .role = crowd->role};
    struct crowd_member member = {.index = crowd->count, .count = count, .board = crowd->board, .link = &link};
    int pair[2], why;
    link.member = &member;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return errno;
    link.fd = pair[1];
    crowd->fds[crowd->count] = pair[0];
    why = process_fork(&crowd->pids[crowd->count], live, &member);
    close(pair[1]);
    if (why == 0)
        crowd->count++;
    else
        close(pair[0]);
    return why;
}

int crowd_start(struct crowd *ret_crowd, const struct crowd_role *role, unsigned count, void *board)
{
    *ret_crowd = (struct crowd){.role = role, .board = board};
    for (unsigned i = 0; i < count; i++) {
        int why = hire(ret_crowd, count);
        if (why != 0) {
            fprintf(stderr, "cannot start process %u of %u: %s\n", i + 1, count, strerror(why));
            crowd_stop(ret_crowd);
            return -1;
        }
    }
    return crowd_await(ret_crowd);
}

static int fail(struct crowd *crowd, unsigned index)
{
    fprintf(stderr, "process %u of %u ended early\n", index + 1, crowd->count);
    crowd_stop(crowd);
    return -1;
}

int crowd_order(struct crowd *crowd, char order)
{
    for (unsigned i = 0; i < crowd->count; i++)
        if (send(crowd->fds[i], &order, 1, MSG_NOSIGNAL) != 1)
            return fail(crowd, i);
    return 0;
}

int crowd_await(struct crowd *crowd)
{
    char answer;
    for (unsigned i = 0; i < crowd->count; i++) {
        ssize_t got;
        do {
            got = recv(crowd->fds[i], &answer, 1, 0);
        } while (got < 0 && errno == EINTR);
        if (got != 1)
            return fail(crowd, i);
    }
    return 0;
}

static void await_end(pid_t pid)
{
    static const struct timespec pause = {0, 2000000};
    for (unsigned waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += 2) {
        if (process_has_ended(pid, NULL))
            return;
        nanosleep(&pause, NULL);
    }
    process_stop(pid, 0);
}

void crowd_stop(struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->count; i++)
        close(crowd->fds[i]);
    for (unsigned i = 0; i < crowd->count; i++)
        await_end(crowd->pids[i]);
    crowd->count = 0;
}
