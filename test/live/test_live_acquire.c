/* SPDX-License-Identifier: BSD-3-Clause */
/* A free lock: what acquire and release leave on the wire and at the server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/scene.h"

static void leaves_only_the_token(void **state)
{
    struct scene *scene = *state;
    struct client client;
    struct handle stock;
    client_open(&client, scene->server->url);
    handle_open(&stock, &client, "stock:42", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_TRY), HILOCK_OK);
    assert_int_equal(redis_lock_keys(scene->redis), 1);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    assert_int_equal(redis_lock_keys(scene->redis), 0);
    handle_free(&stock);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE_TEST(leaves_only_the_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
