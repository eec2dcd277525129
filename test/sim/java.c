/* SPDX-License-Identifier: BSD-3-Clause */
/* java - programs of another library, in some seeds of one server. Each locks a name as an RLock of Redisson does, or
 * several as its MultiLock does: one after the other, in the opposite of a multi's order. It takes a name that is free.
 * It frees a name without a look at the queue, and publishes a message. It listens only while it waits. If it lacks one
 * after 1.5 s a name, it gives all back and begins again. It acts at the server itself, a message's time late.
 *
 * I20: a multi keeps nothing for long behind such a program. */

#include "../secret.h"
#include "group/member.h"
#include "sim.h"
#include "wire/keys.h"

enum { LEASE_MS = 3000, PATIENCE_US = 1500000, LOOK_US = 1000000, HOLD_US = 20000, REST_US = 30000, REST_LONG_US = 1000000 };
enum { KEPT_US = 500000, MESSAGES = 40, THAWED_US = 4000000 };

static struct hl_random *chance(const struct sim_java *java) { return &java->sim->world.strains; }

static const char *text_of(const struct sim_java *java, unsigned i) { return java->sim->names[java->names[i]].text; }

static void after(struct sim_java *java, uint64_t most_us)
{
    const struct sim_swarm *swarm = &java->sim->swarm;
    uint64_t way_us = swarm->latency_us + sim_between(chance(java), 0, 2 * (uint64_t)swarm->tail_us);
    struct world *time = &java->sim->world.time;
    world_start(time, &java->next, time->now_us + way_us + sim_between(chance(java), 0, most_us));
}

/* ---- its channel ---- */

static void on_message(void *arg, struct hl_reply *message)
{
    say_free(message);
    after(arg, 0);
}

static void say(struct sim_java *java, const char *word, const char *argument, size_t length)
{
    struct hl_reply *reply = store_execute(java->peer, 2, (const char *const[]){word, argument}, (const size_t[]){strlen(word), length});
    if (reply)
        say_free(reply);
}

static void listen_to(struct sim_java *java, const char *name)
{
    char channel[SIM_NAME_LENGTH + HL_KEY_PREFIX_MAX];
    if (java->peer)
        return;
    java->peer = store_connect(java->sim->places[0].store, on_message, java);
    say(java, "AUTH", TEST_SECRET, strlen(TEST_SECRET));
    say(java, "SUBSCRIBE", channel, hl_key_write(channel, hl_key_channel, name, strlen(name)));
}

static void cut(struct sim_java *java)
{
    if (java->peer)
        store_disconnect(java->peer);
    java->peer = NULL;
}

/* ---- what it does ---- */

/* Multis need a moment in which all their names are free, from these as from each other. */
static void rest(struct sim_java *java)
{
    after(java, (java->sim->has_multis || java->sim->is_crowd) && java->sim->is_healed ? REST_LONG_US : REST_US);
}

static int is_held_by(struct sim *sim, const char *name, const char *holder)
{
    return strncmp(store_holder(sim->places[0].store, name), holder, strlen(holder)) == 0;
}

static void give_back(struct sim_java *java)
{
    while (java->had) {
        const char *name = text_of(java, --java->had);
        if (is_held_by(java->sim, name, java->holder))
            store_free_name(java->sim->places[0].store, name);
    }
    cut(java);
}

/* Those of its names that come later in a multi's order come first. */
static void choose(struct sim_java *java)
{
    struct sim *sim = java->sim;
    unsigned most = sim->names_count < SIM_JAVA_NAMES ? sim->names_count : SIM_JAVA_NAMES, left = sim->has_multis || sim->is_crowd ? most : 1;
    java->count = 0;
    for (unsigned i = sim->names_count; i-- > 0 && left;)
        if (sim->names[i].kind != HILOCK_SIMPLE && sim_chance(chance(java), 0.7)) {
            java->names[java->count++] = i;
            left--;
        }
    java->until_us = sim->world.time.now_us + java->count * (uint64_t)PATIENCE_US;
}

static int takes(struct sim_java *java, const char *name)
{
    struct sim_place *place = &java->sim->places[0];
    if (place->is_away || sim_server_is_stalled(place) || sim_store_left_us(store_now(place->store), name, strlen(name)) != -2)
        return 0;
    store_take(place->store, name, java->holder, LEASE_MS);
    sim_trace(&java->sim->world, "%s has %s", java->holder, name);
    return 1;
}

static void on_next(void *arg)
{
    struct sim_java *java = arg;
    struct sim *sim = java->sim;
    if (java->had == java->count) {
        if (sim->is_healed || !sim->swarm.kills || !sim_chance(chance(java), 0.05)) /* else it dies with what it has */
            give_back(java);
        java->had = 0;
        java->served++;
        choose(java);
        rest(java);
        return;
    }
    for (; java->had < java->count && takes(java, text_of(java, java->had)); java->had++)
        cut(java);
    if (java->had == java->count) {
        sim->world.sometimes[SIM_JAVA_GRANTED]++;
        after(java, HOLD_US);
    } else if (sim->world.time.now_us >= java->until_us) {
        give_back(java);
        choose(java);
        rest(java);
    } else {
        listen_to(java, text_of(java, java->had));
        after(java, LOOK_US);
    }
}

void sim_java_start(struct sim *sim)
{
    if (!sim_has_strain(sim, STRAIN_JAVA) || sim->deployment != SIM_SINGLE || sim->is_duel)
        return;
    sim->javas_count = 1 + (unsigned)hl_random_below(&sim->world.strains, SIM_JAVAS_MAX);
    for (unsigned i = 0; i < sim->javas_count; i++) {
        struct sim_java *java = &sim->javas[i];
        java->sim = sim;
        snprintf(java->holder, sizeof java->holder, "java%u:1", i);
        world_event_init(&java->next, NULL, on_next, java);
        choose(java);
        rest(java);
    }
}

void sim_java_cut(struct sim *sim)
{
    for (unsigned i = 0; i < sim->javas_count; i++)
        cut(&sim->javas[i]);
}

void sim_java_end(struct sim *sim)
{
    for (unsigned i = 0; i < sim->javas_count; i++) {
        give_back(&sim->javas[i]);
        world_stop(&sim->world.time, &sim->javas[i].next);
    }
    sim->javas_count = 0;
}

int sim_java_wants(const struct sim *sim, const struct sim_name *name)
{
    return sim->javas_count && name->kind != HILOCK_SIMPLE;
}

/* ---- I20 ---- */

/* The first of the holds that it keeps; 0: it keeps none, or waits behind a client of ours. */
static uint64_t kept_behind_java(const struct sim_actor *actor)
{
    const struct hl_group *group = actor->names_count > 1 && actor->state == ACTOR_WAITS ? hl_group_of(actor->lock) : NULL;
    const struct hl_member *member;
    uint64_t kept_id = 0;
    if (!group || group->state != GROUP_WAITING || actor->lock->terms->is_polling)
        return 0;
    for (unsigned i = group->count; i-- > 0;)
        kept_id = hl_member_has(&group->members[i]) ? group->members[i].lock->hold->id : kept_id;
    member = &group->members[group->at];
    return member->lock->acquire && is_held_by(actor->process->sim, member->lock->name->bytes, "java") ? kept_id : 0;
}

void sim_java_passed(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    uint64_t now_us = sim->world.time.now_us, long_us = KEPT_US + MESSAGES * ((uint64_t)sim->swarm.latency_us + sim->swarm.tail_us);
    int is_calm = !sim->swarm.mean_gap_us || (sim->is_healed && sim->healed_us + THAWED_US < now_us && actor->process->loop.lane.until_us + THAWED_US < now_us);
    uint64_t kept_id = sim->javas_count && is_calm ? kept_behind_java(actor) : 0;
    if (!kept_id || kept_id != actor->behind_java_id)
        actor->behind_java_us = now_us;
    actor->behind_java_id = kept_id;
    sim->world.sometimes[SIM_JAVA_KEPT_FROM] += kept_id != 0;
    if (now_us - actor->behind_java_us > long_us)
        sim_violate(&sim->world, "I20", "%s keeps names for %llu us behind another program", actor->who,
                    (unsigned long long)(now_us - actor->behind_java_us));
}
