/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.c - see stage.h. */
#include "stage.h"

#include "options.h"
#include "store.h"

#include <hiredis/hiredis.h>
#include <stdio.h>

static int fail(const char *why)
{
    fprintf(stderr, "hilock-bench: %s\n", why);
    return -1;
}

int stage_server(struct server *ret_server)
{
    char error[STORE_ERROR_SIZE];
    return server_start(ret_server, options_url, error) == 0 ? 0 : fail(error);
}

int stage_open(struct stage *ret_stage)
{
    char error[STORE_ERROR_SIZE];
    *ret_stage = (struct stage){.store = NULL};
    if (stage_server(&ret_stage->server) != 0)
        return -1;
    if ((ret_stage->store = store_connect(ret_stage->server.url, error)) &&
        (ret_stage->commands = commands_open(ret_stage->server.url, error)))
        return 0;
    return fail(error);
}

void stage_close(struct stage *stage)
{
    commands_close(stage->commands);
    if (stage->store)
        redisFree(stage->store);
    server_stop(&stage->server);
    *stage = (struct stage){.store = NULL};
}
