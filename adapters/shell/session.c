/* SPDX-License-Identifier: BSD-3-Clause */
/* session - see session.h. */
#include "session.h"
#include "codes.h"
#include "say.h"

#include <hilock/adapters/libevent.h>

#include <event2/event.h>

/* A line of level ERROR reports a loss, which on_lost reports, too. */
static void on_log(hilock_log_level level, const char *line, void *user)
{
    (void)user;
    if (level != HILOCK_LOG_ERROR)
        say("%s", line);
}

int session_open(struct session *session, const struct options *options, const char *label)
{
    struct hilock_client_options asked = hilock_client_options_default();
    struct hilock_error error;
    asked.url = options->url;
    asked.label = label;
    asked.lease_ms = options->lease_ms;
    asked.tls_ca_file = options->tls_ca;
    asked.tls_cert_file = options->tls_cert;
    asked.tls_key_file = options->tls_key;
    asked.log_level = options->is_verbose ? HILOCK_LOG_DEBUG : HILOCK_LOG_WARN;
    asked.on_log = options->is_quiet ? hilock_log_nothing : on_log;
    session->client = NULL;
    session->base = event_base_new();
    if (!session->base) {
        say("no event base can be made: out of memory, or of descriptors (ulimit -n)");
        return EX_OSERR;
    }
    event_base_priority_init(session->base, 2); /* so that a loss is reported before everything else that is due */
    hilock_status status = hilock_client_open_libevent(&session->client, session->base, &asked, &error);
    if (status != HILOCK_OK)
        say("%s", error.text);
    return status == HILOCK_OK ? 0 : code_of(status);
}

/* Prints only the refusals that the library does not log: every other one is a line of the log. */
int session_refused(const struct session *session, hilock_status status)
{
    if (status == HILOCK_BAD_NAME)
        say("refused: %s", hilock_client_refusal(session->client));
    return code_of(status);
}

void session_turn(struct session *session) { event_base_dispatch(session->base); }

void session_pause(struct session *session, uint32_t ms)
{
    const struct timeval pause = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000) * 1000};
    event_base_loopexit(session->base, &pause);
    event_base_dispatch(session->base);
}

void session_leave(struct session *session) { event_base_loopbreak(session->base); }

void session_abandon(struct session *session)
{
    hilock_client_abandon(session->client);
    session->client = NULL;
}

static void on_closed(void *user)
{
    struct session *session = user;
    session->client = NULL;
    session_leave(session);
}

enum { DRAIN_MS = 3500 }; /* longer than the longest window of a grant */

/* The drain is for the waiter that got the lock by our release: only this client looks whether it is alive. */
void session_close(struct session *session)
{
    if (session->client && hilock_client_close(session->client, DRAIN_MS, on_closed, session) == HILOCK_OK)
        while (session->client && event_base_dispatch(session->base) == 0)
            ;
    if (session->base)
        event_base_free(session->base);
    session->base = NULL;
}
