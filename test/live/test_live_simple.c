/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind SIMPLE beside another program: redis-py's Lock keeps us out and is kept out, in contention. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fixture.h"

enum { ROUNDS = 30 };

/* Inside, a counter must read 1: two holders at once would see each other there. */
static const char python[] = "import sys, time, redis\n"
                             "from redis.lock import Lock\n"
                             "r = redis.Redis(unix_socket_path=sys.argv[1])\n"
                             "for i in range(int(sys.argv[2])):\n"
                             "    with Lock(r, 'stock', timeout=60, sleep=0.002):\n"
                             "        if r.incr('inside') != 1: sys.exit(3)\n"
                             "        time.sleep(0.001)\n"
                             "        r.decr('inside')\n"
                             "    time.sleep(0.002)\n"
                             "r.incr('through')\n";

/* The system's own comes second: another may stand before it in PATH. NULL: none has the module. */
static const char *python_with_redis(void)
{
    if (system("python3 -c 'from redis.lock import Lock' >/dev/null 2>&1") == 0)
        return "python3";
    return system("/usr/bin/python3 -c 'from redis.lock import Lock' >/dev/null 2>&1") == 0 ? "/usr/bin/python3" : NULL;
}

static int has_asked_in_vain(void *redis) { return redis_calls(redis, "set") >= 3; } /* once we, and then twice the other */

static int is_skipped;

static void contends_with_redis_py(struct fixture *fixture)
{
    struct client client;
    struct handle stock;
    const char *program = python_with_redis();
    char rounds[16];
    int status = 0;
    if (!program) {
        assert_null(getenv("CI")); /* there it is installed, and must run */
        is_skipped = 1;
        return;
    }
    client_open(&client, fixture->server->url);
    handle_open(&stock, &client, "stock",
                HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .lease_ms = 60000, .poll_min_ms = 1, .poll_jitter_ms = 2));
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
    snprintf(rounds, sizeof rounds, "%d", ROUNDS);
    pid_t pid = fork();
    if (pid == 0) {
        execlp(program, program, "-c", python, fixture->server->socket, rounds, (char *)NULL);
        _exit(127);
    }
    client_until(&client, has_asked_in_vain, fixture->redis, "redis-py");
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
        assert_int_equal(redis_integer(fixture->redis, "INCR inside"), 1);
        client_for_ms(&client, 1);
        assert_int_equal(redis_integer(fixture->redis, "DECR inside"), 0);
        assert_int_equal(handle_give(&stock), HILOCK_OK);
        client_for_ms(&client, 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(redis_integer(fixture->redis, "DEL through"), 1);
    redis_do(fixture->redis, "DEL inside");
    client_end(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {FIXTURE_TEST(contends_with_redis_py)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed && is_skipped)
        puts("python3-redis is not installed: its Lock was not tried");
    return failed || !is_skipped ? failed : 77;
}
