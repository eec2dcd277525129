/* SPDX-License-Identifier: BSD-3-Clause */
/* certificates - an authority and what it signed, made for each test program, in files of a temporary folder that goes at its end. */
#ifndef TEST_TLS_CERTIFICATES_H
#define TEST_TLS_CERTIFICATES_H

#include <openssl/x509.h>

enum certificate_kind {
    CERT_AUTHORITY,  /* signs all that follow, but where it is said */
    CERT_RIGHT,      /* locks.example, 127.0.0.1, ::1 */
    CERT_WRONG,      /* evil.example, 10.9.9.9 */
    CERT_EXPIRED,    /* as RIGHT, till yesterday */
    CERT_TOMORROW,   /* as RIGHT, from tomorrow on */
    CERT_WILD,       /* *.locks.example */
    CERT_HALF_WILD,  /* o*.locks.example */
    CERT_LONG,       /* as RIGHT, and so many names more that a handshake is longer than 2000 bytes */
    CERT_CLIENT,     /* of a client */
    CERT_STRANGER,   /* another authority */
    CERT_STRANGERS,  /* as RIGHT, signed by STRANGER */
    CERT_SELF,       /* as RIGHT, signed by itself */
    CERT_COUNT
};

struct certificate {
    X509 *x509;
    EVP_PKEY *key;
    char cert_file[96], key_file[96]; /* PEM */
};

struct certificates {
    char folder[64];
    struct certificate of[CERT_COUNT];
    char trusted_dir[96]; /* AUTHORITY under the name of its hash, and no other */
    char both_file[96];   /* CLIENT and its key in one */
    char locked_file[96]; /* CLIENT's key, locked by the passphrase "s3cret-marker" */
    char nonsense_file[96];
};

/* Those of a test program, made before its main and taken away behind it. */
extern struct certificates certificates;

#endif
