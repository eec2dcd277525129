/* SPDX-License-Identifier: BSD-3-Clause */
/* server.c - the store of one run: a private redis-server, or the one a URL names.
 *
 * The private server is on no network: it listens on a unix socket in a directory that only this user may enter. It
 * keeps nothing on disk, and dies with this process. It has started when it answers PING, and not after a fixed
 * time. A child, the janitor, removes the directory. It waits for the end of a pipe whose other end only this
 * process has. So the directory is removed when the server is stopped, and also when a Ctrl-C, a crash or a kill -9
 * ends this process. Invariant: server->directory exists exactly while it is not "", server->pid and server->janitor
 * run exactly while they are not 0. */
#include "server.h"

#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ERROR_SIZE = 512, PATIENCE_MS = 10000, POLL_MS = 5 };

static void remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(path);
}

static void clean_up_after(const char *path, int leash_fd)
{
    char byte;
    setpgid(0, 0); /* so that the terminal's signals do not reach it */
    while (read(leash_fd, &byte, 1) < 0 && errno == EINTR)
        ;
    remove_directory(path);
    _exit(0);
}

/* Starts the janitor. It is the first child, and the pipe is close-on-exec, so no other process keeps the pipe open. */
static int hire_janitor(struct server *server)
{
    int leash[2];
    if (pipe2(leash, O_CLOEXEC) != 0)
        return -1;
    server->janitor = fork();
    if (server->janitor == 0) {
        close(leash[1]);
        clean_up_after(server->directory, leash[0]);
    }
    close(leash[0]);
    server->leash_fd = leash[1];
    if (server->janitor > 0)
        return 0;
    server->janitor = 0;
    close(leash[1]);
    return -1;
}

static bool answers(const char *socket_path)
{
    static const struct timeval limit = {1, 0};
    redisContext *probe = redisConnectUnixWithTimeout(socket_path, limit);
    redisReply *pong = probe && !probe->err && redisSetTimeout(probe, limit) == REDIS_OK ? redisCommand(probe, "PING")
                                                                                         : NULL;
    bool is_pong = pong && pong->type == REDIS_REPLY_STATUS;
    if (pong)
        freeReplyObject(pong);
    if (probe)
        redisFree(probe);
    return is_pong;
}

static int make_directory(struct server *server, char *ret_error)
{
    const char *parent = getenv("TMPDIR");
    int length = snprintf(server->directory, sizeof server->directory, "%s/hilock-XXXXXX",
                          parent && *parent ? parent : "/tmp");
    if (length >= (int)sizeof server->directory) { /* the path of a socket may have 107 bytes */
        snprintf(ret_error, ERROR_SIZE, "TMPDIR is too long for a unix socket's path: set it to a shorter one");
        server->directory[0] = '\0';
        return -1;
    }
    if (!mkdtemp(server->directory)) {
        snprintf(ret_error, ERROR_SIZE, "cannot make a temporary directory %s: %s", server->directory, strerror(errno));
        server->directory[0] = '\0';
        return -1;
    }
    if (hire_janitor(server) != 0) {
        snprintf(ret_error, ERROR_SIZE, "cannot start a process: %s", strerror(errno));
        remove_directory(server->directory);
        server->directory[0] = '\0';
        return -1;
    }
    return 0;
}

static int spawn(struct server *server, const char *socket_path, char *ret_error)
{
    static const char *const programs[] = {"redis-server", "valkey-server"};
    char log_path[sizeof server->directory + 16];
    int log_fd, why = ENOENT;
    snprintf(log_path, sizeof log_path, "%s/log", server->directory);
    log_fd = open(log_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (size_t i = 0; i < sizeof programs / sizeof *programs && why == ENOENT; i++) {
        const char *const argv[] = {
            programs[i], "--port",       "0",  "--unixsocket", socket_path,       "--unixsocketperm", "700", "--save",
            "",          "--appendonly", "no", "--dir",        server->directory, "--daemonize",      "no",  NULL};
        why = process_start(&server->pid, argv, log_fd);
    }
    if (log_fd >= 0)
        close(log_fd);
    if (why == ENOENT)
        snprintf(ret_error, ERROR_SIZE,
                 "redis-server is not installed: run apt-get install redis-server (or valkey-server), or name a "
                 "running server by its URL");
    else if (why != 0)
        snprintf(ret_error, ERROR_SIZE, "cannot start redis-server: %s", strerror(why));
    return why == 0 ? 0 : -1;
}

/* If a server ended at once, the last line of its log is the best known reason. */
static void quote_log(const struct server *server, char *ret_error)
{
    char path[sizeof server->directory + 16], line[300], last[300] = "it left no word";
    FILE *log;
    snprintf(path, sizeof path, "%s/log", server->directory);
    log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            memcpy(last, line, sizeof last);
    }
    if (log)
        fclose(log);
    snprintf(ret_error, ERROR_SIZE, "redis-server did not start: %s", last);
}

static int await(struct server *server, const char *socket_path, char *ret_error)
{
    static const struct timespec pause = {0, POLL_MS * 1000000};
    for (int waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += POLL_MS) {
        if (answers(socket_path))
            return 0;
        if (process_has_ended(server->pid, NULL)) {
            server->pid = 0;
            break;
        }
        nanosleep(&pause, NULL);
    }
    quote_log(server, ret_error);
    return -1;
}

int server_start(struct server *ret_server, const char *url, char *ret_error)
{
    struct server server = {.pid = 0};
    char socket_path[sizeof server.directory + 16];
    if (url && *url) {
        if (snprintf(server.url, sizeof server.url, "%s", url) >= (int)sizeof server.url) {
            snprintf(ret_error, ERROR_SIZE, "the URL is longer than %zu bytes", sizeof server.url - 1);
            return -1;
        }
        *ret_server = server;
        return 0;
    }
    if (make_directory(&server, ret_error) != 0)
        return -1;
    snprintf(socket_path, sizeof socket_path, "%s/redis.sock", server.directory);
    snprintf(server.url, sizeof server.url, "unix://%s", socket_path);
    if (spawn(&server, socket_path, ret_error) != 0 || await(&server, socket_path, ret_error) != 0) {
        server_stop(&server);
        return -1;
    }
    *ret_server = server;
    return 0;
}

void server_stop(struct server *server)
{
    if (server->pid > 0)
        process_stop(server->pid, PATIENCE_MS);
    if (server->janitor > 0) {
        close(server->leash_fd);
        while (waitpid(server->janitor, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    server->pid = 0;
    server->janitor = 0;
    server->directory[0] = '\0';
}
