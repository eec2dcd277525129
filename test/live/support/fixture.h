/* SPDX-License-Identifier: BSD-3-Clause */
/* fixture - what most live tests begin and end with: a server of their own and a connection to look at it. The end of every fixture that did
 * not fail before checks that clients leave no trace: only token keys are left, no channel has a listener, no connection of a client is open. */
#ifndef LIVE_FIXTURE_H
#define LIVE_FIXTURE_H

#include "check.h"
#include "client.h"
#include "redis.h"
#include "server.h"

struct fixture_test;

struct fixture {
    struct server *server;
    struct redis *redis;
    const struct fixture_test *test;
};

struct fixture_test { void (*run)(struct fixture *fixture); };

/* LIVE(name) { ... } is a test of unit/suite.h that finds `fixture`. WITH_PORT: its server has a loopback port too. */
#define LIVE(name) LIVE_BEGUN(name, fixture_begin)
#define LIVE_WITH_PORT(name) LIVE_BEGUN(name, fixture_begin_with_port)
#define LIVE_BEGUN(name, begin)                                                                              \
    static void name(struct fixture *fixture);                                                               \
    __attribute__((constructor)) static void add_##name(void)                                                \
    {                                                                                                        \
        static struct fixture_test test = {name};                                                            \
        suite_enter((struct CMUnitTest){#name, fixture_run, begin, fixture_end, &test});                     \
    }                                                                                                        \
    static void name(__attribute__((unused)) struct fixture *fixture)

/* For the list of tests of a main of its own, that are called with a fixture. */
#define FIXTURE_TEST(test) {#test, fixture_run, fixture_begin, fixture_end, &(struct fixture_test){test}}

int fixture_begin(void **state);
int fixture_begin_with_port(void **state);
void fixture_run(void **state);
int fixture_end(void **state);

void fixture_take_down(struct fixture *fixture); /* its server dies */
void fixture_bring_up(struct fixture *fixture);  /* and is there again */

/* What a fixture's end checks, for a test that wants it earlier, or of another database or server. */
void fixture_check_clean(struct redis *redis);

#endif
