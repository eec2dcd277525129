/* SPDX-License-Identifier: BSD-3-Clause */
/* subscriptions - the channels of a node, over the node's subscription link.
 *
 * The link is opened when the first listener opens, or earlier if a listener is likely. A channel may have several
 * listeners, because two names may share a channel. SUBSCRIBE and UNSUBSCRIBE are answered in order, so a FIFO of
 * channels shows which command an answer is for; an error is the answer to the oldest command. After a loss all wanted
 * channels are subscribed again. An unwanted channel is unsubscribed when all channels are checked next (on_due), up to
 * 200 ms later.
 *
 * In a cluster channels may be sharded: SSUBSCRIBE goes to the server that has the slot of the channel. That server
 * ends the subscription when the slot leaves (a sunsubscribe that no command asked for), and refuses it if it does not
 * have the slot. Then the route is notified. The channel is subscribed here again in a moment, unless by then its
 * listeners were closed because the route has another node for the key. SUNSUBSCRIBE may be answered twice when the
 * slot has just left. So a marker follows it: an UNSUBSCRIBE that has one answer in any state. All answers before that
 * of the marker belong to SUNSUBSCRIBE.
 *
 * The listeners of a channel are called in the order of their opening. A listener may close itself or another one
 * meanwhile. Invariants: a channel has at most one command under way. ON is reported only for a confirmation over the
 * present link. A message is only a hint (R7); its text is not read here. */
#ifndef HL_NODE_SUBSCRIPTIONS_H
#define HL_NODE_SUBSCRIPTIONS_H

#include "base/table.h"
#include "node/session.h"

enum hl_channel_event {
    HL_CHANNEL_ON,      /* confirmed: messages arrive from now on. Reported again after each loss of the link */
    HL_CHANNEL_MESSAGE,
    HL_CHANNEL_REFUSED  /* refused, for a missing right: no messages come, and the listener must poll */
};

typedef void hl_channel_fn(void *arg, enum hl_channel_event event, const struct hl_reply *message);

struct hl_listener {
    TAILQ_ENTRY(hl_listener) entry;
    struct hl_channel *channel;
    hl_channel_fn *on_event;
    void *arg;
    int may_rest; /* set by the owner: the link may be closed although this listener is there. A new link subscribes the
                     channel again */
};

struct hl_subscriptions { /* all channels of one node, and the one link that they use */
    struct hl_host *host;
    struct hl_session session;
    struct hl_table channels;
    TAILQ_HEAD(hl_channels, hl_channel) sent; /* channels whose command is not answered yet */
    uint64_t active_at_us, timeout_us, keepalive_us;
    void (*on_wrong_slot)(void *arg); /* the server does not have the slot of a channel; set if is_sharded */
    void *wrong_slot_arg;
    void (*on_open)(void *arg);      /* the link is open, and session.server_id is known. NULL: not needed */
    void *open_arg;
    uint8_t reported_refusals[2]; /* a refused SUBSCRIBE, and a refused UNSUBSCRIBE, was reported */
    uint8_t was_open;   /* the link was open at least once since it was last lost */
    uint8_t is_cut_reported; /* a cut by the server was reported; cleared when the command link is lost */
    int is_sharded; /* channels are sharded (SSUBSCRIBE) */
    struct hl_listener *next;   /* the next listener to call, while listeners are called */
    struct hl_channel *probe; /* a channel that is never subscribed: its UNSUBSCRIBE is the keep-alive and the marker */
};

/* Returns 0, or -1 if there is no memory. The options outlive the subscription. */
int hl_subscriptions_init(struct hl_subscriptions *subscriptions, struct hl_host *host,
                          const struct hl_session_options *options, uint32_t timeout_ms, uint32_t keepalive_ms);
/* Opens the link, when called for the first time. The first listener does the same. */
static inline void hl_subscriptions_start(struct hl_subscriptions *subscriptions)
{
    hl_session_start(&subscriptions->session);
}
/* Returns 1 if the channel of that name is subscribed, even if it has no listeners any more. */
int hl_subscriptions_has(const struct hl_subscriptions *subscriptions, const char *name, size_t length);
int hl_subscriptions_is_idle(const struct hl_subscriptions *subscriptions); /* no channel needs the link */
void hl_subscriptions_rest(struct hl_subscriptions *subscriptions); /* closes the idle link, until it is started */
void hl_subscriptions_done(struct hl_subscriptions *subscriptions); /* also frees the channels */

/* Opens a listener; NULL: no memory. on_event is called from the loop only, never inside this call; for the present
 * state ask hl_listener_is_on. */
struct hl_listener *hl_listener_open(struct hl_subscriptions *subscriptions, const char *name, size_t length,
                                     hl_channel_fn *on_event, void *arg);
void hl_listener_close(struct hl_listener *listener); /* no call follows; NULL is allowed */
int hl_listener_is_on(const struct hl_listener *listener);
const struct hl_subscriptions *hl_listener_where(const struct hl_listener *listener);

#endif
