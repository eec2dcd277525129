/* SPDX-License-Identifier: BSD-3-Clause */
/* names - a client whose host names the test answers, as a DNS that an operator changes. */
#ifndef LIVE_NAMES_H
#define LIVE_NAMES_H

#include "client.h"

enum { NAMES_ADDRESSES_MAX = 4 };

struct names { /* what any name leads to, IPv4, ended by NULL; may be changed at any time */
    const char *addresses[NAMES_ADDRESSES_MAX + 1];
    unsigned asked;
};

/* On client->base, which client_prepare made. names outlives the client. */
void names_open(struct client *client, const struct hilock_client_options *options, struct names *names);

#endif
