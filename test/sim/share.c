/* SPDX-License-Identifier: BSD-3-Clause */
/* share - I19: under faults, no client gets less than a quarter of its fair share. A few names that their clients want
 * again at once (`--hot --struck`): of the grants of a name within 10 s, each of its n clients has at least 1/(4n). A
 * hold that is handed on counts once. Faults are few, so that most clients are not struck: one that is (killed, frozen,
 * out of touch) is not judged in that span, nor is a name with few grants, or whose store lost what it had acknowledged.
 * A client of a quorum is out of touch as soon as it has no link to one of the masters. While too few masters may grant
 * a name (restart guards), nobody has it, and the span begins when enough of them may. Nor is a quorum's name judged for
 * as long as one that was struck keeps the vote of a master: those that stand at that master try the others every few
 * seconds, and whoever stands nowhere has the name meanwhile (lib/group/quorum). */
#include "core/lock.h"
#include "sim.h"

enum { SPAN_US = 10000000, FEWEST = 8, PART = 4 };

/* Now, and since so long. */
static int wants(const struct sim *sim, unsigned process, unsigned name, uint64_t since_us)
{
    for (unsigned i = 0; i < sim->actors_count; i++)
        if (sim->actors[i].process->index == process && sim_wants(&sim->actors[i], name) &&
            sim->actors[i].named_us <= since_us)
            return 1;
    return 0;
}

static void judge(struct sim *sim, unsigned n)
{
    const struct sim_name *name = &sim->names[n];
    unsigned clients = 0, grants = 0;
    for (unsigned i = 0; i < sim->processes_count; i++) {
        clients += wants(sim, i, n, sim->world.time.now_us) != 0;
        grants += name->shares[i];
    }
    if (grants < FEWEST * clients || sim_tainted_us(sim, name) >= name->shared_since_us || name->kept_by_struck_us >= name->shared_since_us)
        return;
    for (unsigned i = 0; i < sim->processes_count; i++)
        if (wants(sim, i, n, name->shared_since_us) && sim->processes[i].struck_us < name->shared_since_us &&
            PART * clients * name->shares[i] < grants)
            sim_violate(&sim->world, "I19", "p%u has %u of %u grants of %s in 10 s, beside %u other clients", i,
                        name->shares[i], grants, name->text, clients - 1);
}

/* Of a quorum: it has no link to one of the masters. A vote that it has there, or asked for, is answered late. */
static int lacks_a_master(const struct hl_core *core)
{
    const struct hl_node *node;
    for (unsigned i = 0; core->route->masters && (node = core->route->ops->node_at(core->route, i)) != NULL; i++)
        if (!node->is_up)
            return 1;
    return 0;
}

/* With a server that decides about a name that it wants. */
static int is_out_of_touch(const struct sim_process *process)
{
    const struct hl_core *core = &process->client->core;
    for (unsigned i = 0; i < process->sim->actors_count; i++) {
        const struct sim_actor *actor = &process->sim->actors[i];
        const struct hl_node *node = actor->process == process && actor->lock && !core->route->masters
                                         ? hl_name_node(core, actor->lock->name) : NULL;
        if (node && !node->is_up)
            return 1;
    }
    return !core->route->ops->is_up(core->route) || lacks_a_master(core) || sim_network_is_cut(process);
}

static int is_struck(const struct sim_process *process)
{
    return !process->client || sim_process_is_frozen(process) || is_out_of_touch(process);
}

/* By a hold of a process that is struck, or was killed. */
static int is_kept_by_struck(const struct sim *sim, const struct sim_place *place, const struct sim_name *name)
{
    struct sim_store_field field;
    if (!sim_store_hash_field(store_now(place->store), name->text, strlen(name->text), 0, &field) || field.name_length <= HL_UUID_LENGTH)
        return 0;
    for (unsigned i = 0; i < sim->processes_count; i++) {
        const struct sim_process *process = &sim->processes[i];
        if (process->client && memcmp(process->client->core.uuid, field.name, HL_UUID_LENGTH) == 0)
            return sim_process_is_frozen(process);
    }
    return 1;
}

static void note_votes(struct sim *sim)
{
    for (unsigned i = 0; i < sim->names_count; i++)
        for (unsigned j = 0; j < sim->places_count; j++)
            if (is_kept_by_struck(sim, &sim->places[j], &sim->names[i]))
                sim->names[i].kept_by_struck_us = sim->world.time.now_us;
}

void sim_share_granted(const struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    if (sim->choice.is_struck && !sim_inside_is_handed_on(actor))
        sim->names[actor->name].shares[actor->process->index]++;
}

void sim_share_passed(struct sim *sim)
{
    uint64_t now_us = sim->world.time.now_us;
    if (!sim->choice.is_struck)
        return;
    for (unsigned i = 0; i < sim->processes_count; i++)
        if (is_struck(&sim->processes[i]))
            sim->processes[i].struck_us = now_us;
    if (sim->deployment == SIM_QUORUM)
        note_votes(sim);
    for (unsigned i = 0; i < sim->names_count; i++) {
        struct sim_name *name = &sim->names[i];
        int can_be_had = sim_can_be_had(sim, name);
        if (can_be_had && now_us < name->shared_since_us + SPAN_US)
            continue;
        if (can_be_had)
            judge(sim, i);
        memset(name->shares, 0, sizeof name->shares);
        name->shared_since_us = now_us;
    }
}
