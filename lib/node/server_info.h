/* SPDX-License-Identifier: BSD-3-Clause */
/* server_info - reads INFO of a server: which run this is, when it started, whether it may evict locks. Pure.
 *
 * A store that restarted may have forgotten leases that their holders still believe in; the restart guard waits them
 * out. Invariant: started_us is never before the true start. The server gives its uptime in whole seconds of its wall
 * clock: up to a second too many, and wrong after a step of that clock. So one second is subtracted, a run keeps its
 * start once it was read, and a run that follows another began after the other's latest answer. An uptime that cannot
 * be read counts as just started. */
#ifndef HL_NODE_SERVER_INFO_H
#define HL_NODE_SERVER_INFO_H

#include "base/reply.h"

enum { HL_RUN_ID_MAX = 40, HL_POLICY_MAX = 24 };

struct hl_server_info {
    char run_id[HL_RUN_ID_MAX + 1]; /* "": not given */
    uint64_t read_us;               /* when the uptime was read; 0: never, or not the last time */
    int64_t started_us;             /* its start, at the latest; below 0: before this host's clock began */
    char policy[HL_POLICY_MAX + 1]; /* a policy that may evict locks, if memory is limited; or "" */
};

enum hl_server_info_news {
    HL_SERVER_INFO_AS_BEFORE, HL_SERVER_INFO_NEWS, HL_SERVER_INFO_ANOTHER, HL_SERVER_INFO_UNREADABLE
};

/* reply: of INFO server, of INFO memory. previous_link_us: the latest answer that an earlier link brought. NEWS: it
 * restarted since it was last read; its eviction policy is new or has changed. ANOTHER: it is another server, which ran
 * while the earlier one still answered. */
enum hl_server_info_news hl_server_info_read_server(struct hl_server_info *server_info, const struct hl_reply *reply,
                                                    uint64_t now_us, uint64_t previous_link_us);
enum hl_server_info_news hl_server_info_read_memory(struct hl_server_info *server_info, const struct hl_reply *reply);

void hl_server_info_read_run(char ret_run_id[HL_RUN_ID_MAX + 1], const struct hl_reply *reply); /* "": not given */
int hl_server_info_is_replica(const struct hl_reply *reply); /* of INFO replication: it says so */

#endif
