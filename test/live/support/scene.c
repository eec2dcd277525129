/* SPDX-License-Identifier: BSD-3-Clause */
/* scene - see scene.h. */
#include "scene.h"

#include <stdlib.h>

static int begin(void **state, int with_port)
{
    struct scene *scene = calloc(1, sizeof *scene);
    CHECK(scene != NULL);
    scene->test = *state;
    scene->server = with_port ? server_start_with_port(NULL) : server_start(NULL);
    scene->redis = redis_open(scene->server);
    *state = scene;
    return 0;
}

int scene_begin(void **state) { return begin(state, 0); }

int scene_begin_with_port(void **state) { return begin(state, 1); }

static int nobody_is_there(void *arg) { return redis_clients(arg) == 0 && redis_count(arg, "PUBSUB CHANNELS") == 0; }

/* Connections first: the server sees their end a little later than the client makes it. */
void scene_check_clean(struct redis *redis)
{
    check_until(nobody_is_there, redis, "the clients' connections and subscriptions to end");
    CHECK(redis_lock_keys(redis) == 0);
}

/* Here, and not in teardown: that runs after a failure as well, when clients are still open and traces tell nothing. */
void scene_run(void **state)
{
    struct scene *scene = *state;
    scene->test->run(state);
    scene_check_clean(scene->redis);
}

/* A test that failed may have left its server suspended. */
int scene_end(void **state)
{
    struct scene *scene = *state;
    if (scene->server->pid)
        server_resume(scene->server);
    if (!scene->test)
        scene_check_clean(scene->redis);
    redis_close(scene->redis);
    server_end(scene->server);
    free(scene);
    return 0;
}

static int nobody_listens(void *arg) { return redis_channels(arg) == 0; }

void scene_until_unsubscribed(struct scene *scene, struct client *client)
{
    client_until(client, nobody_listens, scene->redis, "subscriptions to end");
}
