/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.h - what a scenario runs on: the server that --url names, or a private one, and connections that ask it. */
#ifndef BENCH_STAGE_H
#define BENCH_STAGE_H

#include "commands.h"
#include "server.h"

struct redisContext;

struct stage {
    struct server server;
    struct redisContext *store;
    struct commands *commands;
};

/* The server alone, which may also be a cluster; server_stop() ends it. -1: reported on stderr. */
int stage_server(struct server *ret_server);

int stage_open(struct stage *ret_stage);  /* -1: reported on stderr */
void stage_close(struct stage *stage);    /* also after an open that failed, or none */

#endif
