/* SPDX-License-Identifier: BSD-3-Clause */
/* peer - a program with hilock, played line by line from standard input, as java/Peer.java is one with Redisson. `TAG VERB WORD..` is answered by
 * `TAG NANOSECONDS WORD..` of CLOCK_MONOTONIC, the one time of all processes of a host.
 *
 *   open CLIENT URL [LEASE_MS]                    a client on the program's loop; its uuid
 *   acquire CLIENT ACTOR KIND NAME WAIT_MS LEASE_MS   status, token, waited_ms, holder; `@ACTOR NS HOLDER` comes before it if it is found held
 *   release CLIENT ACTOR                          status
 *   peek CLIENT KIND NAME                         status, holder, remaining_ms, waiters, detail
 *   force CLIENT KIND NAME HOLDER                 status, detail; HOLDER "-": any holder
 *   contend CLIENT COUNT KIND HOLD_US THINK_US LEASE_MS NUMBER,.. NAME..   handles that want these names until `stop`; the first has the first
 *                                                 number (holders_max, or `any`), the next one the next
 *   stop, close CLIENT, now */
#ifndef INTEROP_PEER_H
#define INTEROP_PEER_H

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hilock/hilock.h>

struct peer_client {
    struct peer_client *next;
    char *label;
    hilock_client *hilock;
};

int64_t peer_now_ns(void);
void peer_answer(const char *tag, const char *format, ...) __attribute__((format(printf, 2, 3)));
void peer_fail(const char *what) __attribute__((noreturn)); /* the program's own fault: it ends */
void *peer_new(size_t bytes);
hilock_kind peer_kind(const char *word);

/* Contenders, which write down what they do, as java/Contenders.java does:
 *   ?  asks, and its number (Java: 0)   +  has it, and TOKEN   -  about to give it back, and still valid
 *   !  lost: until when it was valid at the latest    x  LOST was the release's answer    e  the wait failed, and how */
void contenders_open(const char *trace, struct event_base *base);
void contenders_begin(struct peer_client *client, char *const *words, int count); /* COUNT KIND HOLD_US THINK_US LEASE_MS NUMBERS NAME.. */
void contenders_stop(const char *tag); /* answered once each has what it waited for, and gave it back */

#endif
