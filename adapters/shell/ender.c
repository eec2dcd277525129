/* SPDX-License-Identifier: BSD-3-Clause */
/* ender - see ender.h. Finding the remaining processes means reading all of /proc, so it is done seldom: the guard
 * gets a SIGCHLD for each process that ends, and the holder looks only when it kills. */
#include "ender.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { LOOK_US = 250000, KILL_AGAIN_US = 20000, REHEARSED = 3, NICE_FIRST = -20 };

static uint64_t less(uint64_t a_us, uint64_t b_us) { return a_us > b_us ? a_us - b_us : 0; }
static uint64_t sooner(uint64_t a_us, uint64_t b_us) { return a_us < b_us ? a_us : b_us; }

int ender_begin(struct ender *ender, struct page *page, pid_t spared)
{
    *ender = (struct ender){.page = page, .timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)};
    return ender->timer < 0 ? -1 : family_begin(&ender->family, spared);
}

void ender_end(struct ender *ender)
{
    free(ender->family.strangers);
    if (ender->timer > 0)
        close(ender->timer);
    *ender = (struct ender){0};
}

static void set_timer(const struct ender *ender, uint64_t due_us)
{
    due_us += due_us == 0; /* a timerfd set to 0 is switched off */
    const struct itimerspec at = {
        .it_value = {.tv_sec = (time_t)(due_us / 1000000), .tv_nsec = (long)(due_us % 1000000) * 1000}};
    timerfd_settime(ender->timer, TFD_TIMER_ABSTIME, &at, NULL); /* setting the timer also makes it unreadable again */
}

void ender_come_first(void)
{
    if (setpriority(PRIO_PROCESS, 0, NICE_FIRST) != 0)
        return; /* not permitted: KILL is then sent earlier if TERM took long (below) */
}

/* Sends TERM, which a stopped process gets when it goes on. TERM also shows how long KILL will take: if this process is
 * late, or reading /proc takes long, KILL must be sent sooner. */
static void terminate(const struct ender *ender, uint64_t due_us)
{
    struct page *page = ender->page;
    if (atomic_exchange(&page->is_ending, 1))
        return;
    family_signal(&ender->family, page->group, SIGTERM);
    family_signal(&ender->family, page->group, SIGCONT);
    uint64_t needed_us = sooner(REHEARSED * less(page_now_us(), due_us), page->grace_us);
    if (needed_us > page->kill_us)
        page->kill_us = needed_us;
}

static void begin_end(struct ender *ender, uint64_t now_us, uint64_t due_us)
{
    uint64_t last_us = less(ender->page->deadline_us, ender->page->kill_us);
    if (ender->kill_at_us)
        return;
    ender->kill_at_us = sooner(now_us + ender->page->grace_us, last_us);
    ender->kill_at_us += ender->kill_at_us == 0;
    if (now_us < ender->kill_at_us)
        terminate(ender, due_us);
    else
        ender->page->is_ending = 1;
}

void ender_hasten(struct ender *ender)
{
    uint64_t now_us = page_now_us();
    begin_end(ender, now_us, now_us);
}

void ender_kill(struct ender *ender)
{
    ender->page->is_ending = 1;
    ender->kill_at_us = 1;
}

static int turn_end(struct ender *ender, uint64_t now_us)
{
    ender->kill_at_us = sooner(ender->kill_at_us, less(ender->page->deadline_us, ender->page->kill_us) + 1);
    if (now_us >= ender->kill_at_us) {
        set_timer(ender, now_us + KILL_AGAIN_US);
        return family_signal(&ender->family, ender->page->group, SIGKILL) == 0;
    }
    set_timer(ender, ender->family.spared ? ender->kill_at_us : sooner(ender->kill_at_us, now_us + LOOK_US));
    return !ender->family.spared && family_signal(&ender->family, ender->page->group, 0) == 0;
}

int ender_turn(struct ender *ender)
{
    uint64_t now_us = page_now_us(), end_us = less(ender->page->deadline_us, ender->page->grace_us);
    if (!ender->kill_at_us && now_us >= end_us)
        begin_end(ender, now_us, end_us);
    if (ender->kill_at_us)
        return turn_end(ender, now_us);
    set_timer(ender, end_us);
    return 0;
}
