/* SPDX-License-Identifier: BSD-3-Clause */
/* sd-event as a loop of live tests. */
#include <hilock/adapters/sd-event.h>
#include <systemd/sd-event.h>

#include "loops.h"

enum { TICK_US = 10000 };

static void *begin(void)
{
    sd_event *native = NULL;
    CHECK(sd_event_new(&native) >= 0);
    return native;
}

static hilock_status open_client(hilock_client **ret_client, void *native, const struct hilock_client_options *options,
                                 struct hilock_error *ret_error)
{
    return hilock_client_open_sd_event(ret_client, native, options, ret_error);
}

static void turn(void *native) { CHECK(sd_event_run(native, TICK_US) >= 0); }

/* Nothing is pending in it; that no source is left shows in the sanitizers' lane, where each would be a leak. */
static int end(void *native)
{
    const int is_empty = sd_event_run(native, 0) == 0;
    sd_event_unref(native);
    return is_empty;
}

const struct client_loop loop_sd_event = {"sd-event", begin, open_client, turn, end};
