/* SPDX-License-Identifier: BSD-3-Clause */
/* contest - I16: a few names, wanted again as soon as they are let go, by single locks and multis of several clients, or by a quorum's clients.
 * No fault, so that nothing but the others keeps anybody waiting. What is counted is not time but grants: of any name that he wants, to
 * others, while he waits. (A hold that is handed on counts once.) Chance decides many a race, and a loop is late now and then by as much as several
 * holds: so the bar is some turns of each of the others for a single lock, and more for each name of a multi, which waits for them one by one. */
#include "sim.h"

enum { TURNS_OF_SINGLE = 8, TURNS_FOR_NAME = 16, TURNS_OF_CHANCE = 16 };

static int are_rivals(const struct sim_actor *a, const struct sim_actor *b)
{
    for (unsigned i = 0; a != b && i < b->names_count; i++)
        if (sim_wants(a, b->names[i]))
            return 1;
    return 0;
}

static unsigned bar(const struct sim *sim, const struct sim_actor *actor)
{
    unsigned rivals = 0;
    for (unsigned i = 0; i < sim->actors_count; i++)
        rivals += are_rivals(actor, &sim->actors[i]) != 0;
    return rivals * (actor->names_count == 1 ? TURNS_OF_SINGLE : TURNS_FOR_NAME * actor->names_count) + TURNS_OF_CHANCE;
}

void sim_contest_asks(struct sim_actor *actor) { actor->overtaken = actor->process->sim->is_hot ? 0 : actor->overtaken; }

void sim_contest_granted(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    if (!sim->is_hot || sim->choice.is_struck || sim_inside_is_handed_on(actor))
        return;
    sim->contests++;
    for (unsigned i = 0; i < sim->actors_count; i++) {
        struct sim_actor *other = &sim->actors[i];
        if (other->state != ACTOR_WAITS || !are_rivals(actor, other) || ++other->overtaken <= bar(sim, other))
            continue;
        sim_violate(&sim->world, "I16", "%s waits for %u of the names, and others had one of them %u times", other->who,
                    other->names_count, other->overtaken);
    }
}
