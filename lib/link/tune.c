/* SPDX-License-Identifier: BSD-3-Clause */
/* tune - see tune.h. */
#include "link/tune.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KEEPALIVE_IDLE_S = 15, KEEPALIVE_INTERVAL_S = 5, KEEPALIVE_PROBES = 3 };

void hl_tune_socket(redisContext *context, int is_tcp)
{
    static const int options[][3] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                                     {SOL_SOCKET, SO_KEEPALIVE, 1},
                                     {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
                                     {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
                                     {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES}};
    int moved = context->fd == 0 ? fcntl(0, F_DUPFD_CLOEXEC, 1) : -1; /* stdin was closed; 0.14.1 takes 0 for none:
                                                                         it would never close it */
    if (moved > 0)
        context->fd = moved, close(0);
    fcntl(context->fd, F_SETFD, FD_CLOEXEC);
    for (size_t i = 0; is_tcp && i < sizeof options / sizeof *options; i++)
        setsockopt(context->fd, options[i][0], options[i][1], &options[i][2], sizeof options[i][2]);
}
