/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing - names that several handles hold together (`--strain share`): which handles share them, and what must be true
 * at the store. S1 to S4, S7 and S9 are judged after each script, by what that script changed: the hash of the name and the
 * set of the ends of its shares are read before and after. S8 is judged now and then, S10 when a reader is granted. A book that
 * was kept before the store lost or shortened something, or before the name came to another server, says nothing, and is begun
 * anew. */
#include <stdlib.h>

#include "core/lock.h"
#include "hold/hold.h"
#include "sim.h"
#include "lock/place.h"
#include "lock/acquire.h"
#include "wire/keys.h"
#include "wire/scripts.h"

enum { KEY_EXPIRY_US = 2000, LINKED_US = 4000000, AT_ONCE_US = 300000, MESSAGES = 20, HEARTBEAT_US = 10500000, JOIN_SLACK_US = 1000 };

/* ---- which handles share ---- */

void sim_sharing_choose(struct sim *sim)
{
    struct hl_random *random = &sim->world.sharers;
    for (unsigned i = 0; i < sim->names_count && sim_has_strain(sim, STRAIN_SHARE); i++) {
        sim->names[i].is_shared = sim->names[i].kind != HILOCK_SIMPLE && sim_chance(random, 0.8);
        sim->names[i].sharing.usual = (uint32_t[]){0, 0, 2, 3, HILOCK_ANY_NUMBER}[hl_random_below(random, 5)];
        struct hl_random local = *random; /* a copy: what else a seed chooses stays as it is */
        sim->names[i].sharing.local_ms = sim_chance(&local, 0.6) ? (uint32_t)sim_between(&local, 10, sim->lease_ms / 3) : 0;
    }
}

uint32_t sim_sharing_local_ms(const struct sim_actor *actor, uint32_t holders_max)
{
    uint32_t local_ms = actor->process->sim->names[actor->name].sharing.local_ms, most_ms = actor->lease_ms / 3;
    if (holders_max != HILOCK_ANY_NUMBER)
        return 0;
    return local_ms < most_ms ? local_ms : most_ms;
}

int sim_sharing_joined(const struct sim_actor *actor, const struct hilock_result *result)
{
    struct sim *sim = actor->process->sim;
    const struct hl_hold *hold = actor->lock->hold;
    uint32_t local_ms = actor->lock->terms->share_local_ms;
    if (!local_ms || result->attempts)
        return 0;
    sim->world.sometimes[SIM_JOINED]++;
    if (hold && world_clock_at_us(&actor->process->loop.clock, actor->asked_us) > hold->held.granted_at_us + (uint64_t)local_ms * 1000 + JOIN_SLACK_US)
        sim_violate(&sim->world, "S10", "%s has a share of its client that was granted more than %u ms before it asked", actor->who, local_ms);
    return 1;
}

uint32_t sim_sharing_number(const struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    const struct sim_name *name = &sim->names[actor->name];
    if (!name->is_shared || actor->names_count > 1)
        return 1;
    if (name->sharing.usual && !sim_chance(&sim->world.sharers, 0.2))
        return name->sharing.usual;
    return (uint32_t[]){0, 1, 2, 3, 5, HILOCK_ANY_NUMBER}[hl_random_below(&sim->world.sharers, 6)];
}

int sim_shares(const struct sim_actor *actor)
{
    return actor->lock && (actor->is_downgraded || !hl_holds_alone(actor->lock->terms));
}

/* ---- a downgrade ---- */

static void hear_downgrade(struct sim_actor *actor, const struct hilock_result *result)
{
    struct sim *sim = actor->process->sim;
    int has_it = actor->state == ACTOR_HOLDS && actor->grants == actor->downgraded_grant;
    sim_trace(&sim->world, "%s downgrade: %s left %u", actor->who, hilock_status_name(result->status), result->remaining_ms);
    if (!actor->is_downgrading)
        sim_violate(&sim->world, "I5", "%s: a downgrade answered twice, or after its handle was silenced", actor->who);
    actor->is_downgrading = 0;
    if (result->status == HILOCK_LOST && has_it) /* in place of on_lost */
        sim_actor_lost(actor);
    if (result->status == HILOCK_LOST)
        return;
    sim_check_order(actor);
    if (!has_it || (result->status == HILOCK_OK && (!sim_inside_left_us(actor) || result->fencing_token != actor->token)))
        sim_violate(&sim->world, "I5", "%s: a downgrade ended %s, and has another token or no hold", actor->who, hilock_status_name(result->status));
    sim->world.sometimes[SIM_DOWNGRADED] += result->status == HILOCK_OK;
    sim->world.sometimes[SIM_DOWNGRADE_UNKNOWN] += result->status == HILOCK_UNKNOWN;
    if (result->status == HILOCK_UNREACHABLE || result->status == HILOCK_UNWRITABLE)
        actor->is_downgraded = 0;
    else if (result->status != HILOCK_OK && result->status != HILOCK_UNKNOWN)
        sim_violate(&sim->world, "I5", "a downgrade ended %s: %s", hilock_status_name(result->status), result->detail);
}

static void on_downgraded(const struct hilock_result *result, void *user)
{
    struct sim_actor *actor = user;
    hear_downgrade(actor, result);
    sim_strain_lingers(actor->process);
}

int sim_sharing_downgrades(struct sim_actor *actor)
{
    struct sim *sim = actor->process->sim;
    uint64_t lacks = actor->process->memory.refused;
    hilock_status status;
    if (!sim->names[actor->name].is_shared || actor->names_count > 1 || sim_shares(actor) || actor->is_downgrading || actor->entries || actor->is_entering ||
        !sim_chance(&sim->world.sharers, 0.4))
        return 0;
    sim_trace(&sim->world, "%s downgrades %s", actor->who, sim->names[actor->name].text);
    actor->downgraded_grant = actor->grants;
    status = hilock_downgrade(actor->lock, on_downgraded, actor);
    actor->is_downgrading = actor->is_downgraded = status == HILOCK_OK;
    if (status != HILOCK_OK && !sim_strain_excuses(actor->process, lacks, status))
        sim_violate(&sim->world, "I5", "downgrade of a held handle was refused: %s", hilock_client_refusal(actor->process->client));
    return status == HILOCK_OK;
}

/* ---- a look at the store ---- */

static size_t share_key(char key[SIM_NAME_LENGTH + HL_KEY_PREFIX_MAX], const struct sim_name *name)
{
    return hl_key_write(key, hl_key_share, name->text, strlen(name->text));
}

static int is_text(const struct sim_store_field *field, const char *text, size_t length)
{
    return field->name_length == length && memcmp(field->name, text, length) == 0;
}

int sim_sharing_end(const struct store *store, const char *name, const char *holder, size_t length, uint64_t *ret_end_us)
{
    char key[SIM_NAME_LENGTH + HL_KEY_PREFIX_MAX];
    size_t key_length = hl_key_write(key, hl_key_share, name, strlen(name)), mode_length;
    const struct sim_store *core = store_now(store);
    const char *mode = sim_store_hash_get(core, name, strlen(name), "mode", 4, &mode_length);
    struct sim_store_field end;
    if (!mode || mode_length != 6 || memcmp(mode, "shared", 6) != 0)
        return 0;
    for (size_t i = 0; sim_store_hash_field(core, key, key_length, i, &end); i++)
        if (is_text(&end, holder, length)) {
            *ret_end_us = (uint64_t)end.score;
            return 1;
        }
    return 0;
}

static void look(const struct store *store, const struct sim_name *name, struct sim_sharing_look *ret)
{
    const struct sim_store *core = store_now(store);
    char key[SIM_NAME_LENGTH + HL_KEY_PREFIX_MAX];
    size_t key_length = share_key(key, name), length = strlen(name->text);
    struct sim_store_field field;
    *ret = (struct sim_sharing_look){.left_us = sim_store_left_us(core, name->text, length), .ends_left_us = sim_store_left_us(core, key, key_length)};
    ret->life_us = ret->left_us >= 0 ? store_us(store) + (uint64_t)ret->left_us : 0;
    for (size_t i = 0; ret->left_us != -2 && sim_store_hash_field(core, name->text, length, i, &field); i++)
        if (is_text(&field, "mode", 4))
            ret->mode = field.value_length == 6 && memcmp(field.value, "shared", 6) == 0 ? MODE_SHARED : MODE_ALONE;
        else if (ret->count < SIM_SHARES_MAX && field.name_length <= HL_HOLDER_MAX) {
            struct sim_share *share = &ret->shares[ret->count++];
            memcpy(share->holder, field.name, field.name_length);
            share->length = field.name_length;
            share->token = strtoull(field.value, NULL, 10);
            if (sim_sharing_end(store, name->text, share->holder, share->length, &share->end_us))
                ret->ends++;
        }
    for (size_t i = 0; sim_store_hash_field(core, key, key_length, i, &field); i++)
        ret->members++;
}

static const struct sim_share *find(const struct sim_sharing_look *at, const struct sim_share *share)
{
    for (unsigned i = 0; i < at->count; i++)
        if (at->shares[i].length == share->length && at->shares[i].token == share->token &&
            memcmp(at->shares[i].holder, share->holder, share->length) == 0)
            return &at->shares[i];
    return NULL;
}

/* Of the client's own hold. 0: it knows none. */
static uint32_t number_of(const struct sim *sim, const struct sim_share *share)
{
    for (unsigned i = 0; i < sim->processes_count && share->length > HL_UUID_LENGTH; i++) {
        const struct hl_core *core = sim->processes[i].client ? &sim->processes[i].client->core : NULL;
        const struct hl_hold *hold;
        if (core && memcmp(core->uuid, share->holder, HL_UUID_LENGTH) == 0)
            TAILQ_FOREACH(hold, &core->holds->live, live)
                if (hold->id == strtoull(share->holder + HL_UUID_LENGTH + 1, NULL, 10))
                    return hl_holds_alone(hold->terms) ? 1 : hold->terms->holders_max;
    }
    return 0;
}

/* ---- after each script ---- */

static int is_script(const struct message *request, const struct hl_script *script) { return strcmp(request->argv[1], script->sha1) == 0; }

static int names(const struct message *request, const struct sim_share *share)
{
    for (int i = 3; i < request->argc; i++)
        if (request->lengths[i] == share->length && memcmp(request->argv[i], share->holder, share->length) == 0)
            return 1;
    return 0;
}

static int is_release(const struct message *request)
{
    return is_script(request, &hl_script_share_release) || is_script(request, &hl_script_mutex_release) ||
        is_script(request, &hl_script_mutex_force) || is_script(request, &hl_script_free);
}

static void check_state(struct sim *sim, struct sim_name *name, const struct sim_sharing_look *now, uint64_t now_us)
{
    struct sim_world *world = &sim->world;
    if (now->mode == MODE_ALONE ? now->count != 1 : now->mode == MODE_SHARED && !now->count)
        sim_violate(world, "S1", "%s has %u holders, and its mode is %s", name->text, now->count, now->mode == MODE_ALONE ? "mutex" : "shared");
    if (now->mode != MODE_SHARED) {
        if (now->members)
            sim_violate(world, "S4", "%s is not shared, and %u ends of shares stand beside it", name->text, now->members);
        return;
    }
    if (now->ends != now->count || now->members != now->count)
        sim_violate(world, "S4", "%s has %u holders, %u of them with an end, of %u ends", name->text, now->count, now->ends, now->members);
    for (unsigned i = 0; i < now->count; i++) {
        uint64_t least_us = now_us + (uint64_t)(now->left_us < now->ends_left_us ? now->left_us : now->ends_left_us) + KEY_EXPIRY_US;
        if (now->shares[i].end_us > least_us && !name->sharing.is_meddled)
            sim_violate(world, "S4", "%s goes %llu us before its last share is over", name->text, (unsigned long long)(now->shares[i].end_us - least_us));
    }
}

/* Of those that are there by now: S2, S7. */
static void check_new(struct sim *sim, struct sim_name *name, const struct sim_sharing_look *before, const struct sim_sharing_look *now)
{
    struct sim_sharing *sharing = &name->sharing;
    uint64_t highest = sharing->token_highest;
    for (unsigned i = 0; i < now->count; i++) {
        const struct sim_share *share = &now->shares[i];
        unsigned with = 1;
        uint32_t number = number_of(sim, share);
        highest = share->token > highest ? share->token : highest;
        if (find(before, share))
            continue;
        for (unsigned j = 0; j < now->count; j++) {
            with += j != i && (find(before, &now->shares[j]) || now->shares[j].token < share->token);
            if (j != i && now->shares[j].token == share->token)
                sim_violate(&sim->world, "S7", "two holders of %s have the token %llu", name->text, (unsigned long long)share->token);
        }
        if (share->token <= sharing->token_highest)
            sim_violate(&sim->world, "S7", "%s is granted with token %llu after %llu", name->text, (unsigned long long)share->token, (unsigned long long)sharing->token_highest);
        if (number && with > number)
            sim_violate(&sim->world, "S2", "%s is granted to %.*s, for at most %u, beside %u others", name->text, (int)share->length, share->holder, (unsigned)number, with - 1);
        sim->world.sometimes[SIM_SHARED] += with > 1;
        sim->world.sometimes[SIM_SHARED_TO_THE_LAST] += with == number && number > 1;
    }
    sharing->token_highest = highest;
}

/* Of those that were there before: S3, S4, S9. */
static void check_old(struct sim *sim, struct sim_name *name, const struct message *request, const struct sim_sharing_look *before,
                      const struct sim_sharing_look *now, uint64_t now_us)
{
    int name_is_over = name->sharing.is_meddled && before->life_us <= now_us; /* another program had shortened it */
    for (unsigned i = 0; i < before->count && before->mode == MODE_SHARED; i++) {
        const struct sim_share *was = &before->shares[i], *is = find(now, was);
        if (!was->end_us) /* its end is not known */
            continue;
        if (!is && was->end_us > now_us && !name_is_over && !(is_release(request) && names(request, was)))
            sim_violate(&sim->world, "S3", "the share %.*s of %s is taken out %llu us before its end", (int)was->length, was->holder, name->text,
                        (unsigned long long)(was->end_us - now_us));
        if (is && is->end_us && is->end_us < was->end_us)
            sim_violate(&sim->world, "S4", "the share %.*s of %s is shortened", (int)was->length, was->holder, name->text);
        if (is && is->end_us > was->end_us && was->end_us <= now_us)
            sim_violate(&sim->world, "S9", "the share %.*s of %s was over, and goes on", (int)was->length, was->holder, name->text);
        sim->world.sometimes[SIM_SHARE_OVER] += !is && was->end_us <= now_us;
    }
}

static void check_swept(struct sim *sim, const struct sim_name *name, const struct message *request, const struct hl_reply *reply,
                        const struct sim_sharing_look *now, uint64_t now_us)
{
    if (!is_script(request, &hl_script_mutex_acquire) || reply->type == HL_REPLY_ERROR || now->mode != MODE_SHARED)
        return;
    for (unsigned i = 0; i < now->count; i++)
        if (now->shares[i].end_us && now->shares[i].end_us <= now_us)
            sim_violate(&sim->world, "S3", "the share %.*s of %s is over, and still there after an acquire", (int)now->shares[i].length,
                        now->shares[i].holder, name->text);
}

/* The book goes on where nothing but scripts has touched the name since. */
static int goes_on(const struct sim_sharing *sharing, const struct sim_name *name, const struct sim_place *place)
{
    return sharing->store == place->store && sharing->begun_us > name->tainted_us[place->index] && sharing->begun_us > name->unsettled_us;
}

void sim_sharing_executed(struct sim *sim, const struct store *store, const struct message *request, const struct hl_reply *reply)
{
    struct sim_name *name = sim_has_strain(sim, STRAIN_SHARE) ? sim_name_in(sim, request) : NULL;
    struct sim_place *place = name && name->is_shared ? sim_decides(sim, name, 0) : NULL;
    struct sim_sharing_look now;
    if (!place || place->store != store || strcmp(request->argv[0], "EVALSHA") != 0)
        return;
    if (sim_is_unsettled(sim, name)) {
        name->sharing.store = NULL;
        return;
    }
    uint64_t now_us = store_us(store);
    look(store, name, &now);
    if (!goes_on(&name->sharing, name, place)) {
        name->sharing.is_meddled = 1;
        name->sharing.token_highest = 0;
        name->sharing.store = place->store;
        name->sharing.begun_us = sim->world.time.now_us;
        name->sharing.before = now;
    }
    if (is_script(request, &hl_script_free) && now.mode == MODE_SHARED) /* it names one key, so the end of that share stays in the set */
        name->sharing.is_meddled = 1;
    if (!name->sharing.is_meddled || (now.mode != MODE_SHARED && !now.members))
        check_state(sim, name, &now, now_us);
    check_old(sim, name, request, &name->sharing.before, &now, now_us);
    if (now.mode != MODE_FOREIGN)
        check_new(sim, name, &name->sharing.before, &now);
    check_swept(sim, name, request, reply, &now, now_us);
    if (now.mode != MODE_SHARED && !now.members)
        name->sharing.is_meddled = 0;
    name->sharing.before = now;
}

/* ---- now and then: S8 ---- */

/* Who stands first, and is a handle of ours that waits; NULL: nobody that can be judged. */
static const struct sim_actor *first_in_queue(struct sim *sim, const struct sim_name *name, const struct sim_place *place)
{
    char key[SIM_NAME_LENGTH + HL_KEY_PREFIX_MAX], holder[HL_HOLDER_MAX];
    size_t key_length = hl_key_write(key, hl_key_queue, name->text, strlen(name->text));
    struct sim_store_field field;
    for (size_t i = 0; sim_store_hash_field(store_now(place->store), key, key_length, i, &field); i++) {
        if (field.score < 1)
            continue;
        for (unsigned j = 0; j < sim->actors_count; j++) {
            const struct sim_actor *actor = &sim->actors[j];
            const struct hl_queue_place *wait = actor->names_count == 1 ? sim_queue_wait(actor) : NULL;
            const struct hl_hold *hold = wait ? wait->acquire->hold : NULL;
            size_t length = hold ? sim_queue_holder(actor, hold->id, holder) : 0;
            if (length && field.name_length > length && memcmp(field.name, holder, length) == 0 && field.name[length] == ' ')
                return wait->channel == ENTRY_POLLS || sim_process_is_frozen(actor->process) ? NULL : actor;
        }
        break;
    }
    return NULL;
}

static int fits(const struct sim_actor *actor, const struct sim_name *name, const struct sim_place *place)
{
    struct sim_sharing_look now;
    unsigned held = 0;
    look(place->store, name, &now);
    for (unsigned i = 0; i < now.count; i++)
        held += !now.shares[i].end_us || now.shares[i].end_us > store_us(place->store);
    if (now.left_us != -2 && now.mode != MODE_SHARED)
        return 0;
    return held == 0 || (sim_shares(actor) && held < actor->lock->terms->holders_max);
}

void sim_sharing_passed(struct sim *sim, struct sim_name *name)
{
    uint64_t now_us = sim->world.time.now_us, way_us = (uint64_t)sim->swarm.latency_us + sim->swarm.tail_us;
    uint64_t patience_us = sim->swarm.mean_gap_us ? HEARTBEAT_US : AT_ONCE_US + MESSAGES * way_us;
    const struct sim_place *place = name->is_shared ? sim_decides(sim, name, 0) : NULL;
    const struct sim_actor *actor = place && !place->is_away && !sim_is_unsettled(sim, name) && !sim_java_wants(sim, name) ? first_in_queue(sim, name, place) : NULL;
    int is_calm = !sim->swarm.mean_gap_us || (sim->is_healed && sim->healed_us + LINKED_US < now_us);
    if (!actor || !is_calm || actor->process->loop.lane.until_us + LINKED_US > now_us || actor != name->sharing.first || !fits(actor, name, place))
        name->sharing.fits_since_us = now_us;
    name->sharing.first = actor;
    if (name->sharing.fits_since_us + patience_us < now_us && actor->asked_us < name->sharing.fits_since_us)
        sim_violate(&sim->world, "S8", "%s stands first for %s, and has it not though it fits for %llu us", actor->who, name->text,
                    (unsigned long long)(now_us - name->sharing.fits_since_us));
}
