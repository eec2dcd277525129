/* SPDX-License-Identifier: BSD-3-Clause */
/* stats - statistics of any version of the header, as the library knows them. */
#ifndef HL_CLIENT_STATS_H
#define HL_CLIENT_STATS_H

#include <hilock/hilock.h>

/* Members that `stats` (may be NULL) lacks are 0; members that only it knows are left out. */
void hl_stats_read(struct hilock_stats *to, const struct hilock_stats *stats);

/* The index of a status in failed_by and refused_by. */
static inline unsigned hl_stats_index(hilock_status status) { return (unsigned)-(int)status % HILOCK_STATUSES; }

#endif
