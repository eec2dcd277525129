/* SPDX-License-Identifier: BSD-3-Clause */
/* net - the network between processes and servers: the link door of the library (lib/link/link.h), at the level of commands.
 *
 *   send -> (written as the call from the loop ends) -> on its way -> executed -> answer on its way -> on_reply
 *
 * Both directions of a connection keep their order, as TCP does; each message has a latency. What happens to a request is asked of one
 * function as it is written: its fate. A plan of a test (plan.h) or a dice of a simulation stands behind it.
 * A direction that has lost something delivers nothing more: a lost segment is a silent link, which its owner has to find out. */
#ifndef TEST_WORLD_NET_H
#define TEST_WORLD_NET_H

#include "link/link.h"
#include "world/loop.h"
#include "world/message.h"
#include "world/store.h"

enum { NET_PLACES_MAX = 16 };

struct net_command { /* as its fate is asked */
    int argc;
    const char *const *argv;
    const size_t *lengths;
    const char *word;       /* store_word */
    const char *key;        /* name of the lock, of a script; else "" */
    size_t key_length;
    int is_stream;          /* on a subscription link */
    const struct world_loop *process;
    const struct store *store;
};

struct net_place {
    char where[112]; /* "10.0.0.5:6379", or a path */
    struct store *store;
    enum { NET_LISTENS, NET_REFUSES, NET_IS_SILENT } mood;
    int is_tls;      /* nothing else is understood there */
    unsigned tried;  /* connections begun */
    char tls_host[256]; /* whose certificate the latest of them wanted; "": it was plain */
};

struct net_pipe;

struct net {
    struct world *world;
    uint64_t there_us, back_us, connect_us;
    struct net_place places[NET_PLACES_MAX];
    unsigned places_count;
    void (*decide)(void *arg, const struct net_command *command, struct net_fate *fate); /* NULL: nothing special ever */
    void *arg;
    TAILQ_HEAD(, net_pipe) pipes;
    unsigned links, requests; /* that live; sent, ever */
    int secured;              /* factories that were made to speak TLS, and live */
};

struct net_port { /* a process' way into the network: the ctx of its factory */
    struct net *net;
    struct world_loop *process;
};

void net_init(struct net *net, struct world *world);
void net_done(struct net *net); /* links are closed by then; what still flies is dropped */
struct net_place *net_listen(struct net *net, const char *where, struct store *store);
struct hl_link_factory net_links(struct net_port *port);

enum net_which { NET_ALL, NET_COMMANDS, NET_STREAMS };
unsigned net_reset(struct net *net, const struct world_loop *process, enum net_which which); /* NULL: everybody's. How many */
unsigned net_reset_at(struct net *net, const struct net_place *place); /* everybody's there */
void net_let_go(struct net *net, const void *held_by);
/* Something a server says unasked, to each link of a process. */
void net_say(struct net *net, const struct world_loop *process, enum net_which which, const struct hl_reply *reply);

#endif
