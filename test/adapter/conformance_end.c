/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of all, inside each kind of callback: everything that hilock made is freed there, and free_ctx comes last. What was ready or due in the
 * same turn does not call back any more, and the loop is left empty. */
#include "conformance.h"

#include <sys/socket.h>
#include <unistd.h>

enum { TIMERS = 3, WATCHES = 3 };

struct finale {
    struct hilock_loop loop;
    void *native;
    void *timers[TIMERS], *watches[WATCHES], *query;
    int fds[WATCHES][2], ends, calls_after;
};

static void end_all(struct finale *finale)
{
    if (finale->ends++) {
        finale->calls_after++;
        return;
    }
    for (size_t i = 0; i < WATCHES; i++) {
        finale->loop.watch_free(finale->watches[i]);
        close(finale->fds[i][0]);
        close(finale->fds[i][1]);
    }
    for (size_t i = 0; i < TIMERS; i++)
        finale->loop.timer_free(finale->timers[i]);
    if (finale->query)
        finale->loop.resolve_cancel(finale->query);
    finale->loop.free_ctx(finale->loop.ctx);
}

static void on_fire_end(void *arg) { end_all(arg); }

static void on_ready_end(unsigned ready, void *arg)
{
    (void)ready;
    end_all(arg);
}

static void on_resolved_end(const struct sockaddr *const *addresses, size_t count, const char *error, void *arg)
{
    (void)addresses, (void)count, (void)error;
    end_all(arg);
}

static void finale_begin(struct finale *finale)
{
    *finale = (struct finale){.native = NULL};
    finale->native = runner_make(&finale->loop);
    assert_non_null(finale->native);
    for (size_t i = 0; i < WATCHES; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, finale->fds[i]), 0);
        finale->watches[i] = finale->loop.watch_new(finale->loop.ctx, finale->fds[i][0], on_ready_end, finale);
        assert_non_null(finale->watches[i]);
    }
    for (size_t i = 0; i < TIMERS; i++) {
        finale->timers[i] = finale->loop.timer_new(finale->loop.ctx, on_fire_end, finale);
        assert_non_null(finale->timers[i]);
    }
}

static void finale_end(struct finale *finale)
{
    while (finale->ends == 0)
        loop_under_test.turn(finale->native);
    assert_true(loop_under_test.is_empty(finale->native));
    assert_int_equal(finale->calls_after, 0);
    loop_under_test.end(finale->native);
}

static void all_ends_inside_fire(void **state)
{
    struct finale finale;
    (void)state;
    finale_begin(&finale);
    for (size_t i = 0; i < TIMERS; i++)
        finale.loop.timer_start(finale.timers[i], 0);
    finale_end(&finale);
}

static void all_ends_inside_ready(void **state)
{
    struct finale finale;
    (void)state;
    finale_begin(&finale);
    for (size_t i = 0; i < WATCHES; i++)
        assert_int_equal(finale.loop.watch_set(finale.watches[i], HILOCK_READABLE | HILOCK_WRITABLE), 0);
    finale_end(&finale);
}

/* With a timer due, too: whichever comes first. */
static void all_ends_inside_either(void **state)
{
    struct finale finale;
    (void)state;
    finale_begin(&finale);
    finale.query = finale.loop.resolve(finale.loop.ctx, "localhost", on_resolved_end, &finale);
    assert_non_null(finale.query);
    assert_int_equal(finale.loop.watch_set(finale.watches[0], HILOCK_WRITABLE), 0);
    finale.loop.timer_start(finale.timers[0], 0);
    finale_end(&finale);
}

static void all_ends_inside_done(void **state)
{
    static const char *const names[] = {"localhost", "a..b"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct finale finale;
        finale_begin(&finale);
        finale.query = finale.loop.resolve(finale.loop.ctx, names[i], on_resolved_end, &finale);
        assert_non_null(finale.query);
        finale_end(&finale);
    }
}

int conformance_end(void)
{
    const struct CMUnitTest end[] = {
        cmocka_unit_test(all_ends_inside_fire),
        cmocka_unit_test(all_ends_inside_ready),
        cmocka_unit_test(all_ends_inside_either),
        cmocka_unit_test(all_ends_inside_done),
    };
    return cmocka_run_group_tests(end, NULL, NULL);
}
