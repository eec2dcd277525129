/* SPDX-License-Identifier: BSD-3-Clause */
/* scenario.h - the scenarios that hilock-bench can run: each has a file, and an entry in the table of
 * hilock-bench.c. */
#ifndef BENCH_SCENARIO_H
#define BENCH_SCENARIO_H

#include "options.h"

struct scenario {
    const char *name, *what;
    const struct option_entry *options; /* read before `run` is called */
    int (*run)(void);                   /* 0: done; -1: reported on stderr */
};

extern const struct scenario scenario_pairs, scenario_hot, scenario_handover, scenario_multi, scenario_waiters,
    scenario_blocking, scenario_storm, scenario_succession, scenario_asleep, scenario_memory, scenario_readers;

#endif
