/* SPDX-License-Identifier: BSD-3-Clause */
/* node - one server as locks see it: requests are queued, sent in order and answered once; scripts are loaded when
 * needed; the server's clock is known well enough for not_after.
 *
 * Commands and subscriptions have a session each (RESP2 cannot mix them). While the command session is closed requests
 * wait in their queue. When it is lost, all sent requests are answered "none came"; when its login is refused, all
 * waiting requests get that refusal, and requests for a grant go on getting it (denial.h). Requests that replicas must
 * confirm use a third link, made when first needed (wait_link.h). A server that started less than restart_guard_ms ago
 * is not asked for grants: those requests are answered "GUARD .." here.
 * Invariant: a request is never on the wire for longer than its timeout; then the link is given up, because answers
 * come in order and all later ones would be late as well. */
#ifndef HL_NODE_NODE_H
#define HL_NODE_NODE_H

#include "node/wrong_server.h"
#include "node/handshake.h"
#include "node/server_info.h"
#include "node/session.h"
#include "node/subscription.h"

enum { HL_SCRIPTS_MAX = 16 };

struct hl_wait_link_ops { /* the third link of a node (wait_link.h) */
    struct hl_node *(*link)(struct hl_node *node); /* made if there is none, and started; NULL: no memory */
    void (*go_on)(struct hl_node *link);           /* it answered */
};

struct hl_node_options {
    struct hl_session_options session;
    const struct hl_script *const *scripts; /* ended by NULL; loaded on every connect */
    const struct hl_wait_link_ops *wait_link; /* NULL: no request of it wants HL_REQUEST_CONFIRM */
    uint32_t command_timeout_ms, keepalive_ms, inflight_max;
    /* How long until the first hold ends that this node must renew (node NULL: any node); UINT64_MAX: there is none.
     * Called when a link is lost, so that the next try comes in time. */
    uint64_t (*left_us)(void *arg, const struct hl_node *node);
    void *left_arg;
    uint32_t restart_guard_ms; /* a server up for less is asked for no grant; 0: off */
    uint8_t asks_role;         /* disconnects from a server that is not a master */
    uint8_t asks_sharded;      /* asks whether it has sharded channels (has_sharded) */
    uint8_t is_lazy;           /* started by the first request */
    uint8_t is_sentinel; /* knows where locks are and keeps none: no handshake, no events when it comes and goes */
};

struct hl_node_events {
    /* Commands flow (again): verify holds, let waiters try. NULL: not needed. */
    void (*on_up)(void *arg, struct hl_node *node);
    void (*on_down)(void *arg, struct hl_node *node);
    /* Is the error about the server? 1: the request was submitted or deferred again; 0: it is answered. NULL: never.
     * Of an error over a third link its parent's is asked. */
    int (*on_error)(void *arg, struct hl_node *node, struct hl_request *request, const struct hl_reply *error);
    /* It owes an answer for longer than a healthy server would: called once, until it answers. The server may be gone.
     * NULL: not needed. */
    void (*on_silence)(void *arg);
};

struct hl_denial { /* denial.h */
    struct hl_flush flush; /* found from it */
    struct hl_node *node;
    int is_on;
    char words[96]; /* its beginning */
};

struct hl_node {
    struct hl_host *host;
    struct hl_node_options options;
    const struct hl_node_events *events;
    void *arg;
    struct hl_session session;
    struct hl_subscription subscription;
    struct hl_requests queues[REQUEST_SENT + 1]; /* by enum hl_request_queue */
    unsigned sent_count;
    uint64_t active_us;            /* latest answer: when the call from the loop that brought it began */
    struct hl_request mark;        /* ends what is being answered, in its queue */
    uint64_t time_sent_us, server_us; /* when its clock was asked for, and that sample; server_us 0: none */
    uint64_t clock_error_us;       /* the longest of this link's samples: the clock's estimate may be that far ahead */
    uint64_t min_rtt_us;           /* the shortest round trip measured since: of the network alone */
    uint64_t mean_rtt_us;          /* their mean, weighted to the latest */
    unsigned rtt_samples;          /* how many, at most those that the mean covers */
    struct hl_request loads[HL_SCRIPTS_MAX]; /* of scripts, by their index in the options: first, and when forgotten */
    struct hl_request steps[HL_HANDSHAKE_STEPS];
    struct hl_text load_refusal;   /* of the latest load: the server's error; "" */
    struct hl_server_info server_info;
    uint64_t previous_link_us;     /* latest answer over an earlier link */
    unsigned reported_missing;           /* enum hl_missing_right */
    uint8_t has_no_queue;          /* over this link: its user may not use the queue */
    uint8_t wants_counts, are_counts_refused; /* PUBSUB NUMSUB (handshake.h) */
    int has_sharded;               /* as the latest connection answered */
    uint64_t used_us;              /* the latest send of a request about a lock */
    uint64_t moved_us;             /* when it moved to another server, or got slots; 0: never */
    uint64_t unready_since_us;     /* since when it answers LOADING or MASTERDOWN alone; 0: it does not */
    int is_up, is_silent;
    int is_replica;                /* its latest link reached one, and was left for that */
    int is_at_wrong_server;        /* its links were left (wrong_server.h), and it was not up since */
    int is_refused;                /* its login was refused, since it was up */
    struct hl_denial denial;
    int grace_count;               /* an overdue answer got more time because the loop stood still */
    int is_urgent_only;            /* only what is urgent is sent */
    struct hl_node *wait_node;     /* its third link (wait_link.h). NULL: no request asked for replicas yet */
    struct hl_node *parent;          /* set: this is that link of another node */
};

int hl_node_init(struct hl_node *node, struct hl_host *host, const struct hl_node_options *options,
                 const struct hl_node_events *events, void *arg); /* 0; -1: no memory */
/* calling it again changes nothing. Subscriptions begin when they are wanted: hl_subscription_start */
static inline void hl_node_start(struct hl_node *node) { hl_session_start(&node->session); }
static inline int hl_node_is_started(const struct hl_node *node) { return node->session.is_started; }
void hl_node_done(struct hl_node *node); /* any state; its requests are not answered any more */

/* sends it now or in its turn */
void hl_node_submit(struct hl_node *node, struct hl_request *request, uint32_t timeout_ms, unsigned how);
void hl_node_take(struct hl_node *node, struct hl_requests *ret); /* takes out all that have not left */
/* Moves to another address: sent requests are answered "none came", and nothing more is read from the old address. */
void hl_node_move(struct hl_node *node, const struct hl_address *address, const char *why);
void hl_node_break(struct hl_node *node, const char *why); /* closes its command links: nothing more is read there */
void hl_node_probe(struct hl_node *node); /* asks for its time, unless that is pending: is it silent? */
void hl_node_rest(struct hl_node *node); /* it is idle: closes its links until it is started again */
int hl_node_is_idle(const struct hl_node *node); /* it has no requests and no listeners */
int hl_node_withdraw(struct hl_request *request); /* 1: it had not left and will not; 0: it is on the wire, or idle */

/* Since when the links for commands and for subscriptions have both been up; UINT64_MAX: one is down. */
uint64_t hl_node_since_us(const struct hl_node *node);

/* The restart guard: how long until it may ask for a grant; 0: it may now. For a node that is up. */
uint64_t hl_node_guard_left_us(const struct hl_node *node);
void hl_node_guard_words(const struct hl_node *node, struct hl_text *text);
void hl_node_report(struct hl_node *node, enum hl_what what, const char *detail);
/* It is up, and its oldest request on the wire is not older than patience_us: worth asking. */
int hl_node_is_able(const struct hl_node *node, uint64_t patience_us);
/* Puts a request into a queue, and takes it out. */
static inline void hl_node_enqueue(struct hl_node *node, struct hl_request *request, enum hl_request_queue queue)
{
    request->node = node;
    request->queue = (uint8_t)queue;
    TAILQ_INSERT_TAIL(&node->queues[queue], request, entry);
    node->sent_count += queue == REQUEST_SENT;
}
static inline void hl_node_dequeue(struct hl_request *request)
{
    TAILQ_REMOVE(&request->node->queues[request->queue], request, entry);
    request->node->sent_count -= request->queue == REQUEST_SENT;
    request->queue = REQUEST_IDLE;
}
static inline const struct hl_request *hl_node_oldest(const struct hl_node *node) /* on the wire; NULL: none is */
{
    return TAILQ_FIRST(&node->queues[REQUEST_SENT]);
}
static inline struct hl_node *hl_node_parent(struct hl_node *node) { return node->parent ? node->parent : node; }
const char *hl_node_name(const struct hl_node *node);
const struct hl_address *hl_node_address(const struct hl_node *node);
const char *hl_node_why(const struct hl_node *node); /* why it is away: the latest loss or failed attempt; or "" */

#endif
