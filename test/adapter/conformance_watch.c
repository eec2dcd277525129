/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches: every sentence of loop.h about them. Descriptors are socket pairs: an idle one is writable, and readable once its peer has written. */
#include "conformance.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct pair {
    int near, far;
    struct seen seen;
    void *watch;
};

static void pair_open(struct pair *pair, const struct fixture *fixture, hilock_ready_fn *ready, void *arg)
{
    int fds[2];
    *pair = (struct pair){0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    pair->near = fds[0];
    pair->far = fds[1];
    pair->watch = fixture->loop.watch_new(fixture->loop.ctx, pair->near, ready, arg ? arg : &pair->seen);
    assert_non_null(pair->watch);
}

static void pair_close(struct pair *pair, const struct fixture *fixture)
{
    if (pair->watch)
        fixture->loop.watch_free(pair->watch);
    close(pair->near);
    close(pair->far);
}

static void pair_write(const struct pair *pair) { assert_int_equal(write(pair->far, "x", 1), 1); }

static void begins_with_nothing_asked(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair;
    pair_open(&pair, fixture, on_ready_count, NULL);
    pair_write(&pair);
    turn_past(fixture, 5000);
    assert_int_equal(pair.seen.count, 0);
    pair_close(&pair, fixture);
}

static void never_runs_inside_a_call(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair;
    pair_open(&pair, fixture, on_ready_count, NULL);
    pair_write(&pair);
    pair.seen.is_inside_call = 1;
    assert_int_equal(fixture->loop.watch_set(pair.watch, HILOCK_READABLE | HILOCK_WRITABLE), 0);
    assert_int_equal(fixture->loop.watch_set(pair.watch, HILOCK_READABLE), 0);
    pair.seen.is_inside_call = 0;
    turn_until(fixture, &pair.seen, 1);
    pair_close(&pair, fixture);
}

/* Level-triggered: unread bytes are reported again in each turn. */
static void is_level_triggered(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair;
    pair_open(&pair, fixture, on_ready_count, NULL);
    pair_write(&pair);
    assert_int_equal(fixture->loop.watch_set(pair.watch, HILOCK_READABLE), 0);
    for (int i = 1; i <= 5; i++) {
        turn(fixture);
        assert_int_equal(pair.seen.count, i);
    }
    assert_int_equal(pair.seen.ready, HILOCK_READABLE);
    pair_close(&pair, fixture);
}

/* Only what was asked for is reported; asking replaces what was asked for before. */
static void interest_is_replaced(void **state)
{
    static const unsigned order[] = {HILOCK_WRITABLE, HILOCK_READABLE | HILOCK_WRITABLE, HILOCK_READABLE, HILOCK_WRITABLE,
                                     HILOCK_READABLE, HILOCK_READABLE | HILOCK_WRITABLE, HILOCK_WRITABLE};
    struct fixture *fixture = *state;
    struct pair pair;
    pair_open(&pair, fixture, on_ready_count, NULL);
    pair_write(&pair);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        assert_int_equal(fixture->loop.watch_set(pair.watch, order[i]), 0);
        pair.seen = (struct seen){0};
        turn_past(fixture, 1000);
        assert_int_equal(pair.seen.ready, order[i]);
    }
    assert_int_equal(fixture->loop.watch_set(pair.watch, 0), 0);
    pair.seen = (struct seen){0};
    turn_past(fixture, 1000);
    assert_int_equal(pair.seen.count, 0);
    pair_close(&pair, fixture);
}

static void asking_for_the_same_again_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair;
    pair_open(&pair, fixture, on_ready_count, NULL);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(fixture->loop.watch_set(pair.watch, HILOCK_READABLE), 0);
    turn_past(fixture, 1000);
    assert_int_equal(pair.seen.count, 0);
    pair_write(&pair);
    turn_until(fixture, &pair.seen, 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(fixture->loop.watch_set(pair.watch, 0), 0);
    pair_close(&pair, fixture);
}

/* A hang-up counts as what was asked for. */
static void hang_up_is_what_was_asked(void **state)
{
    static const unsigned asked[] = {HILOCK_READABLE, HILOCK_WRITABLE};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 2; i++) {
        struct pair pair;
        pair_open(&pair, fixture, on_ready_count, NULL);
        close(pair.far);
        assert_int_equal(fixture->loop.watch_set(pair.watch, asked[i]), 0);
        turn_until(fixture, &pair.seen, 1);
        assert_int_equal(pair.seen.ready, asked[i]);
        pair.far = -1;
        pair_close(&pair, fixture);
    }
}

/* Pipes, whose other end is closed, tell nothing but that: the empty one a hang-up, the full one an error. */
static void hang_up_alone_is_what_was_asked(void **state)
{
    static const unsigned asked[] = {HILOCK_READABLE, HILOCK_WRITABLE};
    static const char bytes[65536];
    struct fixture *fixture = *state;
    for (int i = 0; i < 2; i++) {
        struct seen seen = {0};
        void *watch;
        int fds[2];
        assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
        while (i == 1 && write(fds[1], bytes, sizeof bytes) > 0)
            ;
        close(fds[1 - i]);
        watch = fixture->loop.watch_new(fixture->loop.ctx, fds[i], on_ready_count, &seen);
        assert_non_null(watch);
        assert_int_equal(fixture->loop.watch_set(watch, asked[i]), 0);
        turn_until(fixture, &seen, 1);
        assert_int_equal(seen.ready, asked[i]);
        fixture->loop.watch_free(watch);
        close(fds[i]);
    }
}

/* -1: cannot be watched. Nothing is asked then, and freeing is legal. */
static void what_cannot_be_watched_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct seen seen = {0};
    FILE *file = tmpfile();
    void *watch;
    assert_non_null(file);
    assert_int_equal(fcntl(fileno(file), F_SETFL, O_NONBLOCK), 0);
    watch = fixture->loop.watch_new(fixture->loop.ctx, fileno(file), on_ready_count, &seen);
    assert_non_null(watch);
    assert_int_equal(fixture->loop.watch_set(watch, HILOCK_READABLE), -1);
    assert_int_equal(fixture->loop.watch_set(watch, HILOCK_READABLE | HILOCK_WRITABLE), -1);
    assert_int_equal(fixture->loop.watch_set(watch, 0), 0);
    turn_past(fixture, 1000);
    assert_int_equal(seen.count, 0);
    fixture->loop.watch_free(watch);
    fclose(file);
}

static void free_silences(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair;
    pair_open(&pair, fixture, on_ready_count, NULL);
    pair_write(&pair);
    assert_int_equal(fixture->loop.watch_set(pair.watch, HILOCK_READABLE | HILOCK_WRITABLE), 0);
    turn_until(fixture, &pair.seen, 1);
    fixture->loop.watch_free(pair.watch);
    pair.watch = NULL;
    pair.seen.count = 0;
    turn_past(fixture, 1000);
    assert_int_equal(pair.seen.count, 0);
    pair_close(&pair, fixture);
}

/* After free and close the number is free for somebody else's descriptor, which can be watched. */
static void number_can_be_used_again(void **state)
{
    struct fixture *fixture = *state;
    struct pair first, second;
    pair_open(&first, fixture, on_ready_count, NULL);
    assert_int_equal(fixture->loop.watch_set(first.watch, HILOCK_READABLE | HILOCK_WRITABLE), 0);
    turn_until(fixture, &first.seen, 1);
    fixture->loop.watch_free(first.watch);
    close(first.near);
    pair_open(&second, fixture, on_ready_count, NULL);
    assert_int_equal(second.near, first.near);
    assert_int_equal(fixture->loop.watch_set(second.watch, HILOCK_READABLE), 0);
    first.seen.count = 0;
    pair_write(&second);
    turn_until(fixture, &second.seen, 1);
    assert_int_equal(first.seen.count, 0);
    close(first.far);
    pair_close(&second, fixture);
}

struct heir {
    struct fixture *fixture;
    struct pair first, second;
    int runs;
};

/* The watch ends, its descriptor is closed at once, and the next one gets its number: it is another one. */
static void on_ready_inherit(unsigned ready, void *arg)
{
    struct heir *heir = arg;
    (void)ready;
    heir->runs++;
    heir->fixture->loop.watch_free(heir->first.watch);
    close(heir->first.near);
    close(heir->first.far);
    pair_open(&heir->second, heir->fixture, on_ready_count, NULL);
    assert_int_equal(heir->second.near, heir->first.near);
    assert_int_equal(heir->fixture->loop.watch_set(heir->second.watch, HILOCK_READABLE), 0);
}

static void number_can_be_used_again_inside_ready(void **state)
{
    struct heir heir = {.fixture = *state};
    pair_open(&heir.first, heir.fixture, on_ready_inherit, &heir);
    pair_write(&heir.first);
    assert_int_equal(heir.fixture->loop.watch_set(heir.first.watch, HILOCK_READABLE | HILOCK_WRITABLE), 0);
    while (heir.runs == 0)
        turn(heir.fixture);
    turn_past(heir.fixture, 1000);
    assert_int_equal(heir.runs, 1);
    assert_int_equal(heir.second.seen.count, 0);
    pair_write(&heir.second);
    turn_until(heir.fixture, &heir.second.seen, 1);
    pair_close(&heir.second, heir.fixture);
}

struct friends {
    struct fixture *fixture;
    struct pair a, b;
    int runs;
};

static void on_ready_free_both(unsigned ready, void *arg)
{
    struct friends *friends = arg;
    (void)ready;
    friends->runs++;
    friends->fixture->loop.watch_free(friends->a.watch);
    friends->fixture->loop.watch_free(friends->b.watch);
    friends->a.watch = friends->b.watch = NULL;
}

/* Both are ready for both in one turn; the first that runs frees both: nothing more may run. */
static void free_inside_ready(void **state)
{
    struct friends friends = {.fixture = *state};
    pair_open(&friends.a, friends.fixture, on_ready_free_both, &friends);
    pair_open(&friends.b, friends.fixture, on_ready_free_both, &friends);
    pair_write(&friends.a);
    pair_write(&friends.b);
    assert_int_equal(friends.fixture->loop.watch_set(friends.a.watch, HILOCK_READABLE | HILOCK_WRITABLE), 0);
    assert_int_equal(friends.fixture->loop.watch_set(friends.b.watch, HILOCK_READABLE | HILOCK_WRITABLE), 0);
    while (friends.runs == 0)
        turn(friends.fixture);
    turn_past(friends.fixture, 1000);
    assert_int_equal(friends.runs, 1);
    pair_close(&friends.a, friends.fixture);
    pair_close(&friends.b, friends.fixture);
}

static void on_ready_ask_nothing(unsigned ready, void *arg)
{
    struct friends *friends = arg;
    (void)ready;
    friends->runs++;
    assert_int_equal(friends->fixture->loop.watch_set(friends->a.watch, 0), 0);
}

static void set_inside_ready(void **state)
{
    struct friends friends = {.fixture = *state};
    pair_open(&friends.a, friends.fixture, on_ready_ask_nothing, &friends);
    pair_write(&friends.a);
    assert_int_equal(friends.fixture->loop.watch_set(friends.a.watch, HILOCK_READABLE), 0);
    while (friends.runs == 0)
        turn(friends.fixture);
    turn_past(friends.fixture, 1000);
    assert_int_equal(friends.runs, 1);
    pair_close(&friends.a, friends.fixture);
}

int conformance_watch(void)
{
    const struct CMUnitTest watch[] = {
        FIXTURE_TEST(begins_with_nothing_asked),
        FIXTURE_TEST(never_runs_inside_a_call),
        FIXTURE_TEST(is_level_triggered),
        FIXTURE_TEST(interest_is_replaced),
        FIXTURE_TEST(asking_for_the_same_again_changes_nothing),
        FIXTURE_TEST(hang_up_is_what_was_asked),
        FIXTURE_TEST(hang_up_alone_is_what_was_asked),
        FIXTURE_TEST(what_cannot_be_watched_is_refused),
        FIXTURE_TEST(free_silences),
        FIXTURE_TEST(number_can_be_used_again),
        FIXTURE_TEST(number_can_be_used_again_inside_ready),
        FIXTURE_TEST(free_inside_ready),
        FIXTURE_TEST(set_inside_ready),
    };
    return cmocka_run_group_tests(watch, NULL, NULL);
}
