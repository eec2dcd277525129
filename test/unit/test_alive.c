/* SPDX-License-Identifier: BSD-3-Clause */
/* A forked child is known as one, also by a kernel that wipes no page: older ones, and some that only look like Linux. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cell.h"
#include "suite.h"

/* This machine's; one that does not know MADV_WIPEONFORK; and one that agrees to any advice and does nothing. */
static enum { OURS, OLD, AGREEABLE, KERNELS } kernel;

/* Stands before libc's. */
int madvise(void *from, size_t length, int advice)
{
    if (kernel == AGREEABLE)
        return 0;
    if (kernel == OURS)
        return (int)syscall(SYS_madvise, from, length, advice);
    errno = EINVAL;
    return -1;
}

/* qemu-user agrees to this. */
static int refuses_nonsense(void) { return syscall(SYS_madvise, NULL, 0, -1) != 0; }

static int is_forked_in_a_child(const struct hl_cell *cell)
{
    pid_t child = fork();
    int status;
    if (child == 0)
        _exit(hl_cell_is_forked(cell));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* By a page that is wiped, and by its number where no page is. */
TEST(a_child_is_known)
{
    for (kernel = OURS; kernel < KERNELS; kernel++) {
        struct hl_memory memory;
        hl_memory_init(&memory, NULL);
        struct hl_cell *cell = hl_cell_new(&memory);
        assert_non_null(cell);
        assert_int_equal(cell->page[0] == PAGE_OURS, kernel == OURS && refuses_nonsense());
        assert_false(hl_cell_is_forked(cell));
        assert_true(is_forked_in_a_child(cell));
        assert_false(hl_cell_is_forked(cell));
        hl_cell_unref(cell);
    }
}
