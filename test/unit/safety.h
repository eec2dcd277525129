/* SPDX-License-Identifier: BSD-3-Clause */
/* safety - the safety rules R1 to R12 as plays, each with the planted bug (lib/base/plants.def) that must break it. test_twins.c plays
 * them: unplanted they hold, planted they do not. */
#ifndef TEST_UNIT_SAFETY_H
#define TEST_UNIT_SAFETY_H

#include "play.h"

struct safety {
    const char *plant;
    struct play play;
};
#define SAFETY(plant, function) {#plant, PLAY(function)}

/* Each ends with a plant of NULL. */
extern const struct safety safety_deadline[], safety_outcome[], safety_loss[], safety_wait[], safety_kind[], safety_access[], safety_guard[],
    safety_held[], safety_promise[], safety_handoff[], safety_deploy[], safety_multi[], safety_fair[], safety_fair_cluster[], safety_quorum[], safety_replicas[], safety_tls[];

#endif
