/* SPDX-License-Identifier: BSD-3-Clause */
/* tls - TLS on the connections of one client: trust, the handshake, and what to report when one fails.
 *
 * tls.c is made of OpenSSL and hiredis_ssl; a build without them has tls_none.c, whose hl_tls_new refuses. A link
 * therefore knows the functions through the settings that it was given, and one without settings is plain.
 * Invariant: shake answers DONE only if a trusted authority signed the server's certificate, it is valid now, and it is
 * for the host that was asked for; TLS is 1.2 or later. */
#ifndef HL_LINK_TLS_H
#define HL_LINK_TLS_H

#include <hiredis/hiredis.h>

#include "link/link.h"

struct ssl_st; /* OpenSSL's: one connection. It belongs to the hiredis context, and goes with it */

enum hl_tls_step { HL_TLS_DONE, HL_TLS_READS, HL_TLS_WRITES, HL_TLS_FAILED };

struct hl_tls {
    const struct hl_tls_ops *ops;
    struct hl_memory memory;
    unsigned refs;
    struct ssl_ctx_st *settings;   /* OpenSSL's */
    struct bio_method_st *socket;
};

struct hl_tls_ops {
    void (*free)(struct hl_tls *tls);
    /* For a connected context. *ssl NULL: makes it. FAILED: why has the sentence */
    enum hl_tls_step (*shake)(struct hl_tls *tls, redisContext *context, struct ssl_st **ssl, const char *host,
                              struct hl_text *why);
    void (*prepare)(void); /* before each read */
    /* Writes the context's buffer. Returns how many bytes have left; below 0: failed, and why has the reason. */
    ssize_t (*write)(redisContext *context, struct ssl_st *ssl, struct hl_text *why);
    int (*has_more)(const struct ssl_st *ssl); /* after a read: bytes that no event announces: they left the socket */
    int (*wants_write)(const struct ssl_st *ssl); /* the last step needs a writable socket to go on */
    void (*explain)(struct ssl_st *ssl, struct hl_text *why); /* why hiredis' read failed; untouched: unknown */
};

/* One reference is the caller's. INVALID: a file cannot be used; UNSUPPORTED: this build has no TLS; NO_MEMORY. */
hilock_status hl_tls_new(struct hl_tls **ret, const struct hl_memory *memory, const struct hl_tls_options *options,
                         struct hl_text *why);

static inline void hl_tls_unref(struct hl_tls *tls)
{
    if (--tls->refs == 0)
        tls->ops->free(tls);
}

#endif
