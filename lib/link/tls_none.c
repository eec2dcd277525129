/* SPDX-License-Identifier: BSD-3-Clause */
/* tls_none - replaces tls.c in a build without TLS. */
#include "link/tls.h"
#include "link/words.h"

hilock_status hl_tls_new(struct hl_tls **ret, const struct hl_memory *memory, const struct hl_tls_options *options,
                         struct hl_text *why)
{
    (void)ret, (void)memory, (void)options;
    hl_words_no_tls(why, HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
    return HILOCK_UNSUPPORTED;
}
