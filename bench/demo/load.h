/* SPDX-License-Identifier: BSD-3-Clause */
/* load.h - the buyers. */
#ifndef DEMO_LOAD_H
#define DEMO_LOAD_H

#include "branch.h"
#include "plan.h"

struct load;

struct load_figures {
    unsigned waiting[ITEMS_MAX]; /* requests without an answer, by item */
    unsigned sold, sold_out, too_late, other, hung_up; /* answers: 200, 410, 503, any other; connections that broke */
};

/* None of these may be called from inside a callback of evhttp.
 * As many as the plan says, spread evenly over the SHOPS branches. NULL: no memory. */
struct load *load_start(struct event_base *base, const struct branch *branches, const struct plan *plan);
bool load_is_done(const struct load *load); /* they got the answer "sold out" for every item */
const struct load_figures *load_figures(const struct load *load);
void load_quit(struct load *load); /* all go home; the figures stay */
void load_free(struct load *load); /* NULL is allowed */

#endif
