/* SPDX-License-Identifier: BSD-3-Clause */
/* request - one command to a node and the one answer to it. It lives inside its owner, so that asking needs no memory:
 * a release can always be sent. */
#ifndef HL_NODE_REQUEST_H
#define HL_NODE_REQUEST_H

#include "base/command.h"
#include "base/list.h"
#include "base/reply.h"

struct hl_node;
struct hl_request;

struct hl_answer {
    const struct hl_reply *reply; /* NULL: none came. What was sent may have been done (R3) */
    int was_sent;                 /* 0: it never left; a reply is then the refusal of the login */
};

struct hl_about { /* the key: the route finds the node of a request, or of a name's channel, by it */
    const char *key;
    size_t length;
    unsigned master; /* of several independent ones: which of them */
};

struct hl_request_ops {
    void (*about)(const struct hl_request *request, struct hl_about *ret); /* NULL: only for the node that it was given
                                                                              to */
    /* just before it is sent, at sent_us; again when a script had to be loaded */
    void (*encode)(struct hl_request *request, struct hl_command *command);
    /* Exactly once for each submit, from the loop, unless withdrawn or the node ends. The request may be submitted
     * again inside. */
    void (*done)(struct hl_request *request, const struct hl_answer *answer);
};

enum hl_request_queue { /* all but IDLE: in that queue of its node */
    REQUEST_IDLE,
    REQUEST_FIRST,
    REQUEST_URGENT,
    REQUEST_NORMAL,
    REQUEST_BARRED, /* the node must not send it now, and says so on the next turn */
    REQUEST_CONFIRMING, /* answered; replicas must confirm what it wrote (wait_link.h) */
    REQUEST_SENT
};

enum hl_request_how { /* bits */
    HL_REQUEST_URGENT = 1, /* goes before those without it: releases before acquires */
    HL_REQUEST_GRANT = 2,  /* may make a hold: not sent to a store under its restart guard */
    HL_REQUEST_ASKING = 4, /* right after ASKING: its slot is moving to this node */
    HL_REQUEST_CONFIRM = 8, /* over the node's third link: replicas are to confirm what it writes (wait_link.h) */
    HL_REQUEST_FIRST = 32,  /* goes before all others: a renewal, which cannot wait while many releases are sent
                               again */
    HL_REQUEST_BLOCKS = 16  /* the server may take long: silence means nothing */
};

struct hl_request {
    TAILQ_ENTRY(hl_request) entry;
    const struct hl_request_ops *ops;
    struct hl_node *node;
    uint64_t sent_us;     /* latest send */
    uint32_t timeout_ms;  /* breaks the link if it has no answer that long after its send. CONFIRMING: how long replicas
                             have */
    uint8_t queue;        /* enum hl_request_queue */
    uint8_t how;          /* of enum hl_request_how */
    uint8_t skips : 1;    /* the answer to its ASKING comes first */
    uint8_t reloads : 3;  /* how often its script had to be loaded again */
    uint8_t hops : 3;     /* redirects from node to node without a pause */
    uint8_t detours;      /* how often its route redirected or repeated it since it was submitted */
    uint8_t replicas;     /* CONFIRMING: how many */
};

TAILQ_HEAD(hl_requests, hl_request);

static inline int hl_request_is_busy(const struct hl_request *request) { return request->queue != REQUEST_IDLE; }

#endif
