/* SPDX-License-Identifier: BSD-3-Clause */
/* net_link - the process' end of a connection: the functions of the link door; what a fault does to many of them. */
#include "world/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct world_loop *process = factory->ctx;
    (void)memory;
    if (options->ca_file && strcmp(options->ca_file, "missing.pem") == 0) {
        hl_text_set(why, "cannot read tls_ca_file \"missing.pem\"");
        return HILOCK_INVALID;
    }
    process->net->secured++;
    return HILOCK_OK;
}

static void insecure(struct hl_link_factory *factory) { ((struct world_loop *)factory->ctx)->net->secured--; }

static void write_out(struct hl_flush *flush)
{
    struct hl_link *link = (struct hl_link *)(void *)((char *)flush - offsetof(struct hl_link, flush));
    struct message *request;
    while ((request = TAILQ_FIRST(&link->unwritten)) != NULL) {
        TAILQ_REMOVE(&link->unwritten, request, entry);
        if (link->net->decide)
            link->net->decide(link->net->arg, link, request);
        net_request(link, request);
    }
    link->backlog = 0;
}

/* NULL: it gets up. */
static const char *why_down(struct hl_link *link, const char *tls_host)
{
    const struct net *net = link->net;
    struct net_place *place = link->place;
    if (!place)
        return "Connection refused";
    place->tried++;
    snprintf(place->tls_host, sizeof place->tls_host, "%s", tls_host ? tls_host : "");
    if (place->mood == NET_REFUSES || (net->refuses && net->refuses(net->arg, link->process, place)))
        return "Connection refused";
    if (place->stranger)
        return place->stranger;
    return place->is_tls != (tls_host != NULL) ? "one end speaks TLS, the other does not" : NULL;
}

static struct hl_link *open_link(void *ctx, struct hl_host *host, const struct hl_link_target *target, const struct hl_link_events *events,
                                 void *arg)
{
    struct world_loop *process = ctx;
    struct hl_link *link = net_link_new(process, find_place(process->net, target));
    const char *why;
    if (!link)
        return NULL;
    link->host = host;
    link->events = events;
    link->arg = arg;
    link->flush.flush = write_out;
    why = why_down(link, target->tls_host);
    if (!link->place || link->place->mood != NET_IS_SILENT)
        net_answer(link, message_news(why), process->net->connect_us);
    link->is_down = why != NULL;
    net_link_free_if_over(link);
    return link;
}

static int send_command(struct hl_link *link, int argc, const char *const *argv, const size_t *lengths)
{
    struct message *request;
    if (!link->is_up)
        abort(); /* sent before on_up */
    if (link->is_over || !world_memory_sends(link->process->memory))
        return -1;
    for (int i = 0; i < argc; i++)
        link->backlog += lengths[i];
    request = message_request(argc, argv, lengths);
    TAILQ_INSERT_TAIL(&link->unwritten, request, entry);
    link->net->requests++;
    hl_host_flush_later(link->host, &link->flush);
    return 0;
}

static void stream(struct hl_link *link) { link->is_stream = 1; }

static size_t backlog(const struct hl_link *link) { return link->backlog; }

/* What has been written still arrives, unless it is a reset; but a server that a WAIT blocks sees the close at once. */
static void close_link(struct hl_link *link, int is_reset)
{
    hl_host_flush_never(link->host, &link->flush);
    messages_drop(&link->unwritten);
    net_drop_answers(link);
    link->is_closed = 1;
    link->net->links--;
    if (!link->is_down && (is_reset || (link->peer && link->peer->blocked_us)))
        net_drop_unread(link);
    net_link_free_if_over(link);
}

struct hl_link_factory net_links(struct net *net, struct world_loop *process)
{
    process->net = net;
    return (struct hl_link_factory){.ctx = process, .secure = secure, .insecure = insecure, .open = open_link,
                                    .send = send_command,
                                    .stream = stream, .backlog = backlog, .close = close_link};
}

/* ---- faults ---- */

static int is_meant(const struct hl_link *link, enum net_which which)
{
    return !link->is_closed && !link->is_down && link->peer &&
        (which == NET_ALL || link->is_stream == (which == NET_STREAMS));
}

static unsigned reset(struct net *net, const struct store *store, const struct world_loop *process,
                      enum net_which which)
{
    struct hl_link *link, *next;
    unsigned count = 0;
    for (link = TAILQ_FIRST(&net->links_list); link; link = next) {
        next = TAILQ_NEXT(link, entry);
        if (!is_meant(link, which) || (store && link->peer->store != store) || (process && link->process != process))
            continue;
        net_die(link);
        count++;
    }
    return count;
}

unsigned net_reset(struct net *net, const struct world_loop *process, enum net_which which) { return reset(net, NULL, process, which); }

unsigned net_reset_at(struct net *net, const struct store *store, enum net_which which)
{
    return reset(net, store, NULL, which);
}

void net_gone(struct net *net, const struct store *store)
{
    struct hl_link *link, *next;
    net_reset_at(net, store, NET_ALL);
    for (link = TAILQ_FIRST(&net->links_list); link; link = next) {
        next = TAILQ_NEXT(link, entry);
        if (!link->peer || link->peer->store != store)
            continue;
        world_stop(net->world, &link->arriving);
        messages_drop(&link->there);
        net_link_free_if_over(link);
    }
}

void net_cut(struct hl_link *link, int is_there, int is_back)
{
    link->is_cut_there |= is_there;
    link->is_cut_back |= is_back;
    if (!link->is_cut_there)
        return;
    world_stop(link->net->world, &link->arriving);
    messages_drop(&link->there);
    link->peer->blocked_us = 0;
}

void net_let_go(struct net *net, const void *held_by)
{
    struct hl_link *link;
    struct message *message;
    TAILQ_FOREACH(link, &net->links_list, entry)
    {
        TAILQ_FOREACH(message, &link->back, entry)
        {
            if (message->fate.held_by != held_by)
                continue;
            message->fate.held_by = NULL;
            message->at_us = net->world->now_us + net->back_us;
        }
        net_go_on(link);
    }
}

void net_say(struct net *net, const struct world_loop *process, enum net_which which, const struct hl_reply *reply)
{
    struct hl_link *link;
    TAILQ_FOREACH(link, &net->links_list, entry)
        if (is_meant(link, which) && link->process == process)
            net_answer(link, message_reply(say_again(reply)), net->back_us);
}
