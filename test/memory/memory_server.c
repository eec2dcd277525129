/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_server - a store in memory where a live test expects a redis-server: HILOCK_TEST_SERVER names it, and of that one's arguments it heeds
 * --unixsocket. It is up since it was started, has no port, and forgets all when it ends. */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hilock/loop.h>
#include <hilock/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path_of(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--unixsocket") == 0)
            return argv[i + 1];
    fprintf(stderr, "memory_server: --unixsocket is missing\n");
    exit(2);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct hilock_error error = {"no memory"};
    struct hilock_loop loop;
    hilock_memory *memory;
    if (!base || hilock_libevent_loop(&loop, base) != HILOCK_OK ||
        hilock_memory_open(&memory, &loop, HILOCK_MEMORY_OPTIONS(.path = path_of(argc, argv)), &error) != HILOCK_OK) {
        fprintf(stderr, "memory_server: %s\n", error.text);
        return 1;
    }
    hilock_memory_restart(memory, 1);
    return event_base_dispatch(base) < 0;
}
