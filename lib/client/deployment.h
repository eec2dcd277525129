/* SPDX-License-Identifier: BSD-3-Clause */
/* deployment - from a url and options to the route of a client: which servers, with which logins and limits. */
#ifndef HL_CLIENT_DEPLOYMENT_H
#define HL_CLIENT_DEPLOYMENT_H

#include "base/url.h"
#include "client/client.h"

/* Options that only one deployment knows, with the url of another: INVALID. */
hilock_status hl_deployment_check(const struct hl_url *url, const struct hilock_client_options *options, struct hl_text *why);

/* The client's strings are kept by then: its logins are used by reference. events is called with the client. NULL: no memory. */
struct hl_route *hl_deployment_new(struct hilock_client *client, const struct hl_doors *doors, const struct hl_url *url,
                                   const struct hilock_client_options *options, const struct hl_route_events *events);

#endif
