/* SPDX-License-Identifier: BSD-3-Clause */
/* server - see server.h. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "secret.h"

enum { ARGUMENTS_MAX = 64 };

static struct server *servers; /* those of this process, for the end of it */
static pid_t owner;

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static void reap(struct server *server)
{
    if (server->pid)
        child_kill(server->pid);
    server->pid = 0;
}

static void end_all(void)
{
    if (getpid() != owner)
        return;
    for (struct server *server = servers; server; server = server->next) {
        reap(server);
        nftw(server->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    }
}

/* The socket stays bound, and so the port is given to nobody else, while no server runs too: without it a busy
 * machine sometimes gave the port of a killed server to a stranger's connection. Servers can still listen there, for
 * both sides set SO_REUSEADDR. */
int server_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
          getsockname(fd, (struct sockaddr *)&address, &length) == 0);
    return ntohs(address.sin_port);
}

static void become(const struct server *server, const char *const *argv, pid_t parent)
{
    int log = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
        _exit(127);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    fprintf(stderr, "%s: cannot run %s: %s\n", server->directory, argv[0], strerror(errno));
    _exit(127);
}

/* HILOCK_TEST_SERVER, for another one than the build found: a Valkey, a newer Redis. Else that of HILOCK_REDIS_SERVER. */
static const char *server_program(void)
{
    const char *wanted = getenv("HILOCK_TEST_SERVER"), *found = getenv("HILOCK_REDIS_SERVER");
    return wanted && *wanted ? wanted : found && *found ? found : "redis-server";
}

const char *const *server_arguments(const char *const *first, const char *const *more)
{
    enum { LISTS = 32 };
    static const char *lists[LISTS][ARGUMENTS_MAX];
    static unsigned lists_count;
    const char **list = lists[lists_count++ % LISTS];
    size_t count = 0;
    for (const char *const *one = first; *one; one++)
        list[count++] = *one;
    for (const char *const *one = more; one && *one; one++) {
        CHECK(count < ARGUMENTS_MAX - 1);
        list[count++] = *one;
    }
    list[count] = NULL;
    return list;
}

int server_is_secured(const struct server *server)
{
    for (const char *const *one = server->arguments; one && *one; one++)
        if (strcmp(*one, "--tls-cert-file") == 0)
            return 1;
    return 0;
}

static void launch(struct server *server)
{
    const char *program = server_program();
    char port[8], path[sizeof server->directory + 16];
    const char *configured[ARGUMENTS_MAX] = {program, "conf"};
    const char *argv[ARGUMENTS_MAX] = {configured[0], "--port", server_is_secured(server) ? "0" : port,
                                       "--bind", "127.0.0.1", "--unixsocket", server->socket,
                                       "--unixsocketperm", "700", "--save", "", "--appendonly", "no",
                                       "--dir", server->directory, "--daemonize", "no"};
    size_t count = 17;
    pid_t parent = getpid();
    snprintf(port, sizeof port, "%d", server->port);
    if (server_is_secured(server)) {
        argv[count++] = "--tls-port";
        argv[count++] = port;
    }
    for (const char *const *more = server->arguments; more && *more; more++) {
        CHECK(count < ARGUMENTS_MAX - 1);
        argv[count++] = *more;
    }
    if (server->config) {
        CHECK(count < ARGUMENTS_MAX - 2);
        memcpy(configured + 2, argv + 1, count * sizeof *argv);
        snprintf(path, sizeof path, "%s/conf", server->directory);
        FILE *file = access(path, F_OK) == 0 ? NULL : fopen(path, "we"); /* one that is there has been rewritten by the server: it stays */
        if (file && (fputs(server->config, file) < 0 || fclose(file) != 0))
            check_fail("cannot write %s", path);
    }
    unlink(server->socket);
    server->pid = fork();
    CHECK(server->pid >= 0);
    if (server->pid == 0 && chdir(server->directory) == 0)
        become(server, server->config ? configured : argv, parent);
    if (server->pid == 0)
        _exit(127);
}

static void show_log(const struct server *server)
{
    char path[sizeof server->directory + 8], line[512];
    snprintf(path, sizeof path, "%s/log", server->directory);
    FILE *log = fopen(path, "re");
    while (log && fgets(line, sizeof line, log))
        fprintf(stderr, "%s: %s", server_program(), line);
    if (log)
        fclose(log);
}

/* Any answer will do, a demand for a password too; but one that loads, or that has ended, does not. */
static int answers(void *arg)
{
    struct server *server = arg;
    redisContext *context = redisConnectUnix(server->socket);
    redisReply *reply = context && !context->err ? redisCommand(context, "PING") : NULL;
    int is_so = reply && (reply->type != REDIS_REPLY_ERROR || strncmp(reply->str, "LOADING", 7) != 0);
    freeReplyObject(reply);
    if (context)
        redisFree(context);
    if (!is_so && waitpid(server->pid, NULL, WNOHANG) == server->pid) {
        server->pid = 0;
        show_log(server);
        check_fail("redis-server ended at once");
    }
    return is_so;
}

static struct server *server_new(const char *const *arguments)
{
    struct server *server = calloc(1, sizeof *server);
    CHECK(server != NULL);
    strcpy(server->directory, "/tmp/hilock-live-XXXXXX");
    CHECK(mkdtemp(server->directory) != NULL);
    snprintf(server->socket, sizeof server->socket, "%s/redis", server->directory);
    snprintf(server->url, sizeof server->url, "unix://" LIVE_LOGIN "%s", server->socket);
    server->arguments = arguments;
    if (owner != getpid()) {
        owner = getpid();
        servers = NULL;
        atexit(end_all);
    }
    server->next = servers;
    servers = server;
    return server;
}

static void begin(struct server *server)
{
    launch(server);
    check_until(answers, server, "redis-server to answer");
}

struct server *server_start(const char *const *arguments)
{
    struct server *server = server_new(arguments);
    begin(server);
    return server;
}

struct server *server_start_with_port(const char *const *arguments) { return server_start_configured(NULL, arguments); }

struct server *server_start_configured(const char *config, const char *const *arguments)
{
    struct server *server = server_new(arguments);
    server->config = config;
    server->port = server_port();
    snprintf(server->tcp_url, sizeof server->tcp_url, "%s://" LIVE_LOGIN "127.0.0.1:%d",
             server_is_secured(server) ? "rediss" : "redis", server->port);
    begin(server);
    return server;
}

void server_end(struct server *server)
{
    struct server **place = &servers;
    if (!server)
        return;
    reap(server);
    nftw(server->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    while (*place && *place != server)
        place = &(*place)->next;
    if (*place)
        *place = server->next;
    free(server);
}

void server_kill(struct server *server) { reap(server); }

void server_restart(struct server *server)
{
    CHECK(server->pid == 0);
    begin(server);
}

void server_suspend(struct server *server) { child_suspend(server->pid); }

void server_resume(struct server *server) { child_resume(server->pid); }

static struct server *broken;
static enum server_fault broken_by;

void server_break(struct server *server, enum server_fault fault)
{
    broken = fault == SERVER_FORCED ? NULL : server;
    broken_by = fault;
    if (broken)
        (fault == SERVER_STOP ? server_suspend : server_kill)(server);
}

void server_mend(void)
{
    if (broken)
        (broken_by == SERVER_STOP ? server_resume : server_restart)(broken);
    broken = NULL;
}
