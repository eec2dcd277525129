/* SPDX-License-Identifier: BSD-3-Clause */
/* page - the state that holder, guard and command share, in memory that fork() shares. A stopped process delays no
 * other process, and finds the latest state when it goes on. Times are in microseconds of CLOCK_BOOTTIME, which is
 * the same clock for all processes, and goes on while the machine sleeps. */
#ifndef SHELL_PAGE_H
#define SHELL_PAGE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a deadline could be read half written; meson.build builds no shell then");

struct page {
    _Atomic uint64_t deadline_us; /* until when the lock is held, by the holder's reckoning: before the lease ends at
                                     the store. 0: it is not held */
    _Atomic pid_t group;          /* the command, which leads its process group; 0: it does not exist yet */
    _Atomic int is_ending;        /* TERM was sent, by holder or guard */
    _Atomic uint64_t kill_us;     /* how long before the deadline KILL is sent; grows if TERM took long (ender.c) */
    uint64_t grace_us;            /* how long before KILL the TERM is sent */
};

struct page *page_make(uint32_t lease_ms, uint32_t grace_ms); /* NULL: no memory */
uint32_t page_kill_ms(uint32_t lease_ms);                     /* how long before the deadline KILL is sent, at least */
uint64_t page_now_us(void);

#endif
