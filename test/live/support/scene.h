/* SPDX-License-Identifier: BSD-3-Clause */
/* scene - what most live tests begin and end with: a server of their own and a connection to look at it. The end of every scene checks that
 * clients leave no trace: only token keys are left, nobody listens, no connection of a client is open. cmocka runs it as setup and teardown:
 * cmocka_unit_test_setup_teardown(test, scene_begin, scene_end), or SCENE_TEST(test). */
#ifndef LIVE_SCENE_H
#define LIVE_SCENE_H

#include "check.h"
#include "client.h"
#include "redis.h"
#include "server.h"

struct scene {
    struct server *server;
    struct redis *redis;
    int is_dirty; /* set by a test that leaves foreign keys on purpose */
};

#define SCENE_TEST(test) cmocka_unit_test_setup_teardown(test, scene_begin, scene_end)

int scene_begin(void **state);
int scene_begin_with_port(void **state);
int scene_end(void **state);

/* What scene_end checks, for a test that wants it earlier, or of another database or server. */
void scene_check_clean(struct redis *redis);

/* Where redis_channels is 0 at last, while this client goes on: what lingered has gone. */
void scene_until_unsubscribed(struct scene *scene, struct client *client);

#endif
