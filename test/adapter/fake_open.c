/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock_client_open for tests of an adapter alone. A refusal does not take the loop's ctx, as the contract says. */
#include "fake_open.h"

#include <stdio.h>

struct fake_open fake_open;

hilock_status hilock_client_open(hilock_client **ret_client, const struct hilock_loop *loop, const struct hilock_client_options *options,
                                 struct hilock_error *ret_error)
{
    fake_open.calls++;
    fake_open.loop = *loop;
    fake_open.options = options;
    if (fake_open.answer == HILOCK_OK)
        *ret_client = (hilock_client *)(void *)&fake_open;
    else if (ret_error)
        snprintf(ret_error->text, sizeof ret_error->text, "refused by the fake");
    return fake_open.answer;
}

/* What an adapter's close calls besides; whole clients are closed by it in ../live. */
hilock_status hilock_client_adopt(hilock_client *client)
{
    (void)client;
    return HILOCK_WRONG_THREAD;
}

hilock_status hilock_client_close(hilock_client *client, uint32_t drain_ms, hilock_closed_fn *on_closed, void *user)
{
    (void)client, (void)drain_ms, (void)on_closed, (void)user;
    return HILOCK_FORKED;
}

void hilock_client_abandon(hilock_client *client) { (void)client; }
