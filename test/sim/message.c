/* SPDX-License-Identifier: BSD-3-Clause */
/* message - see message.h. */
#include "message.h"

#include <stdlib.h>
#include <string.h>

#include "world/say.h"

static void *copy(const void *from, size_t size)
{
    char *to = malloc(size + 1);
    if (!to)
        abort();
    memcpy(to, from, size);
    to[size] = '\0';
    return to;
}

struct sim_message *sim_message_new(enum sim_message_kind kind)
{
    struct sim_message *message = calloc(1, sizeof *message);
    if (!message)
        abort();
    message->kind = kind;
    return message;
}

struct sim_message *sim_message_reply(const struct sim_reply *reply)
{
    struct sim_message *message = sim_message_new(MESSAGE_REPLY);
    message->reply = say_stored(reply);
    return message;
}

struct sim_message *sim_message_request(int argc, const char *const *argv, const size_t *lengths)
{
    struct sim_message *message = sim_message_new(MESSAGE_REQUEST);
    message->argc = argc;
    message->argv = malloc((size_t)argc * sizeof *message->argv);
    message->lengths = copy(lengths, (size_t)argc * sizeof *lengths);
    if (!message->argv)
        abort();
    for (int i = 0; i < argc; i++)
        message->argv[i] = copy(argv[i], lengths[i]);
    return message;
}

void sim_message_free(struct sim_message *message)
{
    say_free(message->reply);
    for (int i = 0; i < message->argc; i++)
        free((void *)message->argv[i]);
    free(message->argv);
    free(message->lengths);
    free(message);
}

void sim_messages_drop(struct sim_messages *messages)
{
    struct sim_message *message;
    while ((message = TAILQ_FIRST(messages)) != NULL) {
        TAILQ_REMOVE(messages, message, entry);
        sim_message_free(message);
    }
}
