/* SPDX-License-Identifier: BSD-3-Clause */
/* busy - see busy.h. */
#include "world/busy.h"

static void await(struct busy *busy)
{
    struct world *world = busy->store->world;
    if (!TAILQ_EMPTY(&busy->line) && !busy->next.place)
        world_start(world, &busy->next, busy->free_us > world->now_us ? busy->free_us : world->now_us);
}

static void note_wait(struct busy *busy, const struct hl_link *link)
{
    const struct message *request = TAILQ_FIRST(&link->there);
    uint64_t waited_us = request && request->at_us < busy->store->world->now_us ? busy->store->world->now_us - request->at_us : 0;
    if (waited_us > busy->waited_us)
        busy->waited_us = waited_us;
}

static void on_next(void *arg)
{
    struct busy *busy = arg;
    struct hl_link *link = TAILQ_FIRST(&busy->line);
    if (!link)
        return;
    busy_forget(link);
    note_wait(busy, link);
    busy->took_us = 0;
    net_serve(link, 1);
    busy->took_us = 0;
    await(busy);
}

void busy_init(struct busy *busy, struct store *store, uint64_t (*takes_us)(void *arg, const struct message *request, uint64_t touched), void *arg)
{
    *busy = (struct busy){.store = store, .takes_us = takes_us, .arg = arg};
    TAILQ_INIT(&busy->line);
    world_event_init(&busy->next, &store->lane, on_next, busy);
    store->busy = busy;
}

int busy_stands_in_line(struct hl_link *link)
{
    struct busy *busy = link->peer ? link->peer->store->busy : NULL;
    if (!busy)
        return 0;
    if (!link->is_in_line)
        TAILQ_INSERT_TAIL(&busy->line, link, in_line);
    link->is_in_line = 1;
    await(busy);
    return 1;
}

void busy_forget(struct hl_link *link)
{
    if (link->is_in_line)
        TAILQ_REMOVE(&link->peer->store->busy->line, link, in_line);
    link->is_in_line = 0;
}

void busy_took(struct store *store, const struct message *request, uint64_t touched)
{
    struct busy *busy = store->busy;
    if (!busy)
        return;
    busy->took_us = busy->takes_us(busy->arg, request, touched);
    busy->free_us = store->world->now_us + busy->took_us;
}

uint64_t busy_us(const struct store *store) { return store->busy ? store->busy->took_us : 0; }
