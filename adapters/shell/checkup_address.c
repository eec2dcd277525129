/* SPDX-License-Identifier: BSD-3-Clause */
/* checkup_address - checks that the library can lock at this url at all: it takes a MUTEX once. If that fails, the
 * reason is printed as the first finding, in the library's own words, and no other checkup runs. There are two
 * exceptions. If a right is missing, the connection works, and the other checkups report more. If some servers of a
 * cluster or some sentinels answer, what they report about themselves may be more useful. */
#include "codes.h"
#include "findings.h"
#include "options.h"
#include "session.h"

#include <stdio.h>
#include <string.h>

enum { PATIENCE_MS = 1000 };

struct attempt {
    struct findings *findings;
    struct session session;
    hilock_lock *lock;
    int is_one;     /* the url names one server */
    int is_usable;
};

static void blame(struct attempt *attempt, const struct hilock_result *result)
{
    const char *advice = result->status == HILOCK_UNREACHABLE ? "is it the right URL, and does the server run?"
                         : result->status == HILOCK_DENIED    ? "are user and password right?"
                                                              : NULL; /* the finding has the advice already */
    finding(attempt->findings, WRONG, "server", advice, "%s: %s", hilock_status_name(result->status), result->detail);
}

static void on_result(const struct hilock_result *result, void *user)
{
    struct attempt *attempt = user;
    int is_login = result->status == HILOCK_DENIED && !hilock_client_is_connected(attempt->session.client);
    attempt->is_usable = !is_login && result->status != HILOCK_UNREACHABLE && result->status != HILOCK_PROTOCOL &&
                         result->status != HILOCK_SERVER;
    if (!attempt->is_usable && result->status == HILOCK_UNREACHABLE && !attempt->is_one) {
        snprintf(attempt->findings->away, sizeof attempt->findings->away, "%s", result->detail);
        attempt->findings->blocked = BLOCKS_ALL;
        attempt->is_usable = 1;
    } else if (!attempt->is_usable)
        blame(attempt, result);
    session_leave(&attempt->session);
}

static hilock_status ask(struct attempt *attempt, const char *prefix)
{
    char name[HILOCK_NAME_MAX];
    snprintf(name, sizeof name, "%.900shilock-doctor:%s", prefix, hilock_client_uuid(attempt->session.client));
    hilock_status status =
        hilock_lock_create(&attempt->lock, attempt->session.client, name,
                           HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = 10000));
    return status == HILOCK_OK ? hilock_acquire(attempt->lock, PATIENCE_MS, on_result, attempt) : status;
}

int checkup_address(struct findings *findings, const struct options *options, int *ret_code)
{
    const char *url = options->url ? options->url : "";
    struct attempt attempt = {.findings = findings,
                              .is_one = strncmp(url + strcspn(url, "+:"), "+", 1) != 0}; /* not redis+... */
    *ret_code = session_open(&attempt.session, options, NULL);
    if (*ret_code == 0 && ask(&attempt, options->prefix ? options->prefix : "") == HILOCK_OK)
        session_turn(&attempt.session);
    else if (*ret_code == 0)
        finding(findings, WRONG, "prefix", "give a --prefix that a name may begin with", "%s",
                hilock_client_refusal(attempt.session.client));
    hilock_lock_free(attempt.lock);
    session_close(&attempt.session);
    return attempt.is_usable;
}
