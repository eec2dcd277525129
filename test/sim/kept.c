/* SPDX-License-Identifier: BSD-3-Clause */
/* kept - god's view of what the stores keep: of a hold, of a name, of anything at all. */
#include "lock/hold.h"
#include "sim.h"

uint64_t sim_number(const char *digits, size_t length)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length && digits[i] >= '0' && digits[i] <= '9'; i++)
        value = value * 10 + (uint64_t)(digits[i] - '0');
    return value;
}

struct sim_place *sim_place_of(struct sim *sim, const struct sim_name *name)
{
    (void)name;
    return &sim->places[0];
}

/* ---- of a hold ---- */

static const struct sim_name *name_of(const struct sim_actor *actor) { return &actor->process->sim->names[actor->name]; }

/* The token that a server keeps for that hold. 0: it keeps none of it. */
static int is_kept_at(struct sim_server *server, const struct sim_actor *actor, uint64_t id, uint64_t *ret_token)
{
    const char *name = name_of(actor)->text, *value;
    char holder[HL_HOLDER_MAX];
    size_t length = sim_queue_holder(actor, id, holder), value_length = 0;
    sim_server_now(server);
    value = sim_store_hash_get(server->store, name, strlen(name), holder, length, &value_length);
    *ret_token = value ? sim_number(value, value_length) : 0;
    return value != NULL;
}

uint64_t sim_kept_us(const struct sim_actor *actor, int *ret_knows)
{
    const char *name = name_of(actor)->text;
    struct sim_server *server = &sim_place_of(actor->process->sim, name_of(actor))->server;
    uint64_t token;
    *ret_knows = is_kept_at(server, actor, actor->lock->hold->id, &token);
    if (!*ret_knows || token + actor->turn != actor->token)
        return 0;
    return (uint64_t)((double)sim_store_left_us(server->store, name, strlen(name)) / server->clock.rate);
}

static int keeps(struct sim_server *server, const struct sim_actor *actor, uint64_t told)
{
    uint64_t token;
    return is_kept_at(server, actor, actor->believed_id, &token) && token + actor->turn == told;
}

int sim_is_kept(const struct sim_actor *actor, uint64_t token)
{
    struct sim_place *place = sim_place_of(actor->process->sim, name_of(actor));
    return keeps(&place->server, actor, token) && (!place->former.store || keeps(&place->former, actor, token));
}

/* ---- of names, and of all ---- */

int sim_is_free(struct sim *sim, const struct sim_name *name)
{
    return sim_store_left_us(sim_place_of(sim, name)->server.store, name->text, strlen(name->text)) == -2;
}

struct leftover { struct sim *sim; unsigned found; };

static void on_key(void *arg, const char *key, size_t length)
{
    struct leftover *left = arg;
    if (length >= 12 && memcmp(key, "hilock:token", 12) == 0)
        return;
    sim_trace(&left->sim->world, "left: %.*s", (int)length, key);
    left->found++;
}

unsigned sim_keys_left(struct sim *sim)
{
    struct leftover left = {sim, 0};
    for (unsigned i = 0; i < sim->places_count; i++) {
        sim_server_now(&sim->places[i].server);
        sim_store_each_key(sim->places[i].server.store, on_key, &left);
    }
    return left.found;
}

unsigned sim_subscriptions_left(struct sim *sim)
{
    size_t left = 0;
    for (unsigned i = 0; i < sim->places_count; i++)
        left += sim_store_subscriptions(sim->places[i].server.store);
    return (unsigned)left;
}
