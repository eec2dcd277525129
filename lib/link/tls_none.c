/* SPDX-License-Identifier: BSD-3-Clause */
/* tls_none - replaces tls.c in a build without TLS. */
#include "link/tls.h"

hilock_status hl_tls_new(struct hl_tls **ret, const struct hl_memory *memory, const struct hl_tls_options *options,
                         struct hl_text *why)
{
    (void)ret, (void)memory, (void)options;
    return hl_text_refuse(why, HILOCK_UNSUPPORTED,
                          "rediss:// needs hiredis 1.1 or later built with TLS; this is %d.%d.%d without: install "
                          "libhiredis-dev 1.1 or later (with hiredis_ssl) and libssl-dev 3.0, and build hilock again",
                          HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
}
