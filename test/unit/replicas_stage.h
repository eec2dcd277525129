/* SPDX-License-Identifier: BSD-3-Clause */
/* replicas_stage - a fixture whose store has a replica, and handles that ask for it. */
#ifndef TEST_UNIT_REPLICAS_STAGE_H
#define TEST_UNIT_REPLICAS_STAGE_H

#include "play.h"

extern const struct hilock_lock_options confirmed; /* by one replica */

struct client *shop(struct fixture *s); /* connected; the replica has what was written after 5 ms */
const char *holder_of(struct fixture *s, const char *name); /* "": nobody */

#endif
