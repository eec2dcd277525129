/* SPDX-License-Identifier: BSD-3-Clause */
/* node - one server as locks see it: requests are queued, sent in order and answered once; scripts are there when needed; the server's
 * clock is known well enough for not_after.
 *
 * Commands and subscriptions have a session each (RESP2 cannot mix them). While the command session is closed requests wait in their queue.
 * When it is lost, all that was sent is answered "none came"; when its login is refused, all that waits is answered with that refusal.
 * What replicas are to confirm goes over a third link of its own, made when it is first wanted (confirm.h).
 * A server that started less than restart_guard_ms ago is not asked for grants: who asks is answered "GUARD .." in its stead.
 * Invariant: a request is never on the wire for longer than its timeout; the link is given up then, for answers come in order and all
 * behind it would be late as well. */
#ifndef HL_NODE_NODE_H
#define HL_NODE_NODE_H

#include "node/lacks.h"
#include "node/prelude.h"
#include "node/reload.h"
#include "node/request.h"
#include "node/session.h"
#include "node/subscription.h"
#include "node/vitals.h"

struct hl_confirm_ops { /* the third link of a node (confirm.h) */
    struct hl_node *(*link)(struct hl_node *node); /* made if there is none; NULL: no memory */
    void (*go_on)(struct hl_node *link);           /* an answer of it has come */
    void (*withdraw)(struct hl_request *request);  /* that replicas were to confirm */
    int (*is_idle)(const struct hl_node *node);    /* if it has one */
    void (*free)(struct hl_node *node);
};

struct hl_node_options {
    struct hl_session_options session;
    const struct hl_script *const *scripts; /* ended by NULL; loaded on every connect */
    void (*ask_natives)(struct hl_command *command); /* what has this server that others have not? Asked on every connect */
    unsigned (*natives_told)(const struct hl_reply *reply); /* also of a refusal: bits of the asker's own, 0: nothing */
    const struct hl_confirm_ops *confirm; /* NULL: no request of it wants HL_REQUEST_CONFIRM */
    uint32_t command_timeout_ms, keepalive_ms, inflight_max;
    /* How long until the first hold ends that is to be renewed at this node, or, node NULL, at any; UINT64_MAX: there is none. Asked when
     * a link is lost, so that it is tried again in time. NULL: nobody holds anything. */
    uint64_t (*left_us)(void *arg, const struct hl_node *node);
    void *left_arg;
    uint32_t restart_guard_ms; /* a server up for less is asked for no grant; 0: off */
    uint8_t asks_role;         /* one that is no master is left again */
    uint8_t asks_sharded;      /* has it sharded channels? has_sharded */
    uint8_t is_lazy;           /* started by the first request */
    uint8_t is_guide;          /* it tells where locks live and keeps none (a Sentinel): no prelude, and its coming and going is no event */
};

struct hl_node_events {
    void (*on_up)(void *arg, struct hl_node *node); /* commands flow (again): verify what is held, try what waits */
    void (*on_down)(void *arg, struct hl_node *node);
    /* An error that is about where the request was sent? 1: it has been submitted or parked again, else it is answered. NULL: never. */
    int (*on_error)(void *arg, struct hl_node *node, struct hl_request *request, const struct hl_reply *error);
    /* Asked, and silent for longer than a server that is well: once, until it answers. It may be none any more. NULL: nobody wants to know. */
    void (*on_silence)(void *arg, struct hl_node *node);
};

struct hl_node {
    struct hl_host *host;
    struct hl_node_options options;
    const struct hl_node_events *events;
    void *arg;
    struct hl_session session;
    struct hl_subscription subscription;
    struct hl_requests sent, urgent, normal, barred, parked;
    unsigned sent_count;
    struct hl_prelude prelude;     /* what follows the login is still to be answered */
    void *timer;                   /* earliest of: the end of a request's timeout, the next keep-alive */
    uint64_t due_us;               /* of the timer; 0: stopped */
    uint64_t active_us;            /* latest answer */
    struct hl_request probe, mark; /* mark: ends what is being answered, in its queue */
    uint64_t time_sent_us, server_us; /* the sample of the server's clock, and when it was asked for; server_us 0: none */
    uint64_t round_trip_us;        /* the longest of this link's samples: by so much its clock may be thought fast */
    uint64_t quickest_us;          /* of those round trips that were looked at since: what the way itself takes */
    uint64_t usual_us;             /* of the same: their mean, the latest ones most */
    unsigned trips;                /* so many of them, cut at what the mean is taken of */
    struct hl_reload reload;
    struct hl_vitals vitals;
    uint64_t earlier_us;           /* latest answer over an earlier link */
    unsigned told_lacks;           /* enum hl_lack */
    struct hl_request counts;      /* counts.c */
    unsigned natives;              /* as the present connection was told */
    int are_natives_refused;       /* it may not be asked */
    int has_sharded;               /* as the latest connection was told */
    uint64_t used_us;              /* the latest submit */
    uint64_t moved_us;             /* when it was given to another server, or more slots; 0: never */
    int is_up, is_started, is_silent;
    int is_refused;                /* its login was, since it was up */
    int graces;                    /* given to an overdue answer since the loop stood still */
    int is_shut;                   /* only what is urgent is sent */
    struct hl_node *third;         /* its third link (confirm.h). NULL: nobody asked for replicas yet */
    struct hl_node *home;          /* this is that link of another node; NULL: it is none */
};

int hl_node_init(struct hl_node *node, struct hl_host *host, const struct hl_node_options *options, const struct hl_node_events *events,
                 void *arg); /* 0; -1: no memory */
void hl_node_start(struct hl_node *node); /* again is nothing. Subscriptions begin when they are wanted: hl_subscription_start */
void hl_node_done(struct hl_node *node); /* any state: no request of it is answered after */

void hl_node_submit(struct hl_node *node, struct hl_request *request, uint32_t timeout_ms, unsigned how); /* sent now, or in its turn */
void hl_node_park(struct hl_node *node, struct hl_request *request); /* until the route takes it */
struct hl_request *hl_node_take(struct hl_node *node); /* one that has not left, idle now; NULL: there is none */
struct hl_request *hl_node_take_parked(struct hl_node *node);
/* At another address from now on: what was sent is answered "none came", at the old address nothing is read any more. By reference. */
void hl_node_move(struct hl_node *node, const struct hl_endpoint *endpoint, const char *why);
void hl_node_break(struct hl_node *node, const char *why); /* its links for commands: nothing is read of them any more */
void hl_node_probe(struct hl_node *node); /* a question now, unless one is under way: is it silent? */
void hl_node_shut(struct hl_node *node, int is_shut); /* whoever opens it again does so from an answer of its own */
void hl_node_rest(struct hl_node *node); /* nothing is asked of it and nobody listens: no links until it is started again */
int hl_node_is_idle(const struct hl_node *node);
int hl_node_withdraw(struct hl_request *request); /* 1: it had not left, and will not; 0: it is on the wire, or idle */

uint64_t hl_node_left_us(void *node); /* as its options say: what its session asks */

/* Since when both links, for commands and for subscriptions, have stood without a break; UINT64_MAX: one is down. */
uint64_t hl_node_since_us(const struct hl_node *node);

/* Server time in ms after which a command sent now shall not be executed; 0: not known. */
uint64_t hl_node_not_after_ms(const struct hl_node *node, uint64_t now_us);
void hl_node_learn_time(struct hl_node *node, uint64_t server_us, uint64_t asked_us); /* what a LATE answer tells */
/* The restart guard: for how long no grant is asked for; 0: asked for. Meant for a node that is up. */
uint64_t hl_node_guard_left_us(const struct hl_node *node, uint64_t now_us);
void hl_node_guard_words(const struct hl_node *node, uint64_t now_us, struct hl_text *text);
void hl_node_sample(struct hl_node *node, const struct hl_reply *reply, uint64_t asked_us);    /* an answer to TIME */
void hl_node_saw_trip(struct hl_node *node, uint64_t took_us); /* of a request that was answered */
void hl_node_fault(struct hl_node *node, const char *what); /* something it can live with: told */
unsigned hl_node_hears_in_part(const struct hl_node *node); /* 1: who listens to a channel is counted at this server only, and others may */
/* Up, and the oldest request on the wire has not been out for longer than patience_us: worth asking. */
int hl_node_is_able(const struct hl_node *node, uint64_t now_us, uint64_t patience_us);
static inline struct hl_node *hl_node_home(struct hl_node *node) { return node->home ? node->home : node; }
const char *hl_node_name(const struct hl_node *node);
const char *hl_node_why(const struct hl_node *node); /* why it is away: latest loss or failed attempt; "" */

#endif
