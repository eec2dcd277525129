/* SPDX-License-Identifier: BSD-3-Clause */
/* link_suite - a trial that is named once, and runs on each family of sockets, or on TCP alone. */
#ifndef TEST_UNIT_LINK_SUITE_H
#define TEST_UNIT_LINK_SUITE_H

#include "link_trial.h"
#include "suite.h"

#define TRIAL(name)                                                                                             \
    static void name(struct link_trial *trial);                                                                 \
    TEST(name##_on_unix) { link_trial_on("unix", name); }                                                       \
    TEST(name##_on_tcp) { link_trial_on("tcp", name); }                                                         \
    static void name(struct link_trial *trial)

#define TRIAL_ON_TCP(name)                                                                                      \
    static void name(struct link_trial *trial);                                                                 \
    TEST(name##_on_tcp) { link_trial_on("tcp", name); }                                                         \
    static void name(struct link_trial *trial)

#endif
