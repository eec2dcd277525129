/* SPDX-License-Identifier: BSD-3-Clause */
/* The runner of sd-event. */
#include "runner.h"

#include <hilock/adapters/sd-event.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>

static void *begin(void)
{
    sd_event *native = NULL;
    return sd_event_new(&native) >= 0 ? native : NULL;
}

static void turn_loop(void *native) { sd_event_run(native, TURN_MS * 1000); }

/* sd-event does not count its sources; the kernel knows which descriptors its epoll set watches. */
static int is_empty(void *native)
{
    char path[64], line[256];
    int watched = 0;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", sd_event_get_fd(native));
    FILE *info = fopen(path, "re");
    while (info && fgets(line, sizeof line, info))
        watched += strncmp(line, "tfd:", 4) == 0;
    if (!info)
        return 0;
    fclose(info);
    return watched == 0;
}

static void end(void *native) { sd_event_unref(native); }

LOOP_RUNNER(sd_event, hilock_sd_event_loop(ret_loop, native),
            hilock_client_open_sd_event(ret_client, native, options, ret_error),
            hilock_client_close_sd_event(client, native, drain_ms));
