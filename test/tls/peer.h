/* SPDX-License-Identifier: BSD-3-Clause */
/* peer - a TLS server in the test's own process, for one link of a link_trial. Its bytes pass the test's hands: they can be cut off, spoiled
 * or sent together. */
#ifndef TEST_TLS_PEER_H
#define TEST_TLS_PEER_H

#include <openssl/ssl.h>

#include "../unit/link_trial.h"
#include "../unit/suite.h"
#include "certificates.h"

struct peer_options {
    const char *host;                  /* to which the link is to be opened; NULL: locks.example */
    const struct hl_tls_options *tls;  /* of the link; NULL: it trusts the authority */
    enum certificate_kind certificate; /* 0: RIGHT */
    int version;             /* of TLS, the only one; 0: any that is good */
    int wants_client;        /* a client's certificate */
    const char *greeting;    /* said before the client has finished the handshake; NULL: nothing */
};

enum peer_end { PEER_CLOSES, PEER_RESETS, PEER_STOPS };

struct peer {
    struct link_trial *trial;
    SSL_CTX *settings;
    SSL *ssl;
    BIO *in, *out;           /* of bytes on the wire */
    const char *greeting;
    size_t sent, sent_max;   /* bytes on the wire; from sent_max on none, but the end */
    size_t got, got_max;     /* the same of the client's */
    enum peer_end end;
    long spoiled;            /* this byte of the sent ones is another; -1: none */
    int is_over, is_deaf;    /* has ended; reads nothing for now */
    char *heard;             /* what the client said, in the clear */
    size_t heard_length, heard_room;
};

/* The trial begins, by TCP, and its factory learns these options. */
void peer_prepare(struct peer *peer, struct link_trial *trial, const struct peer_options *options);
/* And its link is opened, and accepted. */
void peer_meet(struct peer *peer, struct link_trial *trial, const struct peer_options *options);
void peer_leave(struct peer *peer); /* the link is closed, the factory has no settings any more, and the trial ends */

void peer_turn(struct peer *peer);                          /* once for both ends, without waiting */
void peer_until(struct peer *peer, const char *told);       /* as link_trial_until */
void peer_until_heard(struct peer *peer, size_t length);    /* so many bytes in the clear */
void peer_say(struct peer *peer, const char *text);         /* a record of its own; it leaves with the next turn, together with others */
int peer_is_met(const struct peer *peer);                   /* the handshake is over, as it sees it */

#endif
