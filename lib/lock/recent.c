/* SPDX-License-Identifier: BSD-3-Clause */
/* recent - see recent.h. A ring: the oldest gives way, unless it is on the wire just now. */
#include "lock/recent.h"

#include "base/plant.h"
#include "lock/gate.h"

/* BEFORE: a Sentinel promotes first and tells of it up to seconds later; until then the old master acknowledges what nobody will know. */
enum { RECENT_MAX = 1024, BEFORE_US = 10000000, TRIES_MAX = 3 };

struct released {
    struct hl_request request; /* first: found from it */
    struct hl_core *core;
    struct hl_name *name;      /* NULL: never used; referenced */
    const struct hl_kind *kind;
    uint64_t id, at_us;
    unsigned tries, part;
    enum hl_form form;
};

struct hl_recent {
    unsigned next;
    struct released ring[RECENT_MAX];
};

static void about(const struct hl_request *request, struct hl_about *ret)
{
    const struct released *released = (const struct released *)(const void *)request;
    *ret = (struct hl_about){released->name->bytes, released->name->length, released->part};
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    struct released *released = (struct released *)(void *)request;
    const struct hl_words words = {released->name->bytes, released->name->length, released->core->uuid, released->id};
    const struct hl_wants wants = {.natives = request->node->natives, .is_sharded = request->node->subscription.is_sharded,
                                   .token_ttl_ms = released->core->limits.token_ttl_ms};
    released->form = released->kind->release(command, &words, &wants);
}

static void submit(struct released *released)
{
    released->tries++;
    hl_route_submit(released->core->route, &released->request, released->core->limits.command_timeout_ms, HL_REQUEST_URGENT);
}

static void done(struct hl_request *request, const struct hl_answer *answer)
{
    struct released *released = (struct released *)(void *)request;
    struct hl_text detail;
    if (!answer->reply && released->tries < TRIES_MAX) {
        submit(released);
        return;
    }
    if (!answer->reply || released->kind->released(answer->reply, released->form).verdict != HL_YES)
        return;
    hl_text_set(&detail, "a release of \"%s\" had been acknowledged, and was lost in the failover: it is repeated",
                hl_quote(released->name->bytes, released->name->length).bytes);
    hl_trace(&released->core->host, HL_RELEASE_SETTLED, &(struct hl_fact){.name = released->name->bytes, .detail = detail.bytes});
}

void hl_recent_add(struct hl_core *core, const struct hl_hold *hold, const struct hl_part *part)
{
    static const struct hl_request_ops ops = {about, encode, done};
    struct released *released;
    if (!core->route->ops->can_forget)
        return;
    if (!core->recent && !(core->recent = hl_memory_new(&core->host.memory, sizeof *core->recent)))
        return;
    released = &core->recent->ring[core->recent->next];
    if (hl_request_is_busy(&released->request))
        return;
    core->recent->next = (core->recent->next + 1) % RECENT_MAX;
    if (released->name)
        hl_name_unref(core, &core->host.memory, released->name);
    *released = (struct released){.request.ops = &ops, .core = core, .name = part->name, .kind = hold->terms->kind, .id = hold->id, .part = part->index,
                                  .at_us = hl_now_us(&core->host)};
    part->name->refs++;
}

/* Another server has the name than the one that acknowledged its release. */
static int has_moved(struct hl_core *core, const struct released *released)
{
    return hl_route_node(core->route, released->name->bytes, released->name->length)->moved_us >= released->at_us;
}

void hl_recent_again(struct hl_core *core, uint64_t since_us)
{
    for (unsigned i = 0; core->recent && since_us != UINT64_MAX && i < RECENT_MAX; i++) {
        struct released *released = &core->recent->ring[i];
        if (!released->name || !has_moved(core, released) || hl_request_is_busy(&released->request) || released->at_us + BEFORE_US < since_us || HL_PLANTED(LOST_RELEASES_IGNORED))
            continue;
        released->tries = 0;
        submit(released);
    }
}

void hl_recent_free(struct hl_core *core)
{
    for (unsigned i = 0; core->recent && i < RECENT_MAX; i++)
        if (core->recent->ring[i].name)
            hl_name_unref(core, &core->host.memory, core->recent->ring[i].name);
    hl_memory_free(&core->host.memory, core->recent);
    core->recent = NULL;
}
