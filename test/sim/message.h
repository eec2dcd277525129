/* SPDX-License-Identifier: BSD-3-Clause */
/* message - what a link has under way, either way: a copy, which dies when it was given, or with its link. */
#ifndef SIM_MESSAGE_H
#define SIM_MESSAGE_H

#include <sys/queue.h>

#include "base/reply.h"
#include "memory/reply.h"

enum sim_message_kind { MESSAGE_UP, MESSAGE_REPLY, MESSAGE_DOWN, MESSAGE_REQUEST };

struct sim_message {
    TAILQ_ENTRY(sim_message) entry;
    enum sim_message_kind kind;
    uint64_t at_us;
    struct hl_reply *reply; /* REPLY */
    int argc;               /* REQUEST */
    const char **argv;
    size_t *lengths;
};
TAILQ_HEAD(sim_messages, sim_message);

struct sim_message *sim_message_new(enum sim_message_kind kind);
struct sim_message *sim_message_reply(const struct sim_reply *reply);
struct sim_message *sim_message_request(int argc, const char *const *argv, const size_t *lengths);
void sim_message_free(struct sim_message *message);
void sim_messages_drop(struct sim_messages *messages);

#endif
