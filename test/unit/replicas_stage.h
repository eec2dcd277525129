/* SPDX-License-Identifier: BSD-3-Clause */
/* replicas_stage - a fixture whose store has a replica, and handles that ask for it. */
#ifndef TEST_UNIT_REPLICAS_STAGE_H
#define TEST_UNIT_REPLICAS_STAGE_H

#include "play.h"

static const struct hilock_lock_options confirmed = {.size = sizeof confirmed, .replicas = 1}; /* by one replica */

/* A client that is connected; the replica has what was written after 5 ms. */
static inline struct client *shop(struct fixture *s)
{
    s->store.replicas = 1;
    s->store.replica_us = 5000;
    return fixture_connect(s, NULL);
}

static inline const char *holder_of(struct fixture *s, const char *name) { return store_holder(&s->store, name); }

#endif
