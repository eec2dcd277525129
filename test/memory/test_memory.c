/* SPDX-License-Identifier: BSD-3-Clause */
/* test_memory - two clients on a store in memory, in a time that jumps: they wait, lose and are served as on a real server, and each way to break it
 * does what <hilock/memory.h> says. Every test ends with an empty loop, and no file left. */
#include <errno.h>
#include <hilock/loop.h>
#include <hilock/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/poll_loop.h"
#include "staged.h"

enum { PATIENCE = 100000, LEASE_MS = 30000, MS = 1000 };

struct holder {
    hilock_client *client;
    hilock_lock *lock;
    unsigned answers, losses;
    struct hilock_result result; /* the latest; its texts are gone */
    hilock_lost_reason reason;
    char other[128];
};

struct trial {
    struct poll_loop *loop;
    hilock_memory *memory;
    struct holder first, second;
    unsigned closed;
};

static void on_lost(const struct hilock_event *event, void *user)
{
    struct holder *holder = user;
    holder->losses++;
    holder->reason = event->reason;
}

static void on_result(const struct hilock_result *result, void *user)
{
    struct holder *holder = user;
    holder->answers++;
    holder->result = *result;
    snprintf(holder->other, sizeof holder->other, "%s", result->holder);
}

static void on_closed(void *user) { ++*(unsigned *)user; }

static void open_client(struct trial *trial, struct holder *holder)
{
    struct hilock_loop table = poll_loop_table(trial->loop);
    struct hilock_error error;
    if (hilock_client_open(&holder->client, &table, HILOCK_CLIENT_OPTIONS(.url = hilock_memory_url(trial->memory)), &error) != HILOCK_OK)
        fail_msg("%s", error.text);
    assert_int_equal(hilock_lock_create(&holder->lock, holder->client, "stock", HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = holder)), HILOCK_OK);
}

static int set_up(void **state)
{
    static struct trial trial;
    struct hilock_loop table;
    memset(&trial, 0, sizeof trial);
    trial.loop = poll_loop_new_jumping();
    table = poll_loop_table(trial.loop);
    assert_int_equal(hilock_memory_open(&trial.memory, &table, NULL, NULL), HILOCK_OK);
    open_client(&trial, &trial.first);
    open_client(&trial, &trial.second);
    *state = &trial;
    return 0;
}

static void turn(const struct trial *trial) { poll_loop_jump(trial->loop, UINT64_MAX); }

static int tear_down(void **state)
{
    struct trial *trial = *state;
    struct stat file;
    char path[128];
    assert_int_equal(hilock_client_close(trial->first.client, 0, on_closed, &trial->closed), HILOCK_OK);
    assert_int_equal(hilock_client_close(trial->second.client, 0, on_closed, &trial->closed), HILOCK_OK);
    for (int i = 0; i < PATIENCE && trial->closed < 2; i++)
        turn(trial);
    assert_int_equal(trial->closed, 2);
    hilock_lock_free(trial->first.lock);
    hilock_lock_free(trial->second.lock);
    snprintf(path, sizeof path, "%s", hilock_memory_url(trial->memory) + strlen("unix://"));
    assert_int_equal(stat(path, &file), 0);
    hilock_memory_close(trial->memory);
    assert_int_not_equal(stat(path, &file), 0);
    *strrchr(path, '/') = '\0';
    assert_int_not_equal(stat(path, &file), 0);
    assert_int_equal(poll_loop_end(trial->loop), 0);
    return 0;
}

#define TRIAL(name) STAGED(name, struct trial, trial, set_up, tear_down)

static void until(const struct trial *trial, const unsigned *count, unsigned wanted)
{
    for (int i = 0; i < PATIENCE && *count < wanted; i++)
        turn(trial);
    assert_int_equal(*count, wanted);
}

static void for_ms(const struct trial *trial, uint64_t span_ms)
{
    uint64_t until_us = poll_loop_us(trial->loop) + span_ms * MS;
    while (poll_loop_us(trial->loop) < until_us)
        poll_loop_jump(trial->loop, until_us);
}

static void begin(struct holder *holder, uint32_t wait_ms)
{
    assert_int_equal(hilock_acquire(holder->lock, wait_ms, on_result, holder), HILOCK_OK);
}

static hilock_status acquire(const struct trial *trial, struct holder *holder, uint32_t wait_ms)
{
    begin(holder, wait_ms);
    until(trial, &holder->answers, holder->answers + 1);
    return holder->result.status;
}

/* Nobody could have let the second one in before. */
TRIAL(test_waits_and_is_woken)
{
    char host[64] = "", label[128];
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(acquire(trial, &trial->second, HILOCK_TRY), HILOCK_TIMED_OUT);
    assert_string_equal(trial->second.other, hilock_memory_holder(trial->memory, "stock"));
    assert_int_equal(strncmp(hilock_memory_holder(trial->memory, "stock"), hilock_client_uuid(trial->first.client), 36), 0);
    gethostname(host, sizeof host - 1); /* without another label it is this process */
    snprintf(label, sizeof label, ":1:%.20s@%.32s/%d", program_invocation_short_name, host, (int)getpid());
    assert_string_equal(trial->second.other + 36, label);
    assert_in_range(hilock_memory_remaining_ms(trial->memory, "stock"), 1, LEASE_MS);
    begin(&trial->second, HILOCK_FOREVER);
    for_ms(trial, 3 * LEASE_MS); /* it is renewed */
    assert_int_equal(trial->second.answers, 1);
    assert_int_equal(hilock_release(trial->first.lock, NULL, NULL), HILOCK_OK);
    until(trial, &trial->second.answers, 2);
    assert_int_equal(trial->second.result.status, HILOCK_OK);
    assert_true(trial->second.result.fencing_token > trial->first.result.fencing_token);
    assert_int_equal(trial->first.losses, 0);
}

static void share(struct holder *holder, const char *name, uint32_t lease_ms)
{
    hilock_lock_free(holder->lock);
    assert_int_equal(hilock_lock_create(&holder->lock, holder->client, name,
                                        HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = holder, .lease_ms = lease_ms,
                                                            .renew = HILOCK_RENEW_NEVER, .holders_max = 2)), HILOCK_OK);
}

/* The one whose lease ends last is named, whoever came first; one whose lease is over does not count, though the name lives on. */
TRIAL(test_shared)
{
    static const char *const names[] = {"stock", "{shop}stock"};
    for (size_t i = 0; i < 2; i++) {
        const char *name = names[i];
        hilock_memory *memory = trial->memory;
        share(&trial->first, name, LEASE_MS);
        share(&trial->second, name, 2 * LEASE_MS);
        assert_int_equal(hilock_memory_holders(memory, name), 0);
        assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
        assert_int_equal(hilock_memory_holders(memory, name), 1);
        assert_int_equal(acquire(trial, &trial->second, HILOCK_TRY), HILOCK_OK);
        assert_int_equal(hilock_memory_holders(memory, name), 2);
        assert_int_equal(strncmp(hilock_memory_holder(memory, name), hilock_client_uuid(trial->second.client), 36), 0);
        assert_in_range(hilock_memory_remaining_ms(memory, name), LEASE_MS + 1, 2 * LEASE_MS);
        hilock_memory_hang(memory, 1); /* so nobody takes out the share that is over */
        for_ms(trial, LEASE_MS);
        assert_int_equal(hilock_memory_holders(memory, name), 1);
        hilock_memory_hang(memory, 0);
        assert_int_equal(hilock_memory_expire(memory, name), HILOCK_OK);
        assert_int_equal(hilock_memory_holders(memory, name), 0);
    }
    assert_int_equal(hilock_memory_holders(NULL, "stock") + hilock_memory_holders(trial->memory, NULL), 0);
}

TRIAL(test_expire)
{
    assert_int_equal(hilock_memory_expire(trial->memory, "stock"), HILOCK_NOT_HELD);
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(hilock_memory_expire(trial->memory, "stock"), HILOCK_OK);
    assert_string_equal(hilock_memory_holder(trial->memory, "stock"), "");
    assert_int_equal(hilock_memory_remaining_ms(trial->memory, "stock"), 0);
    assert_int_equal(trial->first.losses, 0);
    assert_int_equal(acquire(trial, &trial->second, HILOCK_TRY), HILOCK_OK);
    until(trial, &trial->first.losses, 1);
    assert_int_equal(trial->first.reason, HILOCK_REASON_TAKEN);
}

TRIAL(test_take)
{
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(hilock_memory_take(trial->memory, HILOCK_MUTEX, "stock", "java:7", LEASE_MS), HILOCK_OK);
    until(trial, &trial->first.losses, 1);
    assert_int_equal(trial->first.reason, HILOCK_REASON_TAKEN);
    assert_int_equal(acquire(trial, &trial->second, HILOCK_TRY), HILOCK_TIMED_OUT);
    assert_string_equal(trial->second.other, "java:7");
    assert_int_equal(acquire(trial, &trial->second, 2 * LEASE_MS), HILOCK_OK); /* it has run out by then */
    assert_int_equal(hilock_memory_take(trial->memory, HILOCK_SIMPLE, "cron", "python", HILOCK_FOREVER), HILOCK_OK);
    assert_string_equal(hilock_memory_holder(trial->memory, "cron"), "python");
    assert_int_equal(hilock_memory_remaining_ms(trial->memory, "cron"), HILOCK_FOREVER);
    assert_int_equal(hilock_memory_take(trial->memory, HILOCK_MUTEX, "stock", "", LEASE_MS), HILOCK_INVALID);
    assert_int_equal(hilock_memory_take(trial->memory, HILOCK_MUTEX, "stock", "x", 0), HILOCK_INVALID);
    assert_int_equal(hilock_memory_take(trial->memory, (hilock_kind)9, "stock", "x", 1), HILOCK_INVALID);
}

TRIAL(test_lose)
{
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
    hilock_memory_lose(trial->memory);
    until(trial, &trial->first.losses, 1);
    assert_int_equal(trial->first.reason, HILOCK_REASON_TAKEN);
}

/* The holder believes in what the store has forgotten, until it asks. */
TRIAL(test_advance)
{
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
    hilock_memory_advance(trial->memory, LEASE_MS + 1);
    assert_string_equal(hilock_memory_holder(trial->memory, "stock"), "");
    assert_true(hilock_lock_remaining_ms(trial->first.lock) > 0);
    until(trial, &trial->first.losses, 1);
    assert_int_equal(trial->first.reason, HILOCK_REASON_TAKEN);
}

TRIAL(test_disconnect)
{
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
    for_ms(trial, 100);
    assert_true(hilock_memory_links(trial->memory) >= 2);
    hilock_memory_disconnect(trial->memory);
    assert_int_equal(hilock_memory_links(trial->memory), 0);
    while (hilock_client_is_connected(trial->first.client))
        turn(trial);
    for_ms(trial, 2 * LEASE_MS); /* it is back in time to renew */
    assert_int_equal(trial->first.losses, 0);
    assert_true(hilock_client_is_connected(trial->first.client));
    assert_int_equal(acquire(trial, &trial->second, HILOCK_TRY), HILOCK_TIMED_OUT);
}

TRIAL(test_restart)
{
    struct hilock_stats stats = {.size = sizeof stats};
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
    hilock_memory_restart(trial->memory, 1);
    for_ms(trial, 2 * LEASE_MS);
    assert_int_equal(trial->first.losses, 0);
    hilock_memory_restart(trial->memory, 0);
    until(trial, &trial->first.losses, 1);
    assert_int_equal(trial->first.reason, HILOCK_REASON_TAKEN);
    hilock_client_stats(trial->first.client, &stats);
    assert_int_equal(stats.disconnects, 2);
}

/* An answer is late by just that, and so is a message; and what was delayed comes when it was due, though it is delayed no longer. */
TRIAL(test_delay)
{
    uint64_t asked_us;
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
    begin(&trial->second, HILOCK_FOREVER);
    for_ms(trial, 1000);
    hilock_memory_delay(trial->memory, 700);
    assert_int_equal(hilock_release(trial->first.lock, on_result, &trial->first), HILOCK_OK);
    asked_us = poll_loop_us(trial->loop);
    for_ms(trial, 100);
    hilock_memory_delay(trial->memory, 0);
    until(trial, &trial->first.answers, 2);
    assert_int_equal(trial->first.result.status, HILOCK_OK);
    assert_in_range(poll_loop_us(trial->loop) - asked_us, 700 * MS, 701 * MS);
    until(trial, &trial->second.answers, 1);
    assert_int_equal(trial->second.result.status, HILOCK_OK);
    assert_in_range(poll_loop_us(trial->loop) - asked_us, 700 * MS, 701 * MS);
}

/* The lease of a holder whose renewals are not answered ends here before it does at the store. */
TRIAL(test_hang)
{
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
    hilock_memory_hang(trial->memory, 1);
    assert_int_equal(acquire(trial, &trial->second, 5000), HILOCK_UNREACHABLE);
    until(trial, &trial->first.losses, 1);
    assert_int_equal(trial->first.reason, HILOCK_REASON_EXPIRED);
    assert_string_not_equal(hilock_memory_holder(trial->memory, "stock"), "");
    begin(&trial->second, HILOCK_FOREVER);
    for_ms(trial, 2 * LEASE_MS);
    assert_int_equal(trial->second.answers, 1);
    hilock_memory_hang(trial->memory, 0);
    until(trial, &trial->second.answers, 2);
    assert_int_equal(trial->second.result.status, HILOCK_OK);
}

TRIAL(test_refuse)
{
    static const char error[] = "OOM command not allowed when used memory > 'maxmemory'.";
    assert_int_equal(hilock_memory_refuse(trial->memory, 1, error), HILOCK_OK);
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_UNWRITABLE);
    assert_int_equal(acquire(trial, &trial->first, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(hilock_memory_refuse(trial->memory, HILOCK_FOREVER, error), HILOCK_OK);
    until(trial, &trial->first.losses, 1);
    assert_int_equal(trial->first.reason, HILOCK_REASON_EXPIRED);
    assert_int_equal(hilock_memory_refuse(trial->memory, 0, NULL), HILOCK_OK);
    assert_int_equal(acquire(trial, &trial->second, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(hilock_memory_refuse(trial->memory, 1, NULL), HILOCK_INVALID);
    assert_int_equal(hilock_memory_refuse(trial->memory, 1, ""), HILOCK_INVALID);
    assert_int_equal(hilock_memory_refuse(trial->memory, 1, "OOM\r\n+OK"), HILOCK_INVALID);
}

/* Within a moment of the loop's time, where its renewal would come after a third of the lease. */
TRIAL(test_verify)
{
    assert_int_equal(acquire(trial, &trial->first, HILOCK_FOREVER), HILOCK_OK);
    const uint64_t begun_us = poll_loop_us(trial->loop);
    assert_int_equal(hilock_memory_take(trial->memory, HILOCK_MUTEX, "stock", "somebody", LEASE_MS), HILOCK_OK);
    hilock_memory_verify(trial->memory);
    until(trial, &trial->first.losses, 1);
    assert_int_equal(trial->first.reason, HILOCK_REASON_TAKEN);
    assert_in_range(poll_loop_us(trial->loop) - begun_us, 0, 1000 * MS);
}

/* What the clock is for is in ../examples/unit_test.c. */
TEST(test_a_clock_refuses)
{
    hilock_memory_clock *clock = hilock_memory_clock_new();
    struct hilock_loop none = {.size = sizeof none};
    assert_int_equal(hilock_memory_clock_wrap(clock, NULL), HILOCK_INVALID);
    assert_int_equal(hilock_memory_clock_wrap(NULL, &none), HILOCK_INVALID);
    assert_int_equal(hilock_memory_clock_wrap(clock, &none), HILOCK_INVALID);
    hilock_memory_clock_jump(clock, 1000);
    hilock_memory_clock_jump(NULL, 1000);
    hilock_memory_clock_free(clock);
    hilock_memory_clock_free(NULL);
}

TEST(test_null_is_nothing)
{
    hilock_memory_verify(NULL);
    assert_null(hilock_memory_url(NULL));
    assert_int_equal(hilock_memory_expire(NULL, "stock"), HILOCK_INVALID);
    assert_int_equal(hilock_memory_take(NULL, HILOCK_MUTEX, "stock", "x", 1), HILOCK_INVALID);
    assert_int_equal(hilock_memory_refuse(NULL, 0, NULL), HILOCK_INVALID);
    assert_string_equal(hilock_memory_holder(NULL, "stock"), "");
    assert_int_equal(hilock_memory_remaining_ms(NULL, "stock"), 0);
    assert_int_equal(hilock_memory_links(NULL) + hilock_memory_commands(NULL), 0);
    hilock_memory_lose(NULL);
    hilock_memory_advance(NULL, 1);
    hilock_memory_disconnect(NULL);
    hilock_memory_restart(NULL, 0);
    hilock_memory_delay(NULL, 1);
    hilock_memory_hang(NULL, 1);
    hilock_memory_close(NULL);
}
