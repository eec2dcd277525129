/* SPDX-License-Identifier: BSD-3-Clause */
/* checkup_kinds - lets the library take, renew and release a lock of each kind, and one that may be shared, under a
 * name that no program uses. This works over TLS, too, and in deployments in which no other checkup can ask
 * anything. */
#include "codes.h"
#include "findings.h"
#include "options.h"
#include "session.h"

#include <stdio.h>

enum { PATIENCE_MS = 1000 };

static const struct kind {
    const char *topic;
    hilock_kind kind;
    uint32_t holders_max;
    unsigned blocked_by;
} kinds[] = {
    {"kind MUTEX", HILOCK_MUTEX, 0, BLOCKS_QUEUED},
    {"kind FAIR", HILOCK_FAIR, 0, BLOCKS_QUEUED},
    {"kind SIMPLE", HILOCK_SIMPLE, 0, BLOCKS_SIMPLE},
    {"shared name", HILOCK_MUTEX, HILOCK_ANY_NUMBER, BLOCKS_QUEUED | BLOCKS_SHARED},
}, *const kinds_end = kinds + sizeof kinds / sizeof *kinds;

struct trial {
    struct findings *findings;
    struct session session;
    hilock_lock *lock;
    const struct kind *kind;
    const char *prefix;
};

static void next(struct trial *trial);

static void settle(struct trial *trial, const struct hilock_result *result, const char *deed)
{
    const char *advice = result->status == HILOCK_DENIED
                             ? "are user and password right? Its rights: operate.md, Rights of the server's user"
                         : result->status == HILOCK_UNREACHABLE ? "is it the right URL, and does the server run?"
                                                                : "see the sentence";
    const char *topic = trial->kind->topic;
    if (result->status == HILOCK_OK)
        finding(trial->findings, FINE, topic, NULL, "taken, renewed and given back");
    else
        finding(trial->findings, WRONG, topic, advice, "%s: %s: %s", deed, hilock_status_name(result->status),
                result->detail);
    hilock_lock_free(trial->lock);
    trial->lock = NULL;
    trial->kind++;
    next(trial);
}

static void on_released(const struct hilock_result *result, void *user) { settle(user, result, "release"); }

static void on_extended(const struct hilock_result *result, void *user)
{
    struct trial *trial = user;
    if (result->status != HILOCK_OK || hilock_release(trial->lock, on_released, trial) != HILOCK_OK)
        settle(trial, result, "renewal");
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct trial *trial = user;
    if (result->status != HILOCK_OK || hilock_extend(trial->lock, 0, on_extended, trial) != HILOCK_OK)
        settle(trial, result, "acquire");
}

static void next(struct trial *trial)
{
    char name[HILOCK_NAME_MAX];
    while (trial->kind < kinds_end && trial->findings->blocked & trial->kind->blocked_by)
        trial->kind++;
    if (trial->kind == kinds_end) {
        session_leave(&trial->session);
        return;
    }
    snprintf(name, sizeof name, "%.900shilock-doctor:%s", trial->prefix, hilock_client_uuid(trial->session.client));
    hilock_status status = hilock_lock_create(
        &trial->lock, trial->session.client, name,
        HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .kind = trial->kind->kind, .lease_ms = 10000,
                            .holders_max = trial->kind->holders_max));
    if (status == HILOCK_OK)
        status = hilock_acquire(trial->lock, PATIENCE_MS, on_acquired, trial);
    if (status == HILOCK_OK)
        return;
    finding(trial->findings, WRONG, "kinds", "give a --prefix that a name may begin with", "%s",
            hilock_client_refusal(trial->session.client));
    session_leave(&trial->session);
}

int checkup_kinds(struct findings *findings, const struct options *options)
{
    struct trial trial = {.findings = findings, .kind = kinds, .prefix = options->prefix ? options->prefix : ""};
    if ((findings->blocked & BLOCKS_ALL) == BLOCKS_ALL)
        return 0;
    int code = session_open(&trial.session, options, NULL);
    if (code == 0) {
        next(&trial);
        session_turn(&trial.session);
    }
    hilock_lock_free(trial.lock);
    session_close(&trial.session);
    return code;
}
