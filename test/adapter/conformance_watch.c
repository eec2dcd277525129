/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches: every sentence of loop.h about them. Each test begins with a watch that asks for nothing, on one end of a pair of sockets. */
#include "conformance.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BOTH = HILOCK_READABLE | HILOCK_WRITABLE };

struct watched {
    struct fixture *fixture;
    const struct hilock_loop *loop;
    struct pair pair;
    struct seen seen;
    void *watch; /* NULL: it has been freed */
};

static void *watch_made(const struct watched *watched, int fd, hilock_ready_fn *ready, void *arg)
{
    void *watch = watched->loop->watch_new(watched->loop->ctx, fd, ready, arg);
    assert_non_null(watch);
    return watch;
}

static void ask(const struct watched *watched, unsigned interest)
{
    assert_int_equal(watched->loop->watch_set(watched->watch, interest), 0);
}

static void give_up(struct watched *watched)
{
    watched->loop->watch_free(watched->watch);
    watched->watch = NULL;
}

static int set_up(void **state)
{
    struct watched *watched = calloc(1, sizeof *watched);
    void *fixture;
    if (!watched || fixture_begin(&fixture) != 0)
        return -1;
    *watched = (struct watched){.fixture = fixture, .pair = pair_open()};
    watched->loop = &watched->fixture->loop;
    watched->watch = watch_made(watched, watched->pair.near, on_ready_count, &watched->seen);
    *state = watched;
    return 0;
}

static int tear_down(void **state)
{
    struct watched *watched = *state;
    void *fixture = watched->fixture;
    if (watched->watch)
        give_up(watched);
    pair_close(&watched->pair);
    free(watched);
    return fixture_end(&fixture);
}

#define WATCHED(name) STAGED(name, struct watched, watched, set_up, tear_down)

WATCHED(never_runs_unasked_nor_inside_a_call)
{
    pair_write(&watched->pair);
    turn_past(watched->fixture, 5000);
    assert_int_equal(watched->seen.count, 0);
    watched->seen.is_inside_call = 1;
    ask(watched, BOTH);
    ask(watched, HILOCK_READABLE);
    watched->seen.is_inside_call = 0;
    turn_until(watched->fixture, &watched->seen, 1);
}

/* Level-triggered: unread bytes are reported again in each turn. */
WATCHED(is_level_triggered)
{
    pair_write(&watched->pair);
    ask(watched, HILOCK_READABLE);
    for (int i = 1; i <= 5; i++) {
        turn(watched->fixture);
        assert_int_equal(watched->seen.count, i);
    }
    assert_int_equal(watched->seen.ready, HILOCK_READABLE);
}

/* Only what was asked for is reported; asking replaces what was asked for before. */
WATCHED(interest_is_replaced)
{
    static const unsigned order[] = {HILOCK_WRITABLE, BOTH, HILOCK_READABLE, HILOCK_WRITABLE, HILOCK_READABLE, BOTH, HILOCK_WRITABLE, 0};
    pair_write(&watched->pair);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        ask(watched, order[i]);
        watched->seen = (struct seen){0};
        turn_past(watched->fixture, 1000);
        assert_int_equal(watched->seen.ready, order[i]);
    }
    assert_int_equal(watched->seen.count, 0);
}

WATCHED(asking_for_the_same_again_is_no_system_call)
{
    static const unsigned toggled[] = {BOTH, HILOCK_READABLE};
    epoll_ctl_calls = 0;
    for (int i = 0; i < 1000; i++)
        ask(watched, HILOCK_READABLE);
    assert_int_equal(epoll_ctl_calls, 1);
    for (int i = 0; i < 2; i++)
        ask(watched, toggled[i]);
    assert_int_equal(epoll_ctl_calls, 3);
    turn_past(watched->fixture, 1000);
    assert_int_equal(watched->seen.count, 0);
    pair_write(&watched->pair);
    turn_until(watched->fixture, &watched->seen, 1);
    for (int i = 0; i < 2; i++)
        ask(watched, 0);
}

static void expect_hang_up(const struct watched *watched, int fd, unsigned asked)
{
    struct seen seen = {0};
    void *watch = watch_made(watched, fd, on_ready_count, &seen);
    assert_int_equal(watched->loop->watch_set(watch, asked), 0);
    turn_until(watched->fixture, &seen, 1);
    assert_int_equal(seen.ready, asked);
    watched->loop->watch_free(watch);
    close(fd);
}

/* Pipes, whose other end is closed, tell nothing but that: the empty one a hang-up, the full one an error. */
WATCHED(hang_up_is_what_was_asked)
{
    static const unsigned asked[] = {HILOCK_READABLE, HILOCK_WRITABLE};
    static const char bytes[65536];
    for (int i = 0; i < 2; i++) {
        const struct pair pair = pair_open();
        int fds[2];
        close(pair.far);
        expect_hang_up(watched, pair.near, asked[i]);
        assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
        while (i == 1 && write(fds[1], bytes, sizeof bytes) > 0)
            ;
        close(fds[1 - i]);
        expect_hang_up(watched, fds[i], asked[i]);
    }
}

/* -1: cannot be watched. Nothing is asked then, and freeing is legal. */
WATCHED(what_cannot_be_watched_is_refused)
{
    struct seen seen = {0};
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fcntl(fileno(file), F_SETFL, O_NONBLOCK), 0);
    void *watch = watch_made(watched, fileno(file), on_ready_count, &seen);
    assert_int_equal(watched->loop->watch_set(watch, HILOCK_READABLE), -1);
    assert_int_equal(watched->loop->watch_set(watch, BOTH), -1);
    assert_int_equal(watched->loop->watch_set(watch, 0), 0);
    turn_past(watched->fixture, 1000);
    assert_int_equal(seen.count, 0);
    watched->loop->watch_free(watch);
    fclose(file);
}

struct heir {
    struct watched *watched;
    struct seen seen; /* of the first of the two that have its number */
};

/* The watch ends, its descriptor is closed at once, and the next one gets its number: it is another one. */
static void inherit(struct heir *heir)
{
    struct watched *watched = heir->watched;
    const int number = watched->pair.near;
    give_up(watched);
    pair_close(&watched->pair);
    watched->pair = pair_open();
    assert_int_equal(watched->pair.near, number);
    watched->watch = watch_made(watched, watched->pair.near, on_ready_count, &watched->seen);
    ask(watched, HILOCK_READABLE);
}

static void on_ready_inherit(unsigned ready, void *arg)
{
    struct heir *heir = arg;
    on_ready_count(ready, &heir->seen);
    inherit(heir);
}

static void on_ready_heir(unsigned ready, void *arg) { on_ready_count(ready, &((struct heir *)arg)->seen); }

WATCHED(number_can_be_used_again)
{
    for (int is_inside_ready = 0; is_inside_ready < 2; is_inside_ready++) {
        struct heir heir = {.watched = watched};
        watched->seen = (struct seen){0};
        watched->loop->watch_free(watched->watch);
        watched->watch = watch_made(watched, watched->pair.near, is_inside_ready ? on_ready_inherit : on_ready_heir, &heir);
        pair_write(&watched->pair);
        ask(watched, BOTH);
        turn_until(watched->fixture, &heir.seen, 1);
        int reports = is_inside_ready ? 1 : heir.seen.count;
        if (!is_inside_ready)
            inherit(&heir);
        turn_past(watched->fixture, 1000);
        assert_int_equal(watched->seen.count, 0);
        pair_write(&watched->pair);
        turn_until(watched->fixture, &watched->seen, 1);
        assert_int_equal(heir.seen.count, reports);
    }
}

struct friends {
    const struct hilock_loop *loop;
    void *watches[2];
    struct seen seen;
};

static void on_ready_free_both(unsigned ready, void *arg)
{
    struct friends *friends = arg;
    on_ready_count(ready, &friends->seen);
    for (int i = 0; i < 2; i++)
        friends->loop->watch_free(friends->watches[i]);
}

static void on_ready_ask_nothing(unsigned ready, void *arg)
{
    struct friends *friends = arg;
    on_ready_count(ready, &friends->seen);
    for (int i = 0; i < 2; i++)
        assert_int_equal(friends->loop->watch_set(friends->watches[i], 0), 0);
}

/* Both are ready for both in one turn; the first that runs frees or silences both: nothing more may run, though they stay ready. */
WATCHED(free_and_set_inside_ready)
{
    for (int is_free = 0; is_free < 2; is_free++) {
        struct friends friends = {.loop = watched->loop};
        struct pair pairs[2];
        for (int i = 0; i < 2; i++) {
            pairs[i] = pair_open();
            pair_write(&pairs[i]);
            friends.watches[i] = watch_made(watched, pairs[i].near, is_free ? on_ready_free_both : on_ready_ask_nothing, &friends);
            assert_int_equal(friends.loop->watch_set(friends.watches[i], BOTH), 0);
        }
        turn_until(watched->fixture, &friends.seen, 1);
        turn_past(watched->fixture, 1000);
        assert_int_equal(friends.seen.count, 1);
        for (int i = 0; i < 2; i++) {
            if (!is_free)
                friends.loop->watch_free(friends.watches[i]);
            pair_close(&pairs[i]);
        }
    }
}
