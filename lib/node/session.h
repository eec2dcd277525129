/* SPDX-License-Identifier: BSD-3-Clause */
/* session - keeps one link to one server up. It resolves the name, connects and logs in. After a loss it does so again,
 * after a pause that doubles and has jitter.
 *
 *   PAUSED -> RESOLVING -> CONNECTING -> GREETING (AUTH; then SELECT, identity, CLIENT SETNAME) -> OPEN -> PAUSED
 *   RESOLVING to OPEN -> BROKEN (given up; on_close follows on the next turn of the loop) -> PAUSED
 *
 * The owner of a session is the node, or the subscriptions of a node, that has the session as a member.
 * Invariants: no command of the owner is sent before AUTH and SELECT are accepted; a refusal ends the link, because
 * later commands would run as the default user or in the wrong database (R10). Each on_open is followed by an on_close,
 * unless the owner stops the session; on_close also follows a failed attempt. Neither of them runs inside a call of an
 * hl_session function. */
#ifndef HL_NODE_SESSION_H
#define HL_NODE_SESSION_H

#include "base/command.h"
#include "base/text.h"
#include "link/link.h"
#include "node/address.h"

enum { HL_SERVER_ID_MAX = 40 };

struct hl_endpoint {
    struct hl_address address;
    char name[HL_ADDRESS_TEXT_MAX]; /* how it is shown to people: "10.0.0.5:6379" */
};

struct hl_identity_query { /* a command of the greeting that asks the server which one it is */
    const char *words[2];
    void (*read)(char ret_id[HL_SERVER_ID_MAX + 1], const struct hl_reply *reply); /* ret_id "": unknown */
};

struct hl_login { /* outlives the session, which keeps a pointer to it */
    const char *username, *password, *client_name; /* NULL: none */
    int database;
};

struct hl_session_options {
    struct hl_link_factory links;
    struct hl_endpoint endpoint;
    const struct hl_login *login;
    uint32_t connect_timeout_ms, retry_max_ms;
    int is_tls;
    const char *tls_server_name; /* the name in its certificate; NULL: the endpoint's host. Outlives the session */
};

struct hl_session_events {
    void (*on_open)(void *arg);
    void (*on_reply)(void *arg, const struct hl_reply *reply);
    /* The link or the attempt ended; the next attempt is in retry_us. refusal: the error that ended the greeting, or
     * NULL. */
    void (*on_close)(void *arg, const char *why, const struct hl_reply *refusal, uint64_t retry_us);
    /* Something was refused, but the session goes on. NULL: not needed. */
    void (*on_fault)(void *arg, const char *what);
    void (*on_due)(void *arg, uint64_t due_us);    /* due_us, a time that was given to hl_session_wake_at, has come */
    /* Returns the time that is left to the first hold to end of all holds that need this link; UINT64_MAX: no hold
     * needs the link. A NULL function means that no hold ever does. */
    uint64_t (*remaining_us)(void *arg);
};

enum { HL_SESSION_ADDRESSES_MAX = 8, HL_ADDRESS_MAX = 46 };

enum hl_session_state {
    SESSION_PAUSED,
    SESSION_RESOLVING,
    SESSION_CONNECTING,
    SESSION_GREETING,
    SESSION_OPEN,
    SESSION_BROKEN /* the link is given up and closed already; on_close follows on the next turn of the loop */
};

struct hl_session {
    struct hl_host *host;
    const struct hl_session_options *options;
    const struct hl_session_events *events;
    void *arg;
    enum hl_session_state state;
    const struct hl_identity_query *identity; /* set by the owner: a part of each greeting. NULL: not needed */
    /* Set by the owner: attempts begin at the address of that session. NULL: none. */
    const struct hl_session *leader;
    struct hl_link *link;
    void *query, *timer;
    uint64_t opened_us; /* 0: not open */
    uint64_t due_us;    /* OPEN: when the timer fires; 0: never */
    unsigned failures;             /* how many attempts failed in a row */
    unsigned unanswered_greetings; /* how many commands of the greeting have no answer yet */
    int is_logged_in;             /* AUTH was accepted, or is not needed */
    int is_started;
    int is_moved;                 /* the endpoint has changed: the next attempt begins at once */
    int has_answered;             /* the server has answered since the link is open: the link was good */
    int is_at_wrong_server;       /* hl_session_leave gave the link up; cleared after its on_close */
    unsigned wrong_servers;       /* how many links in a row were left */
    char server_id[HL_SERVER_ID_MAX + 1]; /* which server the present link reached; "": unknown */
    char addresses[HL_SESSION_ADDRESSES_MAX][HL_ADDRESS_MAX];
    unsigned addresses_count, tried; /* how many addresses the name has, and how many were tried in this attempt */
    unsigned next_address;           /* which address is tried next; a new attempt does not reset it */
    char reached_address[HL_ADDRESS_MAX]; /* the address of the present link; "": the endpoint is no name */
    char abandoned_address[HL_ADDRESS_MAX]; /* hl_session_leave left it, so the next attempt does not begin there */
    struct hl_text why; /* the reason of the latest loss or failed attempt; or "" */
};

/* Returns 0, or -1 if there is no memory. Nothing happens before hl_session_start. */
int hl_session_init(struct hl_session *session, struct hl_host *host, const struct hl_session_options *options,
                    const struct hl_session_events *events, void *arg);
void hl_session_start(struct hl_session *session); /* makes the first attempt; a second call changes nothing */
void hl_session_done(struct hl_session *session); /* legal in any state; no callback follows */

static inline int hl_session_is_open(const struct hl_session *session) { return session->state == SESSION_OPEN; }
/* Sends a command; legal while open. Returns 0, or -1 and the session is broken (hl_session_break). */
int hl_session_send(struct hl_session *session, const struct hl_command *command);
/* Makes on_due run at due_us, or earlier if an earlier time was given before. Has no effect unless the session is open
 * and stays open. */
void hl_session_wake_at(struct hl_session *session, uint64_t due_us);
/* Gives the link up, with a reset, so that bytes that are not sent yet are never executed. on_close runs on a later
 * turn. */
void hl_session_break(struct hl_session *session, const char *why);
/* Gives up a link that leads to the wrong server (wrong_server.h). The name is resolved again, and the next attempt
 * begins at another address, if there is one. */
void hl_session_leave(struct hl_session *session, const char *why);
/* Returns how many addresses the name had at the latest attempt, or 1 if the endpoint is no name. */
static inline unsigned hl_session_addresses(const struct hl_session *session)
{
    return session->addresses_count ? session->addresses_count : 1;
}
/* Call this when the endpoint in the options has changed. A session that was started breaks and connects there now. */
void hl_session_move(struct hl_session *session, const char *why);
/* Ends the link and all attempts, without on_close; start begins again. */
void hl_session_stop(struct hl_session *session);

#endif
