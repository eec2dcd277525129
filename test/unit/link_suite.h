/* SPDX-License-Identifier: BSD-3-Clause */
/* link_suite - a trial that is named once, and runs on each family of sockets, or on TCP alone: TRIAL is connected when
 * it begins, of UNOPENED_TRIAL nothing but the listener is there. */
#ifndef TEST_UNIT_LINK_SUITE_H
#define TEST_UNIT_LINK_SUITE_H

#include <sys/socket.h>

#include "base/memory.h"
#include "link_trial.h"
#include "suite.h"

#define UNOPENED_TRIAL(name)                                                                                    \
    static void name(struct link_trial *trial);                                                                 \
    TEST(name##_on_unix) { link_trial_on("unix", name); }                                                       \
    TEST(name##_on_tcp) { link_trial_on("tcp", name); }                                                         \
    static void name(struct link_trial *trial)

#define TRIAL(name)                                                                                             \
    static void name##_connected(struct link_trial *trial);                                                     \
    UNOPENED_TRIAL(name) { link_suite_run(trial, name##_connected); }                                           \
    static void name##_connected(struct link_trial *trial)

#define TRIAL_ON_TCP(name)                                                                                      \
    static void name##_connected(struct link_trial *trial);                                                     \
    static void name(struct link_trial *trial) { link_suite_run(trial, name##_connected); }                     \
    TEST(name##_on_tcp) { link_trial_on("tcp", name); }                                                         \
    static void name##_connected(struct link_trial *trial)

static inline void link_suite_run(struct link_trial *trial, link_trial_fn *test)
{
    link_trial_connect(trial);
    test(trial);
}

/* Reads, and keeps nothing. */
static inline size_t drain(struct link_trial *trial)
{
    char heap[1 << 14];
    ssize_t got = recv(trial->peer, heap, sizeof heap, MSG_DONTWAIT);
    hl_memory_wipe(heap, sizeof heap);
    return got > 0 ? (size_t)got : 0;
}

/* Turns until exactly this has been reported since the begin. */
static inline void tells(struct link_trial *trial, const char *story)
{
    link_trial_until(trial, story);
    assert_string_equal(trial->told, story);
}

#endif
