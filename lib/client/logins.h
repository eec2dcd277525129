/* SPDX-License-Identifier: BSD-3-Clause */
/* logins - users, passwords, prefix, the names of connections and servers: in one block, so that one wipe is enough.
 * The host knows which of them must not appear in a text. */
#ifndef HL_CLIENT_LOGINS_H
#define HL_CLIENT_LOGINS_H

#include "client/client.h"
#include "client/deployment.h"

/* 0; -1: no memory. */
int hl_logins_keep(struct hilock_client *client, const struct hl_urls *urls,
                   const struct hilock_client_options *options);
void hl_logins_forget(struct hilock_client *client); /* legal if none are kept */

#endif
