/* SPDX-License-Identifier: BSD-3-Clause */
/* kept - god's view of what the stores keep: of a hold, of a name, of anything at all.
 *
 * A hold has parts, each a name at a place: of several names one at the place that decides about it, of a quorum one at each master. What a
 * master forgot in a crash counts as kept for as long as its restart guard keeps others from having it. */
#include <stdlib.h>

#include "core/lease.h"
#include "core/lock.h"
#include "hold/hold.h"
#include "sim.h"

enum { UPTIME_UNIT_US = 1500000 }; /* it is given in whole seconds */

static struct sim *sim_of(const struct sim_actor *actor) { return actor->process->sim; }

/* ---- of a hold ---- */

static int is_kept_at(const struct store *store, const struct sim_actor *actor, const char *name, uint64_t id,
                      uint64_t *ret_token)
{
    char holder[HL_HOLDER_MAX];
    size_t length = sim_queue_holder(actor, id, holder), value_length = 0;
    uint64_t end_us;
    const char *value;
    value = sim_store_hash_get(store_now(store), name, strlen(name), holder, length, &value_length);
    *ret_token = value ? strtoull(value, NULL, 10) : 0;
    return value && !(sim_sharing_end(store, name, holder, length, &end_us) && end_us <= store_us(store));
}

static uint64_t guarded_us(const struct sim_place *place)
{
    const struct sim *sim = place->sim;
    uint64_t ends_us = place->forgot_us + 1000 * (uint64_t)sim->guard_ms;
    return place->forgot_us && ends_us > sim->world.time.now_us ? ends_us - sim->world.time.now_us : 0;
}

/* A share ends by itself, and at the latest with the name. */
static uint64_t kept_us(const struct sim_place *place, const struct sim_actor *actor, const char *name, uint64_t id)
{
    char holder[HL_HOLDER_MAX];
    size_t length = sim_queue_holder(actor, id, holder);
    int64_t left_us = sim_store_left_us(place->store->core, name, strlen(name));
    uint64_t end_us, now_us = store_us(place->store);
    if (sim_sharing_end(place->store, name, holder, length, &end_us) && end_us < now_us + (uint64_t)left_us)
        left_us = end_us > now_us ? (int64_t)(end_us - now_us) : 0;
    return world_clock_span_us(&place->store->clock, (uint64_t)left_us);
}

static uint64_t believed_us(const struct sim_actor *actor, const struct hl_hold *part)
{
    uint64_t left_us = sim_inside_left_us(actor);
    uint64_t part_us = hl_left_us(part->deadline_us, sim_process_now_us(actor->process));
    left_us = sim_inside_count(actor) > 1 && part_us < left_us ? part_us : left_us;
    return world_clock_span_us(&actor->process->loop.clock, left_us);
}

int sim_kept(const struct sim_actor *actor, unsigned i, struct sim_kept *ret)
{
    struct sim *sim = sim_of(actor);
    const struct hl_hold *part = sim_inside_hold(actor, i);
    int is_quorum = sim->deployment == SIM_QUORUM;
    const struct sim_name *name = &sim->names[actor->names[is_quorum ? 0 : i]];
    struct sim_place *place = sim_decides(sim, name, is_quorum ? i : 0);
    uint64_t token, should;
    *ret = (struct sim_kept){.name = name, .place = place};
    if (!part || part->kept != KEPT_OURS)
        return 0;
    should = is_quorum ? part->token : actor->names_count > 1 ? actor->tokens[i] - sim_inside_hold(actor, i)->served : actor->token - actor->turn;
    ret->believed_us = believed_us(actor, part);
    ret->is_known = is_kept_at(place->store, actor, name->text, sim_inside_hold(actor, i)->id, &token);
    ret->kept_us = ret->is_known && token == should ? kept_us(place, actor, name->text, part->id) : guarded_us(place);
    return 1;
}

uint64_t sim_confirmed_us(const struct sim_actor *actor, unsigned i)
{
    const struct sim *sim = sim_of(actor);
    const struct sim_name *name = &sim->names[actor->names[i]];
    int is_by_all = actor->replicas && actor->replicas == sim_replicas_max(sim) && !sim->sets.is_out_of_step;
    if (!is_by_all || name->meddled_us >= actor->begun_us)
        return 0;
    return world_clock_span_us(&actor->process->loop.clock,
                               hl_left_us(actor->confirmed_us[i], sim_process_now_us(actor->process)));
}

static int keeps(const struct store *store, const struct sim_actor *actor, unsigned i, uint64_t id, uint64_t should)
{
    uint64_t token;
    return is_kept_at(store, actor, sim_of(actor)->names[actor->names[i]].text, id, &token) && token == should;
}

int sim_is_kept(const struct sim_actor *actor, uint64_t token)
{
    struct sim *sim = sim_of(actor);
    int is_quorum = sim->deployment == SIM_QUORUM;
    for (unsigned i = 0; i < actor->names_count; i++) {
        const struct sim_name *name = &sim->names[actor->names[i]];
        unsigned yes = 0;
        for (unsigned j = 0; j < sim_deciding(sim, name); j++) {
            struct sim_place *place = sim_decides(sim, name, j);
            uint64_t should = is_quorum || actor->names_count > 1 ? actor->part_tokens[is_quorum ? j : i] : token - actor->turn;
            uint64_t id = actor->part_ids[is_quorum ? j : i];
            yes += keeps(place->store, actor, i, id, should) &&
                (!place->former || keeps(place->former, actor, i, id, should));
        }
        if (yes < sim->needed)
            return 0;
    }
    return 1;
}

/* ---- of names, and of all ---- */

/* A server's uptime goes by its clock: a client that asks after the clock was set back waits that much longer. */
static int may_grant(const struct sim_place *place)
{
    const struct sim *sim = place->sim;
    uint64_t guard_us = 1000 * (uint64_t)sim->guard_ms + UPTIME_UNIT_US + place->set_back_us;
    int is_guarded = sim->guard_ms && place->started_us && place->started_us + guard_us >= sim->world.time.now_us;
    return !place->is_away && !is_guarded;
}

int sim_can_be_had(struct sim *sim, const struct sim_name *name)
{
    unsigned able = 0;
    for (unsigned i = 0; i < sim_deciding(sim, name); i++)
        able += may_grant(sim_decides(sim, name, i)) != 0;
    return able >= sim->needed;
}

int sim_is_free(struct sim *sim, const struct sim_name *name)
{
    unsigned free = 0;
    for (unsigned i = 0; i < sim_deciding(sim, name); i++) {
        const struct sim_place *place = sim_decides(sim, name, i);
        free += may_grant(place) && sim_store_left_us(place->store->core, name->text, strlen(name->text)) == -2;
    }
    return free >= sim->needed;
}

/* Any two holds have so many masters in common: as many must have lost what they acknowledged before both can stand. */
uint64_t sim_tainted_us(struct sim *sim, const struct sim_name *name)
{
    unsigned deciding = sim_deciding(sim, name), common = 2 * sim->needed - deciding;
    uint64_t since_us = 0;
    for (unsigned i = 0; i < deciding; i++) {
        uint64_t one_us = name->tainted_us[sim_decides(sim, name, i)->index];
        unsigned as_late = 0;
        for (unsigned j = 0; j < deciding; j++)
            as_late += name->tainted_us[sim_decides(sim, name, j)->index] >= one_us;
        if (as_late >= common && one_us > since_us)
            since_us = one_us;
    }
    return since_us;
}

int sim_is_tainted(const struct sim_actor *actor)
{
    for (unsigned i = 0; i < actor->names_count; i++)
        if (sim_tainted_us(sim_of(actor), &sim_of(actor)->names[actor->names[i]]) >= actor->begun_us)
            return 1;
    return 0;
}

struct leftover { struct sim *sim; unsigned found; int has_replicas; };

/* A failover may lose that a record was taken out: it goes with its key, 90 s after the last heartbeat. Where nothing
 * fails over no record is left. */
static void on_key(void *arg, const char *key, size_t length)
{
    struct leftover *left = arg;
    if (length >= 12 && memcmp(key, "hilock:token", 12) == 0)
        return;
    if (left->has_replicas && length >= 12 && memcmp(key, "hilock:place", 12) == 0)
        return;
    sim_trace(&left->sim->world, "left: %.*s", (int)length, key);
    left->found++;
}

unsigned sim_keys_left(struct sim *sim)
{
    struct leftover left = {sim, 0, 0};
    for (unsigned i = 0; i < sim->places_count; i++) {
        if (sim_set_of(&sim->places[i]) && sim_set_of(&sim->places[i])->master != &sim->places[i])
            continue; /* a replica, whose keys are its master's */
        left.has_replicas = sim_set_of(&sim->places[i]) != NULL;
        sim_store_each_key(store_now(sim->places[i].store), on_key, &left);
    }
    return left.found;
}

unsigned sim_subscriptions_left(struct sim *sim)
{
    size_t left = 0;
    for (unsigned i = 0; i < sim->places_count; i++)
        left += sim_store_subscriptions(sim->places[i].store->core);
    return (unsigned)left;
}
