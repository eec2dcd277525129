/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking - opens, closes and frees a client on a libevent loop that a private thread turns. The calls on locks are in
 * blocking_lock.c.
 *
 * The client is opened on the caller's thread, so a refusal is returned at once. With the first turn of the loop the
 * client passes to the private thread, and it is closed there. hilock answers every accepted call before on_closed.
 * on_closed frees the remaining handles, on the private thread, and runs the queued calls, which then find no client.
 * After that no call is accepted and nothing is left on the loop, so the thread ends.
 * Invariant: the struct lives until the program has freed it and has released all of its locks, so a lock may outlive
 * its client. */
#include "blocking_call.h"

#include <hilock/adapters/libevent.h>

#include <stdlib.h>
#include <unistd.h>

static void on_event(const struct hilock_event *event, void *user)
{
    const hilock_blocking *client = user;
    hl_blocking_report(client->on_event, event, client->user);
}

static void on_log(hilock_log_level level, const char *line, void *user)
{
    const hilock_blocking *client = user;
    client->on_log(level, line, client->user);
}

/* ---- close */

static void on_closed(void *user)
{
    hilock_blocking *client = user;
    struct hl_blocking_call *closer = client->closers;
    client->hilock = NULL;
    while (client->locks)
        hl_blocking_handle_free(client->locks);
    hl_blocking_thread_stop(&client->thread);
    while (closer) {
        struct hl_blocking_call *next = closer->next_closer;
        hl_blocking_answer(closer);
        closer = next;
    }
}

static void run_close(struct hl_blocking_message *message)
{
    struct hl_blocking_call *call = (struct hl_blocking_call *)message;
    hilock_blocking *client = call->client;
    if (client->hilock)
        call->result.status = hilock_client_close(client->hilock, call->span_ms, on_closed, client);
    if (!client->hilock || call->result.status != HILOCK_OK) {
        hl_blocking_answer(call);
        return;
    }
    call->next_closer = client->closers;
    client->closers = call;
}

hilock_status hilock_blocking_close(hilock_blocking *client, uint32_t drain_ms)
{
    struct hl_blocking_call call = {.client = client, .span_ms = drain_ms};
    const hilock_status status = client ? hl_blocking_ask(&call, run_close) : HILOCK_INVALID;
    return status == HILOCK_CLOSED ? HILOCK_OK : status;
}

void hilock_blocking_free(hilock_blocking *client)
{
    if (!client || hilock_blocking_close(client, 0) != HILOCK_OK)
        return;
    hl_blocking_thread_close(&client->thread);
    hl_blocking_unref(client);
}

/* ---- open */

static hilock_status refuse(struct hilock_error *ret_error, hilock_status status, const char *text)
{
    if (ret_error)
        hl_blocking_cut(ret_error->text, sizeof ret_error->text, text);
    return status;
}

static hilock_status open_hilock(hilock_blocking *client, const struct hilock_client_options *given,
                                 struct hilock_error *ret_error)
{
    struct hilock_client_options options = hilock_client_options_default();
    if (given && hl_blocking_options_copy(&options, sizeof options, given) != 0)
        return refuse(ret_error, HILOCK_INVALID, HL_BLOCKING_NEWER);
    client->on_event = options.on_event;
    client->on_log = options.on_log;
    client->user = options.user;
    options.on_event = options.on_event ? on_event : NULL;
    options.on_log = options.on_log ? on_log : NULL;
    options.user = client;
    return hilock_client_open_libevent(&client->hilock, client->thread.base, &options, ret_error);
}

static hilock_status start(hilock_blocking *client, const struct hilock_client_options *options,
                           struct hilock_error *ret_error)
{
    hilock_status status;
    if (hl_blocking_thread_open(&client->thread, &client->mutex) != 0)
        return refuse(ret_error, HILOCK_NO_MEMORY,
                      "no memory or no descriptor for a loop: free some, or raise the limit of open files");
    status = open_hilock(client, options, ret_error);
    if (status == HILOCK_OK && hl_blocking_thread_start(&client->thread) != 0) {
        hilock_client_abandon(client->hilock);
        status = refuse(ret_error, HILOCK_NO_MEMORY,
                        "cannot start a thread: free memory, or raise the limit of threads");
    }
    if (status != HILOCK_OK)
        hl_blocking_thread_close(&client->thread);
    return status;
}

hilock_status hilock_blocking_open(hilock_blocking **ret_client, const struct hilock_client_options *options,
                                   struct hilock_error *ret_error)
{
    hilock_blocking *client;
    hilock_status status;
    if (!ret_client)
        return refuse(ret_error, HILOCK_INVALID, "ret_client is NULL: pass the address of a client pointer");
    *ret_client = NULL;
    client = calloc(1, sizeof *client);
    if (!client)
        return refuse(ret_error, HILOCK_NO_MEMORY, "no memory for a client: free some, and open again");
    client->pid = getpid();
    atomic_init(&client->references, 1);
    pthread_mutex_init(&client->mutex, NULL);
    status = start(client, options, ret_error);
    if (status == HILOCK_OK)
        *ret_client = client;
    else
        hl_blocking_unref(client);
    return status;
}
