/* SPDX-License-Identifier: BSD-3-Clause */
/* queue - what is special to names of kind FAIR: whose ticket comes first (I7), how many are served before one who waits (I11), and what must have
 * happened to a queue. God's view: the tickets
 * are read from the waits, and grants from what the store says on its channels. */
#include "lock/fair.h"
#include "sim.h"

enum { SETTLED_US = 1500000, LINKED_US = 4000000 }; /* for so long it has been able to hear of grants; after the heal every link is found dead or good in this time */

static struct hl_fair *wait_of(const struct sim_actor *actor)
{
    struct hl_acquire *acquire = actor->state == ACTOR_WAITS && actor->lock ? actor->lock->acquire : NULL;
    struct hl_fair *fair = acquire ? hl_fair_of(acquire) : NULL;
    return fair && (acquire->state == ACQUIRE_ASKING || acquire->state == ACQUIRE_SLEEPING) ? fair : NULL;
}

size_t sim_queue_holder(const struct sim_actor *actor, uint64_t id, char holder[HL_HOLDER_MAX])
{
    const char *uuid = actor->process->client->core.uuid;
    return hl_holder_write(holder, uuid, id);
}

void sim_queue_asks(struct sim_actor *actor)
{
    actor->ticket = 0;
    actor->was_pushed = 0;
    actor->overtaken = 0;
}

void sim_queue_turned(struct sim_actor *actor)
{
    const struct hl_fair *fair = wait_of(actor);
    if (fair)
        actor->ticket = fair->ticket;
}

/* 0: it is decided. */
static uint64_t id_of(const struct hl_fair *fair) { return fair->acquire.hold ? fair->acquire.hold->id : 0; }

static void on_push(struct sim *sim, const char *text, size_t length)
{
    for (unsigned i = 0; i < sim->actors_count; i++) {
        struct sim_actor *actor = &sim->actors[i];
        const struct hl_fair *fair = wait_of(actor);
        char holder[HL_HOLDER_MAX];
        size_t holder_length = fair ? sim_queue_holder(actor, id_of(fair), holder) : 0;
        if (fair && length > 2 + holder_length && memcmp(text + 2, holder, holder_length) == 0)
            actor->was_pushed = 1;
    }
}

void sim_queue_said(struct sim *sim, const struct sim_reply *push)
{
    const struct sim_reply *text = &push->items[2];
    if (text->type != SIM_REPLY_STRING || text->length < 2 || text->bytes[1] != ' ')
        return;
    sim->world.sometimes[SIM_FAIR_YIELDED] += text->bytes[0] == 'F';
    if (text->bytes[0] == 'G')
        on_push(sim, text->bytes, text->length);
}

/* It could have been granted instead: it stands in the queue, nothing has befallen it, and no grant has been made to it that lapsed. NULL: it could not. */
static const struct hl_fair *could_have_it(const struct sim *sim, const struct sim_actor *actor, const struct sim_actor *other)
{
    const struct hl_fair *fair = other == actor || other->name != actor->name ? NULL : wait_of(other);
    uint64_t calm_us = !sim->swarm.mean_gap_us ? 1 : sim->healed_us ? sim->healed_us + LINKED_US : 0, since_us = sim->world.time.now_us - SETTLED_US;
    uint64_t settled_us = sim->names[actor->name].unsettled_us; /* whose channel was left behind by a slot is deaf until its next heartbeat */
    if (calm_us && settled_us && settled_us + LINKED_US > calm_us)
        calm_us = settled_us + LINKED_US;
    if (!fair || !fair->ticket || other->was_pushed || sim->world.time.now_us < SETTLED_US || !calm_us || calm_us > since_us)
        return NULL;
    return other->asked_us < since_us && other->asked_us > calm_us && other->process->frozen_until_us < calm_us && !sim_process_is_frozen(other->process) ? fair : NULL;
}

/* It was there before, and could hear of its grant. */
static int was_passed_over(const struct sim *sim, const struct sim_actor *actor, const struct sim_actor *other)
{
    const struct hl_fair *fair = could_have_it(sim, actor, other);
    return fair && !fair->is_polling && (actor->ticket ? fair->ticket < actor->ticket : other->asked_us + SETTLED_US < actor->asked_us);
}

/* Each of the others may be before it once, and once more while it is not known to the store. */
static unsigned others_max(const struct sim *sim, const struct sim_actor *actor)
{
    unsigned others = 0;
    for (unsigned i = 0; i < sim->actors_count; i++)
        others += &sim->actors[i] != actor && sim->actors[i].name == actor->name;
    return 2 * others;
}

/* Who polls from far behind asks seldom: what it was granted meanwhile has lapsed, and nobody saw it. It counts from when it knows that it is next. */
static void check_bound(struct sim *sim, const struct sim_actor *actor, struct sim_actor *other)
{
    const struct hl_fair *fair = could_have_it(sim, actor, other);
    if (!fair || (fair->is_polling && fair->position != 1) || ++other->overtaken <= others_max(sim, other))
        return;
    sim_violate(&sim->world, "I11", "p%u.%u waits for %s, and others had it %u times", other->process->index, other->index, sim->names[other->name].text,
                other->overtaken);
}

void sim_queue_granted(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    const struct hl_hold *hold = actor->lock->hold;
    if (actor->kind != HILOCK_FAIR)
        return;
    sim->world.sometimes[SIM_FAIR_GRANTED]++;
    sim->world.sometimes[SIM_FAIR_PUSHED] += hold->is_windowed;
    sim->world.sometimes[SIM_FAIR_FOUND] += !hold->is_windowed && actor->was_pushed;
    for (unsigned i = 0; i < sim->actors_count; i++)
        check_bound(sim, actor, &sim->actors[i]);
    for (unsigned i = 0; i < sim->actors_count; i++)
        if (sim_tainted_us(sim, &sim->names[actor->name]) + 1000000 < actor->begun_us && was_passed_over(sim, actor, &sim->actors[i]))
            sim_violate(&sim->world, "I7", "p%u.%u has %s, and p%u.%u, who came before, still waits", actor->process->index, actor->index,
                        sim->names[actor->name].text, sim->actors[i].process->index, sim->actors[i].index);
}

void sim_queue_dies(struct sim_actor *actor) { actor->process->sim->world.sometimes[SIM_FAIR_DIED] += wait_of(actor) != NULL; }

void sim_queue_leaves(const struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    const struct hl_fair *fair = wait_of(actor);
    const char *name = sim->names[actor->name].text;
    char holder[HL_HOLDER_MAX];
    size_t length;
    if (!fair)
        return;
    length = sim_queue_holder(actor, id_of(fair), holder);
    sim->world.sometimes[SIM_FAIR_CROSSED] += sim_store_hash_get(sim_decides(sim, &sim->names[actor->name], 0)->server.store, name, strlen(name), holder, length, &length) != NULL;
}
