/* SPDX-License-Identifier: BSD-3-Clause */
/* options - reads option structs of any version of the header, fills in the defaults, and says what is wrong with them.
 * Pure. */
#ifndef HL_CLIENT_OPTIONS_H
#define HL_CLIENT_OPTIONS_H

#include "base/text.h"

#include <hilock/hilock.h>

/* Both fill in every default; INVALID and UNSUPPORTED come with the sentence. */
hilock_status hl_options_read_client(struct hilock_client_options *to, const struct hilock_client_options *from,
                                     struct hl_text *why);
hilock_status hl_options_read_lock(struct hilock_lock_options *to, const struct hilock_lock_options *from,
                                   const struct hilock_client_options *client, struct hl_text *why);

/* HILOCK_OK, or INVALID with the sentence. A guard that the lease would outlast is none; 0: there is none.
 * whose: lease is the default */
hilock_status hl_options_check_lease(uint32_t lease_ms, uint32_t restart_guard_ms, const char *whose,
                                     struct hl_text *why);
/* above the limit: "a negative number by mistake?" */
hilock_status hl_options_check_span(uint32_t span_ms, const char *name, struct hl_text *why);

#endif
