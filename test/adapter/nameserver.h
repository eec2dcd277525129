/* SPDX-License-Identifier: BSD-3-Clause */
/* nameserver.h - a nameserver for tests, on a free UDP port of loopback and the base of the test. What a name's first label says, it does:
 *   both     A 10.0.0.1, AAAA fd00::1     v4  A 10.0.0.1, AAAA never answered     v6  AAAA fd00::1, A empty
 *   empty    neither has an address       none  no such name     refuse  refused     silent  never answered     many  25 A records
 *   long     cut off: it would need TCP */
#ifndef TEST_ADAPTER_NAMESERVER_H
#define TEST_ADAPTER_NAMESERVER_H

struct event;
struct event_base;

struct nameserver {
    int fd, port;
    int asked, answered; /* questions */
    struct event *event;
};

int nameserver_open(struct nameserver *nameserver, struct event_base *base); /* 0, or -1 */
void nameserver_close(struct nameserver *nameserver);

#endif
