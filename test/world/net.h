/* SPDX-License-Identifier: BSD-3-Clause */
/* net - the network between processes and servers: the link door of the library (lib/link/link.h), at the level of commands.
 *
 *   send -> (written as the call from the loop ends) -> on its way -> executed -> answer on its way -> on_reply
 *
 * A link has two rows of messages, each first in, first out, as in TCP, and each message with a latency. What happens
 * to them is asked of the network's owner: the plans of a test (plan.h) or the dice of the simulator stand behind these
 * functions. What comes for a frozen process or server waits, in order. A way that has lost something delivers nothing
 * more: a lost segment is a silent link, which its owner has to find out.
 * Invariant: each row has at most one event running, that of its first message. A link that is closed lives on while a
 * request of it flies. */
#ifndef TEST_WORLD_NET_H
#define TEST_WORLD_NET_H

#include "link/link.h"
#include "world/loop.h"
#include "world/message.h"
#include "world/store.h"

enum { NET_PLACES_MAX = 16 };

struct net_place {
    char where[112]; /* "10.0.0.5:6379", or a path */
    struct store *store;
    enum { NET_LISTENS, NET_REFUSES, NET_IS_SILENT } mood;
    int is_tls;      /* nothing else is understood there */
    const char *stranger; /* what a link finds there instead of a server, in its words; NULL: a server */
    unsigned tried;  /* connections begun */
    char tls_host[256]; /* whose certificate the latest of them wanted; "": it was plain */
};

struct hl_link {
    TAILQ_ENTRY(hl_link) entry;
    struct net *net;
    struct net_place *place; /* NULL: nobody listens there */
    struct world_loop *process;
    struct hl_host *host;
    const struct hl_link_events *events;
    void *arg;
    struct store_peer *peer; /* NULL: the server knows it not, or no more */
    struct hl_flush flush;
    struct messages unwritten, there, back;
    struct world_event arriving, returning; /* the first of each way */
    size_t backlog;
    int is_stream, is_up, is_down; /* down: dead, whether its process has heard of that or not: */
    int is_over, is_closed;        /* on_down was called; close was */
    int is_cut_there, is_cut_back; /* that way is silent */
    int is_busy;                   /* a callback of it is on the stack */
    TAILQ_ENTRY(hl_link) in_line;  /* of a server that takes time (busy.h): */
    int is_in_line;
};

struct net {
    struct world *world;
    uint64_t there_us, back_us, connect_us;
    struct net_place places[NET_PLACES_MAX];
    unsigned places_count;
    TAILQ_HEAD(, hl_link) links_list;
    unsigned links, requests; /* that are open; sent, ever */
    int secured;              /* factories that were made to speak TLS, and live */
    void *arg;                /* of these. Each may be NULL: */
    void (*decide)(void *arg, const struct hl_link *link, struct message *request); /* its fate, as it is written */
    uint64_t (*delay_us)(void *arg); /* of a message, instead of the three numbers above */
    int (*refuses)(void *arg, const struct world_loop *process, const struct net_place *place); /* a connection */
    int (*loses_answers)(void *arg); /* a connection that dies, those on their way; else always */
    uint64_t (*stray_us)(void *arg, const struct message *request); /* of a dead link: it runs so much later; 0: lost */
    void (*executed)(void *arg, struct hl_link *link, const struct message *request, const struct hl_reply *reply);
    void (*received)(void *arg, struct hl_link *link, const struct hl_reply *reply); /* before its process does */
};

void net_init(struct net *net, struct world *world);
void net_done(struct net *net); /* links are closed by then; what still flies is dropped */
struct net_place *net_listen(struct net *net, const char *where, struct store *store);
struct hl_link_factory net_links(struct net *net, struct world_loop *process);

enum net_which { NET_ALL, NET_COMMANDS, NET_STREAMS };
unsigned net_reset(struct net *net, const struct world_loop *process, enum net_which which); /* NULL: everybody's. How many */
unsigned net_reset_at(struct net *net, const struct store *store, enum net_which which);     /* everybody's there */
void net_gone(struct net *net, const struct store *store); /* and for good: what still flies there is lost */
void net_die(struct hl_link *link);                        /* that one is reset */
void net_cut(struct hl_link *link, int is_there, int is_back);
void net_let_go(struct net *net, const void *held_by);
/* Something a server says unasked, to each link of a process. */
void net_say(struct net *net, const struct world_loop *process, enum net_which which, const struct hl_reply *reply);

/* ---- between net.c and net_link.c ---- */

struct hl_link *net_link_new(struct world_loop *process, struct net_place *place); /* NULL: no memory */
void net_link_free_if_over(struct hl_link *link);
void net_request(struct hl_link *link, struct message *request); /* takes it over */
void net_answer(struct hl_link *link, struct message *answer, uint64_t latency_us); /* takes it over */
void net_drop_unread(struct hl_link *link); /* requests that shall not arrive any more: all but strays */
void net_drop_answers(struct hl_link *link);
void net_go_on(struct hl_link *link);
void net_serve(struct hl_link *link, unsigned most); /* the server runs so many of its requests that have arrived */

#endif
