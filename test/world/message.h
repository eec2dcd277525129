/* SPDX-License-Identifier: BSD-3-Clause */
/* message - what a connection has under way, either way: a copy, which dies when it was given, or with its connection. */
#ifndef TEST_WORLD_MESSAGE_H
#define TEST_WORLD_MESSAGE_H

#include "base/list.h"
#include "world/say.h"

struct net_fate { /* all zero: nothing special */
    uint64_t there_us, back_us;                 /* on top of the latency */
    int is_lost, answer_is_lost;                /* from here on nothing arrives, there or back */
    int resets_before, resets_after;            /* the connection dies before it is executed, or after: the answer is lost */
    int is_stray;                               /* arrives though the link was closed meanwhile */
    const void *held_by;                        /* the answer waits at the server until net_let_go */
    struct hl_reply *refusal;                   /* not executed, this is the answer; taken over */
    struct hl_reply *answer;                    /* executed, but this is the answer; taken over */
};

struct message {
    TAILQ_ENTRY(message) entry;
    uint64_t at_us;
    int argc; /* of a request; else 0 */
    const char *const *argv;
    size_t *lengths;
    struct hl_reply *reply; /* of an answer; else NULL */
    const char *why;        /* of the news that the connection is down; else NULL */
    struct net_fate fate;
};
TAILQ_HEAD(messages, message);

struct message *message_news(const char *why); /* the connection is up, or down for that reason */
struct message *message_reply(struct hl_reply *reply); /* takes it over */
struct message *message_request(int argc, const char *const *argv, const size_t *lengths);
void message_free(struct message *message); /* in no list */
/* Never before the one in front of it. */
void messages_append(struct messages *list, struct message *message, uint64_t at_us);
void messages_remove(struct messages *list, struct message *message);
void messages_drop(struct messages *list);

#endif
