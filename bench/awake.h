/* SPDX-License-Identifier: BSD-3-Clause */
/* awake.h - keeps the processors from sleeping while something is measured. */
#ifndef BENCH_AWAKE_H
#define BENCH_AWAKE_H

#include <sys/types.h>

enum { AWAKE_MAX = 64 };

struct awake {
    pid_t pids[AWAKE_MAX];
    int count;
};

int awake_start(struct awake *awake); /* -1: reported on stderr, nothing runs */
void awake_stop(struct awake *awake);

#endif
