/* SPDX-License-Identifier: BSD-3-Clause */
/* tls_socket - how OpenSSL reads and writes a link's socket: as its own socket BIO does, but a write raises no SIGPIPE.
 * For tls.c alone. */
#ifndef HL_LINK_TLS_SOCKET_H
#define HL_LINK_TLS_SOCKET_H

#include <openssl/bio.h>

BIO_METHOD *hl_tls_socket_method(void); /* NULL: no memory. BIO_meth_free it when all its BIOs are gone */
BIO *hl_tls_socket_new(const BIO_METHOD *method, int fd); /* fd stays the caller's. NULL: no memory */

#endif
