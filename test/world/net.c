/* SPDX-License-Identifier: BSD-3-Clause */
/* net - see net.h, net_pipe.h. What happens on a connection. */
#include <stdlib.h>

#include "world/net_pipe.h"

static void forget_peer(struct net_pipe *pipe)
{
    if (pipe->peer)
        store_disconnect(pipe->peer);
    pipe->peer = NULL;
}

static void stop_all(struct net_pipe *pipe)
{
    world_stop(pipe->net->world, &pipe->connecting);
    world_stop(pipe->net->world, &pipe->arriving);
    world_stop(pipe->net->world, &pipe->returning);
    world_stop(pipe->net->world, &pipe->dying);
}

static void pipe_free(struct net_pipe *pipe)
{
    stop_all(pipe);
    forget_peer(pipe);
    messages_drop(&pipe->there);
    messages_drop(&pipe->back);
    TAILQ_REMOVE(&pipe->net->pipes, pipe, entry);
    free(pipe);
}

void net_pipe_free_if_over(struct net_pipe *pipe)
{
    const struct message *next = TAILQ_FIRST(&pipe->there);
    if (!pipe->is_busy && !pipe->link && (!next || next->fate.is_lost || !pipe->peer))
        pipe_free(pipe);
}

static int is_stuck(const struct message *message) { return message->fate.is_lost || (message->reply && message->fate.held_by); }

static void await(struct net_pipe *pipe, struct world_event *event, const struct messages *list, int is_blocked, uint64_t not_before_us)
{
    const struct message *first = TAILQ_FIRST(list);
    world_stop(pipe->net->world, event);
    if (first && !is_blocked && !is_stuck(first))
        world_start(pipe->net->world, event, first->at_us > not_before_us ? first->at_us : not_before_us);
}

void net_await(struct net_pipe *pipe)
{
    await(pipe, &pipe->arriving, &pipe->there, !pipe->peer, pipe->peer ? pipe->peer->blocked_us : 0);
    await(pipe, &pipe->returning, &pipe->back, !pipe->link || pipe->why || pipe->is_busy, 0);
}

void net_answer(struct net_pipe *pipe, struct hl_reply *reply, const struct net_fate *fate)
{
    struct message *message = message_reply(reply);
    message->fate.held_by = fate ? fate->held_by : NULL;
    message->fate.is_lost = fate && fate->answer_is_lost;
    messages_append(&pipe->back, message, pipe->net->world->now_us + pipe->net->back_us + (fate ? fate->back_us : 0));
    net_await(pipe);
}

static void push(void *arg, struct hl_reply *reply) { net_answer(arg, reply, NULL); }

void net_drop_unread(struct net_pipe *pipe)
{
    struct message *message, *next;
    for (message = TAILQ_FIRST(&pipe->there); message; message = next) {
        next = TAILQ_NEXT(message, entry);
        if (!message->fate.is_stray)
            messages_remove(&pipe->there, message);
    }
}

/* The server forgets it now (behind the last stray), its client hears of it after the way back. */
void net_die(struct net_pipe *pipe, const char *why)
{
    stop_all(pipe);
    net_drop_unread(pipe);
    messages_drop(&pipe->back);
    if (TAILQ_EMPTY(&pipe->there))
        forget_peer(pipe);
    pipe->why = why;
    net_await(pipe);
    if (pipe->link)
        world_start(pipe->net->world, &pipe->dying, pipe->net->world->now_us + pipe->net->back_us);
    else
        net_pipe_free_if_over(pipe);
}

static void on_dead(void *arg)
{
    struct net_pipe *pipe = arg;
    struct hl_link *link = pipe->link;
    struct hl_host *host = link->host;
    pipe->is_busy = 1;
    link->is_down = 1;
    hl_host_enter(host);
    link->events->on_down(link->arg, pipe->why);
    hl_host_leave(host);
    pipe->is_busy = 0;
    net_pipe_free_if_over(pipe);
}

/* 0: the connection is no more. */
static int execute(struct net_pipe *pipe, struct message *message)
{
    struct net_fate *fate = &message->fate;
    struct hl_reply *reply = fate->refusal;
    fate->refusal = NULL;
    if (!reply)
        reply = store_execute(pipe->peer, message->argc, (const char *const *)message->argv, message->lengths);
    if (!reply)
        return 0;
    if (fate->answer) {
        say_free(reply);
        reply = fate->answer;
        fate->answer = NULL;
    }
    if (pipe->peer->blocked_us > pipe->net->world->now_us)
        fate->back_us += pipe->peer->blocked_us - pipe->net->world->now_us;
    net_answer(pipe, reply, fate);
    return 1;
}

static void on_arrival(void *arg)
{
    struct net_pipe *pipe = arg;
    struct message *message = TAILQ_FIRST(&pipe->there);
    int dies = message->fate.resets_before || !execute(pipe, message) || message->fate.resets_after;
    messages_remove(&pipe->there, message);
    if (dies) {
        net_die(pipe, "Connection reset by peer");
        return;
    }
    net_await(pipe);
    net_pipe_free_if_over(pipe);
}

static void take_arrived(struct net_pipe *pipe, struct messages *read)
{
    struct message *message;
    while ((message = TAILQ_FIRST(&pipe->back)) != NULL && message->at_us <= pipe->net->world->now_us && !is_stuck(message)) {
        TAILQ_REMOVE(&pipe->back, message, entry);
        TAILQ_INSERT_TAIL(read, message, entry);
    }
}

/* All that has arrived is read in one go, as by a read of a socket. */
static void on_return(void *arg)
{
    struct net_pipe *pipe = arg;
    struct hl_host *host = pipe->link->host;
    struct messages read = TAILQ_HEAD_INITIALIZER(read);
    struct message *message;
    take_arrived(pipe, &read);
    pipe->is_busy = 1;
    hl_host_enter(host);
    while ((message = TAILQ_FIRST(&read)) != NULL && pipe->link && !pipe->link->is_down) {
        pipe->link->events->on_reply(pipe->link->arg, message->reply);
        messages_remove(&read, message);
    }
    hl_host_leave(host);
    pipe->is_busy = 0;
    messages_drop(&read);
    net_await(pipe);
    net_pipe_free_if_over(pipe);
}

static void on_connected(void *arg)
{
    struct net_pipe *pipe = arg;
    struct hl_link *link = pipe->link;
    struct hl_host *host = link->host;
    pipe->is_busy = 1;
    hl_host_enter(host);
    if (!pipe->place || pipe->place->mood == NET_REFUSES) {
        link->is_down = 1;
        link->events->on_down(link->arg, "Connection refused");
    } else if (pipe->is_mismatched) {
        link->is_down = 1;
        link->events->on_down(link->arg, "one end speaks TLS, the other does not");
    } else {
        pipe->peer = store_connect(pipe->place->store, push, pipe);
        link->is_up = 1;
        link->events->on_up(link->arg);
    }
    hl_host_leave(host);
    pipe->is_busy = 0;
    net_await(pipe);
    net_pipe_free_if_over(pipe);
}

struct net_pipe *net_pipe_new(struct net_port *port, struct net_place *place, struct hl_link *link)
{
    struct net_pipe *pipe = calloc(1, sizeof *pipe);
    struct net *net = port->net;
    if (!pipe)
        abort();
    *pipe = (struct net_pipe){.net = net, .place = place, .process = port->process, .link = link};
    TAILQ_INIT(&pipe->there);
    TAILQ_INIT(&pipe->back);
    world_event_init(&pipe->connecting, &port->process->lane, on_connected, pipe);
    world_event_init(&pipe->arriving, place ? &place->store->lane : NULL, on_arrival, pipe);
    world_event_init(&pipe->returning, &port->process->lane, on_return, pipe);
    world_event_init(&pipe->dying, &port->process->lane, on_dead, pipe);
    TAILQ_INSERT_TAIL(&net->pipes, pipe, entry);
    if (!place || place->mood != NET_IS_SILENT)
        world_start(net->world, &pipe->connecting, net->world->now_us + net->connect_us);
    return pipe;
}

void net_init(struct net *net, struct world *world)
{
    *net = (struct net){.world = world, .there_us = 100, .back_us = 100, .connect_us = 200};
    TAILQ_INIT(&net->pipes);
}

void net_done(struct net *net)
{
    struct net_pipe *pipe, *next;
    for (pipe = TAILQ_FIRST(&net->pipes); pipe; pipe = next) {
        next = TAILQ_NEXT(pipe, entry);
        if (pipe->link)
            abort();
        pipe_free(pipe);
    }
}
