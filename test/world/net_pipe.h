/* SPDX-License-Identifier: BSD-3-Clause */
/* net_pipe - one connection of the network: for net*.c alone. A pipe is the connection, a link the client's end of it; the pipe outlives
 * its link while a request of it flies.
 * Invariant: a pipe has at most one event running for each direction, that of the first message there. */
#ifndef TEST_WORLD_NET_PIPE_H
#define TEST_WORLD_NET_PIPE_H

#include "world/net.h"

struct hl_link {
    struct net_pipe *pipe;
    struct hl_host *host;
    const struct hl_link_events *events;
    void *arg;
    struct hl_flush flush;
    struct messages outbox;
    size_t backlog;
    int is_stream, is_up, is_down;
};

struct net_pipe {
    TAILQ_ENTRY(net_pipe) entry;
    struct net *net;
    struct net_place *place; /* NULL: nobody listens there */
    struct world_loop *process;
    struct hl_link *link;    /* NULL: closed at the client's end */
    struct store_peer *peer; /* NULL: the server knows it not yet, or no more */
    struct messages there, back;
    struct world_event connecting, arriving, returning, dying;
    int is_mismatched; /* one end speaks TLS, the other does not */
    int is_busy; /* a callback of its link is on the stack */
    const char *why; /* it is down */
};

struct net_pipe *net_pipe_new(struct net_port *port, struct net_place *place, struct hl_link *link);
void net_pipe_free_if_over(struct net_pipe *pipe);
void net_await(struct net_pipe *pipe); /* what is to happen next on it */
void net_answer(struct net_pipe *pipe, struct hl_reply *reply, const struct net_fate *fate); /* takes reply over; fate may be NULL */
void net_drop_unread(struct net_pipe *pipe); /* requests that shall not arrive any more: all but strays */
void net_die(struct net_pipe *pipe, const char *why);

#endif
