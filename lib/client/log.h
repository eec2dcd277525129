/* SPDX-License-Identifier: BSD-3-Clause */
/* log - lines of a client's log: each names the client by its label; and of the kinds that come once for each lock or
 * call there is one line a second, and then one with the number of those that were left out.
 * Invariant: what was left out is counted in a later line, as long as the client has turns. */
#ifndef HL_CLIENT_LOG_H
#define HL_CLIENT_LOG_H

#include "client/client.h"

void hl_log_write(struct hilock_client *client, enum hl_what what, hilock_log_level level, const char *line);
void hl_log_catch_up(struct hilock_client *client); /* at the end of a turn: counts what was left out a second ago */

#endif
