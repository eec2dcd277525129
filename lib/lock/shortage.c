/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage - see shortage.h. */
#include "lock/shortage.h"

#include "base/plant.h"
#include "lock/gate.h"

enum { AGAIN_US = 50000 };

static void on_timer(void *arg)
{
    struct hl_core *core = arg;
    struct hl_host *host = &core->host;
    hl_host_enter(host);
    core->is_short = 0;
    hl_gates_advance(core);
    hl_host_leave(host);
}

int hl_shortage_init(struct hl_core *core)
{
    core->shortage_timer = hl_timer_new(&core->host, on_timer, core);
    return core->shortage_timer ? 0 : -1;
}

void hl_shortage_done(struct hl_core *core)
{
    hl_timer_free(&core->host, core->shortage_timer);
    core->shortage_timer = NULL;
}

void hl_shortage_begin(struct hl_core *core)
{
    if (!core->is_short && !HL_PLANTED(SHORTAGE_FOREVER))
        hl_timer_start(&core->host, core->shortage_timer, AGAIN_US);
    core->is_short = 1;
}
