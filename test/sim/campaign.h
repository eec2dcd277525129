/* SPDX-License-Identifier: BSD-3-Clause */
/* campaign - many seeds on all cores, and how well they find bugs; what it prints is evidence that no hand has edited. */
#ifndef SIM_CAMPAIGN_H
#define SIM_CAMPAIGN_H

#include <stdint.h>

struct sim_choice;
struct sim_outcome;
struct sim_range { uint64_t first, last; int is_fresh; }; /* is_fresh: not chosen by hand. A few of these need not see all of `sometimes` */

/* 0: nothing broke, and all of `sometimes` was seen. */
int sim_campaign(const struct sim_range *seeds, const struct sim_choice *choice, unsigned seconds_max);
/* prints what broke, and the command that replays it; returns 1 */
int sim_tell_broken(const struct sim_outcome *outcome, const struct sim_choice *choice);
int sim_detect(unsigned tries, uint64_t first_seed, unsigned seeds_max); /* the planted bug, or each. 0: all were found */

#endif
