/* SPDX-License-Identifier: BSD-3-Clause */
/* subscription - the channels that a node's subscription link listens to.
 *
 * It connects only when a listener is likely. A channel may have several listeners: two names may share one. SUBSCRIBE
 * and UNSUBSCRIBE are answered in order, so a FIFO of channels assigns the answers; an error answers its head. After a
 * loss all wanted channels are subscribed again. An unwanted channel is left at the next look, up to 200 ms later.
 *
 * In a cluster channels may be sharded: SSUBSCRIBE, at the server that has their slot. That server ends the
 * subscription when the slot leaves (an unasked sunsubscribe), and refuses it when it does not have the slot: the route
 * is notified, and the channel is subscribed again in a moment, unless it was moved by then. SUNSUBSCRIBE may be
 * answered twice when the slot has just left. So a fence follows it: an UNSUBSCRIBE that has one answer in any state.
 * All answers before the fence's are to SUNSUBSCRIBE.
 *
 * Listeners of a channel are called in the order in which they came. One may close itself or another meanwhile.
 * Invariants: a channel has at most one command under way; ON is reported only for a confirmation by the present link;
 * a message is a hint and never the truth (R7): its text is not read here. */
#ifndef HL_NODE_SUBSCRIPTION_H
#define HL_NODE_SUBSCRIPTION_H

#include "base/table.h"
#include "node/session.h"

enum hl_channel_event {
    HL_CHANNEL_ON,      /* confirmed: messages from here on arrive. Again after each loss of the link */
    HL_CHANNEL_MESSAGE,
    HL_CHANNEL_REFUSED  /* refused (no right): no messages, the listener must poll */
};

typedef void hl_channel_fn(void *arg, enum hl_channel_event event, const struct hl_reply *message);

struct hl_listener {
    TAILQ_ENTRY(hl_listener) entry;
    struct hl_channel *channel;
    hl_channel_fn *on_event;
    void *arg;
    int may_rest; /* set by its owner: does not keep the link; on again with the next start */
};

struct hl_subscription {
    struct hl_host *host;
    struct hl_session session;
    struct hl_table channels;
    TAILQ_HEAD(hl_channels, hl_channel) sent;
    uint64_t active_us, timeout_us, keepalive_us;
    void (*on_wrong_slot)(void *arg); /* this server does not have a channel's slot, or no longer. Set if is_sharded */
    void *wrong_slot_arg;
    void (*on_open)(void *arg);      /* its link is there: what its server is, is known. NULL: not needed */
    void *open_arg;
    uint8_t told_refusals[2]; /* refused SUBSCRIBE or UNSUBSCRIBE, reported once */
    uint8_t was_on;     /* the link was open since its latest loss */
    uint8_t is_cut_reported; /* it was lost while commands flowed, and that was reported: cleared by its node's loss */
    int is_sharded; /* sharded: its channels are those of a cluster's slots (SSUBSCRIBE) */
    struct hl_listener *next;   /* while a channel's listeners are called */
    struct hl_channel *beat; /* it does not exist: UNSUBSCRIBE of it is the keep-alive, and the fence */
};

/* options outlives it. 0; -1: no memory */
int hl_subscription_init(struct hl_subscription *subscription, struct hl_host *host,
                         const struct hl_session_options *options, uint32_t timeout_ms, uint32_t keepalive_ms);
/* connects; once. So does the first channel */
static inline void hl_subscription_start(struct hl_subscription *subscription)
{
    hl_session_start(&subscription->session);
}
/* the channel is on, even if nobody listens any more */
int hl_subscription_has(const struct hl_subscription *subscription, const char *name, size_t length);
int hl_subscription_is_idle(const struct hl_subscription *subscription); /* no channel needs the link */
void hl_subscription_rest(struct hl_subscription *subscription); /* idle: no link until it is started again */
void hl_subscription_done(struct hl_subscription *subscription); /* channels with it */

/* NULL: no memory. The listener is called from the loop only; is_on has the state now. */
struct hl_listener *hl_listener_open(struct hl_subscription *subscription, const char *name, size_t length,
                                     hl_channel_fn *on_event, void *arg);
void hl_listener_close(struct hl_listener *listener); /* it gets no more calls; NULL is allowed */
int hl_listener_is_on(const struct hl_listener *listener);
const struct hl_subscription *hl_listener_where(const struct hl_listener *listener);

#endif
