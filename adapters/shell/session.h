/* SPDX-License-Identifier: BSD-3-Clause */
/* session - a client on an event base of its own, for as long as one command runs. */
#ifndef SHELL_SESSION_H
#define SHELL_SESSION_H

#include "options.h"

struct event_base;

struct session {
    struct event_base *base;
    hilock_client *client;
};

/* label: NULL for the library's default. Returns 0, or the exit code after it has printed the reason. */
int session_open(struct session *session, const struct options *options, const char *label);
int session_refused(const struct session *session, hilock_status status); /* prints why, and returns the exit code */
void session_turn(struct session *session);  /* turns the loop until session_leave */
void session_pause(struct session *session, uint32_t ms); /* turns the loop for so long */
void session_leave(struct session *session); /* called in a callback */
void session_abandon(struct session *session); /* ends the client at once; its leases run out at the server */
void session_close(struct session *session); /* releases all holds; returns when that is done, or after
                                                command_timeout_ms */

#endif
