/* SPDX-License-Identifier: BSD-3-Clause */
/* alive - see alive.h. */
#include "lock/alive.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/plant.h"

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* NULL: no memory, or a kernel that does not wipe (before 4.14, or not really Linux). */
static unsigned char *page_new(void)
{
    unsigned char *page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, page_size(), MADV_WIPEONFORK) == 0) {
        page[0] = 1;
        return page;
    }
    munmap(page, page_size());
    return NULL;
}

struct hl_alive *hl_alive_new(const struct hl_memory *memory)
{
    struct hl_alive *alive = hl_memory_new(memory, sizeof *alive);
    if (!alive)
        return NULL;
    atomic_init(&alive->refs, 1);
    alive->memory = *memory;
    alive->pid = getpid();
    alive->page = page_new();
    return alive;
}

/* relaxed: a thread that takes a reference has one already, and no read depends on the count. */
void hl_alive_ref(struct hl_alive *alive) { atomic_fetch_add_explicit(&alive->refs, 1, memory_order_relaxed); }

/* release: a thread's reads come before its decrement; acquire: the last thread frees the memory after all reads. */
void hl_alive_unref(struct hl_alive *alive)
{
    struct hl_memory memory = alive->memory;
    if (atomic_fetch_sub_explicit(&alive->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (alive->page)
        munmap(alive->page, page_size());
    hl_memory_free(&memory, alive);
}

int hl_alive_is_forked(const struct hl_alive *alive)
{
    int is_same = alive->page ? alive->page[0] == 1 : alive->pid == getpid();
    return !is_same && !HL_PLANTED(R12_FORK_IGNORED);
}
