/* SPDX-License-Identifier: BSD-3-Clause */
/* log - writes the lines of a client's log. Each line begins with the client's label. Of the kinds that can come once
 * for each lock or call, one line a second is written, and later a line with the number of those that were left out.
 * Invariant: every line that was left out is counted in a later one, as long as the client's loop turns. */
#ifndef HL_CLIENT_LOG_H
#define HL_CLIENT_LOG_H

#include "client/client.h"

void hl_log_write(struct hilock_client *client, enum hl_what what, hilock_log_level level, const char *line);
/* Writes how many lines were left out, for each kind whose second is over; called at the end of a turn. */
void hl_log_catch_up(struct hilock_client *client);

#endif
