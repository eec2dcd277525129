/* SPDX-License-Identifier: BSD-3-Clause */
/* check - the invariants, with god's view: true time, every process's belief, the store's own state. Numbers as in README.md.
 *
 * I2 is the strongest: what a handle believes, measured in true time, never outlasts what the store keeps for exactly that hold. It needs
 * one client only and catches at once what would otherwise need a second one at the right moment. Where the store itself lost or
 * shortened what it had acknowledged (a tainted name) belief may be wrong until the next renewal: that is the stated limit, and excused. */
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/turn.h"
#include "../secret.h"
#include "sim.h"

static uint64_t true_left_us(const struct sim_actor *actor)
{
    const struct sim_process *process = actor->process;
    uint64_t now_us = sim_process_now_us(process);
    return (uint64_t)((double)hl_lock_left_us(actor->lock, now_us) / process->clock.rate);
}

static void check_belief(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    const struct sim_name *name = &sim->names[actor->name];
    uint64_t left_us = true_left_us(actor), kept_us;
    int is_known;
    if (!left_us || name->tainted_us >= actor->begun_us)
        return;
    kept_us = sim_kept_us(actor, &is_known);
    if (!kept_us)
        sim_violate(&sim->world, is_known ? "I3" : "I2", "p%u.%u believes in %s for %llu us, the store knows nothing of it", actor->process->index,
                    actor->index, name->text, (unsigned long long)left_us);
    else if (kept_us < left_us)
        sim_violate(&sim->world, "I2", "p%u.%u believes in %s for %llu us, the store keeps it for %llu", actor->process->index, actor->index, name->text,
                    (unsigned long long)left_us, (unsigned long long)kept_us);
}

/* A loss is told in the first turn after the deadline; an answer is given in the first turns after the wait's end. */
static void check_told(struct sim_actor *actor)
{
    const struct sim_process *process = actor->process;
    uint64_t before_us = sim_read(&process->clock, process->turned_us);
    const struct hl_hold *hold = actor->lock->hold;
    if (hold && (hold->state == HOLD_HELD ? hl_hold_deadline_us(hold) : hold->since_us) < before_us)
        sim_violate(&process->sim->world, "I5", "p%u.%u: a turn after the deadline passed, and the loss is not told", process->index, actor->index);
    before_us = process->frozen_until_us + 40000 < process->turned_us ? before_us : 0; /* timers of its sleep may still be due */
    if (hold && actor->hold_max_ms && hold->state == HOLD_HELD && hold->since_us + (uint64_t)actor->hold_max_ms * 1000 + 40000 < before_us)
        sim_violate(&process->sim->world, "I5", "p%u.%u: holds for longer than hold_max_ms", process->index, actor->index);
    if (actor->state == ACTOR_WAITS && actor->ends_us && actor->ends_us != UINT64_MAX && actor->ends_us + 40000 < before_us)
        sim_violate(&process->sim->world, "I5", "p%u.%u: waits %llu us longer than asked", process->index, actor->index,
                    (unsigned long long)(before_us - actor->ends_us));
}

/* R11: nothing extends what has passed. */
static void check_revived(struct sim_actor *actor)
{
    const struct hl_hold *hold = actor->state == ACTOR_HOLDS ? actor->lock->hold : NULL;
    uint64_t deadline_us = hold && hold->state == HOLD_HELD ? hl_hold_deadline_us(hold) : 0;
    if (deadline_us > actor->deadline_us && actor->deadline_us && actor->deadline_us < sim_process_now_us(actor->process) && actor->believed_id == hold->id)
        sim_violate(&actor->process->sim->world, "I5", "p%u.%u: a hold was revived after its deadline", actor->process->index, actor->index);
    actor->deadline_us = deadline_us;
    actor->believed_id = deadline_us ? hold->id : 0;
}

void sim_check_beliefs(struct sim_process *process)
{
    struct sim *sim = process->sim;
    for (unsigned i = 0; i < sim->actors_count && process->client; i++) {
        struct sim_actor *actor = &sim->actors[i];
        if (actor->process != process || !actor->lock)
            continue;
        if (actor->state == ACTOR_HOLDS)
            check_belief(actor);
        sim_queue_turned(actor);
        check_told(actor);
        check_revived(actor);
        sim_check_validity(actor);
    }
}

static void check_alone(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    for (unsigned i = 0; i < sim->actors_count; i++) {
        const struct sim_actor *other = &sim->actors[i];
        if (other == actor || other->name != actor->name || other->state != ACTOR_HOLDS || !other->lock || !true_left_us(other))
            continue;
        if (sim->names[actor->name].tainted_us < other->begun_us && sim->names[actor->name].tainted_us < actor->begun_us)
            sim_violate(&sim->world, "I1", "%s: p%u.%u and p%u.%u both hold", sim->names[actor->name].text, actor->process->index, actor->index,
                        other->process->index, other->index);
    }
}

/* I10: what is handed on is bounded, so that others get their turn. Told in the next turn of the loop, which may be late. */
static void check_turn(const struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    const struct hl_hold *hold = actor->lock->hold;
    if (actor->turn && actor->turn >= sim->turns_max)
        sim_violate(&sim->world, "I10", "p%u.%u is handed a hold that has served %u handles of %u", actor->process->index, actor->index, actor->turn,
                    sim->turns_max);
    if (actor->turn && hold->since_us - hold->granted_us > 1000 * (uint64_t)sim->lease_ms / 3)
        sim_violate(&sim->world, "I10", "p%u.%u is handed a hold %llu us after its grant", actor->process->index, actor->index,
                    (unsigned long long)(hold->since_us - hold->granted_us));
}

void sim_check_grant(struct sim_actor *actor, const struct hilock_result *result)
{
    struct sim *sim = actor->process->sim;
    struct sim_name *name = &sim->names[actor->name];
    check_alone(actor);
    check_turn(actor);
    if (result->remaining_ms + 1 < actor->least_ms)
        sim_violate(&sim->world, "I5", "granted with %u ms left, at least %u were asked for", result->remaining_ms, actor->least_ms);
    if (result->fencing_token != hilock_lock_token(actor->lock) || !result->fencing_token != (name->kind == HILOCK_SIMPLE))
        sim_violate(&sim->world, "I3", "the result's token is not the handle's");
    if (name->kind != HILOCK_SIMPLE && result->fencing_token <= name->token_highest && name->tainted_us < name->granted_us && name->tainted_us < actor->begun_us)
        sim_violate(&sim->world, "I3", "%s: token %llu after %llu", name->text, (unsigned long long)result->fencing_token, (unsigned long long)name->token_highest);
    name->token_highest = result->fencing_token;
    name->granted_us = actor->begun_us;
}

/* The fenced resource: takes what comes with a token that is not below the highest it has seen. A late write is one made without asking
 * whether the hold is still good. */
void sim_check_write(struct sim_actor *actor, uint64_t token, int is_late)
{
    struct sim *sim = actor->process->sim;
    struct sim_name *name = &sim->names[actor->name];
    if (token < name->resource_token) {
        sim->world.sometimes[SIM_STALE_WRITE_REFUSED]++;
        if (!is_late && name->tainted_us < name->resource_us && name->tainted_us < actor->begun_us) /* a store that lost its tokens, its clock back: the stated limit */
            sim_violate(&sim->world, "I4", "%s: a fresh holder's write was refused", name->text);
        return;
    }
    if (token > name->resource_token)
        name->resource_us = actor->begun_us;
    name->resource_token = token;
}

/* TAKEN only if the store does not keep it (a former master may have said so for itself); in a world without faults and with time to spare
 * nothing is lost but by its own terms. */
void sim_check_loss(struct sim_actor *actor, const struct hilock_event *event)
{
    struct sim *sim = actor->process->sim;
    const char *name = sim->names[actor->name].text;
    int is_by_terms = event->reason == HILOCK_LOST_HOLD_MAX || event->reason == HILOCK_LOST_CLOSING || !actor->is_renewed;
    if (event->reason == HILOCK_LOST_TAKEN && sim_is_kept(actor, event->fencing_token))
        sim_violate(&sim->world, "I5", "p%u.%u lost %s as taken, and the store still keeps it", actor->process->index, actor->index, name);
    if (!sim->swarm.mean_gap_us && actor->lease_ms >= 3000 && !is_by_terms)
        sim_violate(&sim->world, "I13", "p%u.%u lost %s without any fault", actor->process->index, actor->index, name);
}

/* Losses are told first: while anything else is told, no sibling's loss waits to be. */
void sim_check_order(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    uint64_t now_us = sim_process_now_us(actor->process);
    for (unsigned i = 0; i < sim->actors_count; i++) {
        const struct sim_actor *other = &sim->actors[i];
        const struct hl_hold *hold = other->process == actor->process && other->state == ACTOR_HOLDS && other->lock ? other->lock->hold : NULL;
        if (hold && (hold->state == HOLD_ENDING || hl_hold_deadline_us(hold) <= now_us))
            sim_violate(&sim->world, "I5", "p%u.%u is told something while the loss of .%u waits to be", actor->process->index, actor->index, other->index);
    }
}

/* ---- now and then ---- */

static int has_waited(const struct sim_actor *actor, unsigned name, uint64_t since_us)
{
    const struct sim_process *process = actor->process;
    return actor->lock && actor->name == name && actor->state == ACTOR_WAITS && actor->asked_us < since_us && process->client && !process->is_closing &&
           process->frozen_until_us < since_us;
}

/* Somebody in the same process believes that he holds it; where the store lost that hold he may learn it as late as its deadline, when nobody renews it. */
static int is_held_here(const struct sim *sim, const struct sim_actor *actor)
{
    for (unsigned i = 0; i < sim->actors_count; i++)
        if (sim->actors[i].process == actor->process && sim->actors[i].name == actor->name && sim->actors[i].state == ACTOR_HOLDS)
            return 1;
    return 0;
}

/* Nobody holds it, somebody waits for it, and nothing happens. What vanished without a word (data lost) is found by the safety poll. */
static void check_idle(struct sim *sim, unsigned i)
{
    struct sim_name *name = &sim->names[i];
    uint64_t now_us = sim->world.now_us, patience_us = sim->swarm.mean_gap_us ? 2500000 : 1000000, since_us;
    if (name->kind == HILOCK_FAIR && sim->swarm.mean_gap_us) /* behind heads that died, when the server's clock has jumped: the slowest heartbeat */
        patience_us = 10500000;
    since_us = now_us > patience_us ? now_us - patience_us : 0;
    if (name->granted_us >= since_us || (name->tainted_us && name->tainted_us + 5500000 > since_us) || !sim_is_free(sim, name)) {
        name->free_since_us = 0;
        return;
    }
    if (!name->free_since_us)
        name->free_since_us = now_us;
    for (unsigned j = 0; j < sim->actors_count && name->free_since_us < since_us && sim->healed_us < since_us; j++)
        if (has_waited(&sim->actors[j], i, since_us) && !is_held_here(sim, &sim->actors[j]))
            sim_violate(&sim->world, "I6", "%s is free for %llu us, and p%u.%u still waits for it", name->text,
                        (unsigned long long)(now_us - name->free_since_us), sim->actors[j].process->index, sim->actors[j].index);
}

static int knows(const struct hl_notices *list, uint64_t id)
{
    const struct hl_notice *notice;
    TAILQ_FOREACH(notice, list, entry)
    {
        if (notice->kind == NOTICE_HOLD && ((const struct hl_hold *)(const void *)notice)->id == id)
            return 1;
    }
    return 0;
}

/* 1: the holder is a hold of a client that lives and runs, and the client knows nothing of it. */
static int is_unknown(const struct sim *sim, const struct sim_store_field *field, uint64_t *ret_id)
{
    if (field->name_length <= HL_UUID_LENGTH + 1)
        return 0;
    *ret_id = sim_number(field->name + HL_UUID_LENGTH + 1, field->name_length - HL_UUID_LENGTH - 1);
    for (unsigned i = 0; i < sim->processes_count; i++) {
        const struct sim_process *process = &sim->processes[i];
        const struct hl_core *core = process->client ? &process->client->core : NULL;
        if (core && memcmp(core->uuid, field->name, HL_UUID_LENGTH) == 0)
            return !sim_process_is_frozen(process) && !knows(&core->holds, *ret_id) && !knows(&core->losses, *ret_id) && !knows(&core->news, *ret_id);
    }
    return 0;
}

/* A renewal that a stopped server runs long after its link was given up may keep a hold for one lease more: nobody is let in by it, and
 * nothing the client could still do would tell it. */
static void check_known(struct sim *sim, struct sim_name *name)
{
    const struct sim_store *store = sim_place_of(sim, name)->server.store;
    struct sim_store_field field;
    uint64_t id = 0, now_us = sim->world.now_us, ghost_us = (sim->has_extras ? 2000u : 1000u) * (uint64_t)sim->lease_ms;
    int found = 0;
    if (name->kind == HILOCK_FAIR) /* what stands in the queue may be granted as long as it counts as alive */
        ghost_us += 1000u * (uint64_t)(HL_FAIR_ALIVE_MS + HL_FAIR_WINDOW_MS);
    if (sim->swarm.steps)
        return; /* a clock that steps back makes a lease longer than we could know */
    for (size_t i = 0; !found && sim_store_hash_field(store, name->text, strlen(name->text), i, &field); i++)
        found = is_unknown(sim, &field, &id);
    if (!found || id != name->unknown_id)
        name->unknown_since_us = 0;
    name->unknown_id = id;
    if (found && !name->unknown_since_us)
        name->unknown_since_us = now_us;
    if (found && now_us - name->unknown_since_us > 1500000 && (!sim->ghost_us || sim->ghost_us + ghost_us < name->unknown_since_us))
        sim_violate(&sim->world, "I8", "%s is held under id %llu, which its client knows nothing of", name->text, (unsigned long long)id);
}

void sim_check_names(struct sim *sim)
{
    for (unsigned i = 0; i < sim->places_count; i++)
        sim_server_now(&sim->places[i].server);
    for (unsigned i = 0; i < sim->names_count; i++) {
        if (sim->is_healed || !sim->swarm.mean_gap_us)
            check_idle(sim, i);
        check_known(sim, &sim->names[i]);
    }
}

void sim_check_log(struct sim *sim, const char *line)
{
    if (strstr(line, TEST_SECRET))
        sim_violate(&sim->world, "I12", "a password in a log line");
    for (unsigned i = 0; i < sim->processes_count; i++)
        if (sim->processes[i].client && strstr(line, sim->processes[i].client->core.uuid))
            sim_violate(&sim->world, "I12", "a whole holder id in a log line");
}

void sim_check_end(struct sim *sim)
{
    unsigned left = sim_keys_left(sim);
    if (left)
        sim_violate(&sim->world, "I9", "%u keys are left at the store", left);
    if (sim_subscriptions_left(sim))
        sim_violate(&sim->world, "I9", "subscriptions are left at the store");
    if (!TAILQ_EMPTY(&sim->links))
        sim_violate(&sim->world, "I9", "links are left");
    if (sim->live_allocations)
        sim_violate(&sim->world, "I9", "%llu blocks of memory are left", (unsigned long long)sim->live_allocations);
}
