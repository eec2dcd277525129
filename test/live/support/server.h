/* SPDX-License-Identifier: BSD-3-Clause */
/* server - a private redis-server: on a unix socket in a temporary directory of its own, and on a free loopback port if asked, by TLS if its
 * arguments give it a certificate. It is ended by its process id, and never outlives the test: at exit what still runs is killed and its
 * directory removed, and if the test itself is killed the kernel kills the server. Start it in the main thread, for that kernel promise holds
 * for the thread that forked. */
#ifndef LIVE_SERVER_H
#define LIVE_SERVER_H

#include <sys/types.h>

struct server {
    char directory[64];
    char socket[96];  /* path of its unix socket */
    char url[160];    /* unix:// with its socket, and a login (secret.h) */
    char tcp_url[96]; /* redis:// or rediss:// with the same at 127.0.0.1:port; "" without a port */
    int port;         /* 0: none */
    pid_t pid;        /* 0: does not run */
    const char *const *arguments;
    const char *config; /* text of a configuration file it begins with, as Sentinel needs one; NULL: none */
    struct server *next;
};

/* arguments: more of redis-server's own, ended by NULL, kept by reference for server_restart; NULL: none. Returns once it answers. */
struct server *server_start(const char *const *arguments);
struct server *server_start_with_port(const char *const *arguments);
struct server *server_start_configured(const char *config, const char *const *arguments); /* with a port; config as above, by reference */
void server_end(struct server *server); /* any state; NULL is allowed. Kills it and removes its directory */

/* Both lists in one, each ended by NULL; the second may be NULL. Kept until the test's end. */
const char *const *server_arguments(const char *const *first, const char *const *more);

int server_is_secured(const struct server *server); /* it has a certificate, and speaks only TLS at its port */
int server_port(void); /* one of the loopback that is this process's until it ends */
void server_kill(struct server *server);    /* SIGKILL, reaped: all it knew is gone */
void server_restart(struct server *server); /* after server_kill: same sockets. Returns once it answers */
void server_suspend(struct server *server); /* SIGSTOP; has stopped when it returns */
void server_resume(struct server *server);  /* SIGCONT */

/* forced: another takes over by command, and this one is well */
enum server_fault { SERVER_KILL, SERVER_STOP, SERVER_FORCED, SERVER_FAULTS };
void server_break(struct server *server, enum server_fault fault); /* of one at a time */
void server_mend(void);                                            /* what was broken goes on, or is started again */

#endif
