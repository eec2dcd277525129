/* SPDX-License-Identifier: BSD-3-Clause */
/* options - reads option structs of any version of the header, fills in the defaults, and refuses bad values with the
 * reason. Pure functions. */
#ifndef HL_CLIENT_OPTIONS_H
#define HL_CLIENT_OPTIONS_H

#include "base/text.h"

#include <hilock/hilock.h>

/* Both copy the options and fill in every default. INVALID: why has the reason. */
hilock_status hl_options_read_client(struct hilock_client_options *to, const struct hilock_client_options *from,
                                     struct hl_text *why);
hilock_status hl_options_read_lock(struct hilock_lock_options *to, const struct hilock_lock_options *from,
                                   const struct hilock_client_options *client, struct hl_text *why);

/* Refuses a lease outside of its bounds, and one that is longer than the restart guard, because such a guard
 * protects nothing. INVALID: why has the reason. restart_guard_ms: 0 means no guard. whose: whose lease a 0 stands
 * for, a word for the reason */
hilock_status hl_options_check_lease(uint32_t lease_ms, uint32_t restart_guard_ms, const char *whose,
                                     struct hl_text *why);
/* Refuses a number so large that it probably was a negative one before a cast. also: the constant beyond that limit
 * that the caller accepts, a word for the reason; or NULL */
hilock_status hl_options_check_span(uint32_t span_ms, const char *name, const char *also, struct hl_text *why);

#endif
