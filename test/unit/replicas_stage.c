/* SPDX-License-Identifier: BSD-3-Clause */
/* replicas_stage - see replicas_stage.h. */
#include "replicas_stage.h"

const struct hilock_lock_options confirmed = {.size = sizeof confirmed, .replicas = 1};

struct client *shop(struct fixture *s)
{
    s->store.replicas = 1;
    s->store.replica_us = 5000;
    return fixture_connect(s, NULL);
}

const char *holder_of(struct fixture *s, const char *name) { return store_holder(&s->store, name); }
