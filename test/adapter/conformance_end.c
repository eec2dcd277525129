/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of all, inside each kind of callback: everything that hilock made is freed there, and free_ctx comes last. What was ready or due in the
 * same turn does not call back any more, and the loop is left empty. */
#include "conformance.h"

enum { TIMERS = 3, WATCHES = 3 };

struct finale {
    struct hilock_loop loop;
    void *native;
    void *timers[TIMERS], *watches[WATCHES], *query;
    struct pair pairs[WATCHES];
    int ends, calls_after;
};

static void end_all(struct finale *finale)
{
    if (finale->ends++) {
        finale->calls_after++;
        return;
    }
    for (size_t i = 0; i < WATCHES; i++) {
        finale->loop.watch_free(finale->watches[i]);
        pair_close(&finale->pairs[i]);
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
        finale->pairs[i] = pair_open();
        finale->watches[i] = finale->loop.watch_new(finale->loop.ctx, finale->pairs[i].near, on_ready_end, finale);
        assert_non_null(finale->watches[i]);
    }
    for (size_t i = 0; i < TIMERS; i++) {
        finale->timers[i] = finale->loop.timer_new(finale->loop.ctx, on_fire_end, finale);
        assert_non_null(finale->timers[i]);
    }
}

/* In whichever comes first, if several may. */
TEST(all_ends_inside_a_callback)
{
    static const struct { int timers, watches; unsigned interest; const char *name; } cases[] = {
        {TIMERS, 0, 0, NULL}, {0, WATCHES, HILOCK_READABLE | HILOCK_WRITABLE, NULL}, {1, 1, HILOCK_WRITABLE, "localhost"}, {0, 0, 0, "localhost"},
        {0, 0, 0, "a..b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct finale finale;
        finale_begin(&finale);
        finale.query = cases[i].name ? finale.loop.resolve(finale.loop.ctx, cases[i].name, on_resolved_end, &finale) : NULL;
        assert_int_equal(finale.query != NULL, cases[i].name != NULL);
        for (int j = 0; j < cases[i].watches; j++)
            assert_int_equal(finale.loop.watch_set(finale.watches[j], cases[i].interest), 0);
        for (int j = 0; j < cases[i].timers; j++)
            finale.loop.timer_start(finale.timers[j], 0);
        while (finale.ends == 0)
            loop_under_test.turn(finale.native);
        assert_true(loop_under_test.is_empty(finale.native));
        assert_int_equal(finale.calls_after, 0);
        loop_under_test.end(finale.native);
        threads_join();
    }
}
