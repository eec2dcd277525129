/* SPDX-License-Identifier: BSD-3-Clause */
/* seen - what a loop called back, counted. */
#ifndef TEST_ADAPTER_SEEN_H
#define TEST_ADAPTER_SEEN_H

#include <hilock/loop.h>

struct seen {
    int count;
    unsigned ready;
    int is_inside_call; /* set around calls of the table, in which nothing may call back */
};
hilock_fire_fn on_fire_count;
hilock_ready_fn on_ready_count;

#endif
