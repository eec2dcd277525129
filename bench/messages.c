/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c - see messages.h. */
#include "messages.h"

#include <event2/event.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <stdio.h>

void messages_fail(struct event_base *base, const char *why)
{
    fprintf(stderr, "bare messages: %s\n", why);
    event_base_loopbreak(base);
}

void messages_on_answer(struct redisAsyncContext *store, void *answer, void *user)
{
    const redisReply *reply = answer;
    (void)store;
    if (reply && reply->type == REDIS_REPLY_ERROR)
        messages_fail(user, reply->str);
}
