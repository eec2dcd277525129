/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing - scenes of those that share a name, for script_trial.h. joins: a try; most: with how many; ends, renews: a share. lets_in: a hold
 * that has the name alone becomes one. is_shared_by: exactly so many have it. stands: waits at the head of a client's channel, which hears. */
#ifndef TEST_MEMORY_SHARING_H
#define TEST_MEMORY_SHARING_H

#include <inttypes.h>

#include "script_trial.h"

static inline const struct sim_reply *joins(struct trial *trial, const char *id, const char *most)
{
    return SCRIPT(trial, hl_script_mutex_acquire, "4", N, Q, T, S, id, "10000", ANY_TIME, "300000000", most);
}

static inline const struct sim_reply *ends(struct trial *trial, const char *id) { return SCRIPT(trial, hl_script_share_release, "4", N, Q, T, S, id, NEVER); }

static inline const struct sim_reply *renews(struct trial *trial, const char *id, int64_t token)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, token);
    return SCRIPT(trial, hl_script_share_renew, "2", N, S, "10000", id, text);
}

static inline const struct sim_reply *lets_in(struct trial *trial, const char *id, int64_t token)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, token);
    return SCRIPT(trial, hl_script_share_downgrade, "4", N, Q, T, S, id, NEVER, "10000", text);
}

static inline int is_shared_by(struct trial *trial, int64_t count)
{
    return sim_reply_is(RUN(trial, "HGET", N, "mode"), "shared") && RUN(trial, "HLEN", N)->integer == count + 1 && RUN(trial, "ZCARD", S)->integer == count;
}

static inline struct waiter another_stands(struct trial *trial, char client, int number, const char *most)
{
    const char channel[] = {'g', ':', client, '\0'};
    char rest[32];
    struct waiter waiter = waiter_of(trial, client, number);
    snprintf(rest, sizeof rest, "400 0 %s", most);
    waiter_stands(&waiter, channel, 1700000100, rest);
    waiter.due_s = 1700000100;
    (void)listens(trial, channel);
    (void)ask(trial, &waiter);
    return waiter;
}

static inline struct waiter stands(struct trial *trial, char client, const char *most) { return another_stands(trial, client, 1, most); }

static inline const struct sim_reply *leaves_shares(struct trial *trial, const struct waiter *waiter)
{
    char place[200];
    snprintf(place, sizeof place, " %s", waiter->place);
    return SCRIPT(trial, hl_script_share_release, "4", N, Q, T, S, waiter->id, NEVER, place);
}

#endif
