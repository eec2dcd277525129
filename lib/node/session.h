/* SPDX-License-Identifier: BSD-3-Clause */
/* session - keeps one link to one server up: it resolves, connects and logs in, and again after a loss, with a jittered
 * exponential pause.
 *
 *   PAUSED -> RESOLVING -> CONNECTING -> GREETING (AUTH | SELECT, identity, CLIENT SETNAME) -> OPEN -> PAUSED -> ...
 *
 * Invariants: no command of the owner leaves before AUTH and SELECT were accepted; a refusal ends the link, because
 * later commands would run as the default user or in the wrong database (R10). on_open and on_close alternate; on_close
 * also follows a failed attempt, and neither runs inside a call of the owner's. */
#ifndef HL_NODE_SESSION_H
#define HL_NODE_SESSION_H

#include "base/command.h"
#include "base/text.h"
#include "link/link.h"
#include "node/address.h"

enum { HL_SERVER_ID_MAX = 40 };

struct hl_endpoint {
    struct hl_address address;
    char name[HL_ADDRESS_TEXT_MAX]; /* for humans: "10.0.0.5:6379" */
};

struct hl_identity { /* how a server is asked which one it is, as a part of the greeting */
    const char *words[2];
    void (*read)(char ret_id[HL_SERVER_ID_MAX + 1], const struct hl_reply *reply); /* "": it does not tell */
};

struct hl_login { /* by reference, outlives the session */
    const char *username, *password, *client_name; /* NULL: none */
    int database;
};

struct hl_session_options {
    struct hl_link_factory links;
    struct hl_endpoint endpoint;
    const struct hl_login *login;
    uint32_t connect_timeout_ms, retry_max_ms;
    int is_tls;
    const char *tls_server_name; /* of its certificate; NULL: the endpoint's host. Outlives the session */
};

struct hl_session_events {
    void (*on_open)(void *arg);
    void (*on_reply)(void *arg, const struct hl_reply *reply);
    /* refusal: the server's error that ended the greeting, or NULL. The next attempt is in retry_us. */
    void (*on_close)(void *arg, const char *why, const struct hl_reply *refusal, uint64_t retry_us);
    void (*on_fault)(void *arg, const char *what); /* the session goes on without it. NULL: not needed */
    void (*on_due)(void *arg, uint64_t due_us);    /* hl_session_watch asked for this */
    /* How long until the first hold ends that needs this link; UINT64_MAX: there is none. NULL: none ever does. */
    uint64_t (*left_us)(void *arg);
};

enum { HL_SESSION_ADDRESSES_MAX = 8, HL_ADDRESS_MAX = 46 };

enum hl_session_state {
    SESSION_PAUSED,
    SESSION_RESOLVING,
    SESSION_CONNECTING,
    SESSION_GREETING,
    SESSION_OPEN,
    SESSION_BROKEN
};

struct hl_session {
    struct hl_host *host;
    const struct hl_session_options *options;
    const struct hl_session_events *events;
    void *arg;
    enum hl_session_state state;
    const struct hl_identity *identity; /* set by its owner: asked for in each greeting. NULL: not */
    const struct hl_session *leader;    /* likewise: it begins at the address where that one is open. NULL: none */
    struct hl_link *link;
    void *query, *timer;
    uint64_t opened_us; /* 0: not open */
    uint64_t due_us;    /* OPEN: when the timer fires; 0: never */
    unsigned failures, greetings; /* in a row; answers still to come */
    int is_logged_in;             /* AUTH was accepted, or is not needed */
    int is_started;
    int is_moved;                 /* its endpoint has changed: the next attempt begins at once */
    int has_answered;             /* the server has, since this link is open: it was a good one */
    int is_at_wrong_server;       /* this link was left (hl_session_leave). Until its on_close has run */
    unsigned wrong_servers;       /* links that were left in a row */
    char server_id[HL_SERVER_ID_MAX + 1]; /* as the present link's server told; "": not known */
    char addresses[HL_SESSION_ADDRESSES_MAX][HL_ADDRESS_MAX];
    unsigned addresses_count, tried; /* in this attempt */
    unsigned next_address;           /* counts on from attempt to attempt */
    char reached_address[HL_ADDRESS_MAX]; /* the one of the present link; "": the endpoint was one */
    char left_address[HL_ADDRESS_MAX]; /* the one that was left: the next attempt does not begin there */
    struct hl_text why; /* of the latest loss or failed attempt; "" before */
};

/* 0; -1: no memory. Nothing happens before start */
int hl_session_init(struct hl_session *session, struct hl_host *host, const struct hl_session_options *options,
                    const struct hl_session_events *events, void *arg);
void hl_session_start(struct hl_session *session); /* calling it again changes nothing */
void hl_session_done(struct hl_session *session); /* any state; nothing calls back after */

static inline int hl_session_is_open(const struct hl_session *session) { return session->state == SESSION_OPEN; }
/* open only. 0; -1: the session breaks (below) */
int hl_session_send(struct hl_session *session, const struct hl_command *command);
/* on_due comes at that time at the latest, if the session is open and stays so. The earliest of all calls counts. */
void hl_session_watch(struct hl_session *session, uint64_t due_us);
/* Gives the link up (reset, so that its unsent bytes never run). on_close comes on a later turn. */
void hl_session_break(struct hl_session *session, const char *why);
/* Likewise, because the link leads to the wrong server (wrong_server.h): the name is resolved again, and the next
 * attempt begins at another address, if there is one. */
void hl_session_leave(struct hl_session *session, const char *why);
/* how many addresses its name had at the latest attempt; 1 without a name */
static inline unsigned hl_session_addresses(const struct hl_session *session)
{
    return session->addresses_count ? session->addresses_count : 1;
}
/* The endpoint in its options has changed: if it was started, breaks, and connects there now. */
void hl_session_move(struct hl_session *session, const char *why);
void hl_session_stop(struct hl_session *session); /* no link, no attempt, no on_close; start begins again */

#endif
