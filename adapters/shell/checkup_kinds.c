/* SPDX-License-Identifier: BSD-3-Clause */
/* checkup_kinds - lets the library take, renew and release a lock of each kind, under a name that no program uses. This
 * works over TLS, too, and in deployments in which no other checkup can ask anything. */
#include "codes.h"
#include "findings.h"
#include "options.h"
#include "session.h"

#include <stdio.h>

static const char *const kinds[] = {[HILOCK_MUTEX] = "MUTEX", [HILOCK_FAIR] = "FAIR", [HILOCK_SIMPLE] = "SIMPLE"};
enum { KINDS = 3, PATIENCE_MS = 1000 };

struct trial {
    struct findings *findings;
    struct session session;
    hilock_lock *lock;
    hilock_kind kind;
    const char *prefix;
};

static void next(struct trial *trial);

static void settle(struct trial *trial, const struct hilock_result *result, const char *deed)
{
    const char *advice = result->status == HILOCK_DENIED
                             ? "are user and password right? Its rights: operate.md, Rights of the server's user"
                         : result->status == HILOCK_UNREACHABLE ? "is it the right URL, and does the server run?"
                                                                : "see the sentence";
    char topic[32];
    snprintf(topic, sizeof topic, "kind %s", kinds[trial->kind]);
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

static int is_blocked(const struct trial *trial)
{
    return (trial->findings->blocked & (trial->kind == HILOCK_SIMPLE ? BLOCKS_SIMPLE : BLOCKS_QUEUED)) != 0;
}

static void next(struct trial *trial)
{
    char name[HILOCK_NAME_MAX];
    while ((int)trial->kind < KINDS && is_blocked(trial))
        trial->kind++;
    if ((int)trial->kind >= KINDS) {
        session_leave(&trial->session);
        return;
    }
    snprintf(name, sizeof name, "%.900shilock-doctor:%s", trial->prefix, hilock_client_uuid(trial->session.client));
    hilock_status status = hilock_lock_create(
        &trial->lock, trial->session.client, name,
        HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .kind = trial->kind, .lease_ms = 10000));
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
    struct trial trial = {.findings = findings, .kind = HILOCK_MUTEX, .prefix = options->prefix ? options->prefix : ""};
    if (findings->blocked == BLOCKS_ALL)
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
