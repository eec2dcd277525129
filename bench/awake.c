/* SPDX-License-Identifier: BSD-3-Clause */
/* awake.c - a busy process on each processor that we may use, at the lowest priority there is (SCHED_IDLE).
 *
 * An idle processor is halted, and on a virtual machine waking it costs as much as all the rest of a message from
 * process to process. Servers that need a lock so often have other work. SCHED_IDLE gives the processor up at once to
 * any other process. */
#include "awake.h"

#include "process.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int turn_round(void *arg)
{
    const size_t processor = (size_t)(uintptr_t)arg;
    const struct sched_param none = {0};
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    if (sched_setaffinity(0, sizeof only, &only) != 0 || sched_setscheduler(0, SCHED_IDLE, &none) != 0)
        return 1;
    for (volatile unsigned turns = 0;; turns++)
        ;
}

int awake_start(struct awake *awake)
{
    cpu_set_t ours;
    *awake = (struct awake){.count = 0};
    if (sched_getaffinity(0, sizeof ours, &ours) != 0) {
        perror("hilock-bench: sched_getaffinity");
        return -1;
    }
    for (size_t processor = 0; processor < CPU_SETSIZE && awake->count < AWAKE_MAX; processor++) {
        int why = CPU_ISSET(processor, &ours)
                      ? process_fork(&awake->pids[awake->count], turn_round, (void *)(uintptr_t)processor)
                      : 0;
        if (why != 0) {
            fprintf(stderr, "hilock-bench: fork: %s\n", strerror(why));
            awake_stop(awake);
            return -1;
        }
        awake->count += CPU_ISSET(processor, &ours) ? 1 : 0;
    }
    return 0;
}

void awake_stop(struct awake *awake)
{
    while (awake->count > 0)
        process_stop(awake->pids[--awake->count], 0);
}
