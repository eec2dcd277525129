/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock-bench.c - measures time and memory: one program, with one file for each scenario.
 * usage: hilock-bench SCENARIO [options]
 *
 * To add a scenario, add a file with a struct scenario, and its name to scenario.h and to the table below. The head of
 * each file describes what its scenario measures, and compares with; README.md explains how to read the figures. */
#include "scenario.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct scenario *const scenarios[] = {&scenario_pairs, &scenario_hot, &scenario_handover,
                                                   &scenario_multi, &scenario_waiters, &scenario_blocking,
                                                   &scenario_storm, &scenario_succession, &scenario_asleep,
                                                   &scenario_memory, &scenario_readers};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static int help(void)
{
    printf("usage: hilock-bench SCENARIO [options]\n");
    for (unsigned i = 0; i < SCENARIOS; i++) {
        printf("\n%s: %s\n", scenarios[i]->name, scenarios[i]->what);
        options_describe(scenarios[i]->options);
    }
    return 0;
}

static const struct scenario *find(const char *name)
{
    for (unsigned i = 0; i < SCENARIOS; i++)
        if (strcmp(scenarios[i]->name, name) == 0)
            return scenarios[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const struct scenario *scenario = argc > 1 ? find(argv[1]) : NULL;
    int status;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return help();
    if (!scenario) {
        fprintf(stderr, "hilock-bench: %s; see --help\n", argc > 1 ? "no such scenario" : "name a scenario");
        return 2;
    }
    if (options_read(scenario->options, argc - 2, argv + 2) != 0)
        return 2;
    signal(SIGPIPE, SIG_IGN); /* because the sockets of the bare loops can raise it */
    status = scenario->run();
    libevent_global_shutdown();
    return status == 0 ? 0 : 1;
}
