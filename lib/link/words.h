/* SPDX-License-Identifier: BSD-3-Clause */
/* words - the texts of this folder that users read, all in one place. Each says what happened, to what, and what to do.
 * They get values, never the structs of other files. Text from a file, a server or a library comes quoted already. */
#ifndef HL_LINK_WORDS_H
#define HL_LINK_WORDS_H

#include "base/text.h"

/* ---- a connection ends (link_hiredis.c) ---- */

extern const char hl_words_unwatched[], hl_words_ended[], hl_words_before_answer[];

/* ---- a reply is refused (reader.c) ---- */

extern const char hl_words_too_deep[], hl_words_wrong_type[], hl_words_unexpected[], hl_words_too_many_items[],
    hl_words_too_long[], hl_words_reply_memory[];

/* ---- the process has a second hiredis (origin.c) ---- */

void hl_words_second_hiredis(struct hl_text *to, const char *file, const char *function, const char *soname);

/* ---- TLS (tls.c, tls_none.c) ---- */

extern const char hl_words_tls_memory[], hl_words_tls_closed[], hl_words_no_client_cert[], hl_words_handshake_refused[],
    hl_words_not_a_directory[], hl_words_a_directory[];

void hl_words_no_tls(struct hl_text *to, int major, int minor, int patch); /* the version of hiredis */
void hl_words_tls_setup(struct hl_text *to, const char *reason);
void hl_words_tls_error(struct hl_text *to, const char *reason);
void hl_words_tls_broken(struct hl_text *to, const char *reason); /* the connection broke in the handshake */
void hl_words_plain_port(struct hl_text *to, const char *reason);
void hl_words_bad_file(struct hl_text *to, const char *option, const char *path, const char *reason);
void hl_words_unreadable_file(struct hl_text *to, const char *option, const char *path, const char *reason);
void hl_words_passphrase(struct hl_text *to, const char *option, const char *path);
void hl_words_cert_name(struct hl_text *to, const char *host);
void hl_words_cert_refused(struct hl_text *to, const char *reason, int is_about_trust);

#endif
