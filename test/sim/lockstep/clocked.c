/* SPDX-License-Identifier: BSD-3-Clause */
/* clocked - see clocked.h. */
#include "clocked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/support/check.h"

void clocked_set_time(const struct clocked *clocked, uint64_t wall_us) { __atomic_store_n(clocked->wall_us, wall_us, __ATOMIC_RELEASE); }

redisContext *clocked_connect(const struct clocked *clocked)
{
    redisContext *context = redisConnectUnix(clocked->server->socket);
    CHECK(context && !context->err && redisSetTimeout(context, (struct timeval){CHECK_PATIENCE_MS / 1000, 0}) == REDIS_OK);
    return context;
}

void clocked_begin(struct clocked *clocked, const char *shim, uint64_t wall_us)
{
    static const char *const arguments[] = {"--enable-debug-command", "yes", "--hash-max-listpack-entries", "100000", "--hash-max-listpack-value",
                                            "100000", "--zset-max-listpack-value", "100000", NULL};
    int file = memfd_create("clock", 0); /* the server inherits it */
    redisContext *context;
    redisReply *info, *set;
    const char *version;
    char path[32], *shim_path = realpath(shim, NULL); /* the server runs in a directory of its own */
    CHECK(shim_path && file >= 0 && ftruncate(file, sizeof *clocked->wall_us) == 0);
    clocked->wall_us = mmap(NULL, sizeof *clocked->wall_us, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(clocked->wall_us != MAP_FAILED);
    clocked_set_time(clocked, wall_us);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    setenv("HILOCK_WALL_CLOCK", path, 1);
    setenv("LD_PRELOAD", shim_path, 1);
    clocked->server = server_start(arguments);
    unsetenv("LD_PRELOAD");
    free(shim_path);
    context = clocked_connect(clocked);
    info = redisCommand(context, "INFO server");
    set = redisCommand(context, "DEBUG SET-ACTIVE-EXPIRE 0");
    CHECK(info && info->type == REDIS_REPLY_STRING && set && set->type == REDIS_REPLY_STATUS);
    version = strstr(info->str, "redis_version:");
    snprintf(clocked->version, sizeof clocked->version, "%.*s", version ? (int)strcspn(version, "\r") : 7, version ? version : "unknown");
    freeReplyObject(info);
    freeReplyObject(set);
    redisFree(context);
}
