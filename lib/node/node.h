/* SPDX-License-Identifier: BSD-3-Clause */
/* node - one server, as the lock layers see it. Requests are queued, sent in order and answered once; scripts are
 * loaded when they are missing; the server's clock is estimated, because a request can carry a time (not_after) from
 * which the server must not execute it.
 *
 * There is one session for commands and one for subscriptions, because RESP2 cannot mix them. While the command session
 * is closed, requests wait in their queue. When it is lost, every request that was sent is answered without a reply
 * (reply NULL, was_sent 1), because the server may have executed it. When its login is refused, all waiting requests
 * get that refusal, and so do later requests for a grant (denial.h).
 *
 * Requests that replicas must confirm use a third link, which is made when it is first needed (confirm_link.h). A
 * server that started less than restart_guard_ms ago is not asked for grants: the node answers these requests
 * "GUARD ..".
 * Invariant: no request is on the wire for longer than its timeout. Then the link is given up, because replies come in
 * order and all later ones would be late as well. */
#ifndef HL_NODE_NODE_H
#define HL_NODE_NODE_H

#include "node/wrong_server.h"
#include "node/handshake.h"
#include "node/server_info.h"
#include "node/session.h"
#include "node/subscriptions.h"

enum { HL_SCRIPTS_MAX = 16 };

struct hl_node_options {
    struct hl_session_options session;
    const struct hl_script *const *scripts; /* loaded on every connect; NULL ends the list */
    uint32_t command_timeout_ms, keepalive_ms, inflight_max;
    /* Returns the time that is left to the first hold to end of all holds that depend on this node (node NULL: on any
     * node); UINT64_MAX: no hold depends on it. Called when a link is lost, so that the next attempt comes in time. */
    uint64_t (*remaining_us)(void *arg, const struct hl_node *node);
    void *remaining_arg;
    uint32_t restart_guard_ms; /* a server that is up for less than this is not asked for grants; 0: off */
    uint8_t asks_role;         /* the handshake asks for the role by ROLE, and a server that is no master is left */
    uint8_t is_in_cluster;     /* a server of a cluster: is asked whether it has sharded channels (has_sharded) */
    uint8_t is_lazy;           /* the first request starts the node */
    uint8_t is_sentinel; /* the server keeps no locks: no handshake, no NODE_UP and NODE_DOWN */
};

struct hl_node_events {
    /* The node is up (again), so verify holds and let waiters try. NULL: not needed. */
    void (*on_up)(void *arg, struct hl_node *node);
    void (*on_down)(void *arg, struct hl_node *node);
    /* An error came. Returns 1 if the error is about the server and the request was submitted again, now or for later;
     * 0 if the error is the answer. NULL: always 0. For an error over a third link the parent's on_error is called. */
    int (*on_error)(void *arg, struct hl_node *node, struct hl_request *request, const struct hl_reply *error);
    /* A reply is overdue by more than a healthy server would take, so the server may be gone. Called once per silence.
     * NULL: not needed. */
    void (*on_silence)(void *arg);
};

struct hl_denial { /* denial.h */
    struct hl_flush flush;
    struct hl_node *node;
    int is_on;
    char words[96]; /* the beginning of the refusal */
};

struct hl_node {
    struct hl_host *host;
    struct hl_node_options options;
    const struct hl_node_events *events;
    void *arg;
    struct hl_session session;
    struct hl_subscriptions subscriptions;
    struct hl_requests queues[REQUEST_SENT + 1]; /* the index is an enum hl_request_queue */
    unsigned sent_count;
    uint64_t active_at_us;         /* the latest reply came in a call from the loop that began at this time */
    struct hl_request mark;        /* marks, in a queue, the end of the requests that are being answered */
    /* The latest sample of the server's clock is server_us; it was asked for at time_sent_us. server_us 0: none. */
    uint64_t time_sent_us, server_us;
    uint64_t clock_error_us;       /* how far the estimate of the server's clock may be ahead: the longest round trip of
                                      a sample on this link */
    uint64_t min_rtt_us;           /* the shortest round trip on this link: about what the network alone takes */
    uint64_t mean_rtt_us;          /* the moving mean of round trips */
    unsigned rtt_samples;          /* how many round trips the mean has taken into account, up to a limit */
    struct hl_request loads[HL_SCRIPTS_MAX]; /* SCRIPT LOAD of each script, by its index in the options */
    struct hl_request steps[HL_HANDSHAKE_STEPS];
    struct hl_text load_refusal;   /* the error that answered the latest load; "": none */
    struct hl_server_info server_info;
    uint64_t old_link_reply_at_us; /* when the latest reply over an earlier link came */
    unsigned reported_missing;           /* bits of enum hl_missing_right */
    uint8_t has_no_queue;          /* the user that this link logged in as may not use the wait queue */
    uint8_t wants_counts, are_counts_refused; /* a lock needs PUBSUB NUMSUB; the server refused it (handshake.h) */
    int has_sharded;               /* the latest link's server has sharded channels */
    uint64_t used_at_us;           /* when a request about a lock was last sent */
    uint64_t moved_at_us;          /* when the node last moved to another server, or got slots; 0: never */
    uint64_t unready_since_us;     /* since when every reply is LOADING or MASTERDOWN; 0: the latest reply was not */
    int is_up, is_silent;
    int is_replica;                /* the latest link reached a replica, and was left for that */
    int is_at_wrong_server;        /* its links were left (wrong_server.h), and it has not been up since */
    int is_refused;                /* its login was refused, and it has not been up since */
    struct hl_denial denial;
    int grace_count;               /* how often an overdue reply got more time because the loop stood still */
    int is_urgent_only;            /* only urgent requests are sent */
    struct hl_node *confirm_node;  /* the third link (confirm_link.h); NULL: none was needed yet */
    struct hl_node *parent;          /* if this node is a third link: the node that has it; NULL: it is no third link */
};

int hl_node_init(struct hl_node *node, struct hl_host *host, const struct hl_node_options *options,
                 const struct hl_node_events *events, void *arg); /* returns 0, or -1 if there is no memory */
/* Starts the command link; calling it again changes nothing. hl_subscriptions_start starts subscriptions. */
static inline void hl_node_start(struct hl_node *node) { hl_session_start(&node->session); }
static inline int hl_node_is_started(const struct hl_node *node) { return node->session.is_started; }
void hl_node_done(struct hl_node *node); /* legal in any state; its requests are not answered any more */

/* Sends the request, now or when its turn comes; `how` has bits of enum hl_request_how. */
void hl_node_submit(struct hl_node *node, struct hl_request *request, uint32_t timeout_ms, unsigned how);
void hl_node_take(struct hl_node *node, struct hl_requests *ret); /* takes out all requests that are not sent yet */
/* Moves the node to another address. Requests that were sent are answered without a reply, and nothing more is read
 * from the old address. */
void hl_node_move(struct hl_node *node, const struct hl_address *address, const char *why);
void hl_node_break(struct hl_node *node, const char *why); /* closes the command links, so that nothing more is read */
void hl_node_probe(struct hl_node *node); /* sends TIME, unless one is pending, to see whether the server is silent */
void hl_node_rest(struct hl_node *node); /* closes the links of an idle node, until hl_node_start */
int hl_node_is_idle(const struct hl_node *node); /* no request and no listener needs it */
/* Takes the request out of its queue, so that it is not sent. Returns 0 if it was sent already, or is in no queue. */
int hl_node_withdraw(struct hl_request *request);

/* Returns since when the command link and the subscription link have both been up; UINT64_MAX: one is down. */
uint64_t hl_node_both_up_since_us(const struct hl_node *node);

/* Returns how long the restart guard still forbids grants at a node that is up; 0: grants are allowed. */
uint64_t hl_node_guard_remaining_us(const struct hl_node *node);
void hl_node_guard_words(const struct hl_node *node, struct hl_text *text);
void hl_node_report(struct hl_node *node, enum hl_what what, const char *detail);
/* Returns 1 if a request is likely to be answered soon: the node is up, and no request has been on the wire for longer
 * than patience_us. */
int hl_node_is_able(const struct hl_node *node, uint64_t patience_us);
/* These put a request into a queue, and take it out. */
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
/* The oldest request on the wire, or NULL. */
static inline const struct hl_request *hl_node_oldest(const struct hl_node *node)
{
    return TAILQ_FIRST(&node->queues[REQUEST_SENT]);
}
static inline struct hl_node *hl_node_parent(struct hl_node *node) { return node->parent ? node->parent : node; }
const char *hl_node_name(const struct hl_node *node);
const struct hl_address *hl_node_address(const struct hl_node *node);
const char *hl_node_why(const struct hl_node *node); /* the reason of the latest loss or failed attempt; or "" */

#endif
