/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinel_stage - a fixture with three sentinels, the master that they name at first (the fixture's own server), and a replica of it. */
#ifndef TEST_UNIT_SENTINEL_STAGE_H
#define TEST_UNIT_SENTINEL_STAGE_H

#include "fixture.h"

#define STAGE_URL "redis+sentinel://10.0.0.11,10.0.0.12,10.0.0.13/mymaster"
#define STAGE_OTHER "10.0.0.2"

enum { STAGE_SENTINELS = 3 };

struct stage {
    struct fixture *fixture;
    struct store *other; /* the replica */
    struct store *sentinels[STAGE_SENTINELS];
    struct net_place *places[STAGE_SENTINELS];
};

void stage_set(struct stage *stage, struct fixture *fixture);
struct client *stage_connect(struct stage *stage); /* a client by STAGE_URL that is connected */
struct client *stage_begin(struct stage *stage, struct fixture *fixture); /* set, and such a client */
/* The replica, with what it knows, is master from now on; these sentinels know it, and if is_told say so. The old one is a replica if
 * is_demoted, else it goes on as if nothing had been. */
void stage_fail_over(struct stage *stage, unsigned sentinels, int is_told, int is_demoted);
int stage_is_at(struct store *store, const struct handle *handle); /* its name is held there, by its client */

#endif
