/* SPDX-License-Identifier: BSD-3-Clause */
/* queue - what is special to names of kind FAIR: whose ticket comes first (I7), how many are served before one who waits (I11), and what must have
 * happened to a queue. God's view: the tickets
 * are read from the waits, and grants from what the store says on its channels. */
#include "sim.h"
#include "lock/place.h"

/* For so long it has been able to hear of grants; after the heal every link is found dead or good in this time. */
enum { SETTLED_US = 1500000, LINKED_US = 4000000, LOOKED_AT = 64 };

struct hl_queue_place *sim_queue_wait(const struct sim_actor *actor)
{
    struct hl_acquire *acquire = actor->state == ACTOR_WAITS && actor->lock ? actor->lock->acquire : NULL;
    struct hl_queue_place *fair = acquire ? acquire->place : NULL;
    return fair && (acquire->state == ACQUIRE_ASKING || acquire->state == ACQUIRE_SLEEPING) ? fair : NULL;
}

size_t sim_queue_holder(const struct sim_actor *actor, uint64_t id, char holder[HL_HOLDER_MAX])
{
    const struct hl_core *core = &actor->process->client->core;
    return hl_holder_write(holder, core->uuid, id, core->label);
}

void sim_queue_asks(struct sim_actor *actor)
{
    actor->ticket = 0;
    actor->placed_us = 0;
    actor->was_pushed = 0;
    actor->overtaken = 0;
    actor->overtakers = 0;
}

void sim_queue_turned(struct sim_actor *actor)
{
    const struct hl_queue_place *fair = sim_queue_wait(actor);
    if (fair && fair->ticket && actor->ticket != fair->ticket)
        actor->placed_us = actor->process->sim->world.time.now_us;
    if (fair)
        actor->ticket = fair->ticket;
}

/* 0: it is decided. */
static uint64_t id_of(const struct hl_queue_place *fair) { return fair->acquire->hold ? fair->acquire->hold->id : 0; }

static void on_push(struct sim *sim, const char *text, size_t length)
{
    for (unsigned i = 0; i < sim->actors_count; i++) {
        struct sim_actor *actor = &sim->actors[i];
        const struct hl_queue_place *fair = sim_queue_wait(actor);
        char holder[HL_HOLDER_MAX];
        size_t holder_length = fair ? sim_queue_holder(actor, id_of(fair), holder) : 0;
        if (fair && length > 3 + holder_length && memcmp(text + 3, holder, holder_length) == 0 && text[3 + holder_length] == ' ') {
            actor->was_pushed = 1;
        }
    }
}

void sim_queue_said(struct sim *sim, const struct sim_reply *push)
{
    const struct sim_reply *text = &push->items[2];
    if (text->type == SIM_REPLY_STRING && text->length > 3 && memcmp(text->bytes, "G1 ", 3) == 0)
        on_push(sim, text->bytes, text->length);
}

uint64_t sim_queue_calm_us(const struct sim *sim, const struct sim_name *name)
{
    uint64_t calm_us = !sim->swarm.mean_gap_us ? 1 : sim->healed_us ? sim->healed_us + LINKED_US : 0;
    uint64_t settled_us = name->unsettled_us; /* whose channel was left behind by a slot is deaf until its next heartbeat */
    if (sim_java_wants(sim, name)) /* some releases leave the name to it, and the fastest has it then */
        return 0;
    return calm_us && settled_us && settled_us + LINKED_US > calm_us ? settled_us + LINKED_US : calm_us;
}

/* A grant has been made to its client that may have lapsed: no place of that client is ready then until it asks again. */
static int may_have_lapsed(const struct sim *sim, const struct sim_actor *other)
{
    for (unsigned i = 0; i < sim->actors_count; i++) {
        const struct sim_actor *sibling = &sim->actors[i];
        const struct hl_queue_place *place = sibling->process == other->process && sibling->name == other->name ? sim_queue_wait(sibling) : NULL;
        if (place && sibling->was_pushed)
            return 1;
    }
    return 0;
}

/* It is one of several that were let in, and hears of it later than others. */
static int has_its_share(struct sim *sim, const struct sim_actor *other, const struct hl_queue_place *place)
{
    const struct sim_name *name = &sim->names[other->name];
    char holder[HL_HOLDER_MAX];
    size_t length = sim_queue_holder(other, id_of(place), holder);
    return sim_store_hash_get(store_now(sim_decides(sim, name, 0)->store), name->text, strlen(name->text), holder, length, &length) != NULL;
}

/* It could have been granted instead: it stands in the queue, nothing has befallen it, and no grant has been made to its client that lapsed. NULL: it could not. */
static const struct hl_queue_place *could_have_it(struct sim *sim, const struct sim_actor *actor, const struct sim_actor *other)
{
    const struct hl_queue_place *fair = other == actor || other->name != actor->name ? NULL : sim_queue_wait(other);
    uint64_t calm_us = sim_queue_calm_us(sim, &sim->names[actor->name]), since_us = sim->world.time.now_us - SETTLED_US;
    if (!fair || !fair->ticket || may_have_lapsed(sim, other) || (sim_shares(other) && has_its_share(sim, other, fair)) || sim->world.time.now_us < SETTLED_US || !calm_us || calm_us > since_us)
        return NULL;
    if (other->process->loop.lane.until_us >= calm_us || sim_process_is_frozen(other->process))
        return NULL;
    return other->asked_us < since_us && other->asked_us > calm_us ? fair : NULL;
}

/* It was there before, and could hear of its grant. Scripts look for somebody who hears among the first 64 (choose.lua): behind so many dead ones a
 * newcomer may go first. The next in a client's line gets its place when the hold before it has ended: one of that client that came later, and has
 * places of its own, may ask in between, and has no ticket if the name is free. */
static int was_passed_over(struct sim *sim, const struct sim_actor *actor, const struct sim_actor *other)
{
    const struct hl_queue_place *fair = could_have_it(sim, actor, other);
    return fair && fair->channel != ENTRY_POLLS && fair->position <= LOOKED_AT &&
           (actor->ticket ? fair->ticket < actor->ticket : other->asked_us + SETTLED_US < actor->asked_us && other->placed_us < actor->asked_us);
}

/* Each of the others may be before it once, and once more while it is not known to the store; also those that want another name by now. */
static unsigned others_max(const struct sim *sim, const struct sim_actor *actor)
{
    unsigned others = 0;
    for (unsigned i = 0; i < sim->actors_count; i++)
        others += &sim->actors[i] != actor && (sim->actors[i].name == actor->name || actor->overtakers >> i & 1);
    return 2 * others;
}

/* A waiter that polls from far behind asks seldom: a grant meanwhile has lapsed unseen. It counts from when it knows that it is next. */
static void check_bound(struct sim *sim, const struct sim_actor *actor, struct sim_actor *other)
{
    const struct hl_queue_place *fair = could_have_it(sim, actor, other);
    if (!fair || (fair->channel == ENTRY_POLLS && fair->position != 1))
        return;
    other->overtakers |= (uint64_t)1 << (actor - sim->actors);
    if (++other->overtaken <= others_max(sim, other))
        return;
    sim_violate(&sim->world, "I11", "%s waits for %s, and others had it %u times", other->who,
                sim->names[other->name].text, other->overtaken);
}

void sim_queue_granted(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    const struct hl_hold *hold = actor->lock->hold;
    if (actor->kind != HILOCK_FAIR && !sim_shares(actor))
        return;
    sim->world.sometimes[SIM_FAIR_GRANTED]++;
    sim->world.sometimes[SIM_FAIR_PUSHED] += hold->window_ms != 0;
    sim->world.sometimes[SIM_FAIR_FOUND] += !hold->window_ms && actor->was_pushed;
    for (unsigned i = 0; i < sim->actors_count; i++)
        check_bound(sim, actor, &sim->actors[i]);
    for (unsigned i = 0; i < sim->actors_count; i++)
        if (sim_tainted_us(sim, &sim->names[actor->name]) + 1000000 < actor->begun_us && was_passed_over(sim, actor, &sim->actors[i]))
            sim_violate(&sim->world, "I7", "%s has %s, and %s, who came before, still waits", actor->who,
                        sim->names[actor->name].text, sim->actors[i].who);
}

void sim_queue_dies(struct sim_actor *actor) { actor->process->sim->world.sometimes[SIM_FAIR_DIED] += sim_queue_wait(actor) != NULL; }

void sim_queue_leaves(const struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    const struct hl_queue_place *fair = sim_queue_wait(actor);
    const char *name = sim->names[actor->name].text;
    const struct sim_store *store;
    char holder[HL_HOLDER_MAX];
    size_t length;
    if (!fair)
        return;
    length = sim_queue_holder(actor, id_of(fair), holder);
    store = sim_decides(sim, &sim->names[actor->name], 0)->store->core;
    if (sim_store_hash_get(store, name, strlen(name), holder, length, &length))
        sim->world.sometimes[SIM_FAIR_CROSSED]++;
}
