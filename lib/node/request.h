/* SPDX-License-Identifier: BSD-3-Clause */
/* request - one command to a node and its one answer. A request is a member of its owner, so that submitting it needs
 * no memory, and a release can always be sent. */
#ifndef HL_NODE_REQUEST_H
#define HL_NODE_REQUEST_H

#include "base/command.h"
#include "base/list.h"
#include "base/reply.h"

struct hl_node;
struct hl_request;

struct hl_answer {
    const struct hl_reply *reply; /* NULL: no answer came, so a command that was sent may have been executed (R3) */
    /* 0: the command was never sent. The reply is then a refusal that the node makes itself or passes on; it is NULL
     * only for a request that was to go with another one. */
    int was_sent;
};

struct hl_about { /* the key by which the route finds the node of a request, or of a name's channel */
    const char *key;
    size_t length;
    unsigned master; /* which of several independent masters */
};

struct hl_request_ops {
    /* Gives the key of the request. NULL: the request is about no lock, and only for the node that it was given to. */
    void (*about)(const struct hl_request *request, struct hl_about *ret);
    /* Makes the command, just before it is sent, at sent_us. Called again if a script had to be loaded. */
    void (*encode)(struct hl_request *request, struct hl_command *command);
    /* Gives the answer. Called from the loop exactly once for each submit, unless the request is withdrawn or the node
     * ends. The request may be submitted again inside. */
    void (*done)(struct hl_request *request, const struct hl_answer *answer);
};

enum hl_request_queue { /* which queue of its node a request is in; IDLE: none */
    REQUEST_IDLE,
    REQUEST_FIRST,
    REQUEST_URGENT,
    REQUEST_NORMAL,
    REQUEST_BARRED, /* the node must not send it, and answers it with an error on the next turn */
    REQUEST_CONFIRMING, /* the server has answered it, and replicas must confirm what it wrote (confirm_link.h) */
    REQUEST_ATTACHED, /* it is to go with another request, which was not sent yet */
    REQUEST_CARRIED,  /* it was sent as a part of another request, and is answered with that one */
    REQUEST_SENT
};

enum hl_request_how { /* bits */
    HL_REQUEST_URGENT = 1, /* goes before requests without this bit: releases before acquires */
    HL_REQUEST_GRANT = 2,  /* may make a hold, so it is not sent under the restart guard */
    HL_REQUEST_ASKING = 4, /* is sent right after ASKING, because its slot is moving to this node */
    HL_REQUEST_CONFIRM = 8, /* goes over the third link: replicas are to confirm what it writes */
    HL_REQUEST_FIRST = 32,  /* goes before all others: a renewal, which cannot wait for many repeated releases */
    HL_REQUEST_BLOCKS = 16  /* the server may take long to answer, so silence is no sign of a fault */
};

struct hl_request {
    TAILQ_ENTRY(hl_request) entry;
    const struct hl_request_ops *ops;
    struct hl_node *node;
    uint64_t sent_us;     /* when it was last sent */
    uint32_t timeout_ms;  /* when there is no answer this long after the send, the link is given up. CONFIRMING: how
                             long replicas may take */
    uint8_t queue;        /* enum hl_request_queue */
    uint8_t how;          /* bits of enum hl_request_how */
    uint8_t asking_reply_due : 1; /* the next reply is that to its ASKING, and is skipped */
    uint8_t reloads : 3;  /* how often its script had to be loaded again */
    uint8_t hops : 3;     /* redirects from node to node without a pause */
    uint8_t detours;      /* how often its route has redirected or repeated it since hl_route_submit */
    uint8_t replicas;     /* CONFIRMING: how many replicas must confirm */
};

TAILQ_HEAD(hl_requests, hl_request);

static inline int hl_request_is_busy(const struct hl_request *request) { return request->queue != REQUEST_IDLE; }
/* 1: it was sent, by itself or as a part of another request, and has no answer yet. */
static inline int hl_request_is_on_wire(const struct hl_request *request)
{
    return request->queue == REQUEST_SENT || request->queue == REQUEST_CARRIED;
}

/* ---- a request that another one carries ---- */

/* The request does not go by itself: it is to be a part of the command of another request. It is under way from now on,
 * and cannot be withdrawn: whoever attached it gives its answer. */
static inline void hl_request_attach(struct hl_request *request) { request->queue = REQUEST_ATTACHED; }
/* 1: it is a part of a command that was sent. */
static inline int hl_request_is_carried(const struct hl_request *request) { return request->queue == REQUEST_CARRIED; }
/* The carrier is about to be sent, and the request is a part of its command. Call this from the encode of the carrier;
 * if that is called again, so is this. */
static inline void hl_request_go_with(struct hl_request *request, const struct hl_request *carrier)
{
    request->queue = REQUEST_CARRIED;
    request->node = carrier->node;
    request->sent_us = carrier->sent_us;
}
/* The request is under way nowhere any more, and has no answer: the carrier brought none, or the nodes are about to
 * end. */
static inline void hl_request_forget(struct hl_request *request) { request->queue = REQUEST_IDLE; }
/* Gives the answer, which came with that to the carrier, or with its end. */
static inline void hl_request_answer_carried(struct hl_request *request, const struct hl_answer *answer)
{
    hl_request_forget(request);
    request->ops->done(request, answer);
}

#endif
