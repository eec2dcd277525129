/* SPDX-License-Identifier: BSD-3-Clause */
/* held - what an actor does with a hold besides writing under it: it extends, enters again, and keeps a validity. Only in some seeds, and
 * by a stream of chance of its own: the others run as if this were not there. */
#include "core/lease.h"
#include "core/lock.h"
#include "hold/validity.h"
#include "sim.h"

enum { DEEP_MAX = 4 };

static struct sim *sim_of(const struct sim_actor *actor) { return actor->process->sim; }

static int has_it(const struct sim_actor *actor, uint64_t grant) { return actor->state == ACTOR_HOLDS && actor->grants == grant; }

/* By the microsecond: what a result tells is rounded down. */
static int is_good(const struct sim_actor *actor, uint64_t grant)
{
    return has_it(actor, grant) && sim_inside_left_us(actor) > 0;
}

/* ---- re-entry ---- */

static void on_entered(const struct hilock_result *result, void *user)
{
    struct sim_actor *actor = user;
    struct sim_world *world = &sim_of(actor)->world;
    if (!actor->is_entering)
        sim_violate(world, "I5", "%s: a re-entry answered twice, or after its handle was silenced", actor->who);
    actor->is_entering = 0;
    sim_check_order(actor);
    if (result->status == HILOCK_OK) {
        world->sometimes[SIM_REENTERED]++;
        actor->entries++;
        if (!is_good(actor, actor->entered_grant) || result->hold_count != 1 + actor->entries)
            sim_violate(world, "I5", "%s entered a hold that has ended, or is told %u counts of %u", actor->who,
                        result->hold_count, 1 + actor->entries);
    } else if (result->status == HILOCK_LOST) {
        if (has_it(actor, actor->entered_grant))
            sim_violate(world, "I5", "%s: a re-entry is LOST, and on_lost has not run", actor->who);
    } else if (result->status != HILOCK_CLOSED)
        sim_violate(world, "I5", "a re-entry ended %s", hilock_status_name(result->status));
    sim_strain_lingers(actor->process);
}

static void enter(struct sim_actor *actor)
{
    uint64_t lacks = actor->process->memory.refused;
    hilock_status status;
    sim_trace(&sim_of(actor)->world, "%s enters again", actor->who);
    actor->entered_grant = actor->grants;
    status = hilock_acquire(actor->lock, HILOCK_FOREVER, on_entered, actor);
    actor->is_entering = status == HILOCK_OK;
    if (status != HILOCK_OK && !actor->process->is_closing && !sim_strain_excuses(actor->process, lacks, status))
        sim_violate(&sim_of(actor)->world, "I5", "re-entry refused: %s", hilock_client_refusal(actor->process->client));
}

static void on_left(const struct hilock_result *result, void *user)
{
    struct sim_actor *actor = user;
    sim_check_released(actor);
    if (result->status != HILOCK_OK && result->status != HILOCK_LOST)
        sim_violate(&sim_of(actor)->world, "I5", "release of a count ended %s", hilock_status_name(result->status));
    sim_strain_lingers(actor->process);
}

/* 0: the hold had ended, which the release will say. */
static int leave(struct sim_actor *actor)
{
    actor->is_releasing++;
    if (hilock_release(actor->lock, on_left, actor) != HILOCK_OK)
        sim_violate(&sim_of(actor)->world, "I5", "release of a count was refused");
    actor->entries--;
    return hilock_lock_state(actor->lock) == HILOCK_STATE_HELD;
}

/* ---- extend ---- */

/* R1: the deadline counts from a send that came after the call. */
static int is_long_enough(const struct sim_actor *actor, const struct hilock_result *result)
{
    uint64_t least_ms = (uint64_t)actor->extended_ms - actor->extended_ms / 100 - 7, told_ms = (uint64_t)result->remaining_ms + result->waited_ms + 2;
    return actor->hold_max_ms || told_ms >= least_ms || sim_is_tainted(actor);
}

static void hear_extend(struct sim_actor *actor, const struct hilock_result *result)
{
    struct sim *sim = sim_of(actor);
    uint64_t *sometimes = sim->world.sometimes;
    sim_trace(&sim->world, "%s extend: %s left %u", actor->who, hilock_status_name(result->status),
              result->remaining_ms);
    if (!actor->is_extending)
        sim_violate(&sim->world, "I5", "%s: an extend answered twice, or after its handle was silenced", actor->who);
    actor->is_extending = 0;
    if (result->status == HILOCK_LOST) {
        sometimes[SIM_EXTEND_LOST]++;
        if (has_it(actor, actor->extending_grant)) /* in place of on_lost */
            sim_actor_lost(actor);
        return;
    }
    sim_check_order(actor);
    if (result->status == HILOCK_UNKNOWN || result->status == HILOCK_UNREACHABLE || result->status == HILOCK_UNWRITABLE)
        sometimes[SIM_EXTEND_UNKNOWN]++;
    else if (result->status != HILOCK_OK)
        sim_violate(&sim->world, "I5", "an extend ended %s: %s", hilock_status_name(result->status), result->detail);
    else if (!is_good(actor, actor->extending_grant) || !is_long_enough(actor, result))
        sim_violate(&sim->world, "I5", "%s: extended for %u ms after %u, %u were asked for", actor->who,
                    result->remaining_ms, result->waited_ms, actor->extended_ms);
    sometimes[SIM_EXTENDED] += result->status == HILOCK_OK;
}

static void on_extended(const struct hilock_result *result, void *user)
{
    struct sim_actor *actor = user;
    hear_extend(actor, result);
    sim_strain_lingers(actor->process);
}

static void extend(struct sim_actor *actor)
{
    struct sim *sim = sim_of(actor);
    uint64_t lacks = actor->process->memory.refused;
    hilock_status status;
    actor->extended_ms = (uint32_t)sim_between(&sim->world.extras, 100, 2 * (uint64_t)sim->lease_ms);
    actor->extending_grant = actor->grants;
    sim_trace(&sim->world, "%s extends to %u ms", actor->who, actor->extended_ms);
    status = hilock_extend(actor->lock, actor->extended_ms, on_extended, actor);
    actor->is_extending = status == HILOCK_OK;
    if (status != HILOCK_OK && !sim_strain_excuses(actor->process, lacks, status))
        sim_violate(&sim->world, "I5", "extend of a held handle was refused: %s", hilock_client_refusal(actor->process->client));
}

/* ---- validity ---- */

static void forget_validity(struct sim_actor *actor)
{
    hilock_validity_unref(actor->validity);
    actor->validity = NULL;
}

/* It says what the handle says, of that very hold, and 0 of any other. */
void sim_check_validity(struct sim_actor *actor)
{
    uint64_t left_us, should_us = 0;
    if (!actor->validity)
        return;
    left_us = hl_validity_left_us(actor->validity);
    if (actor->lock && sim_inside_id(actor) == actor->validity_id && actor->grants == actor->validity_grant && memcmp(actor->process->client->core.uuid, actor->validity_uuid, HL_UUID_LENGTH) == 0)
        should_us = sim_inside_left_us(actor);
    if (left_us != should_us)
        sim_violate(&sim_of(actor)->world, "I2", "%s: a validity says %llu us, the handle %llu", actor->who,
                    (unsigned long long)left_us, (unsigned long long)should_us);
}

/* ---- what actor.c calls ---- */

void sim_held_begin(struct sim_actor *actor)
{
    struct sim *sim = sim_of(actor);
    uint64_t lacks = actor->process->memory.refused;
    hilock_status status;
    actor->grants++;
    if (!sim->has_extras || !sim_chance(&sim->world.extras, 0.5))
        return;
    forget_validity(actor);
    status = hilock_lock_validity(actor->lock, &actor->validity);
    if (status != HILOCK_OK && !sim_strain_excuses(actor->process, lacks, status))
        sim_violate(&sim->world, "I5", "validity of a held handle was refused");
    actor->validity_id = sim_inside_id(actor);
    actor->validity_grant = actor->grants;
    memcpy(actor->validity_uuid, actor->process->client->core.uuid, HL_UUID_LENGTH);
}

enum sim_held sim_held_step(struct sim_actor *actor)
{
    struct sim *sim = sim_of(actor);
    struct hl_random *random = &sim->world.extras;
    if (!sim->has_extras)
        return HELD_LETS_GO;
    if (actor->is_entering)
        return HELD_GOES_ON;
    if (!sim->is_healed && !actor->is_extending && sim_chance(random, 0.3)) {
        extend(actor);
        return HELD_GOES_ON;
    }
    if (actor->is_reentrant && !sim->is_healed && actor->entries < DEEP_MAX && sim_chance(random, 0.4)) {
        enter(actor);
        return HELD_GOES_ON;
    }
    if (!actor->entries)
        return HELD_LETS_GO;
    return leave(actor) ? HELD_GOES_ON : HELD_HAS_ENDED;
}

void sim_held_silence(struct sim_actor *actor) { actor->is_entering = actor->is_extending = actor->is_downgrading = 0; }

void sim_held_die(struct sim_actor *actor)
{
    sim_check_validity(actor);
    forget_validity(actor);
    sim_held_silence(actor);
}
