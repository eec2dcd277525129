/* SPDX-License-Identifier: BSD-3-Clause */
/* words - see words.h. */
#include "link/words.h"

/* ---- a connection ends ---- */

const char hl_words_unwatched[] = "the loop cannot watch the connection";
const char hl_words_ended[] = "the connection ended";
const char hl_words_before_answer[] =
    " before its first answer: is it a TLS port (rediss), or a proxy without a server?";

/* ---- a reply is refused ---- */

const char hl_words_too_deep[] = "the server's answer is nested too deeply";
const char hl_words_wrong_type[] = "the server's answer is of a type that protocol version 2 does not have";
const char hl_words_unexpected[] = "unexpected reply: no command asked for it";
const char hl_words_too_many_items[] = "the server's answer has too many items";
const char hl_words_too_long[] = "the server's answer is too long";
const char hl_words_reply_memory[] = "out of memory for the server's answer";

/* ---- the process has a second hiredis ---- */

void hl_words_second_hiredis(struct hl_text *to, const char *file, const char *function, const char *soname)
{
    hl_text_set(to,
                "%.32s has a second hiredis: %s is its own, but this hilock needs the one of %s. Build hilock with "
                "-Dhiredis=bundled, or hide the other's symbols (embed.md, \"A second hiredis\")",
                file, function, soname);
}

/* ---- TLS ---- */

const char hl_words_tls_memory[] = "out of memory for TLS";
const char hl_words_not_a_directory[] = "not a directory";
const char hl_words_a_directory[] = "a directory";
const char hl_words_tls_closed[] = "the server closed the connection in the TLS handshake";
const char hl_words_no_client_cert[] = "the server wants a client certificate: give tls_cert_file and tls_key_file";
const char hl_words_handshake_refused[] =
    "the server refused the TLS handshake: it may want a client certificate (tls_cert_file, tls_key_file)";

void hl_words_no_tls(struct hl_text *to, int major, int minor, int patch)
{
    hl_text_set(to,
                "rediss:// needs hiredis 1.1 or later built with TLS; this is %d.%d.%d without: install "
                "libhiredis-dev 1.1 or later (with hiredis_ssl) and libssl-dev 3.0, and build hilock again",
                major, minor, patch);
}

void hl_words_tls_setup(struct hl_text *to, const char *reason) { hl_text_set(to, "TLS cannot be set up: %s", reason); }

void hl_words_tls_error(struct hl_text *to, const char *reason) { hl_text_set(to, "TLS: %s", reason); }

void hl_words_tls_broken(struct hl_text *to, const char *reason) { hl_text_set(to, "%s in the TLS handshake", reason); }

void hl_words_plain_port(struct hl_text *to, const char *reason)
{
    hl_text_set(to, "the server does not speak TLS on this port (%s)", reason);
}

void hl_words_bad_file(struct hl_text *to, const char *option, const char *path, const char *reason)
{
    hl_text_set(to, "%s \"%s\" cannot be used: %s", option, path, reason);
}

void hl_words_unreadable_file(struct hl_text *to, const char *option, const char *path, const char *reason)
{
    hl_text_set(to, "cannot read %s \"%s\": %s", option, path, reason);
}

void hl_words_passphrase(struct hl_text *to, const char *option, const char *path)
{
    hl_text_set(to, "%s \"%s\" has a passphrase, which hilock cannot ask for: give a key without one", option, path);
}

void hl_words_cert_name(struct hl_text *to, const char *host)
{
    hl_text_set(to,
                "the server's certificate is not for %s: give a name that it is for as tls_server_name, or replace the "
                "certificate",
                host);
}

void hl_words_cert_refused(struct hl_text *to, const char *reason, int is_about_trust)
{
    hl_text_set(to, "the server's certificate is refused: %s%s", reason,
                is_about_trust ? "; tls_ca_file or tls_ca_dir must have the authority that signed it" : "");
}
