/* SPDX-License-Identifier: BSD-3-Clause */
/* seen - see seen.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "seen.h"

void on_fire_count(void *arg)
{
    struct seen *seen = arg;
    assert_false(seen->is_inside_call);
    seen->count++;
}

void on_ready_count(unsigned ready, void *arg)
{
    struct seen *seen = arg;
    assert_false(seen->is_inside_call);
    seen->count++;
    seen->ready |= ready;
}
