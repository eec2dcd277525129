/* SPDX-License-Identifier: BSD-3-Clause */
/* net - see net.h. What happens on a connection. */
#include "world/net.h"

#include <limits.h>
#include <stdlib.h>

#include "world/busy.h"

static void forget_peer(struct hl_link *link)
{
    busy_forget(link);
    if (link->peer)
        store_disconnect(link->peer);
    link->peer = NULL;
}

static void link_free(struct hl_link *link)
{
    world_stop(link->net->world, &link->arriving);
    net_drop_answers(link);
    messages_drop(&link->there);
    forget_peer(link);
    TAILQ_REMOVE(&link->net->links_list, link, entry);
    free(link);
}

void net_link_free_if_over(struct hl_link *link)
{
    if (TAILQ_EMPTY(&link->there) && (link->is_down || link->is_closed))
        forget_peer(link);
    if (link->is_closed && !link->is_busy && !link->peer)
        link_free(link);
}

/* ---- rows ---- */

static void await(struct hl_link *link, struct world_event *event, const struct messages *row)
{
    const struct message *first = TAILQ_FIRST(row);
    int is_held = first && first->reply && first->fate.held_by;
    if (first && !is_held && !event->place)
        world_start(link->net->world, event, first->at_us);
}

void net_go_on(struct hl_link *link)
{
    await(link, &link->arriving, &link->there);
    await(link, &link->returning, &link->back);
}

static void append(struct hl_link *link, struct messages *row, struct message *message, uint64_t latency_us)
{
    const struct net *net = link->net;
    messages_append(row, message, net->world->now_us + (net->delay_us ? net->delay_us(net->arg) : latency_us));
    net_go_on(link);
}

void net_request(struct hl_link *link, struct message *request)
{
    link->is_cut_there |= request->fate.is_lost;
    if (link->is_down || link->is_cut_there)
        message_free(request);
    else
        append(link, &link->there, request, link->net->there_us + request->fate.there_us);
}

void net_answer(struct hl_link *link, struct message *answer, uint64_t latency_us)
{
    link->is_cut_back |= answer->fate.answer_is_lost;
    if (link->is_closed || link->is_down || link->is_cut_back)
        message_free(answer);
    else
        append(link, &link->back, answer, latency_us);
}

void net_drop_answers(struct hl_link *link)
{
    world_stop(link->net->world, &link->returning);
    messages_drop(&link->back);
}

/* What the server's kernel has received may run though the link is dead. */
void net_drop_unread(struct hl_link *link)
{
    const struct net *net = link->net;
    uint64_t at_us = net->world->now_us;
    struct message *message, *next;
    world_stop(net->world, &link->arriving);
    if (link->peer)
        link->peer->blocked_us = 0;
    for (message = TAILQ_FIRST(&link->there); message; message = next) {
        uint64_t later_us = net->stray_us ? net->stray_us(net->arg, message) : 0;
        next = TAILQ_NEXT(message, entry);
        if (later_us)
            message->at_us = at_us += later_us;
        else if (!message->fate.is_stray)
            messages_remove(&link->there, message);
    }
    net_go_on(link);
}

/* Its server forgets it now (behind the last stray), its process hears of it after the way back. */
void net_die(struct hl_link *link)
{
    struct net *net = link->net;
    net_drop_unread(link);
    if (!net->loses_answers || (!TAILQ_EMPTY(&link->back) && net->loses_answers(net->arg)))
        net_drop_answers(link);
    link->is_cut_back = 0;
    net_answer(link, message_news("Connection reset by peer"), net->back_us);
    link->is_down = 1;
    net_link_free_if_over(link);
}

/* ---- at the server ---- */

static void push(void *arg, struct hl_reply *reply)
{
    struct hl_link *link = arg;
    net_answer(link, message_reply(reply), link->net->back_us);
}

static struct hl_reply *execute(struct hl_link *link, const struct message *request)
{
    const struct net *net = link->net;
    struct store_peer *peer = link->peer;
    uint64_t touched = sim_store_touched(peer->store->core);
    struct hl_reply *reply = peer->blocked_us ? store_look(peer)
        : store_execute(peer, request->argc, request->argv, request->lengths);
    busy_took(peer->store, request, sim_store_touched(peer->store->core) - touched);
    if (reply && net->executed)
        net->executed(net->arg, link, request, reply);
    return reply;
}

static void answer(struct hl_link *link, struct net_fate *fate, struct hl_reply *reply)
{
    struct message *message = message_reply(fate->answer ? fate->answer : reply);
    if (fate->answer)
        say_free(reply);
    fate->answer = NULL;
    message->fate.held_by = fate->held_by;
    message->fate.answer_is_lost = fate->answer_is_lost;
    net_answer(link, message, link->net->back_us + fate->back_us + busy_us(link->peer->store));
}

/* 0: the connection is no more. A request that blocks its connection stays where it is, the first. */
static int run(struct hl_link *link, struct message *request)
{
    struct net_fate *fate = &request->fate;
    struct hl_reply *reply = fate->refusal;
    if (fate->resets_before)
        return 0;
    fate->refusal = NULL;
    if (!reply)
        reply = execute(link, request);
    if (!reply) {
        request->at_us = link->peer->blocked_us;
        return link->peer->blocked_us != 0;
    }
    answer(link, fate, reply);
    return !fate->resets_after && !link->peer->is_ended;
}

void net_serve(struct hl_link *link, unsigned most)
{
    struct message *request;
    int is_alive = 1;
    while (is_alive && most-- && (request = TAILQ_FIRST(&link->there)) != NULL && request->at_us <= link->net->world->now_us) {
        is_alive = run(link, request);
        if (!link->peer->blocked_us)
            messages_remove(&link->there, request);
    }
    net_go_on(link);
    if (is_alive || link->is_down)
        net_link_free_if_over(link);
    else
        net_die(link);
}

static void on_arrival(void *arg)
{
    struct hl_link *link = arg;
    if (!busy_stands_in_line(link))
        net_serve(link, UINT_MAX);
}

/* ---- at the process ---- */

static void give(struct hl_link *link, const struct message *message)
{
    const struct net *net = link->net;
    if (message->reply && net->received)
        net->received(net->arg, link, message->reply);
    link->is_over = message->why != NULL;
    link->is_up |= !message->reply && !message->why;
    if (message->reply)
        link->events->on_reply(link->arg, message->reply);
    else if (message->why)
        link->events->on_down(link->arg, message->why);
    else
        link->events->on_up(link->arg);
}

/* All that has arrived is read in one go, as by a read of a socket. The host's leave may end the client, and with it
 * the link: only what was taken from it before is touched after. */
static void on_return(void *arg)
{
    struct hl_link *link = arg;
    const struct world_loop *process = link->process;
    struct hl_host *host = link->host;
    struct message *message;
    if (hl_host_begin(host) != HILOCK_OK)
        return;
    link->is_busy = 1;
    while ((message = TAILQ_FIRST(&link->back)) != NULL && message->at_us <= link->net->world->now_us && !message->fate.held_by) {
        TAILQ_REMOVE(&link->back, message, entry);
        give(link, message);
        message_free(message);
    }
    link->is_busy = 0;
    net_go_on(link);
    net_link_free_if_over(link);
    hl_host_leave(host);
    if (process->turned)
        process->turned(process->arg);
}

/* ---- life ---- */

struct hl_link *net_link_new(struct world_loop *process, struct net_place *place)
{
    struct hl_link *link = world_memory_takes(process->memory) ? calloc(1, sizeof *link) : NULL;
    if (!link)
        return NULL;
    link->net = process->net;
    link->place = place;
    link->process = process;
    TAILQ_INIT(&link->unwritten);
    TAILQ_INIT(&link->there);
    TAILQ_INIT(&link->back);
    world_event_init(&link->arriving, place ? &place->store->lane : NULL, on_arrival, link);
    world_event_init(&link->returning, &process->lane, on_return, link);
    if (place && place->mood == NET_LISTENS)
        link->peer = store_connect(place->store, push, link);
    TAILQ_INSERT_TAIL(&link->net->links_list, link, entry);
    link->net->links++;
    return link;
}

void net_init(struct net *net, struct world *world)
{
    *net = (struct net){.world = world, .there_us = 100, .back_us = 100, .connect_us = 200};
    TAILQ_INIT(&net->links_list);
}

void net_done(struct net *net)
{
    struct hl_link *link;
    while ((link = TAILQ_FIRST(&net->links_list)) != NULL) {
        if (!link->is_closed)
            abort();
        link_free(link);
    }
}
