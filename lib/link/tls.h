/* SPDX-License-Identifier: BSD-3-Clause */
/* tls - TLS on the connections of one client: trust, the handshake, and the reason to report when a handshake fails.
 *
 * tls.c uses OpenSSL and hiredis_ssl; a build without them has tls_none.c, whose hl_tls_new refuses. So that both
 * builds have the same links, a link finds the functions through its struct hl_tls; a link without one has no TLS.
 * Invariant: shake returns DONE only if a trusted authority signed the server's certificate, the certificate is valid
 * now and is for the host that was asked for, and TLS is 1.2 or later. */
#ifndef HL_LINK_TLS_H
#define HL_LINK_TLS_H

#include <hiredis/hiredis.h>

#include "link/link.h"

struct ssl_st; /* one connection of OpenSSL; the hiredis context owns and frees it */

enum hl_tls_step { HL_TLS_DONE, HL_TLS_READS, HL_TLS_WRITES, HL_TLS_FAILED };

struct hl_tls {
    const struct hl_tls_ops *ops;
    struct hl_memory memory;
    unsigned refs;
    struct ssl_ctx_st *settings;   /* an SSL_CTX of OpenSSL */
    struct bio_method_st *socket;
};

struct hl_tls_ops {
    void (*free)(struct hl_tls *tls);
    /* Continues the handshake of a connected context; makes *ssl if that is NULL. After FAILED `why` has a sentence. */
    enum hl_tls_step (*shake)(struct hl_tls *tls, redisContext *context, struct ssl_st **ssl, const char *host,
                              struct hl_text *why);
    void (*prepare)(void); /* called before each read */
    /* Writes the buffer of the context. Returns how many bytes were written, or below 0 with the reason in `why`. */
    ssize_t (*write)(redisContext *context, struct ssl_st *ssl, struct hl_text *why);
    int (*has_more)(const struct ssl_st *ssl); /* after a read: OpenSSL has bytes that no event will announce */
    int (*wants_write)(const struct ssl_st *ssl); /* the last step cannot continue until the socket is writable */
    void (*explain)(struct ssl_st *ssl, struct hl_text *why); /* sets why a read failed, if OpenSSL knows it */
};

/* Makes the settings; the caller owns one reference. Returns OK, INVALID if a file cannot be used, UNSUPPORTED if this
 * build has no TLS, or NO_MEMORY. */
hilock_status hl_tls_new(struct hl_tls **ret, const struct hl_memory *memory, const struct hl_tls_options *options,
                         struct hl_text *why);

static inline void hl_tls_unref(struct hl_tls *tls)
{
    if (--tls->refs == 0)
        tls->ops->free(tls);
}

#endif
