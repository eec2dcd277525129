/* SPDX-License-Identifier: BSD-3-Clause */
/* deployment - makes a client's route from its url and options: which servers it reaches, with which logins and limits.
 *
 * Users, passwords, name_prefix and tls_server_name are kept in one block, so that one wipe is enough. The host has the
 * list of those that must not appear in a text. */
#ifndef HL_CLIENT_DEPLOYMENT_H
#define HL_CLIENT_DEPLOYMENT_H

#include "base/url.h"
#include "client/client.h"

struct hl_urls { /* the client's one url, or those of its quorum */
    struct hl_url of[HL_MASTERS_MAX];
    unsigned count;
    int are_tls; /* at least one of the urls asks for TLS */
};

/* Reads the urls of the options into ret_urls, whose count must be 0. Whatever the status is, the caller must call
 * hl_url_done for each url. INVALID: also when an option belongs to another kind of deployment than the url. */
hilock_status hl_deployment_read(struct hl_urls *ret_urls, const struct hl_memory *memory,
                                 const struct hilock_client_options *options, struct hl_text *why);

/* Makes the route; the client's links must be ready for TLS before, if a url asks for it. The route refers to the
 * client's logins, whose strings the client owns, even after a failure. The functions of `events` get the client as
 * their argument. NULL: no memory. */
struct hl_route *hl_deployment_new(struct hilock_client *client, const struct hl_urls *urls,
                                   const struct hl_route_events *events);

#endif
