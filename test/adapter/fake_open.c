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
