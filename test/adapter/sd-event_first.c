/* SPDX-License-Identifier: BSD-3-Clause */
/* After a pause of the process hilock's timer fires before all of the program that came due in it, even if that was due
 * first. */
#include <hilock/adapters/sd-event.h>
#include <hilock/loop.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <cmocka.h>

enum { SOON_US = 1000, LATER_US = 5000, PAUSE_US = 50000 };

static char order[4]; /* h: hilock's, p: the program's */

static void note(char what) { order[strlen(order)] = what; }
static void on_fire(void *arg) { (void)arg, note('h'); }
static int on_time(sd_event_source *source, uint64_t due_us, void *arg)
{
    (void)source, (void)due_us, (void)arg;
    note('p');
    return 0;
}
static int on_defer(sd_event_source *source, void *arg) { return (void)source, (void)arg, note('p'), 0; }

static void hilock_comes_first(void **state)
{
    struct hilock_loop loop;
    sd_event *native;
    (void)state;
    assert_true(sd_event_new(&native) >= 0);
    assert_int_equal(hilock_sd_event_loop(&loop, native), HILOCK_OK);
    void *timer = loop.timer_new(loop.ctx, on_fire, NULL);
    assert_non_null(timer);
    loop.timer_start(timer, LATER_US);
    assert_true(sd_event_add_defer(native, NULL, on_defer, NULL) >= 0);
    assert_true(sd_event_add_time_relative(native, NULL, CLOCK_BOOTTIME, SOON_US, 1, on_time, NULL) >= 0);
    usleep(PAUSE_US);
    while (strlen(order) < 3)
        assert_true(sd_event_run(native, UINT64_MAX) >= 0);
    assert_string_equal(order, "hpp");
    loop.timer_free(timer);
    loop.free_ctx(loop.ctx);
    sd_event_unref(native);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hilock_comes_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
