/* SPDX-License-Identifier: BSD-3-Clause */
/* tracing - the inner events as the steps that a user's on_trace gets. */
#ifndef HL_CLIENT_TRACING_H
#define HL_CLIENT_TRACING_H

#include "client/client.h"

void hl_tracing_tell(struct hilock_client *client, enum hl_what what, const struct hl_fact *fact); /* on_trace is set */

#endif
