/* SPDX-License-Identifier: BSD-3-Clause */
/* deeds - see deeds.h. Leases are 3 s, so that a renewal comes after one. */
#include "deeds.h"

#include "redis.h"

#include <stdio.h>

#include "check.h"

enum { LEASE_MS = 3000, LINGER_MS = 1500 };

static struct hilock_lock_options options_of(hilock_kind kind)
{
    struct hilock_lock_options options = hilock_lock_options_default();
    options.kind = kind;
    options.lease_ms = LEASE_MS;
    options.reentrant = 1;
    return options;
}

static void begin(struct deeds *deeds, struct handle *first, hilock_kind kind, struct handle *second)
{
    struct hilock_lock_options one = options_of(kind), other = options_of(deeds->kind);
    handle_open(first, &deeds->ours, deeds->name, &one);
    handle_open(second, &deeds->theirs, deeds->name, &other);
    CHECK(handle_acquire(first, HILOCK_FOREVER) == HILOCK_OK);
}

static void end(struct handle *first, struct handle *second)
{
    handle_free(first);
    handle_free(second);
}

static void wait_for(struct handle *handle)
{
    unsigned before = handle->waiting.count;
    handle_ask(handle, HILOCK_FOREVER);
    handle_until(handle, &handle->waiting, before + 1, "WAITING");
}

static void on_asked(const struct hilock_result *result, void *user)
{
    struct told *told = user;
    told->count++;
    told->status = result->status;
    snprintf(told->detail, sizeof told->detail, "%s", result->detail);
}

static void await_answer(struct handle *handle, struct told *told, hilock_status accepted, const char *what)
{
    CHECK(accepted == HILOCK_OK);
    handle_until(handle, told, 1, what);
    if (told->status != HILOCK_OK)
        check_fail("%s: %s, %s", what, hilock_status_name(told->status), told->detail);
}

static void look(struct handle *handle)
{
    struct told told = {0};
    await_answer(handle, &told, hilock_peek(handle->lock, on_asked, &told), "the answer to peek");
}

static void wake(struct handle *first, struct handle *second)
{
    unsigned before = second->acquired.count;
    wait_for(second);
    client_for_ms(second->client, 100); /* until its channel is on */
    look(second);
    CHECK(handle_give(first) == HILOCK_OK);
    handle_until(second, &second->acquired, before + 1, "the grant");
    CHECK(second->acquired.status == HILOCK_OK);
}

static void refuse_and_cancel(struct deeds *deeds)
{
    struct handle first, second;
    begin(deeds, &first, deeds->kind, &second);
    CHECK(handle_acquire(&second, HILOCK_TRY) == HILOCK_TIMED_OUT);
    wait_for(&second);
    CHECK(hilock_cancel(second.lock) == HILOCK_OK);
    handle_until(&second, &second.acquired, 2, "the end of the wait");
    CHECK(second.acquired.status == HILOCK_CANCELLED);
    CHECK(handle_give(&first) == HILOCK_OK);
    end(&first, &second);
}

static int is_renewed(void *arg) { return client_stats(arg).renewals > 0; }

static void renew_and_extend(struct deeds *deeds)
{
    struct handle first, second;
    begin(deeds, &first, deeds->kind, &second);
    wake(&first, &second);
    client_until(&deeds->theirs, is_renewed, &deeds->theirs, "a renewal");
    CHECK(handle_acquire(&second, HILOCK_TRY) == HILOCK_OK && second.acquired.hold_count == 2);
    CHECK(handle_extend(&second, 60000) == HILOCK_OK);
    CHECK(handle_give(&second) == HILOCK_OK);
    CHECK(handle_give(&second) == HILOCK_OK);
    end(&first, &second);
}

static void end_by_force(struct deeds *deeds)
{
    struct handle first, second;
    struct told told = {0};
    begin(deeds, &first, deeds->kind, &second);
    await_answer(&second, &told, hilock_force_release(second.lock, NULL, on_asked, &told), "the answer to force_release");
    handle_until(&first, &first.lost, 1, "the loss");
    CHECK(first.lost.reason == HILOCK_REASON_TAKEN);
    end(&first, &second);
}

/* Of several servers one has the name, and the others refuse. */
static void at_others(struct deeds *deeds, const char *format)
{
    for (unsigned i = 0; i < 8 && deeds->others[i]; i++)
        freeReplyObject(redis_reply(deeds->others[i], format, deeds->name));
}

/* While a program holds whose release hands nothing over, the first of the queue listens for its message. */
static void stand_behind_another_program(struct deeds *deeds)
{
    struct handle handle;
    struct hilock_lock_options options = options_of(deeds->kind);
    at_others(deeds, "HSET %s another 1");
    at_others(deeds, "PEXPIRE %s 60000");
    handle_open(&handle, &deeds->theirs, deeds->name, &options);
    wait_for(&handle);
    client_for_ms(&deeds->theirs, 100); /* the channel is there by then, or the message is not needed */
    at_others(deeds, "HDEL %s another");
    at_others(deeds, "PUBLISH redisson_lock__channel:{%s} 0");
    if (deeds->others[1]) /* of a cluster */
        at_others(deeds, "SPUBLISH redisson_lock__channel:{%s} 0");
    handle_until(&handle, &handle.acquired, 1, "the grant behind another program");
    CHECK(handle.acquired.status == HILOCK_OK && handle_give(&handle) == HILOCK_OK);
    handle_free(&handle);
}

/* The second name has the first one's slot. */
static void take_several(struct deeds *deeds)
{
    struct handle all;
    struct hilock_lock_options options = options_of(deeds->kind);
    char second[64];
    const char *names[] = {deeds->name, second, NULL};
    snprintf(second, sizeof second, "%.*s:2", 60, deeds->name);
    options.reentrant = 0;
    handle_open_all(&all, &deeds->ours, names, &options);
    CHECK(handle_acquire(&all, HILOCK_FOREVER) == HILOCK_OK);
    CHECK(handle_give(&all) == HILOCK_OK);
    handle_free(&all);
}

void deeds_do(struct deeds *deeds)
{
    refuse_and_cancel(deeds);
    renew_and_extend(deeds);
    end_by_force(deeds);
    if (deeds->others[0] && deeds->kind != HILOCK_SIMPLE)
        stand_behind_another_program(deeds);
    if (deeds->kind != HILOCK_FAIR && !deeds->has_no_multi)
        take_several(deeds);
    client_for_ms(&deeds->theirs, LINGER_MS);
}

void deeds_do_few(struct deeds *deeds)
{
    struct handle first, second;
    begin(deeds, &first, deeds->kind, &second);
    wake(&first, &second);
    CHECK(handle_give(&second) == HILOCK_OK);
    end(&first, &second);
}

void deeds_close(struct deeds *deeds)
{
    client_close(&deeds->ours);
    client_close(&deeds->theirs);
}
