/* SPDX-License-Identifier: BSD-3-Clause */
/* What a nest owes beyond loop.h: runs inside runs, no needless system call for timers, the clock that goes on in
 * a suspend, a forked child, names when there is no descriptor or thread. Its loop here is poll(). */
#include "nest.h"

#include "conformance.h"
#include "nest_resolve.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOUR_US UINT64_C(3600000000)

enum { CROWD = 200 }; /* more than a run reports */

static int settime_calls, settime_flags;
static clockid_t timerfd_clock;

/* In the place of libc's: */
int timerfd_create(clockid_t clock, int flags)
{
    static int (*libc)(clockid_t, int);
    if (!libc)
        *(void **)&libc = dlsym(RTLD_NEXT, "timerfd_create");
    timerfd_clock = clock;
    return libc(clock, flags);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *spec, struct itimerspec *ret_old)
{
    static int (*libc)(int, int, const struct itimerspec *, struct itimerspec *);
    if (!libc)
        *(void **)&libc = dlsym(RTLD_NEXT, "timerfd_settime");
    settime_calls++;
    settime_flags = flags;
    return libc(fd, flags, spec, ret_old);
}

struct bed {
    struct hl_nest nest;
    struct hilock_loop loop;
    struct seen seen;
    struct pair pairs[CROWD];
    void *watches[CROWD], *timer;
    size_t count; /* of pairs */
    int is_over;
};

static void bed_turn(struct bed *bed)
{
    struct pollfd wanted = {.fd = bed->nest.fd, .events = POLLIN};
    if (poll(&wanted, 1, -1) == 1)
        hl_nest_run(&bed->nest);
}

static void on_ready(unsigned ready, void *arg)
{
    struct bed *bed = arg;
    on_ready_count(ready, &bed->seen);
}

static void on_fire(void *arg)
{
    struct bed *bed = arg;
    on_fire_count(&bed->seen);
}

static void bed_make(struct bed *bed, size_t count, hilock_ready_fn *ready)
{
    *bed = (struct bed){.count = count};
    assert_int_equal(hl_nest_begin(&bed->nest, NULL), 0);
    bed->loop = hl_nest_table(&bed->nest);
    bed->timer = bed->loop.timer_new(bed->loop.ctx, on_fire, bed);
    for (size_t i = 0; i < count; i++) {
        bed->pairs[i] = pair_open();
        bed->watches[i] = bed->loop.watch_new(bed->loop.ctx, bed->pairs[i].near, ready, bed);
    }
}

static void bed_free(struct bed *bed)
{
    if (bed->is_over)
        return;
    bed->is_over = 1;
    bed->loop.timer_free(bed->timer);
    for (size_t i = 0; i < bed->count; i++) {
        bed->loop.watch_free(bed->watches[i]);
        pair_close(&bed->pairs[i]);
    }
    hl_nest_end(&bed->nest);
    memset(&bed->nest, 0xa5, sizeof bed->nest); /* as an adapter frees it */
}

static void ask_all(struct bed *bed, unsigned interest)
{
    for (size_t i = 0; i < bed->count; i++)
        assert_int_equal(bed->loop.watch_set(bed->watches[i], interest), 0);
}

/* A watch that was not reported in this run is reported in a later one. */
static void on_ready_ask_nothing(unsigned ready, void *arg)
{
    struct bed *bed = arg;
    const int number = bed->seen.count;
    on_ready_count(ready, &bed->seen);
    assert_in_range(number, 0, CROWD - 1);
    ask_all(bed, 0);
    for (size_t i = (size_t)number + 1; i < bed->count; i++)
        assert_int_equal(bed->loop.watch_set(bed->watches[i], HILOCK_WRITABLE), 0);
}

TEST(a_crowd_has_its_turn)
{
    struct bed bed;
    bed_make(&bed, CROWD, on_ready_ask_nothing);
    ask_all(&bed, HILOCK_WRITABLE);
    while (bed.seen.count < CROWD)
        bed_turn(&bed);
    bed_free(&bed);
}

/* Nothing is asked any more of a watch that the kernel refuses to change. */
TEST(what_the_kernel_refuses_is_not_asked)
{
    struct bed bed;
    bed_make(&bed, 1, on_ready);
    ask_all(&bed, HILOCK_READABLE);
    epoll_ctl_fails = 1;
    assert_int_equal(bed.loop.watch_set(bed.watches[0], HILOCK_WRITABLE), -1);
    assert_int_equal(bed.loop.watch_set(bed.watches[0], HILOCK_WRITABLE), -1);
    epoll_ctl_fails = 0;
    pair_write(&bed.pairs[0]);
    bed.loop.timer_start(bed.timer, 1000);
    while (bed.seen.count == 0)
        bed_turn(&bed);
    assert_int_equal(bed.seen.ready, 0);
    ask_all(&bed, HILOCK_READABLE);
    while (bed.seen.ready == 0)
        bed_turn(&bed);
    bed_free(&bed);
}

/* What is put off or stopped leaves the timerfd alone, which then wakes the loop up once for nothing; and it is on the clock that goes on
 * while the host is suspended, at a time and not in a span. */
TEST(putting_off_is_no_system_call)
{
    struct bed bed;
    bed_make(&bed, 0, on_ready);
    assert_int_equal(timerfd_clock, CLOCK_BOOTTIME);
    settime_calls = 0;
    for (uint64_t i = 1; i <= 1000; i++)
        bed.loop.timer_start(bed.timer, HOUR_US + i * 1000000);
    bed.loop.timer_stop(bed.timer);
    assert_int_equal(settime_calls, 1);
    assert_int_equal(settime_flags, TFD_TIMER_ABSTIME);
    bed.loop.timer_start(bed.timer, 1000);
    bed.loop.timer_start(bed.timer, 20000);
    assert_int_equal(settime_calls, 2);
    while (bed.seen.count == 0)
        bed_turn(&bed);
    assert_in_range(settime_calls, 3, 4); /* one less if this process was away until both were due */
    bed_free(&bed);
}

/* The first of those that are ready turns the loop, as a program may in its callback. */
static void on_ready_run_again(unsigned ready, void *arg)
{
    struct bed *bed = arg;
    on_ready_count(ready, &bed->seen);
    if (bed->seen.count == 1)
        hl_nest_run(&bed->nest);
}

TEST(a_run_inside_a_run)
{
    struct bed bed;
    bed_make(&bed, 3, on_ready_run_again);
    ask_all(&bed, HILOCK_WRITABLE);
    bed_turn(&bed);
    assert_int_equal(bed.seen.count, 6);
    bed_free(&bed);
}

/* In the run inside it everything ends: neither of the two goes on. */
static void on_ready_end_inside(unsigned ready, void *arg)
{
    struct bed *bed = arg;
    on_ready_count(ready, &bed->seen);
    if (bed->seen.count == 1)
        hl_nest_run(&bed->nest);
    else
        bed_free(bed);
}

TEST(all_ends_in_a_run_inside_a_run)
{
    struct bed bed;
    bed_make(&bed, 3, on_ready_end_inside);
    ask_all(&bed, HILOCK_WRITABLE);
    bed.loop.timer_start(bed.timer, 0);
    bed_turn(&bed);
    assert_true(bed.is_over);
    assert_int_equal(bed.seen.count, 2);
}

/* In the child all is freed; the parent's watch and timer go on. */
TEST(forked_child_leaves_the_parent_alone)
{
    struct bed bed;
    int status;
    bed_make(&bed, 1, on_ready);
    ask_all(&bed, HILOCK_READABLE);
    bed.loop.timer_start(bed.timer, 20000);
    pid_t child = fork();
    if (child == 0) {
        bed_free(&bed);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    while (bed.seen.count == 0)
        bed_turn(&bed);
    assert_int_equal(bed.seen.ready, 0);
    pair_write(&bed.pairs[0]);
    while (bed.seen.ready == 0)
        bed_turn(&bed);
    bed_free(&bed);
}

struct words {
    struct seen seen;
    char text[128];
};

static void on_resolved(const struct sockaddr *const *addresses, size_t count, const char *error, void *arg)
{
    struct words *words = arg;
    on_fire_count(&words->seen);
    assert_null(addresses);
    assert_int_equal(count, 0);
    strncpy(words->text, error, sizeof words->text - 1);
}

static void *ask(struct bed *bed, struct words *words)
{
    *words = (struct words){.seen.is_inside_call = 1};
    void *query = hl_nest_resolve(&bed->nest, "localhost", on_resolved, words);
    words->seen.is_inside_call = 0;
    assert_non_null(query);
    return query;
}

/* The reason why a query cannot begin is reported on a later turn, or not at all if it is cancelled. */
TEST(no_descriptor_or_thread_is_told)
{
    static const char *const expected[] = {"raise the limit of open files", "raise the limit of threads"};
    struct bed bed;
    struct words words;
    const int fd = lowest_free_fd();
    bed_make(&bed, 0, on_ready);
    for (int i = 0; i < 2; i++) {
        has_no_threads = i == 1;
        limit_fds(i == 0 ? lowest_free_fd() : 0);
        hl_nest_resolve_cancel(ask(&bed, &words));
        (void)ask(&bed, &words);
        limit_fds(0);
        while (words.seen.count == 0)
            bed_turn(&bed);
        assert_non_null(strstr(words.text, expected[i]));
    }
    has_no_threads = 0;
    bed.loop.timer_start(bed.timer, 1000);
    while (bed.seen.count == 0)
        bed_turn(&bed);
    assert_int_equal(words.seen.count, 1);
    bed_free(&bed);
    assert_int_equal(lowest_free_fd(), fd);
}

/* Each of its two descriptors may be the one that cannot be had. */
TEST(no_descriptor_for_a_nest)
{
    struct hl_nest nest;
    const int fd = lowest_free_fd();
    for (int left = 0; left < 2; left++) {
        limit_fds(fd + left);
        assert_int_equal(hl_nest_begin(&nest, NULL), -1);
        assert_int_equal(errno, EMFILE);
        limit_fds(0);
        assert_int_equal(lowest_free_fd(), fd);
    }
    epoll_ctl_fails = 1;
    assert_int_equal(hl_nest_begin(&nest, NULL), -1);
    epoll_ctl_fails = 0;
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(lowest_free_fd(), fd);
}
