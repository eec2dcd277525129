/* SPDX-License-Identifier: BSD-3-Clause */
/* server - see server.h. Its keys stay in small lists, whose order is defined, and expired ones stay until they are asked for: what a real
 * server does in the background at a time of its own choice cannot be compared. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000, POLL_MS = 10, PATH_ROOM = 96 };

static void path_of(const struct server *server, const char *name, char ret_path[PATH_ROOM])
{
    snprintf(ret_path, PATH_ROOM, "%s/%s", server->directory, name);
}

static void fail(struct server *server, const char *what)
{
    fprintf(stderr, "lockstep: %s: %s\n", what, strerror(errno));
    server_stop(server);
    exit(2);
}

static void make_clock(struct server *server, uint64_t wall_us)
{
    char path[PATH_ROOM];
    void *map = MAP_FAILED;
    int file;
    path_of(server, "clock", path);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0 && ftruncate(file, sizeof *server->wall_us) == 0)
        map = mmap(NULL, sizeof *server->wall_us, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        fail(server, "cannot share a clock with the server");
    close(file);
    server->wall_us = map;
    server_set_time(server, wall_us);
}

static void run(const struct server *server, const char *program, const char *shim)
{
    char socket_path[PATH_ROOM], clock[PATH_ROOM], log[PATH_ROOM];
    int file;
    path_of(server, "socket", socket_path);
    path_of(server, "clock", clock);
    path_of(server, "log", log);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("HILOCK_WALL_CLOCK", clock, 1);
    setenv("LD_PRELOAD", shim, 1);
    file = open(log, O_WRONLY | O_CREAT, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execl(program, program, "--port", "0", "--unixsocket", socket_path, "--save", "", "--appendonly", "no", "--dir", server->directory,
          "--enable-debug-command", "yes", "--hash-max-listpack-entries", "100000", "--hash-max-listpack-value", "100000",
          "--zset-max-listpack-value", "100000", (char *)NULL);
    _exit(127);
}

static void print_log(const struct server *server)
{
    char path[PATH_ROOM], line[256];
    FILE *log;
    path_of(server, "log", path);
    log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log))
        fprintf(stderr, "  %s", line);
    if (log)
        fclose(log);
}

redisContext *server_connect(const struct server *server)
{
    char path[PATH_ROOM];
    redisContext *context;
    path_of(server, "socket", path);
    context = redisConnectUnix(path);
    if (context && context->err) {
        redisFree(context);
        return NULL;
    }
    return context;
}

static redisContext *await(struct server *server)
{
    for (int waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += POLL_MS) {
        redisContext *context = server_connect(server);
        if (context)
            return context;
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
            server->pid = 0;
            break;
        }
        usleep(POLL_MS * 1000);
    }
    print_log(server);
    errno = 0;
    fail(server, "the server did not start; its log is above");
    return NULL;
}

static void prepare(struct server *server, redisContext *context)
{
    redisReply *info = redisCommand(context, "INFO server"), *set = redisCommand(context, "DEBUG SET-ACTIVE-EXPIRE 0");
    const char *version = info && info->type == REDIS_REPLY_STRING ? strstr(info->str, "redis_version:") : NULL;
    snprintf(server->version, sizeof server->version, "%.*s", version ? (int)strcspn(version, "\r") : 7, version ? version : "unknown");
    if (!set || set->type != REDIS_REPLY_STATUS)
        fail(server, "the server refuses DEBUG SET-ACTIVE-EXPIRE");
    freeReplyObject(info);
    freeReplyObject(set);
    redisFree(context);
}

void server_start(struct server *server, const char *program, const char *shim, uint64_t wall_us)
{
    const char *parent = getenv("TMPDIR");
    *server = (struct server){0};
    snprintf(server->directory, sizeof server->directory, "%s/hilock-XXXXXX", parent && strlen(parent) < 40 ? parent : "/tmp");
    if (!mkdtemp(server->directory))
        fail(server, "cannot make a temporary directory");
    make_clock(server, wall_us);
    server->pid = fork();
    if (server->pid < 0)
        fail(server, "cannot fork");
    if (server->pid == 0)
        run(server, program, shim);
    prepare(server, await(server));
}

void server_set_time(struct server *server, uint64_t wall_us) { __atomic_store_n(server->wall_us, wall_us, __ATOMIC_RELEASE); }

void server_stop(struct server *server)
{
    static const char *const names[] = {"clock", "log", "socket"};
    char path[PATH_ROOM];
    if (server->pid > 0) {
        kill(server->pid, SIGKILL);
        waitpid(server->pid, NULL, 0);
    }
    if (server->wall_us)
        munmap((void *)server->wall_us, sizeof *server->wall_us);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(server, names[i], path);
        unlink(path);
    }
    rmdir(server->directory);
    server->pid = 0;
    server->wall_us = NULL;
}
