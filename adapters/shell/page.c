/* SPDX-License-Identifier: BSD-3-Clause */
/* page - see page.h. */
#include "page.h"

#include <sys/mman.h>
#include <time.h>

enum { KILL_SHARE = 10, KILL_MIN_MS = 200, KILL_MAX_MS = 2000 };

uint32_t page_kill_ms(uint32_t lease_ms)
{
    uint32_t kill_ms = lease_ms / KILL_SHARE;
    return kill_ms < KILL_MIN_MS ? KILL_MIN_MS : kill_ms > KILL_MAX_MS ? KILL_MAX_MS : kill_ms;
}

struct page *page_make(uint32_t lease_ms, uint32_t grace_ms)
{
    struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    page->kill_us = (uint64_t)page_kill_ms(lease_ms) * 1000;
    page->grace_us = (uint64_t)grace_ms * 1000;
    return page;
}

uint64_t page_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}
