/* SPDX-License-Identifier: BSD-3-Clause */
/* observe - makes statistics, log lines and the client's own events from the inner events. */
#ifndef HL_CLIENT_OBSERVE_H
#define HL_CLIENT_OBSERVE_H

#include "client/client.h"

void hl_observe(void *arg, enum hl_what what, const struct hl_fact *fact); /* the host's on_trace */
__attribute__((format(printf, 3, 4))) void hl_observe_log(struct hilock_client *client, hilock_log_level level,
                                                          const char *format, ...);

#endif
