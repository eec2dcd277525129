/* SPDX-License-Identifier: BSD-3-Clause */
/* relay - an address in front of servers, as a load balancer or a virtual address is: what connects is led to the server of the moment, and
 * stays there when the address is switched. It runs on the test's own event_base, so it works while that turns. */
#ifndef LIVE_RELAY_H
#define LIVE_RELAY_H

#include <event2/event.h>

struct server;
struct relay;

/* At this host, of the loopback, and port; 0: a free one. */
struct relay *relay_open(struct event_base *base, const char *host, int port, const struct server *to);
int relay_port(const struct relay *relay);
void relay_switch(struct relay *relay, const struct server *to); /* connections that are open stay where they are */
unsigned relay_accepted(const struct relay *relay); /* connections so far */
unsigned relay_open_to(const struct relay *relay, const struct server *server); /* connections that stand */
void relay_close(struct relay *relay); /* with all of its connections */

#endif
