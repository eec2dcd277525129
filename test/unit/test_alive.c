/* SPDX-License-Identifier: BSD-3-Clause */
/* A forked child is known as one, also by a kernel that wipes no page (as older ones, and some that only look like Linux). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock/cell.h"

#include <cmocka.h>

static int is_unknown, asked;

/* Stands before libc's. */
int madvise(void *from, size_t length, int advice)
{
    if (advice != MADV_WIPEONFORK)
        return 0;
    asked++;
    if (!is_unknown)
        return (int)syscall(SYS_madvise, from, length, advice);
    errno = EINVAL;
    return -1;
}

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

static void a_child_is_known(int is_unknown_here)
{
    struct hl_memory memory;
    struct hl_cell *cell;
    is_unknown = is_unknown_here;
    asked = 0;
    hl_memory_init(&memory, NULL);
    cell = hl_cell_new(&memory);
    assert_non_null(cell);
    assert_int_equal(asked, 1);
    assert_false(hl_cell_is_forked(cell));
    assert_true(is_forked_in_a_child(cell));
    assert_false(hl_cell_is_forked(cell));
    hl_cell_unref(cell);
}

static void test_by_a_page_that_is_wiped(void **state) { (void)state; a_child_is_known(0); }
static void test_by_its_number_where_no_page_is_wiped(void **state) { (void)state; a_child_is_known(1); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_a_page_that_is_wiped),
        cmocka_unit_test(test_by_its_number_where_no_page_is_wiped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
