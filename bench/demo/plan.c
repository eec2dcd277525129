/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - the figures of the demo, in one place. No plan has more than the maxima of plan.h. */
#include "plan.h"

#include <stddef.h>
#include <string.h>

const struct plan plan_crowd = {
    .name = "crowd",
    .items = 8,
    .stock = 400,
    .buyers = 48,
    .think_min_ms = 10,
    .think_max_ms = 25,
    .lease_ms = 3000,
    .suspended_ms = 3500,
    .wait_ms = 15000,
    .calm_pieces = 1600,
};

const struct plan plan_picture = {
    .name = "picture",
    .items = 6,
    .stock = 28,
    .buyers = 18,
    .think_min_ms = 90,
    .think_max_ms = 190,
    .lease_ms = 2000,
    .suspended_ms = 2500,
    .wait_ms = 600,
    .calm_pieces = 45,
};

const struct plan *plan_named(const char *name)
{
    static const struct plan *const plans[] = {&plan_crowd, &plan_picture};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (strcmp(plans[i]->name, name) == 0)
            return plans[i];
    return NULL;
}
