/* SPDX-License-Identifier: BSD-3-Clause */
/* handle - the handles of client.h. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "client.h"

static void tell(struct handle *handle, struct told *told, const struct told *news, const char *holder,
                 const char *detail)
{
    unsigned count = told->count + 1;
    client_hears(handle->client, holder);
    client_hears(handle->client, detail);
    *told = *news;
    told->count = count;
    told->at_us = check_now_us();
    snprintf(told->holder, sizeof told->holder, "%s", holder);
    snprintf(told->detail, sizeof told->detail, "%s", detail);
}

static void tell_result(struct handle *handle, struct told *told, const struct hilock_result *result)
{
    const struct told news = {.status = result->status, .token = result->fencing_token,
                              .remaining_ms = result->remaining_ms, .waited_ms = result->waited_ms,
                              .attempts = result->attempts, .hold_count = result->hold_count, .votes = result->votes};
    tell(handle, told, &news, result->holder, result->detail);
}

static void tell_event(struct handle *handle, struct told *told, const struct hilock_event *event)
{
    const struct told news = {.token = event->fencing_token, .reason = event->reason,
                              .remaining_ms = event->remaining_ms, .waited_ms = event->waited_ms};
    tell(handle, told, &news, event->holder, event->detail);
}

static void run(handle_hook *hook, struct handle *handle)
{
    if (hook)
        hook(handle);
}

static void on_result(const struct hilock_result *result, void *user)
{
    struct handle *handle = user;
    switch (result->operation) {
    case HILOCK_OP_ACQUIRE:
        tell_result(handle, &handle->acquired, result);
        run(handle->on_acquired, handle);
        break;
    case HILOCK_OP_RELEASE:
        tell_result(handle, &handle->released, result);
        run(handle->on_released, handle);
        break;
    case HILOCK_OP_EXTEND:
        tell_result(handle, &handle->extended, result);
        break;
    case HILOCK_OP_DOWNGRADE:
        tell_result(handle, &handle->shared, result);
        break;
    case HILOCK_OP_PEEK:
    case HILOCK_OP_HOLDERS:
    case HILOCK_OP_FORCE_RELEASE: break;
    }
}

static void on_lost(const struct hilock_event *event, void *user)
{
    struct handle *handle = user;
    tell_event(handle, &handle->lost, event);
    run(handle->on_lost, handle);
}

static void on_event(const struct hilock_event *event, void *user)
{
    struct handle *handle = user;
    if (event->kind == HILOCK_EVENT_WAITING)
        tell_event(handle, &handle->waiting, event);
    else if (event->kind == HILOCK_EVENT_RENEWAL_FAILED)
        tell_event(handle, &handle->renewal_failed, event);
}

static struct hilock_lock_options prepare(struct handle *handle, struct client *client, const struct hilock_lock_options *options)
{
    struct hilock_lock_options mine = options ? *options : hilock_lock_options_default();
    memset(handle, 0, sizeof *handle);
    handle->client = client;
    mine.lease_ms = options ? mine.lease_ms : 60000;
    mine.on_lost = on_lost;
    mine.on_event = on_event;
    mine.user = handle;
    return mine;
}

static hilock_status opened(struct handle *handle, hilock_status status)
{
    if (status != HILOCK_OK)
        return status;
    handle->next = handle->client->handles;
    handle->client->handles = handle;
    return status;
}

hilock_status handle_try_open(struct handle *handle, struct client *client, const char *name, const struct hilock_lock_options *options)
{
    struct hilock_lock_options mine = prepare(handle, client, options);
    return opened(handle, hilock_lock_create(&handle->lock, client->hilock, name, &mine));
}

void handle_open_all(struct handle *handle, struct client *client, const char *const *names, const struct hilock_lock_options *options)
{
    struct hilock_lock_options mine = prepare(handle, client, options);
    if (opened(handle, hilock_multi_create(&handle->lock, client->hilock, names, &mine)) != HILOCK_OK)
        check_fail("create refused: %s", hilock_client_refusal(client->hilock));
}

void handle_open(struct handle *handle, struct client *client, const char *name, const struct hilock_lock_options *options)
{
    if (handle_try_open(handle, client, name, options) != HILOCK_OK)
        check_fail("create refused: %s", hilock_client_refusal(client->hilock));
}

void handle_free(struct handle *handle)
{
    struct handle **place = &handle->client->handles;
    while (*place && *place != handle)
        place = &(*place)->next;
    if (*place)
        *place = handle->next;
    hilock_lock_free(handle->lock);
    handle->lock = NULL;
}

void client_end(struct client *client)
{
    while (client->handles)
        handle_free(client->handles);
    client_close(client);
}

static void accepted(const struct handle *handle, hilock_status status, const char *call)
{
    if (status != HILOCK_OK)
        check_fail("%s refused: %s, %s", call, hilock_status_name(status), hilock_client_refusal(handle->client->hilock));
}

hilock_status handle_try_ask(struct handle *handle, uint32_t wait_ms)
{
    handle->asked_us = check_now_us();
    return hilock_acquire(handle->lock, wait_ms, on_result, handle);
}

void handle_ask(struct handle *handle, uint32_t wait_ms) { accepted(handle, handle_try_ask(handle, wait_ms), "acquire"); }

void handle_release(struct handle *handle)
{
    accepted(handle, hilock_release(handle->lock, on_result, handle), "release");
}

struct wanted { const struct told *told; unsigned count; };

static int is_told(void *arg)
{
    const struct wanted *wanted = arg;
    return wanted->told->count >= wanted->count;
}

void handle_until(struct handle *handle, const struct told *told, unsigned count, const char *what)
{
    client_until(handle->client, is_told, &(struct wanted){told, count}, what);
}

hilock_status handle_acquire(struct handle *handle, uint32_t wait_ms)
{
    unsigned before = handle->acquired.count;
    handle_ask(handle, wait_ms);
    handle_until(handle, &handle->acquired, before + 1, "the answer to acquire");
    return handle->acquired.status;
}

hilock_status handle_give(struct handle *handle)
{
    unsigned before = handle->released.count;
    handle_release(handle);
    handle_until(handle, &handle->released, before + 1, "the answer to release");
    return handle->released.status;
}

hilock_status handle_extend(struct handle *handle, uint32_t lease_ms)
{
    unsigned before = handle->extended.count;
    accepted(handle, hilock_extend(handle->lock, lease_ms, on_result, handle), "extend");
    handle_until(handle, &handle->extended, before + 1, "the answer to extend");
    return handle->extended.status;
}

hilock_status handle_downgrade(struct handle *handle)
{
    unsigned before = handle->shared.count;
    accepted(handle, hilock_downgrade(handle->lock, on_result, handle), "downgrade");
    handle_until(handle, &handle->shared, before + 1, "the answer to downgrade");
    return handle->shared.status;
}
