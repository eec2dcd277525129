/* SPDX-License-Identifier: BSD-3-Clause */
/* check - the invariants, with god's view: true time, every process's belief, the store's own state. Numbers as in README.md.
 *
 * I2 is the strongest: what a handle believes, measured in true time, never outlasts what the store keeps for exactly that hold. It needs
 * one client only and catches at once what would otherwise need a second one at the right moment. Where the store itself lost or
 * shortened what it had acknowledged (a tainted name) belief may be wrong until the next renewal: that is the stated limit, and excused. */
#include <stdlib.h>

#include "../secret.h"
#include "core/lease.h"
#include "core/lock.h"
#include "hold/hold.h"
#include "sim.h"
#include "lock/acquire.h"
#include "wire/holder.h"
#include "wire/keys.h"

enum { LINKED_US = 4000000 }; /* after the heal every link is found dead or good in this time */

static uint64_t true_left_us(const struct sim_actor *actor)
{
    return world_clock_span_us(&actor->process->loop.clock, sim_inside_left_us(actor));
}

/* I15: a failover may lose renewals, but not the grant, as it was asked for: all replicas had it. */
static void check_confirmed(const struct sim_actor *actor, unsigned i, const struct sim_kept *kept)
{
    struct sim_world *world = &actor->process->sim->world;
    uint64_t confirmed_us = sim_confirmed_us(actor, i);
    world->sometimes[SIM_CONFIRMED_STANDS] += confirmed_us != 0;
    if (kept->kept_us < kept->believed_us && kept->kept_us < confirmed_us)
        sim_violate(world, "I15",
                    "%s believes in %s for %llu us, all replicas confirmed %llu of them, store %u keeps it for %llu",
                    actor->who, kept->name->text, (unsigned long long)kept->believed_us,
                    (unsigned long long)confirmed_us, kept->place->index, (unsigned long long)kept->kept_us);
}

/* Of each part that it counts on. */
static void check_part(struct sim_actor *actor, unsigned i)
{
    struct sim *sim = actor->process->sim;
    struct sim_kept kept;
    if (!sim_kept(actor, i, &kept))
        return;
    /* A vote of a quorum may have been handed on by another handle of the client, as old as a lease at most. */
    uint64_t lease_us = sim->deployment == SIM_QUORUM ? (uint64_t)sim->lease_ms * 1000 : 0;
    if (kept.name->tainted_us[kept.place->index] >= (actor->begun_us > lease_us ? actor->begun_us - lease_us : 0)) {
        check_confirmed(actor, i, &kept);
        return;
    }
    if (kept.kept_us >= kept.believed_us)
        return;
    sim_violate(&sim->world, !kept.kept_us && kept.is_known ? "I3" : "I2",
                "%s believes in %s for %llu us, store %u keeps it for %llu", actor->who, kept.name->text,
                (unsigned long long)kept.believed_us, kept.place->index, (unsigned long long)kept.kept_us);
}

/* A loss is reported in the first turn after the deadline; an answer comes in the first turns after the wait's end. */
static void check_told(struct sim_actor *actor)
{
    const struct sim_process *process = actor->process;
    uint64_t before_us = world_clock_at_us(&process->loop.clock, process->turned_us);
    uint64_t end_us = actor->state == ACTOR_HOLDS ? sim_inside_end_us(actor) : 0;
    if (end_us && end_us < before_us)
        sim_violate(&process->sim->world, "I5", "%s: a turn after the deadline passed, and the loss is not told",
                    actor->who);
    /* timers of its sleep may still be due */
    before_us = process->loop.lane.until_us + 40000 < process->turned_us ? before_us : 0;
    if (end_us && actor->hold_max_ms && sim_inside_deadline_us(actor) &&
        actor->lock->ops->snapshot(actor->lock).since_us + (uint64_t)actor->hold_max_ms * 1000 + 40000 < before_us)
        sim_violate(&process->sim->world, "I5", "%s: holds for longer than hold_max_ms", actor->who);
    if (actor->state == ACTOR_WAITS && actor->ends_us && actor->ends_us != UINT64_MAX && actor->ends_us + 40000 < before_us)
        sim_violate(&process->sim->world, "I5", "%s: waits %llu us longer than asked", actor->who,
                    (unsigned long long)(before_us - actor->ends_us));
}

/* R11: nothing extends what has passed. */
static void check_revived(struct sim_actor *actor)
{
    const struct sim_process *process = actor->process;
    uint64_t deadline_us = actor->state == ACTOR_HOLDS ? sim_inside_deadline_us(actor) : 0;
    /* Answers are read before the first callback of a turn. */
    uint64_t read_us = process->lingered_us ? world_clock_at_us(&process->loop.clock, process->lingered_us) : sim_process_now_us(process);
    int is_over = actor->deadline_us && actor->deadline_us < read_us;
    if (is_over && deadline_us > actor->deadline_us && actor->believed_id == sim_inside_id(actor))
        sim_violate(&process->sim->world, "I5", "%s: a hold was revived after its deadline", actor->who);
    for (unsigned i = 0; deadline_us && i < sim_inside_count(actor); i++) {
        const struct hl_hold *part = sim_inside_hold(actor, i);
        int is_ours = part && part->kept == KEPT_OURS;
        actor->part_ids[i] = is_ours ? sim_inside_hold(actor, i)->id : 0;
        actor->part_tokens[i] = is_ours ? part->token : UINT64_MAX;
    }
    actor->deadline_us = deadline_us;
    actor->believed_id = deadline_us ? sim_inside_id(actor) : 0;
}

void sim_check_beliefs(struct sim_process *process)
{
    struct sim *sim = process->sim;
    for (unsigned i = 0; i < sim->actors_count && process->client; i++) {
        struct sim_actor *actor = &sim->actors[i];
        if (actor->process != process || !actor->lock)
            continue;
        if (actor->state == ACTOR_HOLDS)
            for (unsigned j = 0; true_left_us(actor) && j < sim_inside_count(actor); j++)
                check_part(actor, j);
        sim_queue_turned(actor);
        sim_bound_turned(actor);
        check_told(actor);
        check_revived(actor);
        sim_check_validity(actor);
    }
}

int sim_wants(const struct sim_actor *actor, unsigned name)
{
    for (unsigned i = 0; i < actor->names_count; i++)
        if (actor->names[i] == name)
            return 1;
    return 0;
}

/* What was lost since it began may have been its hold. */
static int is_excused(const struct sim_actor *actor, unsigned n, uint64_t tainted_us)
{
    for (unsigned i = 0; i < actor->names_count; i++)
        if (actor->names[i] == n && sim_confirmed_us(actor, i))
            return 0;
    return tainted_us >= actor->begun_us;
}

static void check_alone(struct sim_actor *actor, unsigned n)
{
    struct sim *sim = actor->process->sim;
    const struct sim_name *name = &sim->names[n];
    uint64_t tainted_us = sim->choice.is_unguarded ? 0 : sim_tainted_us(sim, name);
    for (unsigned i = 0; i < sim->actors_count; i++) {
        const struct sim_actor *other = &sim->actors[i];
        if (other == actor || !sim_wants(other, n) || other->state != ACTOR_HOLDS || !other->lock || !true_left_us(other))
            continue;
        if (sim_shares(actor) && sim_shares(other))
            continue;
        if (!is_excused(other, n, tainted_us) && !is_excused(actor, n, tainted_us))
            sim_violate(&sim->world, "I1", "%s: %s and %s both hold", name->text, actor->who, other->who);
    }
}

/* I10: what is handed on is bounded, so that others get their turn. Told in the next turn of the loop, which may be late. */
static void check_turn(const struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    const struct hl_hold *hold = actor->lock->hold;
    if (actor->turn && actor->turn >= sim->turns_max)
        sim_violate(&sim->world, "I10", "%s is handed a hold that has served %u handles of %u", actor->who, actor->turn,
                    sim->turns_max);
    if (actor->turn && hold && hold->since_us - hold->held.granted_at_us > 1000 * (uint64_t)sim->lease_ms / 3)
        sim_violate(&sim->world, "I10", "%s is handed a hold %llu us after its grant", actor->who,
                    (unsigned long long)(hold->since_us - hold->held.granted_at_us));
}

static void check_token(struct sim_actor *actor, struct sim_name *name, uint64_t token)
{
    struct sim *sim = actor->process->sim;
    uint64_t tainted_us = sim_tainted_us(sim, name);
    int has_token = actor->kind != HILOCK_SIMPLE && sim->deployment != SIM_QUORUM;
    if (!token != !has_token)
        sim_violate(&sim->world, "I3", "%s: a token where there is none, or none where there is one", name->text);
    uint64_t highest = sim_shares(actor) ? name->token_alone : name->token_highest; /* shares are reported in any order */
    if (has_token && token <= highest && tainted_us < name->granted_us && tainted_us < actor->begun_us)
        sim_violate(&sim->world, "I3", "%s: token %llu after %llu", name->text, (unsigned long long)token, (unsigned long long)highest);
    if (sim_shares(actor) && token <= name->token_highest)
        return;
    name->token_highest = token;
    name->token_alone = sim_shares(actor) ? name->token_alone : token;
    name->granted_us = actor->begun_us;
}

void sim_check_grant(struct sim_actor *actor, const struct hilock_result *result)
{
    struct sim *sim = actor->process->sim;
    check_turn(actor);
    if (result->remaining_ms + 1 < actor->least_ms)
        sim_violate(&sim->world, "I5", "granted with %u ms left, at least %u were asked for", result->remaining_ms, actor->least_ms);
    if (result->fencing_token != hilock_lock_token(actor->lock) || (actor->names_count > 1 && result->fencing_token))
        sim_violate(&sim->world, "I3", "the result's token is not the handle's");
    for (unsigned i = 0; i < actor->names_count; i++) {
        check_alone(actor, actor->names[i]);
        check_token(actor, &sim->names[actor->names[i]], actor->tokens[i]);
    }
}

/* The fenced resource: takes what comes with a token that is not below the highest it has seen. A late write is one made without asking
 * whether the hold is still good. */
static void write_to(struct sim_actor *actor, struct sim_name *name, uint64_t token, int is_late)
{
    struct sim *sim = actor->process->sim;
    uint64_t tainted_us = sim_tainted_us(sim, name);
    int is_stale = token < (sim_shares(actor) ? name->resource_alone : name->resource_token); /* who shares may write after others that do */
    uint64_t raised_us = sim_shares(actor) ? name->resource_alone_us : name->resource_us;
    if (is_stale) {
        sim->world.sometimes[SIM_STALE_WRITE_REFUSED]++;
        if (!is_late && tainted_us < raised_us && tainted_us < actor->begun_us) /* a store that lost its tokens, its clock back: the stated limit */
            sim_violate(&sim->world, "I4", "%s: a fresh holder's write was refused", name->text);
        return;
    }
    if (sim_shares(actor) && token <= name->resource_token)
        return;
    if (token > name->resource_token)
        name->resource_us = actor->begun_us;
    name->resource_token = token;
    if (sim_shares(actor))
        return;
    name->resource_alone = token;
    name->resource_alone_us = actor->begun_us;
}

void sim_check_write(struct sim_actor *actor, int is_late)
{
    for (unsigned i = 0; i < actor->names_count; i++)
        write_to(actor, &actor->process->sim->names[actor->names[i]], actor->tokens[i], is_late);
}

/* TAKEN only if the store does not keep it (a former master, or a replica with a clock of its own, may have said so for itself); in a world without faults and with time to spare
 * nothing is lost but by its own terms. */
void sim_check_loss(struct sim_actor *actor, const struct hilock_event *event)
{
    struct sim *sim = actor->process->sim;
    const char *name = sim->names[actor->name].text;
    int is_by_terms = event->reason == HILOCK_REASON_HOLD_MAX || event->reason == HILOCK_REASON_CLOSING || !actor->is_renewed;
    int is_former = sim->sets.count && sim_is_tainted(actor);
    if (event->reason == HILOCK_REASON_TAKEN && !is_former && sim_is_kept(actor, event->fencing_token))
        sim_violate(&sim->world, "I5", "%s lost %s as taken, and the store still keeps it", actor->who, name);
    /* a share is renewed only where both of its keys are */
    int is_apart = sim_shares(actor) && sim_is_unsettled(sim, &sim->names[actor->name]);
    if (!sim->swarm.mean_gap_us && actor->lease_ms >= 3000 && !is_by_terms && !is_apart)
        sim_violate(&sim->world, "I13", "%s lost %s without any fault", actor->who, name);
}

/* Losses are reported first: during any other report no sibling's loss is pending. */
void sim_check_order(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    uint64_t now_us = sim_process_now_us(actor->process);
    for (unsigned i = 0; i < sim->actors_count; i++) {
        const struct sim_actor *other = &sim->actors[i];
        int holds = other->process == actor->process && other->state == ACTOR_HOLDS && other->lock && sim_inside_id(other);
        if (holds && sim_inside_deadline_us(other) <= now_us)
            sim_violate(&sim->world, "I5", "%s is told something while the loss of %s waits to be", actor->who,
                        other->who);
    }
}

void sim_check_released(struct sim_actor *actor)
{
    if (!actor->is_releasing)
        sim_violate(&actor->process->sim->world, "I5",
                    "%s: a release answered twice, or after its handle was silenced", actor->who);
    actor->is_releasing--;
    sim_check_order(actor);
}

/* ---- now and then ---- */

/* For this name, and of several for no other that was held meanwhile. */
static int has_waited(const struct sim_actor *actor, unsigned name, uint64_t since_us)
{
    const struct sim_process *process = actor->process;
    uint64_t thawed_us = process->loop.lane.until_us;
    /* What a master said of its uptime before the process was frozen is read behind that, and a guard counts from then. */
    int is_guarding = thawed_us && thawed_us + 1000 * (uint64_t)process->sim->guard_ms >= since_us;
    for (unsigned i = 0; i < actor->names_count; i++)
        if (!process->sim->names[actor->names[i]].free_since_us || process->sim->names[actor->names[i]].free_since_us >= since_us)
            return 0;
    return actor->lock && sim_wants(actor, name) && actor->state == ACTOR_WAITS && actor->asked_us < since_us && process->client && !process->is_closing &&
           thawed_us < since_us && !is_guarding;
}

/* A handle in the same process believes that it holds it; if the store lost that hold, an unrenewed one may learn of it as late as its deadline. */
static int is_held_here(const struct sim *sim, const struct sim_actor *actor)
{
    for (unsigned i = 0; i < sim->actors_count; i++)
        for (unsigned j = 0; j < actor->names_count; j++)
            if (sim->actors[i].process == actor->process && sim_wants(&sim->actors[i], actor->names[j]) && sim->actors[i].state == ACTOR_HOLDS)
                return 1;
    return 0;
}

/* Nobody holds it, somebody waits for it, and nothing happens. What vanished without a word (data lost) is found by the safety poll. */
static void check_idle(struct sim *sim, unsigned i)
{
    struct sim_name *name = &sim->names[i];
    uint64_t now_us = sim->world.time.now_us, patience_us = sim->swarm.mean_gap_us ? 2500000 : 1000000, since_us, tainted_us = sim_tainted_us(sim, name);
    /* behind heads that died, when the server's clock has jumped, or behind another program, when the head has left and the next one does not know that
     * it is the head: the slowest heartbeat; or behind the vote of a dead client at the one master where
     * a quorum's waiter stands: it tries the others every five seconds */
    if ((name->kind != HILOCK_SIMPLE || sim->deployment == SIM_QUORUM) && (sim->swarm.mean_gap_us || sim_java_wants(sim, name)))
        patience_us = 10500000;
    since_us = now_us > patience_us ? now_us - patience_us : 0;
    if (name->granted_us >= since_us || (name->unsettled_us && name->unsettled_us >= since_us) || (tainted_us && tainted_us + 5500000 > since_us) || !sim_is_free(sim, name)) {
        name->free_since_us = 0;
        return;
    }
    if (!name->free_since_us)
        name->free_since_us = now_us;
    for (unsigned j = 0; j < sim->actors_count && name->free_since_us < since_us && sim->healed_us < since_us; j++)
        if (has_waited(&sim->actors[j], i, since_us) && !is_held_here(sim, &sim->actors[j]))
            sim_violate(&sim->world, "I6", "%s is free for %llu us, and %s still waits for it", name->text,
                        (unsigned long long)(now_us - name->free_since_us), sim->actors[j].who);
}

static const struct hl_hold *hold_of(const struct hl_core *core, uint64_t id)
{
    const struct hl_hold *hold;
    TAILQ_FOREACH(hold, &core->holds->live, live)
        if (hold->id == id)
            return hold;
    return NULL;
}

/* Handles without replicas are not delayed by those with replicas. */
void sim_check_waited(struct sim_process *process, uint64_t id)
{
    const struct hl_hold *hold = id && process->client ? hold_of(&process->client->core, id) : NULL;
    if (hold && !hold->terms->replicas)
        sim_violate(&process->sim->world, "I15", "p%u asks under id %llu, for no replicas, over a link that WAIT blocks", process->index, (unsigned long long)id);
}

/* An acquire that sleeps, or stands in line, keeps nothing else; long after the heal neither does what has ended, unless its client knows that late
 * bytes may still run, and waits for that time to release it again: it may be long if the client was frozen while it asked for the server's time.
 * (Who is in a queue may be granted meanwhile.) */
static int is_idle(const struct sim *sim, const struct hl_hold *hold)
{
    const struct hl_acquire *acquire = !hl_hold_is_held(hold) && !hl_hold_is_ending(hold) ? hl_hold_handle(hold)->acquire : NULL;
    if (acquire)
        return (acquire->state == ACQUIRE_SLEEPING || acquire->state == ACQUIRE_PAUSED || acquire->state == ACQUIRE_IN_LINE) &&
               !hl_has_queue(hold->terms);
    return hl_hold_is_ending(hold) && sim->is_healed && sim->healed_us + LINKED_US < sim->world.time.now_us &&
           hold->may_run_until_us < hl_now_us(&hl_hold_core(hold)->host);
}

/* A share that is over stands until somebody asks. */
static int is_over(const struct store *store, const char *name, const struct sim_store_field *field)
{
    uint64_t end_us;
    return sim_sharing_end(store, name, field->name, field->name_length, &end_us) && end_us <= store_us(store);
}

/* 1: the holder, or whose place in a queue it is, is a hold of a client that lives and runs, and the client knows nothing of it, or has no
 * use for it. */
static int is_unknown(const struct sim *sim, const struct sim_store_field *field, int is_place, uint64_t *ret_id)
{
    if (field->name_length <= HL_UUID_LENGTH + 1)
        return 0;
    *ret_id = strtoull(field->name + HL_UUID_LENGTH + 1, NULL, 10);
    for (unsigned i = 0; i < sim->processes_count; i++) {
        const struct sim_process *process = &sim->processes[i];
        const struct hl_core *core = process->client ? &process->client->core : NULL;
        const struct hl_hold *hold;
        if (core && memcmp(core->uuid, field->name, HL_UUID_LENGTH) == 0) {
            hold = hold_of(core, *ret_id);
            return !sim_process_is_frozen(process) && (!hold || (!is_place && is_idle(sim, hold)));
        }
    }
    return 0;
}

/* A renewal that a stopped server runs long after its link was given up may keep a hold for one lease more: no other gets in by it, and
 * nothing the client could still do would tell it. */
static void check_known(struct sim *sim, struct sim_name *name, const struct sim_place *place)
{
    const struct sim_store *store = place->store->core;
    struct sim_store_field field;
    uint64_t *since_us = &name->unknown[place->index].since_us, *unknown_id = &name->unknown[place->index].id;
    uint64_t id = 0, now_us = sim->world.time.now_us, ghost_us = (sim->has_extras ? 2000u : 1000u) * (uint64_t)sim->lease_ms;
    int found = 0;
    if (name->kind == HILOCK_FAIR) /* what stands in the queue may be granted as long as it counts as alive */
        ghost_us += 1000u * (uint64_t)(HL_PROMISE_MAX_MS + HL_WINDOW_MAX_MS);
    if (sim->swarm.steps)
        return; /* a clock that steps back makes a lease longer than we could know */
    for (size_t i = 0; !found && sim_store_hash_field(store, name->text, strlen(name->text), i, &field); i++)
        found = is_unknown(sim, &field, 0, &id) && !is_over(place->store, name->text, &field);
    if (!found || id != *unknown_id || place->refuses_until_us > now_us) /* asking again is answered by errors */
        *since_us = 0;
    *unknown_id = id;
    if (found && !*since_us)
        *since_us = now_us;
    if (found && now_us - *since_us > 1500000 && (!sim->ghost_us || sim->ghost_us + ghost_us < *since_us))
        sim_violate(&sim->world, "I8", "%s is held under id %llu, which its client knows nothing of, or only waits with", name->text, (unsigned long long)id);
}

/* I17: long after the heal no place at the front of a queue is unknown to its client. Late bytes of a dead link may have made one
 * when its wait had ended. A walk along the queue takes it out, but a walk ends at the first waiter that is ready: behind that one such a
 * place delays nobody. A waiter walks with each heartbeat, so once in its promise. While none of ours waits, and programs of another library
 * have the name in turn, nobody walks. */
static void check_queue(struct sim *sim, struct sim_name *name, const struct sim_place *place)
{
    char key[SIM_NAME_LENGTH + HL_KEY_PREFIX_MAX];
    size_t length = hl_key_write(key, hl_key_queue, name->text, strlen(name->text));
    struct sim_store_field field = {.name_length = 0};
    uint64_t id = 0, patience_us = 1500000 + (sim_java_wants(sim, name) ? 1000u * (uint64_t)HL_PROMISE_MAX_MS : 0);
    int found = 0;
    for (size_t i = 0; !found && sim_store_hash_field(place->store->core, key, length, i, &field); i++) {
        found = is_unknown(sim, &field, 1, &id);
        if (field.score >= 1) /* below that it is no place */
            break;
    }
    if (!found || id != name->stray_id)
        name->stray_us = sim->world.time.now_us;
    name->stray_id = id;
    if (found && memmem(field.name, field.name_length, " 1 - ", 5)) /* nobody is to hear it, so it stands until its promise is over */
        patience_us += 1000u * (uint64_t)(HL_PROMISE_MAX_MS + 1000);
    if (found && sim->healed_us + LINKED_US < name->stray_us && name->stray_us + patience_us < sim->world.time.now_us)
        sim_violate(&sim->world, "I17", "id %llu stands first in the queue of %s, and its client knows nothing of it", (unsigned long long)id,
                    name->text);
}

void sim_check_names(struct sim *sim)
{
    for (unsigned i = 0; i < sim->places_count; i++)
        store_now(sim->places[i].store);
    sim_share_passed(sim);
    for (unsigned i = 0; i < sim->actors_count; i++)
        sim_java_passed(&sim->actors[i]);
    for (unsigned i = 0; i < sim->names_count; i++) {
        if (sim_is_unsettled(sim, &sim->names[i]))
            sim->names[i].unsettled_us = sim->world.time.now_us;
        if (sim->is_healed || !sim->swarm.mean_gap_us)
            check_idle(sim, i);
        sim_sharing_passed(sim, &sim->names[i]);
        if (sim->is_healed && sim->names[i].kind == HILOCK_FAIR)
            check_queue(sim, &sim->names[i], sim_decides(sim, &sim->names[i], 0));
        for (unsigned j = 0; j < sim_deciding(sim, &sim->names[i]); j++)
            check_known(sim, &sim->names[i], sim_decides(sim, &sim->names[i], j));
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
    if (sim->net.links)
        sim_violate(&sim->world, "I9", "links are left");
    for (unsigned i = 0; i < sim->processes_count; i++)
        if (sim->processes[i].memory.blocks)
            sim_violate(&sim->world, "I9", "p%u has left %zu blocks of memory", i, sim->processes[i].memory.blocks);
}
