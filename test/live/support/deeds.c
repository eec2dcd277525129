/* SPDX-License-Identifier: BSD-3-Clause */
/* deeds - see deeds.h. Leases are 3 s, so that a renewal comes after one. */
#include "deeds.h"

#include "redis.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

enum { LEASE_MS = 3000, LINGER_MS = 1500 };

struct play { struct handle first, second; /* ours, theirs */ };

static void begin(struct play *play, struct deeds *deeds)
{
    const struct hilock_lock_options *options =
        HILOCK_LOCK_OPTIONS(.kind = deeds->kind, .lease_ms = LEASE_MS, .reentrant = 1);
    handle_open(&play->first, &deeds->ours, deeds->name, options);
    handle_open(&play->second, &deeds->theirs, deeds->name, options);
    CHECK(handle_acquire(&play->first, HILOCK_FOREVER) == HILOCK_OK);
}

static void wait_for(struct handle *handle)
{
    unsigned before = handle->waiting.count;
    handle_ask(handle, HILOCK_FOREVER);
    handle_until(handle, &handle->waiting, before + 1, "WAITING");
    client_for_ms(handle->client, 100); /* until its channel is on */
}

static void on_asked(const struct hilock_result *result, void *user)
{
    struct told *told = user;
    told->count++;
    told->status = result->status;
}

static void await_answer(struct handle *handle, struct told *told, hilock_status accepted, const char *what)
{
    CHECK(accepted == HILOCK_OK);
    handle_until(handle, told, 1, what);
    CHECK(told->status == HILOCK_OK);
}

static void refuse_and_cancel(struct handle *second)
{
    CHECK(handle_acquire(second, HILOCK_TRY) == HILOCK_TIMED_OUT);
    wait_for(second);
    CHECK(hilock_cancel(second->lock) == HILOCK_OK);
    handle_until(second, &second->acquired, 2, "the end of the wait");
    CHECK(second->acquired.status == HILOCK_CANCELLED);
}

static void wake(struct play *play)
{
    unsigned before = play->second.acquired.count;
    struct told seen = {0};
    wait_for(&play->second);
    await_answer(&play->second, &seen, hilock_peek(play->second.lock, on_asked, &seen), "the answer to peek");
    CHECK(handle_give(&play->first) == HILOCK_OK);
    handle_until(&play->second, &play->second.acquired, before + 1, "the grant");
    CHECK(play->second.acquired.status == HILOCK_OK);
}

/* The first in the queue has broken its promise long ago: the next one is found behind it. The hold was pushed, so it
 * lasts for its window only, which a busy machine can exceed: the name is taken anew, for a whole lease. */
static void pass_over_the_overdue(struct deeds *deeds, struct play *play)
{
    unsigned before = play->first.acquired.count;
    CHECK(handle_give(&play->second) == HILOCK_OK && handle_acquire(&play->second, HILOCK_FOREVER) == HILOCK_OK);
    wait_for(&play->first);
    for (unsigned i = 0; i < 8 && deeds->others[i]; i++)
        freeReplyObject(redis_reply(deeds->others[i], "ZADD hilock:queue:{%s} 1 %s", deeds->name, "gone:1 1 - 1000000000 400 0 1"));
    CHECK(handle_give(&play->second) == HILOCK_OK);
    handle_until(&play->first, &play->first.acquired, before + 1, "the grant behind an overdue waiter");
    CHECK(play->first.acquired.status == HILOCK_OK && handle_give(&play->first) == HILOCK_OK);
    CHECK(handle_acquire(&play->second, HILOCK_FOREVER) == HILOCK_OK);
}

static void renew_and_extend(struct handle *handle)
{
    client_until(handle->client, client_has_renewed, handle->client, "a renewal");
    CHECK(handle_acquire(handle, HILOCK_TRY) == HILOCK_OK && handle->acquired.hold_count == 2);
    CHECK(handle_extend(handle, 60000) == HILOCK_OK);
    CHECK(handle_give(handle) == HILOCK_OK && handle_give(handle) == HILOCK_OK);
}

static void end_by_force(struct play *play)
{
    struct told told = {0};
    CHECK(handle_acquire(&play->first, HILOCK_FOREVER) == HILOCK_OK);
    await_answer(&play->second, &told, hilock_force_release(play->second.lock, NULL, on_asked, &told),
                 "the answer to force_release");
    handle_until(&play->first, &play->first.lost, 1, "the loss");
    CHECK(play->first.lost.reason == HILOCK_REASON_TAKEN);
}

/* Of several servers one has the name, and the others refuse. */
static void at_others(struct deeds *deeds, const char *format)
{
    for (unsigned i = 0; i < 8 && deeds->others[i]; i++)
        freeReplyObject(redis_reply(deeds->others[i], format, deeds->name));
}

/* The channel of the name was left at each server. */
static int nobody_listens(void *arg)
{
    struct deeds *deeds = arg;
    for (unsigned i = 0; i < 8 && deeds->others[i]; i++)
        if (redis_channels(deeds->others[i]) + redis_sharded_channels(deeds->others[i]) > 0)
            return 0;
    return 1;
}

/* While a program holds whose release hands nothing over, the first of the queue listens for its message; it leaves
 * that channel a second or two after it saw no such program any more. */
static void stand_behind_another_program(struct deeds *deeds, struct handle *handle)
{
    unsigned before = handle->acquired.count;
    int has_tag = strchr(deeds->name, '{') != NULL;
    at_others(deeds, "HSET %s another:1 1");
    at_others(deeds, "PEXPIRE %s 60000");
    wait_for(handle);
    at_others(deeds, "HDEL %s another:1");
    at_others(deeds, has_tag ? "PUBLISH redisson_lock__channel:%s 0" : "PUBLISH redisson_lock__channel:{%s} 0");
    if (deeds->others[1]) /* of a cluster */
        at_others(deeds, has_tag ? "SPUBLISH redisson_lock__channel:%s 0" : "SPUBLISH redisson_lock__channel:{%s} 0");
    handle_until(handle, &handle->acquired, before + 1, "the grant behind another program");
    CHECK(handle->acquired.status == HILOCK_OK && handle_give(handle) == HILOCK_OK);
    client_until(handle->client, nobody_listens, deeds, "the end of a subscription");
}

/* The second name has the first one's slot. */
static void take_several(struct deeds *deeds)
{
    struct handle all;
    char second[64];
    const char *names[] = {deeds->name, second, NULL};
    snprintf(second, sizeof second, "%.*s:2", 60, deeds->name);
    handle_open_all(&all, &deeds->ours, names, HILOCK_LOCK_OPTIONS(.kind = deeds->kind, .lease_ms = LEASE_MS));
    CHECK(handle_acquire(&all, HILOCK_FOREVER) == HILOCK_OK);
    CHECK(handle_give(&all) == HILOCK_OK);
    handle_free(&all);
}

static void end(struct play *play)
{
    handle_free(&play->first);
    handle_free(&play->second);
}

void deeds_do(struct deeds *deeds)
{
    struct play play;
    begin(&play, deeds);
    refuse_and_cancel(&play.second);
    wake(&play);
    if (deeds->others[0] && deeds->kind != HILOCK_SIMPLE && !strchr(deeds->name, '{'))
        pass_over_the_overdue(deeds, &play);
    renew_and_extend(&play.second);
    end_by_force(&play);
    if (deeds->others[0] && deeds->kind != HILOCK_SIMPLE)
        stand_behind_another_program(deeds, &play.second);
    if (deeds->kind != HILOCK_FAIR && !deeds->has_no_multi)
        take_several(deeds);
    client_for_ms(&deeds->theirs, LINGER_MS);
    end(&play);
}

void deeds_do_few(struct deeds *deeds)
{
    struct play play;
    begin(&play, deeds);
    wake(&play);
    end(&play);
}

void deeds_close(struct deeds *deeds)
{
    client_end(&deeds->ours);
    client_end(&deeds->theirs);
}
