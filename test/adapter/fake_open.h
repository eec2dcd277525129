/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_open.h - a hilock_client_open that only remembers what it was given: the adapter's tests need no library. */
#ifndef TEST_ADAPTER_FAKE_OPEN_H
#define TEST_ADAPTER_FAKE_OPEN_H

#include <hilock/hilock.h>
#include <hilock/loop.h>

extern struct fake_open {
    hilock_status answer; /* what the next open returns */
    int calls;
    struct hilock_loop loop;
    const struct hilock_client_options *options;
} fake_open;

#endif
