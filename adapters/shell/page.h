/* SPDX-License-Identifier: BSD-3-Clause */
/* page - the state that holder, guard and command share, in memory shared by fork. A stopped process delays no other,
 * and finds the latest state when it goes on. Times are microseconds of CLOCK_BOOTTIME, one clock for all processes
 * that goes on while the machine sleeps. */
#ifndef SHELL_PAGE_H
#define SHELL_PAGE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a deadline could be read half written; meson.build builds no shell then");

struct page {
    _Atomic uint64_t deadline_us; /* the lock is ours until then, by the holder's clock: before the lease ends at the
                                     store. 0: it is not */
    _Atomic pid_t group;          /* the command, which leads its process group; 0: it does not exist yet */
    _Atomic int is_ending;        /* TERM was sent, by the one that came first */
    _Atomic uint64_t kill_us;     /* KILL is sent so long before the deadline; more where TERM took long (ender.c) */
    uint64_t grace_us;            /* TERM is sent so long before it */
};

struct page *page_make(uint32_t lease_ms, uint32_t grace_ms); /* NULL: no memory */
uint32_t page_kill_ms(uint32_t lease_ms);                     /* KILL comes so long before the deadline, or earlier */
uint64_t page_now_us(void);

#endif
