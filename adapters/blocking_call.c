/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking_call - see blocking_call.h. */
#include "blocking_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hl_blocking_cut(char *to, size_t room, const char *text) { snprintf(to, room, "%s", text); }

hilock_status hl_blocking_refuse(struct hl_blocking_call *call, hilock_status status, const char *text)
{
    call->result.status = status;
    hl_blocking_cut(call->result.detail, sizeof call->result.detail, text);
    return status;
}

void hl_blocking_keep(struct hl_blocking_call *call, const struct hilock_result *result)
{
    struct hilock_blocking_result *kept = &call->result;
    kept->status = result->status;
    kept->remaining_ms = result->remaining_ms;
    kept->fencing_token = result->fencing_token;
    kept->waited_ms = result->waited_ms;
    kept->attempts = result->attempts;
    kept->votes = result->votes;
    kept->holder_remaining_ms = result->holder_remaining_ms;
    kept->holders = result->holders;
    kept->waiters = result->waiters;
    kept->waiters_ready = result->waiters_ready;
    kept->position = result->position;
    hl_blocking_cut(kept->holder, sizeof kept->holder, result->holder);
    hl_blocking_cut(kept->detail, sizeof kept->detail, result->detail);
}

void hl_blocking_answer(struct hl_blocking_call *call) { sem_post(&call->answered); }

/* Checks the process first: in a forked child the mutex may be held for ever by a thread that does not exist there.
 * sem_wait() fails only when a signal interrupts it. */
hilock_status hl_blocking_ask(struct hl_blocking_call *call, void (*run)(struct hl_blocking_message *message))
{
    call->message.run = run;
    if (call->client->pid != getpid())
        return hl_blocking_refuse(call, HILOCK_FORKED,
                                  "forked child: this client is the parent's; open one of its own");
    if (hl_blocking_thread_is_this(&call->client->thread))
        return hl_blocking_refuse(call, HILOCK_WRONG_THREAD,
                                  "a callback of this client must not block: make the call in another thread");
    sem_init(&call->answered, 0, 0);
    if (hl_blocking_thread_post(&call->client->thread, &call->message) == 0)
        while (sem_wait(&call->answered) != 0)
            ;
    else
        hl_blocking_refuse(call, HILOCK_CLOSED, "the client is closed: open another one");
    sem_destroy(&call->answered);
    return call->result.status;
}

int hl_blocking_is_sized(const struct hilock_blocking_result *ret_result)
{
    return !ret_result || ret_result->size >= offsetof(struct hilock_blocking_result, remaining_ms);
}

hilock_status hl_blocking_give(struct hilock_blocking_result *ret_result, const struct hl_blocking_call *call)
{
    const size_t known = sizeof call->result;
    if (ret_result) {
        const size_t size = ret_result->size;
        memcpy(ret_result, &call->result, size < known ? size : known);
        if (size > known)
            memset((char *)ret_result + known, 0, size - known);
        ret_result->size = size;
    }
    return call->result.status;
}

int hl_blocking_options_copy(void *to, size_t known, const void *from)
{
    const size_t size = *(const size_t *)from, copied = size < known ? size : known;
    memset(to, 0, known);
    memcpy(to, from, copied);
    *(size_t *)to = copied;
    for (size_t i = known; i < size; i++)
        if (((const char *)from)[i])
            return -1;
    return 0;
}

void hl_blocking_report(hilock_event_fn *on_event, const struct hilock_event *event, void *user)
{
    struct hilock_event mine = *event;
    mine.client = NULL;
    mine.lock = NULL;
    if (on_event)
        on_event(&mine, user);
}

void hl_blocking_unref(hilock_blocking *client)
{
    if (atomic_fetch_sub(&client->references, 1) != 1)
        return;
    if (client->thread.wake_fd >= 0)
        close(client->thread.wake_fd);
    pthread_mutex_destroy(&client->mutex);
    free(client);
}
