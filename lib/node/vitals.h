/* SPDX-License-Identifier: BSD-3-Clause */
/* vitals - what INFO tells of a server: which run of it this is, since when it is up, whether it may evict locks. Pure.
 *
 * A store that restarted may have forgotten leases that their holders still believe in; the restart guard waits them out. Invariant:
 * started_us is never before the true start. The server tells its uptime in whole seconds of its wall clock, which may be nearly a second
 * too many, and which a step of that clock falsifies: so a second is taken off, a run that was read once keeps its start, and a run that
 * follows another began after the other's latest answer. What cannot be read counts as just started. */
#ifndef HL_NODE_VITALS_H
#define HL_NODE_VITALS_H

#include "base/reply.h"

enum { HL_RUN_ID_MAX = 40, HL_POLICY_MAX = 24 };

struct hl_vitals {
    char run_id[HL_RUN_ID_MAX + 1]; /* "": not told */
    uint64_t heard_us;              /* when uptime was read; 0: never, or not the last time */
    int64_t started_us;             /* at the latest; below 0: before the clock of this host began */
    char policy[HL_POLICY_MAX + 1]; /* one that may evict locks, memory being limited; "" */
};

enum hl_vital_news { HL_VITALS_AS_BEFORE, HL_VITALS_NEWS, HL_VITALS_UNREADABLE };

/* reply: of INFO server, of INFO memory. earlier_us: the latest answer that an earlier link brought. NEWS: it restarted since it was last
 * read; it may evict, and did not, or not so, before. */
enum hl_vital_news hl_vitals_read_server(struct hl_vitals *vitals, const struct hl_reply *reply, uint64_t now_us, uint64_t earlier_us);
enum hl_vital_news hl_vitals_read_memory(struct hl_vitals *vitals, const struct hl_reply *reply);

#endif
