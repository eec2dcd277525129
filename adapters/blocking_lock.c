/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking_lock - the calls on one hold: acquire, extend, release, and the getters for any thread.
 *
 * The handle of a hold (hilock_lock) belongs to the private thread, from the message of the acquire to the answer of
 * the release or the end of the client. Other threads read three things: the validity, which is made for any thread;
 * the token, which never changes; and the descriptor that reports a loss, under the client's mutex. Invariant: a
 * handle is freed, which silences it, only when no answer is outstanding. Therefore a release is answered after the
 * extends that other threads have under way. */
#include "blocking_call.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct hl_blocking_call call_on(hilock_blocking *client, hilock_blocking_lock *lock, uint32_t span_ms)
{
    return (struct hl_blocking_call){.client = client, .lock = lock, .span_ms = span_ms};
}

static void list(hilock_blocking_lock *lock)
{
    hilock_blocking *client = lock->client;
    lock->next = client->locks;
    lock->link = &client->locks;
    if (lock->next)
        lock->next->link = &lock->next;
    client->locks = lock;
}

void hl_blocking_handle_free(hilock_blocking_lock *lock)
{
    if (lock->link) {
        *lock->link = lock->next;
        if (lock->next)
            lock->next->link = lock->link;
        lock->link = NULL;
    }
    hilock_lock_free(lock->handle);
    lock->handle = NULL;
}

/* ---- what happens by itself, on the private thread */

static void mark_lost(hilock_blocking_lock *lock, const char *detail)
{
    hl_blocking_cut(lock->lost_detail, sizeof lock->lost_detail, detail);
    pthread_mutex_lock(&lock->client->mutex);
    if (!lock->is_lost && lock->lost_fd >= 0)
        eventfd_write(lock->lost_fd, 1);
    lock->is_lost = 1;
    pthread_mutex_unlock(&lock->client->mutex);
}

static void on_lost(const struct hilock_event *event, void *user)
{
    hilock_blocking_lock *lock = user;
    mark_lost(lock, event->detail);
    hl_blocking_report(lock->on_lost, event, lock->user);
}

static void on_event(const struct hilock_event *event, void *user)
{
    const hilock_blocking_lock *lock = user;
    hl_blocking_report(lock->on_event, event, lock->user);
}

/* ---- acquire */

/* A hold whose loss is not reported yet has no validity any more: hilock_blocking_lock's remaining time is then 0. */
static void on_acquired(const struct hilock_result *result, void *user)
{
    struct hl_blocking_call *call = user;
    hilock_blocking_lock *lock = call->lock;
    hl_blocking_keep(call, result);
    if (result->status == HILOCK_OK && hilock_lock_validity(lock->handle, &lock->validity) == HILOCK_NO_MEMORY)
        hl_blocking_refuse(call, HILOCK_NO_MEMORY,
                           "no memory to show the hold to other threads: it was given back");
    lock->token = result->fencing_token;
    if (call->result.status == HILOCK_OK)
        list(lock);
    else
        hl_blocking_handle_free(lock);
    hl_blocking_answer(call);
}

static hilock_status begin_acquire(struct hl_blocking_call *call)
{
    struct hilock_lock_options options = *call->options;
    hilock_status status;
    options.on_lost = on_lost;
    options.on_event = options.on_event ? on_event : NULL;
    options.user = call->lock;
    status = hilock_lock_create(&call->lock->handle, call->client->hilock, call->name, &options);
    return status == HILOCK_OK ? hilock_acquire(call->lock->handle, call->span_ms, on_acquired, call) : status;
}

static void run_acquire(struct hl_blocking_message *message)
{
    struct hl_blocking_call *call = (struct hl_blocking_call *)message;
    hilock_status status = call->client->hilock ? begin_acquire(call) : HILOCK_CLOSED;
    if (status == HILOCK_OK)
        return;
    hl_blocking_refuse(call, status, hilock_client_refusal(call->client->hilock));
    hl_blocking_handle_free(call->lock);
    hl_blocking_answer(call);
}

static hilock_blocking_lock *lock_new(hilock_blocking *client, const struct hilock_lock_options *options)
{
    hilock_blocking_lock *lock = calloc(1, sizeof *lock);
    if (!lock)
        return NULL;
    lock->client = client;
    lock->on_lost = options->on_lost;
    lock->on_event = options->on_event;
    lock->user = options->user;
    lock->lost_fd = -1;
    atomic_fetch_add(&client->references, 1);
    return lock;
}

/* Frees the lock. No other thread may use it any more, and its handle must be freed. */
static void lock_free(hilock_blocking_lock *lock)
{
    if (lock->lost_fd >= 0)
        close(lock->lost_fd);
    hilock_validity_unref(lock->validity);
    hl_blocking_unref(lock->client);
    free(lock);
}

static hilock_status acquire(struct hl_blocking_call *call, const struct hilock_lock_options *given)
{
    struct hilock_lock_options options = hilock_lock_options_default();
    hilock_status status;
    if (given && hl_blocking_options_copy(&options, sizeof options, given) != 0)
        return hl_blocking_refuse(call, HILOCK_INVALID, HL_BLOCKING_NEWER);
    if (options.reentrant)
        return hl_blocking_refuse(call, HILOCK_INVALID,
                                  "bad reentrant 1: each blocking acquire is another holder; leave it 0");
    call->options = &options;
    call->lock = lock_new(call->client, &options);
    if (!call->lock)
        return hl_blocking_refuse(call, HILOCK_NO_MEMORY, "no memory for a lock: free some, and acquire again");
    status = hl_blocking_ask(call, run_acquire);
    if (status != HILOCK_OK)
        lock_free(call->lock);
    return status;
}

hilock_status hilock_blocking_acquire(hilock_blocking *client, const char *name,
                                      const struct hilock_lock_options *options, uint32_t wait_ms,
                                      hilock_blocking_lock **ret_lock, struct hilock_blocking_result *ret_result)
{
    struct hl_blocking_call call = call_on(client, NULL, wait_ms);
    if (ret_lock)
        *ret_lock = NULL;
    if (!hl_blocking_is_sized(ret_result))
        return HILOCK_INVALID;
    call.name = name;
    if (!client || !ret_lock)
        hl_blocking_refuse(&call, HILOCK_INVALID,
                           client ? "ret_lock is NULL: pass a lock pointer's address" : "client is NULL: open one");
    else if (acquire(&call, options) == HILOCK_OK)
        *ret_lock = call.lock;
    return hl_blocking_give(ret_result, &call);
}

/* ---- release */

static void settle(hilock_blocking_lock *lock)
{
    struct hl_blocking_call *release = lock->release;
    if (!release || lock->extends > 0)
        return;
    hl_blocking_handle_free(lock);
    hl_blocking_answer(release);
}

static void on_released(const struct hilock_result *result, void *user)
{
    struct hl_blocking_call *call = user;
    hl_blocking_keep(call, result);
    call->lock->release = call;
    settle(call->lock);
}

/* If hilock refuses the release, the hold had ended before, and hilock has reported that loss. */
static void run_release(struct hl_blocking_message *message)
{
    struct hl_blocking_call *call = (struct hl_blocking_call *)message;
    hilock_blocking_lock *lock = call->lock;
    if (lock->handle && hilock_release(lock->handle, on_released, call) == HILOCK_OK)
        return;
    hl_blocking_refuse(call, HILOCK_LOST, lock->lost_detail);
    lock->release = call;
    settle(lock);
}

/* A closed client has lost all its holds. */
static hilock_status ask_of(hilock_blocking_lock *lock, struct hl_blocking_call *call,
                            void (*run)(struct hl_blocking_message *message))
{
    hilock_status status;
    if (!lock)
        return hl_blocking_refuse(call, HILOCK_INVALID, "lock is NULL");
    status = hl_blocking_ask(call, run);
    return status == HILOCK_CLOSED ? hl_blocking_refuse(call, HILOCK_LOST, lock->lost_detail) : status;
}

hilock_status hilock_blocking_release(hilock_blocking_lock *lock, struct hilock_blocking_result *ret_result)
{
    struct hl_blocking_call call = call_on(lock ? lock->client : NULL, lock, 0);
    hilock_status status;
    if (!hl_blocking_is_sized(ret_result))
        return HILOCK_INVALID;
    status = ask_of(lock, &call, run_release);
    if (lock && status != HILOCK_FORKED && status != HILOCK_WRONG_THREAD)
        lock_free(lock);
    return hl_blocking_give(ret_result, &call);
}

/* ---- extend, downgrade */

static void on_extended(const struct hilock_result *result, void *user)
{
    struct hl_blocking_call *call = user;
    hilock_blocking_lock *lock = call->lock;
    hl_blocking_keep(call, result);
    if (result->status == HILOCK_LOST)
        mark_lost(lock, result->detail);
    lock->extends--;
    hl_blocking_answer(call);
    settle(lock);
}

/* The call was given to hilock, with that status. */
static void on_begun(struct hl_blocking_call *call, hilock_status status)
{
    hilock_blocking_lock *lock = call->lock;
    if (status == HILOCK_OK) {
        lock->extends++;
        return;
    }
    if (status == HILOCK_NOT_HELD)
        hl_blocking_refuse(call, HILOCK_LOST, lock->lost_detail);
    else
        hl_blocking_refuse(call, status, hilock_client_refusal(lock->client->hilock));
    hl_blocking_answer(call);
}

static void run_extend(struct hl_blocking_message *message)
{
    struct hl_blocking_call *call = (struct hl_blocking_call *)message;
    hilock_lock *handle = call->lock->handle;
    on_begun(call, handle ? hilock_extend(handle, call->span_ms, on_extended, call) : HILOCK_NOT_HELD);
}

static void run_downgrade(struct hl_blocking_message *message)
{
    struct hl_blocking_call *call = (struct hl_blocking_call *)message;
    hilock_lock *handle = call->lock->handle;
    on_begun(call, handle ? hilock_downgrade(handle, on_extended, call) : HILOCK_NOT_HELD);
}

hilock_status hilock_blocking_extend(hilock_blocking_lock *lock, uint32_t lease_ms,
                                     struct hilock_blocking_result *ret_result)
{
    struct hl_blocking_call call = call_on(lock ? lock->client : NULL, lock, lease_ms);
    if (!hl_blocking_is_sized(ret_result))
        return HILOCK_INVALID;
    ask_of(lock, &call, run_extend);
    return hl_blocking_give(ret_result, &call);
}

hilock_status hilock_blocking_downgrade(hilock_blocking_lock *lock, struct hilock_blocking_result *ret_result)
{
    struct hl_blocking_call call = call_on(lock ? lock->client : NULL, lock, 0);
    if (!hl_blocking_is_sized(ret_result))
        return HILOCK_INVALID;
    ask_of(lock, &call, run_downgrade);
    return hl_blocking_give(ret_result, &call);
}

/* ---- on any thread */

uint32_t hilock_blocking_remaining_ms(const hilock_blocking_lock *lock)
{
    return lock ? hilock_validity_remaining_ms(lock->validity) : 0;
}

uint64_t hilock_blocking_token(const hilock_blocking_lock *lock) { return lock ? lock->token : 0; }

int hilock_blocking_lost_fd(hilock_blocking_lock *lock)
{
    int fd;
    if (!lock || lock->client->pid != getpid()) {
        errno = EINVAL;
        return -1;
    }
    pthread_mutex_lock(&lock->client->mutex);
    if (lock->lost_fd < 0)
        lock->lost_fd = eventfd((unsigned)lock->is_lost, EFD_CLOEXEC | EFD_NONBLOCK);
    fd = lock->lost_fd;
    pthread_mutex_unlock(&lock->client->mutex);
    return fd;
}
