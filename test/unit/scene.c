/* SPDX-License-Identifier: BSD-3-Clause */
/* scene - see scene.h. The stage: time, the server, claims. Parties and hands are in scene_party.c. */
#include "scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRINTED_MAX = 10, TURNS_MAX = 256 };

int scene_is_quiet;
char *scene_wound;
const char scene_where[] = "127.0.0.1:6379";
const char *const scene_urls[SCENE_MASTERS_MAX] = {"redis://127.0.0.1:6379", "redis://127.0.0.1:6380", "redis://127.0.0.1:6381", "redis://127.0.0.1:6382",
                                                  "redis://127.0.0.1:6383"};

void scene_begin(struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    world_init(&scene->world);
    net_init(&scene->net, &scene->world);
    store_init(&scene->store, &scene->world);
    scene->place = net_listen(&scene->net, scene_where, &scene->store);
    scene->masters_count = 1;
    scene->memory.secret = SCENE_SECRET;
    plans_init(&scene->plans, &scene->net);
    TAILQ_INIT(&scene->parties);
    TAILQ_INIT(&scene->hands);
}

struct store *scene_server(struct scene *scene, const char *where)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store || scene->more_count == SCENE_SERVERS_MAX)
        abort();
    store_init(store, &scene->world);
    net_listen(&scene->net, where, store);
    return scene->more[scene->more_count++] = store;
}

struct store *store_at(struct scene *scene, unsigned i) { return i == 0 ? &scene->store : scene->more[i - 1]; }

void scene_masters(struct scene *scene, unsigned count)
{
    for (; scene->masters_count < count; scene->masters_count++)
        scene_server(scene, scene_urls[scene->masters_count] + sizeof "redis://" - 1);
}

/* ---- claims ---- */

static void note_wound(const char *claim)
{
    size_t i = 0;
    for (; claim[i] && i + 1 < SCENE_WOUND_MAX; i++)
        scene_wound[i] = claim[i] == '"' || claim[i] == '\\' ? '\'' : claim[i];
    scene_wound[i] = '\0';
}

/* 1: the rest of the line is to be printed. */
static int say_broken(struct scene *scene, const char *claim, const char *file, int line)
{
    if (scene_wound && !scene->is_broken)
        note_wound(claim);
    if (scene->is_broken++ >= PRINTED_MAX || scene_is_quiet)
        return 0;
    fprintf(stderr, "%s:%d: at %" PRIu64 " us: ", file, line, scene->world.now_us);
    return 1;
}

int scene_claim(struct scene *scene, int holds, const char *claim, const char *file, int line)
{
    if (holds)
        return 1;
    if (say_broken(scene, claim, file, line))
        fprintf(stderr, "does not hold: %s\n", claim);
    return 0;
}

int scene_same(struct scene *scene, uint64_t is, uint64_t should, const char *claim, const char *file, int line)
{
    if (is == should)
        return 1;
    if (say_broken(scene, claim, file, line))
        fprintf(stderr, "does not hold: %s (%" PRId64 ", not %" PRId64 ")\n", claim, (int64_t)is, (int64_t)should);
    return 0;
}

int scene_text(struct scene *scene, const char *is, const char *should, const char *file, int line)
{
    if (strcmp(is, should) == 0)
        return 1;
    if (say_broken(scene, *should ? should : "nothing is reported", file, line))
        fprintf(stderr, "is     \"%s\"\n  must be \"%s\"\n", is, should);
    return 0;
}

/* What is left is told rounded down. */
int scene_believes(struct scene *scene, const struct hand *hand, uint64_t deadline_us, const char *file, int line)
{
    uint64_t left_us = deadline_us - scene->world.now_us;
    return scene_same(scene, hilock_lock_remaining_ms(hand->lock), left_us / 1000, "what is believed", file, line);
}

int scene_tells(struct scene *scene, const char *story, const char *file, int line)
{
    int holds = scene_text(scene, scene->story ? scene->story : "", story, file, line);
    scene_hush(scene);
    return holds;
}

void scene_hush(struct scene *scene)
{
    scene->story_used = 0;
    if (scene->story)
        *scene->story = '\0';
}

void scene_write(struct scene *scene, const char *tag, const char *what)
{
    size_t needed = strlen(tag) + strlen(what) + 3;
    if (scene->is_untold)
        return;
    if (scene->story_room < scene->story_used + needed) {
        scene->story_room = 2 * scene->story_room + needed;
        scene->story = realloc(scene->story, scene->story_room);
        if (!scene->story)
            abort();
    }
    scene->story_used += (size_t)snprintf(scene->story + scene->story_used, scene->story_room - scene->story_used, "%s%s%s%s",
                                          scene->story_used ? " " : "", tag, *tag ? ":" : "", what);
}

/* ---- what must hold at every moment ---- */

/* token 0: any. The turns of a hold have its token and those behind it. */
static int is_kept(struct store *store, const struct hand *hand, const char *name, uint64_t token)
{
    const char *holder = store_holder(store, name);
    return strncmp(holder, hand->party->uuid, 36) == 0 && (!token || token - store_token(store, name, holder) < TURNS_MAX) &&
           store_left_ms(store, name) >= (int64_t)hilock_lock_remaining_ms(hand->lock);
}

/* Which of several servers decides about a name, a deployment knows, and it may change: one of them must have it. */
static int is_kept_somewhere(struct scene *scene, const struct hand *hand, const char *name, uint64_t token)
{
    for (unsigned i = 0; i <= scene->more_count; i++)
        if (is_kept(store_at(scene, i), hand, name, token))
            return 1;
    return 0;
}

static int is_kept_by_most(struct scene *scene, const struct hand *hand)
{
    unsigned votes = 0;
    for (unsigned i = 0; i < scene->masters_count; i++)
        votes += is_kept(store_at(scene, i), hand, hilock_lock_name(hand->lock), 0) != 0;
    return votes > scene->masters_count / 2;
}

static int is_backed(struct scene *scene, const struct hand *hand)
{
    if (!hilock_lock_remaining_ms(hand->lock))
        return 1;
    if (scene->masters_count > 1)
        return is_kept_by_most(scene, hand);
    if (!hand->names)
        return is_kept_somewhere(scene, hand, hilock_lock_name(hand->lock), hilock_lock_token(hand->lock));
    for (size_t i = 0; hand->names[i]; i++)
        if (!is_kept_somewhere(scene, hand, hand->names[i], hilock_multi_token(hand->lock, i)))
            return 0;
    return 1;
}

static void check_belief(struct scene *scene)
{
    const struct hand *hand;
    if (scene->is_tampered || scene->is_broken || scene->hands_count > 16)
        return;
    TAILQ_FOREACH(hand, &scene->hands, entry)
        if (hand->lock && !is_backed(scene, hand))
            scene_claim(scene, 0, "a handle believes in no more than the server has", __FILE__, __LINE__);
}

/* ---- time ---- */

uint64_t scene_us(const struct scene *scene) { return scene->world.now_us; }

void run_to(struct scene *scene, uint64_t at_us)
{
    while (world_step(&scene->world, at_us))
        check_belief(scene);
    world_run_to(&scene->world, at_us);
    check_belief(scene);
}

void run_us(struct scene *scene, uint64_t span_us) { run_to(scene, scene_us(scene) + span_us); }
void run_ms(struct scene *scene, uint64_t span_ms) { run_us(scene, span_ms * 1000); }

int run_until_told(struct scene *scene, uint64_t most_ms)
{
    uint64_t ends_us = scene_us(scene) + most_ms * 1000;
    size_t told = scene->story_used;
    while (scene->story_used == told && world_step(&scene->world, ends_us))
        check_belief(scene);
    return scene->story_used != told;
}

/* ---- the server's view ---- */

struct plan *plan(struct scene *scene, struct plan given) { return plan_add(&scene->plans, given); }

void push_text(char to[PUSH_TEXT], const struct party *party, const char *name, int id, int number, unsigned since_ms, uint64_t token)
{
    snprintf(to, PUSH_TEXT, "G %s:%d hilock:grant:%s 3000 0 %d 1700000000000000 %" PRIu64 " %u %u 0 %s", party->uuid, id, party->uuid, number, token,
             1700000000 + since_ms / 1000, since_ms % 1000 * 1000, name);
}

unsigned push_grant(const struct party *party, const char *name, int id, int number, unsigned since_ms, uint64_t token)
{
    char channel[64], text[PUSH_TEXT];
    snprintf(channel, sizeof channel, "hilock:grant:%s", party->uuid);
    push_text(text, party, name, id, number, since_ms, token);
    return store_publish(&party->scene->store, channel, text);
}

size_t asked(const struct scene *scene, const char *word) { return store_count(&scene->store, word); }
uint64_t asked_at_us(const struct scene *scene, const char *word, int nth) { return store_line(&scene->store, word, nth)->at_us; }
uint64_t sent_at_us(const struct scene *scene, const char *word, int nth) { return asked_at_us(scene, word, nth) - scene->net.there_us; }

int is_ours(struct scene *scene, const char *name)
{
    const struct party *party;
    TAILQ_FOREACH(party, &scene->parties, entry)
        if (strncmp(store_holder(&scene->store, name), party->uuid, 36) == 0)
            return 1;
    return 0;
}
