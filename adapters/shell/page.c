/* SPDX-License-Identifier: BSD-3-Clause */
/* page - see page.h. */
#include "page.h"

#include <sys/mman.h>
#include <time.h>

enum { KILL_MIN_US = 200000, KILL_MAX_US = 2000000 };

struct page *page_make(uint32_t lease_ms, uint32_t grace_ms)
{
    struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t lease_us = (uint64_t)lease_ms * 1000, kill_us = lease_us / 10;
    if (page == MAP_FAILED)
        return NULL;
    page->kill_us = kill_us < KILL_MIN_US ? KILL_MIN_US : kill_us > KILL_MAX_US ? KILL_MAX_US : kill_us;
    page->grace_us = grace_ms ? (uint64_t)grace_ms * 1000 : lease_us / 3;
    return page;
}

uint64_t page_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}
