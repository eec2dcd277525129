/* SPDX-License-Identifier: BSD-3-Clause */
/* subscription - the channels one node's subscription link listens to.
 *
 * It has no connection before somebody is likely to listen. A channel may have several listeners: two names may share one. SUBSCRIBE and
 * UNSUBSCRIBE are answered in order, so a FIFO of channels books the answers; an error is the answer to its head. After a loss everything wanted is subscribed again. A channel nobody wants any more lingers for a
 * second, so that a hot lock does not subscribe at every wait.
 *
 * In a cluster channels may be sharded: SSUBSCRIBE, at the server that has their slot. That server takes the subscription back when the slot
 * goes (an unasked sunsubscribe), and refuses it when it has not got it: whoever routes is told, and the channel asked for again in a
 * moment, if nobody has taken it elsewhere by then. SUNSUBSCRIBE may be answered twice when the slot has just gone: a fence follows it, an
 * UNSUBSCRIBE that has one answer in any state, and all between the two is its answer.
 *
 * Invariants: a channel has at most one command under way; ON is told only for a confirmation by the present link; a message is a
 * hint and never the truth (R7): its text is not read here. */
#ifndef HL_NODE_SUBSCRIPTION_H
#define HL_NODE_SUBSCRIPTION_H

#include "base/table.h"
#include "node/listeners.h"
#include "node/session.h"

struct hl_subscription {
    struct hl_host *host;
    struct hl_session session;
    struct hl_table channels;
    TAILQ_HEAD(hl_channels, hl_channel) to_send, sent, lingering; /* lingering: the first leaves first */
    unsigned sent_count;
    void *timer; /* earliest of: an answer overdue, a linger over, the next keep-alive */
    uint64_t due_us, active_us;
    uint32_t timeout_ms, keepalive_ms;
    void (*on_misplaced)(void *arg); /* a channel's slot is not, or no more, at this server. NULL: it has none */
    void *misplaced_arg;
    uint64_t again_us;         /* then channels without a place are asked for once more; 0: there is none */
    uint8_t told_refusals[2]; /* of SUBSCRIBE, UNSUBSCRIBE: said once */
    int is_started, is_sharded; /* sharded: its channels are those of a cluster's slots (SSUBSCRIBE) */
    struct hl_listener *next;   /* while a channel's listeners are called */
    struct hl_channel *beat, *fence; /* channels never subscribed: UNSUBSCRIBE of one is the keep-alive, of the other the fence */
};

/* options outlives it. 0; -1: no memory */
int hl_subscription_init(struct hl_subscription *subscription, struct hl_host *host, const struct hl_session_options *options,
                         uint32_t timeout_ms, uint32_t keepalive_ms);
void hl_subscription_start(struct hl_subscription *subscription); /* connects; once. The first channel does it too */
void hl_subscription_move(struct hl_subscription *subscription, const char *why); /* the endpoint has changed: all is subscribed there */
int hl_subscription_hears(const struct hl_subscription *subscription, const char *name, size_t length); /* that channel is on, if only lingering */
int hl_subscription_is_idle(const struct hl_subscription *subscription); /* no channel, wanted or lingering, but such as may rest */
void hl_subscription_rest(struct hl_subscription *subscription); /* idle: no link until it is started again */
void hl_subscription_done(struct hl_subscription *subscription); /* channels with it */

/* NULL: no memory. The listener hears of it from the loop only; ask is_on for how it stands now. */
struct hl_listener *hl_listener_open(struct hl_subscription *subscription, const char *name, size_t length, hl_channel_fn *hear, void *arg);
void hl_listener_let_rest(struct hl_listener *listener); /* it is no reason to keep the link: hl_subscription_rest, and on again with the next start */
void hl_listener_close(struct hl_listener *listener); /* it hears nothing more; NULL is allowed */
int hl_listener_is_on(const struct hl_listener *listener);
const struct hl_subscription *hl_listener_where(const struct hl_listener *listener);

#endif
