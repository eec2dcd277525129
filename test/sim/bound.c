/* SPDX-License-Identifier: BSD-3-Clause */
/* bound - I18: without faults, a waiter in the queue of a name that no multi wants waits no longer than (places before it + 1) times
 * the longest tenure, and a second. Counted from the first grant of the name that it sees others have, when it knows its place: so what a dead client
 * left is over. A tenure is one hold, with all handles that it serves. Each place has the messages of a hand-over besides, for a tenure is seen by those
 * who have it. Pollers come when they ask, and replicas confirm when they can: names that they want are not judged, nor is a loop that lingers, nor a name
 * that several hold together, where one tenure does not follow the other (sharing.c). A poller
 * that died is not known to be dead, because it has no channel: until its place ends it may be granted a window that nobody uses.
 * A waiter whose own loop was later than its window loses its turn, is told so (PASSED_OVER), and counts anew: with a lease of 150 ms the window is
 * 75 ms, and some loops here are later than that. */
#include "sim.h"
#include "lock/place.h"
#include "wire/keys.h"

enum { ONCE_US = 1000000, MESSAGES = 4, TAILS = 10, KEPT_US = 10000, THAWED_US = 4000000 };

/* A process that is frozen when all is healed may hold, or get, what it does not use. */
static uint64_t calm_us(const struct sim *sim, const struct sim_actor *actor)
{
    uint64_t calm_us = sim_queue_calm_us(sim, &sim->names[actor->name]);
    for (unsigned i = 0; calm_us && i < sim->processes_count; i++) {
        uint64_t thawed_us = sim->processes[i].loop.lane.until_us;
        if (thawed_us && thawed_us + THAWED_US > calm_us)
            calm_us = thawed_us + THAWED_US;
    }
    return calm_us;
}

static int is_odd(const struct sim_actor *actor)
{
    return actor->names_count > 1 || actor->replicas || (actor->lock && actor->lock->terms->is_polling);
}

static int is_judged(const struct sim *sim, unsigned name)
{
    for (unsigned i = 0; i < sim->actors_count; i++)
        if (sim_wants(&sim->actors[i], name) && is_odd(&sim->actors[i]))
            return 0;
    return !sim->names[name].is_shared && !sim_java_wants(sim, &sim->names[name]) && (!sim->strains || sim->is_healed);
}

/* The present one may be it. */
static uint64_t longest_us(const struct sim *sim, unsigned n)
{
    const struct sim_name *name = &sim->names[n];
    uint64_t present_us = 0;
    for (unsigned i = 0; i < sim->actors_count; i++)
        if (sim->actors[i].name == n && sim->actors[i].state == ACTOR_HOLDS)
            present_us = sim->world.time.now_us - name->tenure_since_us;
    return present_us > name->tenure_us ? present_us : name->tenure_us;
}

void sim_bound_asks(struct sim_actor *actor) { actor->bound_since_us = 0; }

static int lives(const struct sim *sim, const char *holder)
{
    for (unsigned i = 0; i < sim->processes_count; i++)
        if (sim->processes[i].client && memcmp(sim->processes[i].client->core.uuid, holder, HL_UUID_LENGTH) == 0)
            return 1;
    return 0;
}

static int has_dead_poller(struct sim *sim, const struct sim_name *name)
{
    char key[SIM_NAME_LENGTH + HL_KEY_PREFIX_MAX];
    size_t length = hl_key_write(key, hl_key_queue, name->text, strlen(name->text));
    struct sim_store_field place;
    for (size_t i = 0; sim_store_hash_field(sim_decides(sim, name, 0)->store->core, key, length, i, &place); i++) {
        const char *words = memchr(place.name, ' ', place.name_length); /* " 1 <channel> .." */
        if (words && memcmp(words, " 1 -", 4) == 0 && !lives(sim, place.name))
            return 1;
    }
    return 0;
}

static void begin(struct sim *sim, struct sim_actor *actor)
{
    const struct hl_queue_place *place = sim_queue_wait(actor);
    uint64_t since_us = calm_us(sim, actor);
    if (!place || !place->ticket || !place->position || actor->bound_since_us || !since_us || sim->world.time.now_us <= since_us)
        return;
    /* The store may have lost its data since it asked last: it finds out at its next heartbeat. */
    uint64_t asked_us = world_clock_when_us(&actor->process->loop.clock, place->acquire->hold->request.sent_us);
    if (sim_tainted_us(sim, &sim->names[actor->name]) >= asked_us || has_dead_poller(sim, &sim->names[actor->name]))
        return;
    actor->bound_since_us = sim->world.time.now_us;
    actor->bound_places = place->position;
}

void sim_bound_granted(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    struct sim_name *name = &sim->names[actor->name];
    if (!actor->turn)
        name->tenure_since_us = sim->world.time.now_us;
    if (actor->kind == HILOCK_SIMPLE || !is_judged(sim, actor->name))
        return;
    for (unsigned i = 0; i < sim->actors_count; i++)
        if (&sim->actors[i] != actor && sim->actors[i].name == actor->name)
            begin(sim, &sim->actors[i]);
}

/* Its turn is over; the tenure may go on. */
void sim_bound_let_go(const struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    struct sim_name *name = &sim->names[actor->name];
    uint64_t tenure_us = sim->world.time.now_us - name->tenure_since_us;
    name->tenure_us = tenure_us > name->tenure_us ? tenure_us : name->tenure_us;
}

void sim_bound_turned(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    const struct sim_name *name = &sim->names[actor->name];
    uint64_t since_us = actor->bound_since_us, quiet_us = since_us ? calm_us(sim, actor) : 0;
    if (!since_us)
        return;
    if (!quiet_us || quiet_us > since_us || !sim_queue_wait(actor)) {
        actor->bound_since_us = 0;
        return;
    }
    sim->world.sometimes[SIM_BOUND_JUDGED]++;
    uint64_t messages_us = MESSAGES * ((uint64_t)sim->swarm.latency_us + TAILS * (uint64_t)sim->swarm.tail_us) + KEPT_US;
    if (sim->world.time.now_us - since_us > actor->bound_places * (longest_us(sim, actor->name) + messages_us) + ONCE_US)
        sim_violate(&sim->world, "I18",
                    "%s waits for %s for %llu us since it was at place %u, and the longest tenure was %llu", actor->who,
                    name->text, (unsigned long long)(sim->world.time.now_us - since_us), actor->bound_places, (unsigned long long)longest_us(sim, actor->name));
}
