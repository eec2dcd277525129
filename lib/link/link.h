/* SPDX-License-Identifier: BSD-3-Clause */
/* link - one connection's life, at the level of commands: send argv, reply, down. One of the four doors: the library
 * brings link_hiredis.c, the simulator its own.
 *
 * A link answers commands in the order sent, one on_reply each, until it is made a stream: from then on every message
 * of the server is an on_reply (subscriptions). It does not know what a reply means, has no deadlines, and never
 * reconnects.
 * Invariants: on_up and on_down run at most once each, on_down is the last call, and all of them run from the loop,
 * between hl_host_enter and hl_host_leave, never inside open, send or close. After on_down only close is left. */
#ifndef HL_LINK_LINK_H
#define HL_LINK_LINK_H

#include "base/host.h"
#include "base/reply.h"
#include "base/text.h"

struct hl_link; /* made by a factory, and opaque to all others */

struct hl_link_target { /* copied by open */
    const char *path;    /* a unix socket, or NULL: */
    const char *address; /* a numeric IPv4 or IPv6 address */
    int port;
    const char *tls_host; /* NULL: plain. Else TLS, and nothing is sent to a server whose certificate is not for this */
};

struct hl_tls_options { /* by reference */
    const char *ca_file, *ca_dir;     /* trusted authorities; both NULL: the system's */
    const char *cert_file, *key_file; /* our own certificate. NULL: none; the key is in cert_file */
};

struct hl_link_events {
    void (*on_up)(void *arg); /* connected (TLS included): commands may be sent */
    void (*on_reply)(void *arg, const struct hl_reply *reply);
    void (*on_down)(void *arg, const char *why); /* not connected, or lost; unanswered commands may have happened */
};

struct hl_link_factory {
    void *ctx;
    /* Once, before the first link by TLS. OK: insecure undoes it when no more links are opened; open ones may go on.
     * INVALID, UNSUPPORTED, NO_MEMORY: nothing was made, and why has the sentence. It reads files, so it may block. */
    hilock_status (*secure)(struct hl_link_factory *factory, const struct hl_memory *memory,
                            const struct hl_tls_options *options, struct hl_text *why);
    void (*insecure)(struct hl_link_factory *factory);
    /* NULL: no memory. on_down reports all that fails to connect, even at once. events and arg outlive the link. */
    struct hl_link *(*open)(void *ctx, struct hl_host *host, const struct hl_link_target *target,
                            const struct hl_link_events *events, void *arg);
    /* 0, or -1: no memory (or after on_down); then close the link, because a part of the command may have left. Written
     * at the host's next leave. Commands to a failing link are lost with it; on_down says why. Legal after on_up. */
    int (*send)(struct hl_link *link, int argc, const char *const *argv, const size_t *lengths);
    void (*stream)(struct hl_link *link); /* legal when every command is answered, also inside the last on_reply */
    size_t (*backlog)(const struct hl_link *link); /* bytes sent that have not left the process */
    /* Any time, also inside its own events; afterwards it calls back no more. is_reset: unsent bytes never leave this
     * process (SO_LINGER 0). Bytes that the server's kernel has received may still be read and run: not_after and a
     * second release guard against that. Never reset in a forked child: the parent shares the socket. */
    void (*close)(struct hl_link *link, int is_reset);
};

struct hl_link_factory hl_link_hiredis(void); /* the library's own; link_hiredis.c */

#endif
