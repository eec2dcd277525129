/* SPDX-License-Identifier: BSD-3-Clause */
/* recent - see recent.h. A ring: a new one replaces the oldest, unless that is on the wire. */
#include "lock/recent.h"

#include "base/plant.h"
#include "base/quote.h"
#include "lock/gate.h"
#include "wire/queued.h"

enum { RECENT_MAX = 1024, TRIES_MAX = 3, REFUSED_US = 200000 };

struct released {
    struct hl_request request; /* first: found from it */
    struct hl_core *core;
    struct hl_name *name;      /* NULL: never used; referenced */
    const struct hl_kind *kind;
    uint64_t id, at_us, lasts_us; /* lasts: the lease, and the time that a place in a queue lasts */
    uint64_t until_us;            /* after its repetition: until when that matters */
    unsigned tries;
    int is_refused;               /* refused for now: repeated in a moment */
    enum hl_form form;
};

struct hl_recent {
    void *timer;
    int is_waiting; /* it runs */
    unsigned next;
    struct released ring[RECENT_MAX];
};

static void about(const struct hl_request *request, struct hl_about *ret)
{
    const struct released *released = (const struct released *)(const void *)request;
    *ret = (struct hl_about){released->name->bytes, released->name->length, released->name->master};
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    struct released *released = (struct released *)(void *)request;
    const struct hl_target words =
        {released->name->bytes, released->name->length, released->core->uuid, released->id, released->core->label};
    const struct hl_params params =
        {.natives = request->node->natives, .is_sharded = request->node->subscription.is_sharded,
         .token_ttl_ms = released->core->limits.token_ttl_ms};
    released->form = released->kind->release(command, &words, &params);
}

static void submit(struct released *released)
{
    released->tries++;
    hl_route_submit(released->core->route, &released->request, released->core->limits.command_timeout_ms,
                    HL_REQUEST_URGENT);
}

/* A new master may not be writable at once: it loads, or waits for replicas. */
static int is_for_now(const struct hl_response *said)
{
    return said->result == HL_AGAIN || (said->result == HL_FAULT && said->fault.kind == HL_FAULT_PASSING);
}

static void say_later(struct released *released)
{
    struct hl_core *core = released->core;
    released->is_refused = 1;
    if (!core->recent->is_waiting)
        hl_timer_start(&core->host, core->recent->timer, REFUSED_US);
    core->recent->is_waiting = 1;
}

static void on_timer(void *arg)
{
    struct hl_core *core = arg;
    struct hl_host *host = &core->host;
    hl_host_enter(host);
    core->recent->is_waiting = 0;
    for (unsigned i = 0; i < RECENT_MAX; i++) {
        struct released *released = &core->recent->ring[i];
        if (!released->is_refused)
            continue;
        released->is_refused = 0;
        released->tries = 0;
        submit(released);
    }
    hl_host_leave(host);
}

static void done(struct hl_request *request, const struct hl_answer *answer)
{
    struct released *released = (struct released *)(void *)request;
    struct hl_text detail;
    struct hl_response said;
    if (!answer->reply && released->tries < TRIES_MAX)
        submit(released);
    if (!answer->reply)
        return;
    said = released->kind->released(answer->reply, released->form);
    if (is_for_now(&said) && hl_now_us(&released->core->host) < released->until_us &&
        !HL_PLANTED(LOST_RELEASES_SAID_ONCE))
        say_later(released);
    if (said.result != HL_YES)
        return;
    hl_text_set(&detail, "a release of \"%s\" had been acknowledged, and was lost in the failover: it is repeated",
                hl_quote(released->name->bytes, released->name->length).bytes);
    hl_trace(&released->core->host, HL_RELEASE_SETTLED,
             &(struct hl_fact){.name = released->name->bytes, .detail = detail.bytes});
}

static struct hl_recent *recent_of(struct hl_core *core)
{
    struct hl_recent *recent = core->recent ? core->recent : hl_memory_new(&core->host.memory, sizeof *recent);
    if (!recent || core->recent)
        return recent;
    recent->timer = hl_timer_new(&core->host, on_timer, core);
    if (recent->timer)
        return core->recent = recent;
    hl_memory_free(&core->host.memory, recent);
    return NULL;
}

static uint64_t lasts_us(const struct hl_terms *terms)
{
    return hl_terms_lease_us(terms) +
           (terms->kind->has_queue ? (uint64_t)(HL_FAIR_ALIVE_MS + HL_FAIR_WINDOW_MS) * 1000 : 0);
}

void hl_recent_add(struct hl_core *core, const struct hl_hold *hold)
{
    static const struct hl_request_ops ops = {about, encode, done};
    struct released *released;
    if (!(core->route->ops->can_forget || hold->terms->kind->has_queue) || !recent_of(core))
        return;
    released = &core->recent->ring[core->recent->next];
    if (hl_request_is_busy(&released->request))
        return;
    core->recent->next = (core->recent->next + 1) % RECENT_MAX;
    if (released->name)
        hl_name_unref(core, &core->host.memory, released->name);
    *released =
        (struct released){.request.ops = &ops, .core = core, .name = hold->name, .kind = hold->terms->kind,
                          .id = hold->id, .at_us = hl_now_us(&core->host), .lasts_us = lasts_us(hold->terms)};
    hold->name->refs++;
}

/* Is the name now at another server than the one that acknowledged its release? */
static int has_moved(struct hl_core *core, const struct released *released)
{
    return hl_name_node(core, released->name)->moved_us >= released->at_us;
}

static void say_again(struct released *released)
{
    released->tries = 0;
    released->is_refused = 0;
    released->until_us = hl_now_us(&released->core->host) + released->lasts_us;
    submit(released);
}

/* Its lease and its place in a queue have ended by now, even at a server where they came back. */
static int is_over(const struct released *released)
{
    return released->at_us + released->lasts_us < hl_now_us(&released->core->host);
}

/* Repeated at that run: once is enough. */
static int was_said_since(const struct released *released, uint64_t since_us)
{
    return released->until_us && released->until_us - released->lasts_us >= since_us;
}

void hl_recent_at(struct hl_core *core, const struct hl_node *node)
{
    uint64_t since_us = node->server_info.started_us > 0 ? (uint64_t)node->server_info.started_us : 0;
    for (unsigned i = 0; core->recent && i < RECENT_MAX; i++) {
        struct released *released = &core->recent->ring[i];
        int is_older = released->name && released->at_us <= since_us && !is_over(released);
        if (!is_older || was_said_since(released, since_us) || hl_request_is_busy(&released->request) ||
            HL_PLANTED(LOST_RELEASES_IGNORED))
            continue;
        if (hl_name_node(core, released->name) == node)
            say_again(released);
    }
}

void hl_recent_again(struct hl_core *core)
{
    for (unsigned i = 0; core->recent && i < RECENT_MAX; i++) {
        struct released *released = &core->recent->ring[i];
        if (!released->name || !has_moved(core, released) || hl_request_is_busy(&released->request) ||
            is_over(released) || HL_PLANTED(LOST_RELEASES_IGNORED))
            continue;
        say_again(released);
    }
}

void hl_recent_free(struct hl_core *core)
{
    for (unsigned i = 0; core->recent && i < RECENT_MAX; i++)
        if (core->recent->ring[i].name)
            hl_name_unref(core, &core->host.memory, core->recent->ring[i].name);
    if (core->recent)
        hl_timer_free(&core->host, core->recent->timer);
    hl_memory_free(&core->host.memory, core->recent);
    core->recent = NULL;
}
