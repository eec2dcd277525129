/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinels - a master, two replicas and three sentinels, as processes of the test's own; and failovers of them. */
#ifndef LIVE_SENTINELS_H
#define LIVE_SENTINELS_H

#include <stdint.h>

#include "server.h"

enum { SENTINELS = 3, SENTINEL_SERVERS = 3 };

struct sentinels {
    struct server *servers[SENTINEL_SERVERS]; /* the first is the master at first */
    struct server *sentinels[SENTINELS];
    char config[512], url[256];
    char arguments_text[64];
};

/* more: arguments for the servers, ended by NULL; kept. With a certificate among them it is TLS everywhere, and the
 * sentinels get them, too. Returns once every sentinel knows all of them. */
void sentinels_start(struct sentinels *set, const char *const *more);
void sentinels_end(struct sentinels *set);

struct server *sentinels_master(struct sentinels *set); /* as the sentinels have it */
unsigned sentinels_switches(struct sentinels *set);     /* how many masters took over so far, for any reason */
void sentinels_settle(struct sentinels *set);           /* until the master has both replicas, and everybody knows it */

/* Returns when the first sentinel published +switch-master: that time (CLOCK_BOOTTIME). Settled before. What was killed or stopped comes
 * back by server_mend. */
uint64_t sentinels_failover(struct sentinels *set, enum server_fault fault);

#endif
