/* SPDX-License-Identifier: BSD-3-Clause */
/* deployment - makes a client's route from its url and options: which servers, with which logins and limits.
 *
 * Users, passwords, prefix, the names of connections and servers are kept in one block, so that one wipe is enough. The
 * host knows which of them must not appear in a text. */
#ifndef HL_CLIENT_DEPLOYMENT_H
#define HL_CLIENT_DEPLOYMENT_H

#include "base/url.h"
#include "client/client.h"

struct hl_urls { /* one, or a quorum's */
    struct hl_url of[HL_MASTERS_MAX];
    unsigned count;
    int are_tls; /* one of them at least */
};

/* Into no urls; the caller gives each back in any case. INVALID also for options of one deployment with the url of
 * another. */
hilock_status hl_deployment_read(struct hl_urls *ret_urls, const struct hl_memory *memory,
                                 const struct hilock_client_options *options, struct hl_text *why);

/* Call it when the client's links are secured. The client keeps the strings, also if it fails: its logins are used by
 * reference. events is called with the client. NULL: no memory. */
struct hl_route *hl_deployment_new(struct hilock_client *client, const struct hl_urls *urls,
                                   const struct hl_route_events *events);

#endif
