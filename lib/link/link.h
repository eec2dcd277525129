/* SPDX-License-Identifier: BSD-3-Clause */
/* link - one connection, at the level of commands: it sends argv, delivers replies and reports its end. This is one of
 * the library's four doors: link_hiredis.c is the real implementation, and the simulator has its own.
 *
 * A link calls on_reply once for each command, in the order of the commands. Once it is made a stream, which is for
 * subscriptions, it calls on_reply for every message of the server. A link does not interpret replies, has no deadlines
 * and never reconnects.
 * Invariants: on_up and on_down run at most once each, and on_down is the last callback. All callbacks run from the
 * loop, between hl_host_enter and hl_host_leave, never inside open, send or close. After on_down only close is legal,
 * and send, which fails. */
#ifndef HL_LINK_LINK_H
#define HL_LINK_LINK_H

#include "base/host.h"
#include "base/reply.h"
#include "base/text.h"

struct hl_link; /* only the factory that made a link knows its members */

struct hl_link_target { /* open copies it */
    const char *path;    /* a unix socket; NULL: address and port count */
    const char *address; /* a numeric IPv4 or IPv6 address */
    int port;
    const char *tls_host; /* the host that the server's certificate must be for, or nothing is sent. NULL: no TLS */
};

struct hl_tls_options { /* the strings stay the caller's */
    const char *ca_file, *ca_dir;     /* trusted authorities; both NULL: those of the system */
    const char *cert_file, *key_file; /* our certificate, NULL: none; its key, NULL: the key is in cert_file */
};

struct hl_link_events {
    void (*on_up)(void *arg); /* it is connected, TLS included: commands may be sent */
    void (*on_reply)(void *arg, const struct hl_reply *reply);
    /* The connect failed, or the link is lost; unanswered commands may have been executed. */
    void (*on_down)(void *arg, const char *why);
};

struct hl_link_factory {
    void *ctx;
    /* Prepares TLS; called once, before the first TLS link is opened. It reads files, so it may block. Returns OK, or
     * INVALID, UNSUPPORTED or NO_MEMORY with a sentence in `why`. After OK, insecure undoes this when no more links
     * will be opened; links that are open stay usable. */
    hilock_status (*secure)(struct hl_link_factory *factory, const struct hl_memory *memory,
                            const struct hl_tls_options *options, struct hl_text *why);
    void (*insecure)(struct hl_link_factory *factory);
    /* Opens a link. Returns NULL if there is no memory. Any other failure to connect is reported by on_down, even if it
     * is immediate. events and arg outlive the link. */
    struct hl_link *(*open)(void *ctx, struct hl_host *host, const struct hl_link_target *target,
                            const struct hl_link_events *events, void *arg);
    /* Sends a command; legal after on_up. It is written at the host's next leave. Returns 0, or -1 if there is no
     * memory (or after on_down). After -1 close the link, because a part of the command may have been sent. Commands to
     * a link that is failing are lost; on_down has the reason. */
    int (*send)(struct hl_link *link, int argc, const char *const *argv, const size_t *lengths);
    void (*stream)(struct hl_link *link); /* legal once all commands are answered, even inside the last on_reply */
    size_t (*backlog)(const struct hl_link *link); /* how many bytes wait to be written */
    /* Closes the link; no callback follows. Legal at any time, even inside the link's own callbacks. With is_reset
     * bytes that are not sent yet never leave this process (SO_LINGER 0). Bytes that the server's kernel has received
     * may still be read and executed; not_after and a second release guard against that. Never reset in a forked child,
     * because the parent shares the socket. */
    void (*close)(struct hl_link *link, int is_reset);
};

struct hl_link_factory hl_link_hiredis(void); /* the real links (link_hiredis.c) */

#endif
