/* SPDX-License-Identifier: BSD-3-Clause */
/* scene - what most live tests begin and end with: a server of their own and a connection to look at it. The end of every scene that did
 * not fail before checks that clients leave no trace: only token keys are left, nobody listens, no connection of a client is open. */
#ifndef LIVE_SCENE_H
#define LIVE_SCENE_H

#include "check.h"
#include "client.h"
#include "redis.h"
#include "server.h"

struct scene_test { void (*run)(void **state); };

struct scene {
    struct server *server;
    struct redis *redis;
    const struct scene_test *test; /* NULL: the test is run by cmocka itself, and scene_end looks for traces */
};

/* For the list of tests in main: test(void **state) finds a struct scene in *state. WITH_PORT: its server listens on a loopback port too. */
#define SCENE_TEST(test) {#test, scene_run, scene_begin, scene_end, &(struct scene_test){test}}
#define SCENE_TEST_WITH_PORT(test) {#test, scene_run, scene_begin_with_port, scene_end, &(struct scene_test){test}}

int scene_begin(void **state);
int scene_begin_with_port(void **state);
void scene_run(void **state);
int scene_end(void **state);

/* What a scene's end checks, for a test that wants it earlier, or of another database or server. */
void scene_check_clean(struct redis *redis);

/* Where redis_channels is 0 at last, while this client goes on: what lingered has gone. */
void scene_until_unsubscribed(struct scene *scene, struct client *client);

#endif
