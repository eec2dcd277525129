/* SPDX-License-Identifier: BSD-3-Clause */
/* rewritten SOCKET - the steps of commands.py, played by live/support/java.c, Redisson's RLock as the live tests rewrite it. One line an
 * answer; before each step the server gets its number, so that its commands can be assigned. */
#include <stdio.h>

#include "live/support/check.h"
#include "live/support/java.h"
#include "live/support/server.h"

enum { LEASE_MS = 30000 };

static const char *locked(long long answer) { return answer == JAVA_HAD ? "true" : "false"; }
static const char *unlocked(long long answer) { return answer == JAVA_HAD ? "error" : "ok"; }

int main(int argc, char **argv)
{
    static const char his[] = "6f1c2a3b-0000-4000-8000-00000000beef:57", another[] = "6f1c2a3b-0000-4000-8000-00000000beef:58";
    static const struct { const char *holder; int is_unlock; } steps[] = {{his, 0}, {his, 0}, {another, 0}, {another, 1}, {his, 1}, {his, 1}};
    struct server server = {.socket = ""};
    struct redis *redis;
    if (argc != 2)
        return 2;
    snprintf(server.socket, sizeof server.socket, "%s", argv[1]);
    redis = redis_open(&server);
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        redis_do(redis, "ECHO step:%u", i);
        puts(steps[i].is_unlock ? unlocked(java_unlock(redis, "stock", steps[i].holder, LEASE_MS)) : locked(java_lock(redis, "stock", steps[i].holder, LEASE_MS)));
    }
    redis_close(redis);
    return 0;
}
