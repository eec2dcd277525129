/* SPDX-License-Identifier: BSD-3-Clause */
/* deployment - makes a client's route from its url and options: which servers, with which logins and limits. */
#ifndef HL_CLIENT_DEPLOYMENT_H
#define HL_CLIENT_DEPLOYMENT_H

#include "base/url.h"
#include "client/client.h"

struct hl_urls { /* one, or a quorum's */
    struct hl_url of[HL_MASTERS_MAX];
    unsigned count;
};

/* Into no urls; the caller gives them back in any case. INVALID also for options of one deployment with the url of
 * another. */
hilock_status hl_deployment_read(struct hl_urls *ret_urls, const struct hl_memory *memory,
                                 const struct hilock_client_options *options, struct hl_text *why);
void hl_deployment_done(struct hl_urls *urls, const struct hl_memory *memory);
int hl_deployment_is_tls(const struct hl_urls *urls); /* one of them at least */

/* Call it when the client's strings are kept and its links secured: its logins are used by reference. events is called
 * with the client. NULL: no memory. */
struct hl_route *hl_deployment_new(struct hilock_client *client, const struct hl_urls *urls,
                                   const struct hilock_client_options *options, const struct hl_route_events *events);

#endif
