/* SPDX-License-Identifier: BSD-3-Clause */
/* message - see message.h. */
#include "world/message.h"

#include <stdlib.h>
#include <string.h>

static void *copy(const void *from, size_t size)
{
    char *to = malloc(size + 1);
    if (!to)
        abort();
    memcpy(to, from, size);
    to[size] = '\0';
    return to;
}

struct message *message_news(const char *why)
{
    struct message *message = calloc(1, sizeof *message);
    if (!message)
        abort();
    message->why = why;
    return message;
}

struct message *message_reply(struct hl_reply *reply)
{
    struct message *message = message_news(NULL);
    message->reply = reply;
    return message;
}

struct message *message_request(int argc, const char *const *argv, const size_t *lengths)
{
    struct message *message = message_news(NULL);
    char **words = malloc((size_t)argc * sizeof *words);
    if (!words)
        abort();
    for (int i = 0; i < argc; i++)
        words[i] = copy(argv[i], lengths[i]);
    message->argc = argc;
    message->argv = (const char *const *)words;
    message->lengths = copy(lengths, (size_t)argc * sizeof *lengths);
    return message;
}

void message_free(struct message *message)
{
    say_free(message->reply);
    say_free(message->fate.refusal);
    say_free(message->fate.answer);
    for (int i = 0; i < message->argc; i++)
        free((void *)message->argv[i]);
    free((void *)message->argv);
    free(message->lengths);
    free(message);
}

void messages_append(struct messages *list, struct message *message, uint64_t at_us)
{
    const struct message *last = TAILQ_LAST(list, messages);
    message->at_us = last && last->at_us > at_us ? last->at_us : at_us;
    TAILQ_INSERT_TAIL(list, message, entry);
}

void messages_remove(struct messages *list, struct message *message)
{
    TAILQ_REMOVE(list, message, entry);
    message_free(message);
}

void messages_drop(struct messages *list)
{
    while (!TAILQ_EMPTY(list))
        messages_remove(list, TAILQ_FIRST(list));
}
