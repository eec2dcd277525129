/* SPDX-License-Identifier: BSD-3-Clause */
/* listeners - the listeners of one channel, in the order they came: two names may share a channel. A listener may be
 * removed while they are called, by itself or by another. */
#ifndef HL_NODE_LISTENERS_H
#define HL_NODE_LISTENERS_H

#include <sys/queue.h>

#include "base/memory.h"
#include "base/reply.h"

enum hl_channel_event {
    HL_CHANNEL_ON,      /* confirmed: messages from here on arrive */
    HL_CHANNEL_MESSAGE,
    HL_CHANNEL_OFF,     /* the link is lost; ON follows when it is back */
    HL_CHANNEL_REFUSED  /* refused (no right): no messages, the listener must poll */
};

struct hl_channel;
typedef void hl_channel_fn(void *arg, enum hl_channel_event event, const struct hl_reply *message);

struct hl_listener {
    TAILQ_ENTRY(hl_listener) entry;
    struct hl_channel *channel;
    hl_channel_fn *hear;
    void *arg;
    int may_rest; /* does not keep the link */
};
TAILQ_HEAD(hl_listeners, hl_listener);

/* a copy; NULL: no memory */
struct hl_listener *hl_listeners_add(struct hl_listeners *listeners, const struct hl_memory *memory,
                                     const struct hl_listener *one);
/* next: the next listener to call, one for the whole subscription. */
void hl_listeners_remove(struct hl_listeners *listeners, const struct hl_memory *memory, struct hl_listener **next,
                         struct hl_listener *listener);
void hl_listeners_notify(const struct hl_listeners *listeners, struct hl_listener **next, enum hl_channel_event event,
                       const struct hl_reply *message);
int hl_listeners_may_rest(const struct hl_listeners *listeners); /* all of them */

#endif
