/* SPDX-License-Identifier: BSD-3-Clause */
/* A validity is read, kept and given back by threads while the loop's thread renews, ends and frees: never a moment too long, 0 as soon as
 * its end can be known, and nothing is left. Runs under ThreadSanitizer too (.ci/run threads). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support/fixture.h"

enum { READERS = 3 };

struct stage {
    hilock_validity *validity;
    atomic_int is_ending;  /* about to end: 0 may be read from here on */
    atomic_int has_ended;  /* anything but 0 is wrong from here on */
    atomic_int may_stop;
};

struct reader {
    struct stage *stage;
    pthread_t thread;
    atomic_uint reads;
    uint64_t first_us, latest_us; /* the end of the hold, as reported */
};

static void look(struct reader *reader)
{
    struct stage *stage = reader->stage;
    int had_ended = atomic_load(&stage->has_ended);
    uint64_t now_us = check_now_us(), until_us;
    hilock_validity *mine = hilock_validity_ref(stage->validity);
    uint32_t left_ms = hilock_validity_remaining_ms(mine);
    hilock_validity_unref(mine);
    until_us = left_ms ? now_us + (uint64_t)left_ms * 1000 : 0;
    CHECK(!had_ended || left_ms == 0);
    CHECK(left_ms > 0 || atomic_load(&stage->is_ending));
    reader->first_us = reader->first_us ? reader->first_us : until_us;
    reader->latest_us = until_us ? until_us : reader->latest_us;
    atomic_fetch_add(&reader->reads, 1);
}

static void *read_on(void *arg)
{
    struct reader *reader = arg;
    check_in_thread();
    while (!atomic_load(&reader->stage->may_stop))
        look(reader);
    look(reader);
    hilock_validity_unref(reader->stage->validity); /* the reader's own reference, on its own thread */
    return NULL;
}

static void readers_start(struct reader *readers, struct stage *stage)
{
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.stage = stage};
        hilock_validity_ref(stage->validity);
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_on, &readers[i]), 0);
    }
}

static int all_have_read(void *arg)
{
    struct reader *readers = arg;
    for (int i = 0; i < READERS; i++)
        if (atomic_load(&readers[i].reads) == 0)
            return 0;
    return 1;
}

/* Each looks at least once more. */
static void readers_look_again(struct reader *readers)
{
    for (int i = 0; i < READERS; i++)
        atomic_store(&readers[i].reads, 0);
    check_until(all_have_read, readers, "the readers");
}

static void readers_stop(struct reader *readers, struct stage *stage)
{
    atomic_store(&stage->may_stop, 1);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
}

static void begin(struct client *client, struct handle *held, struct stage *stage, const struct hilock_client_options *options)
{
    client_open_with(client, options);
    handle_open(held, client, "stock", NULL);
    assert_int_equal(handle_acquire(held, HILOCK_FOREVER), HILOCK_OK);
    *stage = (struct stage){.validity = NULL};
    assert_int_equal(hilock_lock_validity(held->lock, &stage->validity), HILOCK_OK);
}

/* The deadline moves hundreds of times under the readers' eyes; no claim of theirs reaches beyond the store's lease. */
static void during_renewals_and_after_the_release(void **state)
{
    enum { TIMES = 200 };
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    struct stage stage;
    struct reader readers[READERS];
    uint64_t over_us;
    begin(&client, &held, &stage, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    readers_start(readers, &stage);
    readers_look_again(readers);
    for (uint32_t i = 1; i <= TIMES; i++)
        assert_int_equal(handle_extend(&held, 60000 + i * 1000), HILOCK_OK);
    readers_look_again(readers);
    over_us = check_now_us();
    over_us += (uint64_t)redis_integer(fixture->redis, "PTTL stock") * 1000 + (check_now_us() - over_us) + 1000;
    atomic_store(&stage.is_ending, 1);
    handle_release(&held);
    atomic_store(&stage.has_ended, 1);
    readers_look_again(readers);
    readers_stop(readers, &stage);
    for (int i = 0; i < READERS; i++) {
        assert_true(readers[i].latest_us <= over_us);
        assert_true(readers[i].latest_us > readers[i].first_us + 60000000); /* it followed */
    }
    handle_until(&held, &held.released, 1, "the release");
    assert_int_equal(handle_acquire(&held, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(hilock_validity_remaining_ms(stage.validity), 0); /* never a later hold's */
    hilock_validity_unref(stage.validity);
    handle_free(&held);
    client_close(&client);
}

/* Handle and client go while threads read; the last of them gives the memory back, which the sanitizers see. */
static void after_lock_and_client_are_gone(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle held;
    struct stage stage;
    struct reader readers[READERS];
    begin(&client, &held, &stage, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url));
    readers_start(readers, &stage);
    hilock_validity_unref(stage.validity); /* ours; the readers have theirs */
    readers_look_again(readers);
    atomic_store(&stage.is_ending, 1);
    handle_free(&held);
    atomic_store(&stage.has_ended, 1);
    client_close(&client);
    readers_look_again(readers);
    readers_stop(readers, &stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(during_renewals_and_after_the_release),
        FIXTURE_TEST(after_lock_and_client_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
