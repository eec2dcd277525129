/* SPDX-License-Identifier: BSD-3-Clause */
/* listeners - see listeners.h. */
#include "node/listeners.h"

struct hl_listener *hl_listeners_add(struct hl_listeners *listeners, const struct hl_memory *memory,
                                     const struct hl_listener *one)
{
    struct hl_listener *listener = hl_memory_new(memory, sizeof *listener);
    if (!listener)
        return NULL;
    *listener = *one;
    TAILQ_INSERT_TAIL(listeners, listener, entry);
    return listener;
}

void hl_listeners_remove(struct hl_listeners *listeners, const struct hl_memory *memory, struct hl_listener **next,
                         struct hl_listener *listener)
{
    if (*next == listener)
        *next = TAILQ_NEXT(listener, entry);
    TAILQ_REMOVE(listeners, listener, entry);
    hl_memory_free(memory, listener);
}

void hl_listeners_notify(const struct hl_listeners *listeners, struct hl_listener **next, enum hl_channel_event event,
                       const struct hl_reply *message)
{
    struct hl_listener *listener;
    for (*next = TAILQ_FIRST(listeners); (listener = *next) != NULL;) {
        *next = TAILQ_NEXT(listener, entry);
        listener->hear(listener->arg, event, message);
    }
}

int hl_listeners_may_rest(const struct hl_listeners *listeners)
{
    const struct hl_listener *listener;
    TAILQ_FOREACH(listener, listeners, entry)
        if (!listener->may_rest)
            return 0;
    return 1;
}
