/* SPDX-License-Identifier: BSD-3-Clause */
/* net_link - the client's end of a connection: the functions of the link door, and what a fault does to many connections at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/net_pipe.h"

static struct net_place *find_place(struct net *net, const struct hl_link_target *target)
{
    char where[112];
    snprintf(where, sizeof where, target->path ? "%s" : strchr(target->address, ':') ? "[%s]:%d" : "%s:%d",
             target->path ? target->path : target->address, target->port);
    for (unsigned i = 0; i < net->places_count; i++)
        if (strcmp(net->places[i].where, where) == 0)
            return &net->places[i];
    return NULL;
}

struct net_place *net_listen(struct net *net, const char *where, struct store *store)
{
    struct net_place *place = &net->places[net->places_count++];
    if (net->places_count > NET_PLACES_MAX)
        abort();
    snprintf(place->where, sizeof place->where, "%s", where);
    place->store = store;
    return place;
}

/* ---- the door ---- */

static hilock_status secure(struct hl_link_factory *factory, const struct hl_memory *memory, const struct hl_tls_options *options, struct hl_text *why)
{
    struct net_port *port = factory->ctx;
    (void)memory;
    if (options->ca_file && strcmp(options->ca_file, "missing.pem") == 0) {
        hl_text_set(why, "cannot read tls_ca_file \"missing.pem\"");
        return HILOCK_INVALID;
    }
    port->net->secured++;
    return HILOCK_OK;
}

static void insecure(struct hl_link_factory *factory) { ((struct net_port *)factory->ctx)->net->secured--; }

static void ask_fate(struct hl_link *link, struct message *message)
{
    struct net *net = link->pipe->net;
    struct net_command command = {message->argc, (const char *const *)message->argv, message->lengths, NULL, "", 0, link->is_stream, link->pipe->process,
                                  link->pipe->place->store};
    if (!net->decide)
        return;
    command.word = store_word(command.argc, command.argv, command.lengths);
    if (strcmp(command.argv[0], "EVALSHA") == 0 && command.argc > 3) {
        command.key = command.argv[3];
        command.key_length = command.lengths[3];
    }
    net->decide(net->arg, &command, &message->fate);
}

static void write_out(struct hl_flush *flush)
{
    struct hl_link *link = (struct hl_link *)(void *)((char *)flush - offsetof(struct hl_link, flush));
    struct net_pipe *pipe = link->pipe;
    struct message *message;
    while ((message = TAILQ_FIRST(&link->outbox)) != NULL) {
        TAILQ_REMOVE(&link->outbox, message, entry);
        ask_fate(link, message);
        messages_append(&pipe->there, message, pipe->net->world->now_us + pipe->net->there_us + message->fate.there_us);
    }
    link->backlog = 0;
    net_await(pipe);
}

static struct hl_link *open_link(void *ctx, struct hl_host *host, const struct hl_link_target *target, const struct hl_link_events *events,
                                 void *arg)
{
    struct net_port *port = ctx;
    struct net_place *place = find_place(port->net, target);
    struct hl_link *link = world_memory_takes(port->process->memory) ? calloc(1, sizeof *link) : NULL;
    if (!link)
        return NULL;
    link->host = host;
    link->events = events;
    link->arg = arg;
    link->flush.flush = write_out;
    TAILQ_INIT(&link->outbox);
    link->pipe = net_pipe_new(port, place, link);
    port->net->links++;
    if (!place)
        return link;
    place->tried++;
    snprintf(place->tls_host, sizeof place->tls_host, "%s", target->tls_host ? target->tls_host : "");
    link->pipe->is_mismatched = place->is_tls != (target->tls_host != NULL);
    return link;
}

static int send_command(struct hl_link *link, int argc, const char *const *argv, const size_t *lengths)
{
    struct message *message;
    if (!link->is_up)
        abort(); /* sent before on_up */
    if (link->is_down || !world_memory_sends(link->pipe->process->memory))
        return -1;
    message = message_request(argc, argv, lengths);
    for (int i = 0; i < argc; i++)
        link->backlog += lengths[i];
    TAILQ_INSERT_TAIL(&link->outbox, message, entry);
    link->pipe->net->requests++;
    hl_host_flush_later(link->host, &link->flush);
    return 0;
}

static void stream(struct hl_link *link) { link->is_stream = 1; }

static size_t backlog(const struct hl_link *link) { return link->backlog; }

static void close_link(struct hl_link *link, int is_reset)
{
    struct net_pipe *pipe = link->pipe;
    hl_host_flush_never(link->host, &link->flush);
    messages_drop(&link->outbox);
    if (is_reset)
        net_drop_unread(pipe);
    messages_drop(&pipe->back);
    world_stop(pipe->net->world, &pipe->connecting);
    world_stop(pipe->net->world, &pipe->dying);
    pipe->link = NULL;
    pipe->net->links--;
    free(link);
    net_await(pipe);
    net_pipe_free_if_over(pipe);
}

struct hl_link_factory net_links(struct net_port *port)
{
    return (struct hl_link_factory){.ctx = port, .secure = secure, .insecure = insecure, .open = open_link, .send = send_command, .stream = stream, .backlog = backlog, .close = close_link};
}

/* ---- faults ---- */

static int is_meant(const struct net_pipe *pipe, const struct world_loop *process, enum net_which which)
{
    if (!pipe->link || pipe->link->is_down || !pipe->peer || (process && pipe->process != process))
        return 0;
    return which == NET_ALL || pipe->link->is_stream == (which == NET_STREAMS);
}

static unsigned reset(struct net *net, const struct net_place *place, const struct world_loop *process, enum net_which which)
{
    struct net_pipe *pipe, *next;
    unsigned count = 0;
    for (pipe = TAILQ_FIRST(&net->pipes); pipe; pipe = next) {
        next = TAILQ_NEXT(pipe, entry);
        if ((place && pipe->place != place) || !is_meant(pipe, process, which))
            continue;
        net_die(pipe, "Connection reset by peer");
        count++;
    }
    return count;
}

unsigned net_reset(struct net *net, const struct world_loop *process, enum net_which which) { return reset(net, NULL, process, which); }
unsigned net_reset_at(struct net *net, const struct net_place *place) { return reset(net, place, NULL, NET_ALL); }

void net_let_go(struct net *net, const void *held_by)
{
    struct net_pipe *pipe;
    struct message *message;
    TAILQ_FOREACH(pipe, &net->pipes, entry)
    {
        TAILQ_FOREACH(message, &pipe->back, entry)
        {
            if (message->fate.held_by != held_by)
                continue;
            message->fate.held_by = NULL;
            message->at_us = net->world->now_us + net->back_us;
        }
        net_await(pipe);
    }
}

void net_say(struct net *net, const struct world_loop *process, enum net_which which, const struct hl_reply *reply)
{
    struct net_pipe *pipe;
    TAILQ_FOREACH(pipe, &net->pipes, entry)
        if (is_meant(pipe, process, which))
            net_answer(pipe, say_again(reply), NULL);
}
