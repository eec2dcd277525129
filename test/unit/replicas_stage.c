/* SPDX-License-Identifier: BSD-3-Clause */
/* replicas_stage - see replicas_stage.h. */
#include "replicas_stage.h"

const struct hilock_lock_options confirmed = {.size = sizeof confirmed, .replicas = 1};

struct party *shop(struct scene *s)
{
    s->store.replicas = 1;
    s->store.replica_us = 5000;
    return scene_connect(s, NULL);
}

struct hand *asking(struct party *p, const char *tag, const char *name, const struct hilock_lock_options *options)
{
    struct hand *hand = hand_new(p, tag, name, options);
    acquire(hand, HILOCK_FOREVER);
    return hand;
}

const char *holder_of(struct scene *s, const char *name) { return store_holder(&s->store, name); }
