/* SPDX-License-Identifier: BSD-3-Clause */
/* words - the texts of this folder that users read, all in one place. Each says what happened, to what, and what to do.
 * They get values, never the structs of other files. */
#ifndef HL_BASE_WORDS_H
#define HL_BASE_WORDS_H

#include <stdint.h>

#include "base/text.h"

/* Returns the name of a status, such as "TIMED_OUT", or its text. */
const char *hl_words_status(hilock_status status, int is_text);

/* ---- what a server seems to be (stranger.c) ---- */

extern const char hl_words_http[], hl_words_tls[], hl_words_other[], hl_words_scriptless[], hl_words_sentinel[],
    hl_words_no_sentinel[], hl_words_cluster_node[], hl_words_no_cluster[];

/* ---- what is wrong with a url (url.c): the rule for the place that a refusal names ---- */

extern const char hl_words_scheme[], hl_words_redis_tail[], hl_words_unix_tail[], hl_words_sentinel_tail[],
    hl_words_cluster_tail[], hl_words_alphabet[], hl_words_escape[], hl_words_host[], hl_words_port[], hl_words_login[],
    hl_words_one_server[], hl_words_hosts_max[];

void hl_words_bad_url(struct hl_text *to, int place, const char *rule); /* place counts from 1 */
void hl_words_long_url(struct hl_text *to, int characters_max);

/* ---- the rest ---- */

extern const char hl_words_no_memory[];

/* The loop stood still for a time between these two, and renewals were late. */
void hl_words_stalled(struct hl_text *to, uint64_t least_us, uint64_t most_us);

#endif
