/* SPDX-License-Identifier: BSD-3-Clause */
/* server_info - reads INFO of a server: which run this is, when it started, whether it may evict locks. Pure.
 *
 * A store that restarted may have lost leases that their holders still count on; the restart guard waits until these
 * leases have run out. Invariant: started_us is never before the true start. The server gives its uptime in whole
 * seconds of its wall clock: up to a second too many, and wrong after that clock was set. So one second is subtracted,
 * a run keeps the start that was read first, and a run that follows another started after the latest reply of the
 * other. If the uptime cannot be read, the server counts as just started. */
#ifndef HL_NODE_SERVER_INFO_H
#define HL_NODE_SERVER_INFO_H

#include "base/reply.h"

enum { HL_RUN_ID_MAX = 40, HL_POLICY_MAX = 24 };

struct hl_server_info {
    char run_id[HL_RUN_ID_MAX + 1]; /* "": unknown */
    uint64_t read_us;               /* when the uptime was read; 0: never, or the last reading failed */
    int64_t started_us;             /* the latest time at which it may have started; below 0: before this machine's
                                       clock began */
    char policy[HL_POLICY_MAX + 1]; /* the eviction policy, if it may evict locks and memory is limited; else "" */
};

enum hl_server_info_news {
    HL_SERVER_INFO_AS_BEFORE, HL_SERVER_INFO_NEWS, HL_SERVER_INFO_ANOTHER, HL_SERVER_INFO_UNREADABLE
};

/* These read the reply to INFO server and to INFO memory. old_link_reply_at_us is the time of the latest reply over an
 * earlier link. The first returns NEWS if the server restarted since the last reading, and ANOTHER if this is another
 * server, which was running while the earlier one still answered. The second returns NEWS if the eviction policy is a
 * risk and is new or has changed. */
enum hl_server_info_news hl_server_info_read_server(struct hl_server_info *server_info, const struct hl_reply *reply,
                                                    uint64_t now_us, uint64_t old_link_reply_at_us);
enum hl_server_info_news hl_server_info_read_memory(struct hl_server_info *server_info, const struct hl_reply *reply);

void hl_server_info_read_run(char ret_run_id[HL_RUN_ID_MAX + 1], const struct hl_reply *reply); /* "": unknown */
int hl_server_info_is_replica(const struct hl_reply *reply); /* the reply to INFO replication has the role slave */

#endif
