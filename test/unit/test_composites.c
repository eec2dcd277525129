/* SPDX-License-Identifier: BSD-3-Clause */
/* Multis and quorums under chance: a seed decides who wants what and when, and which servers crash (with or without their data), hang, are cut
 * off or answer late, and which processes stand still. After each event no two handles believe in one name, and what is believed is kept
 * by the stores; when all is healed everybody is served, and when all has ended nothing is left. Without the restart guard, and
 * with planted bugs, the same seeds must find two holders, or something left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plant.h"
#include "base/random.h"
#include "quorum_stage.h"

#include <cmocka.h>

enum { PARTIES = 3, HANDS = 9, NAMES = 5, SUBSETS = 8, LEASE_MS = 3000, FAULTS = 40, SEEDS = 8, SEEDS_TO_FIND = 30 };

struct wish { unsigned name; uint64_t next_us; int served; struct hand *hand; };

struct chance {
    struct scene s;
    struct hl_random random;
    unsigned masters; /* 1: names of one server, and multis over them */
    uint32_t guard_ms;
    int loses_data;
    struct party *parties[PARTIES];
    struct wish wishes[HANDS];
    const char *subsets[SUBSETS][NAMES + 1];
    int overlaps;
};

enum seen { GRANTED, FEW_VOTES, TIMED_OUT, UNREACHABLE, UNWRITABLE, LOST, CANCELLED, MULTI_GRANTED, SEEN_MAX };
static const char *const seen_names[SEEN_MAX] = {"grants", "grants by less than all", "time-outs", "unreachable", "unwritable",
                                                 "losses", "cancels", "multis granted"};
static unsigned seen[SEEN_MAX];

static const char *const names[NAMES] = {"n0", "n1", "n2", "n3", "n4"};

static uint64_t below(struct chance *c, uint64_t bound) { return hl_random_below(&c->random, bound); }

/* ---- who wants what ---- */

static void choose_subsets(struct chance *c)
{
    for (unsigned k = 0; k < SUBSETS; k++) {
        unsigned count = 2 + (unsigned)below(c, NAMES - 1), first = (unsigned)below(c, NAMES), step = 1 + (unsigned)below(c, NAMES - 1);
        for (unsigned i = 0; i < count; i++)
            c->subsets[k][i] = names[(first + i * step) % NAMES];
        c->subsets[k][count] = NULL;
    }
}

static void on_told(struct hand *hand);

static void make_hand(struct chance *c, unsigned i)
{
    struct wish *wish = &c->wishes[i];
    struct party *party = c->parties[i % PARTIES];
    char tag[8];
    struct hilock_lock_options options = hilock_lock_options_default();
    options.lease_ms = LEASE_MS;
    options.min_validity_ms = 500;
    options.renew = i % 4 == 3 ? HILOCK_RENEW_NEVER : HILOCK_RENEW_AUTO;
    options.kind = c->masters > 1 && i % 3 == 2 ? HILOCK_SIMPLE : HILOCK_MUTEX;
    snprintf(tag, sizeof tag, "h%u", i);
    wish->name = options.kind == HILOCK_SIMPLE ? NAMES - 1 : (unsigned)below(c, 2);
    if (c->masters == 1 && i % 3)
        wish->hand = multi_new(party, tag, c->subsets[below(c, SUBSETS)], &options);
    else
        wish->hand = hand_new(party, tag, names[wish->name], &options);
    wish->hand->then = on_told;
}

static void on_told(struct hand *hand)
{
    hand->then = on_told;
    if (hand->result.operation == HILOCK_ACQUIRE && hand->result.status == HILOCK_OK && hilock_lock_state(hand->lock) == HILOCK_HELD) {
        seen[GRANTED]++;
        seen[MULTI_GRANTED] += hand->names != NULL;
        seen[FEW_VOTES] += hand->result.votes && hand->result.votes < hand->scene->masters_count;
    }
}

static void count_end(const struct hand *hand)
{
    seen[TIMED_OUT] += hand->result.status == HILOCK_TIMED_OUT;
    seen[UNREACHABLE] += hand->result.status == HILOCK_UNREACHABLE;
    seen[UNWRITABLE] += hand->result.status == HILOCK_UNWRITABLE;
    seen[CANCELLED] += hand->result.status == HILOCK_CANCELLED;
    seen[LOST] += hand->event.kind == HILOCK_EVENT_LOST;
}

static void take_turn(struct chance *c, struct wish *wish, int is_healed)
{
    struct hand *hand = wish->hand;
    uint64_t now_us = scene_us(&c->s);
    if (wish->next_us > now_us || hand->party->loop.lane.is_frozen)
        return;
    wish->next_us = now_us + below(c, below(c, 10) ? 30000 : 2000000);
    if (hilock_lock_state(hand->lock) == HILOCK_IDLE) {
        count_end(hand);
        acquire(hand, is_healed || below(c, 3) == 0 ? HILOCK_FOREVER : below(c, 4) ? 1 + (uint32_t)below(c, 3000) : HILOCK_TRY);
    } else if (hilock_lock_state(hand->lock) == HILOCK_HELD) {
        wish->served += is_healed;
        release(hand);
        wish->next_us += is_healed ? below(c, 1500000) : 0; /* who wants many names needs a moment in which all are free */
    } else if (!is_healed && below(c, 6) == 0)
        below(c, 2) ? (void)cancel(hand) : hand_drop(hand);
}

/* ---- what must hold ---- */

static int wants(const struct hand *hand, const char *name)
{
    if (!hand->names)
        return strcmp(hilock_lock_name(hand->lock), name) == 0;
    for (size_t i = 0; hand->names[i]; i++)
        if (strcmp(hand->names[i], name) == 0)
            return 1;
    return 0;
}

static void look(struct chance *c)
{
    for (unsigned n = 0; n < NAMES; n++) {
        unsigned believers = 0;
        for (unsigned i = 0; i < HANDS; i++)
            believers += hilock_lock_remaining_ms(c->wishes[i].hand->lock) > 0 && wants(c->wishes[i].hand, names[n]);
        c->overlaps += believers > 1;
    }
}

static void run_for(struct chance *c, uint64_t span_us, int is_healed)
{
    uint64_t ends_us = scene_us(&c->s) + span_us;
    while (scene_us(&c->s) < ends_us) {
        run_us(&c->s, 500);
        look(c);
        for (unsigned i = 0; i < HANDS; i++)
            take_turn(c, &c->wishes[i], is_healed);
    }
}

/* ---- misfortune ---- */

static void heal(struct chance *c)
{
    for (unsigned i = 0; i < c->masters; i++) {
        world_thaw(&c->s.world, &store_at(&c->s, i)->lane);
        c->s.net.places[i].mood = NET_LISTENS;
    }
    for (unsigned i = 0; i < PARTIES; i++)
        world_thaw(&c->s.world, &c->parties[i]->loop.lane);
}

static void misfortune(struct chance *c)
{
    static const char *const words[] = {"mutex_acquire", "renew", "mutex_release", "SET", "simple_renew", "simple_release"};
    static const enum plan_act acts[] = {PLAN_LOSE_ANSWER, PLAN_RESET_AFTER, PLAN_RESET_BEFORE, PLAN_LOSE_REQUEST, PLAN_DELAY_ANSWER, PLAN_DELAY_REQUEST, PLAN_STRAY};
    unsigned at = (unsigned)below(c, c->masters);
    switch (below(c, 7)) {
    case 0:
        store_restart(store_at(&c->s, at), !c->loses_data);
        net_reset_at(&c->s.net, &c->s.net.places[at]);
        break;
    case 1: crash(&c->s, at); break;
    case 2: world_freeze(&store_at(&c->s, at)->lane); break;
    case 3: world_freeze(&c->parties[below(c, PARTIES)]->loop.lane); break;
    case 4: net_reset(&c->s.net, &c->parties[below(c, PARTIES)]->loop, NET_ALL); break;
    case 5: heal(c); break;
    default:
        plan(&c->s, (struct plan){.on = words[below(c, 6)], .at = store_at(&c->s, at), .act = acts[below(c, 7)], .us = below(c, 2000000),
                                  .times = 1 + (int)below(c, 3)});
    }
}

/* ---- a seed ---- */

static void set_stage(struct chance *c)
{
    struct hilock_client_options options = hilock_client_options_default();
    scene_begin(&c->s);
    c->s.is_untold = 1;
    options.lease_ms = LEASE_MS;
    options.command_timeout_ms = 1000;
    options.retry_max_ms = 200;
    options.restart_guard_ms = c->guard_ms;
    for (unsigned i = 0; i < PARTIES; i++)
        c->parties[i] = c->masters > 1 ? quorum_with(&c->s, c->masters, options) : scene_connect(&c->s, &options);
    c->s.is_tampered = c->loses_data; /* a vote that was forgotten is none; that nobody else gets in is what counts then */
    for (unsigned i = 0; i < c->masters; i++)
        world_clock_set_rate(&store_at(&c->s, i)->clock, (int64_t)below(c, 6001) - 3000);
    choose_subsets(c);
    for (unsigned i = 0; i < HANDS; i++)
        make_hand(c, i);
}

static unsigned unserved(const struct chance *c)
{
    unsigned count = 0;
    for (unsigned i = 0; i < HANDS; i++)
        count += !c->wishes[i].served;
    return count;
}

static int is_left(struct chance *c)
{
    for (unsigned i = 0; i < c->masters; i++)
        for (unsigned n = 0; n < NAMES; n++)
            if (store_left_ms(store_at(&c->s, i), names[n]) != -2)
                return 1;
    return 0;
}

/* 1: all held. */
static int play_seed(uint64_t seed, unsigned masters, uint32_t guard_ms, int loses_data)
{
    struct chance *c = calloc(1, sizeof *c);
    int holds;
    if (!c)
        abort();
    *c = (struct chance){.masters = masters, .guard_ms = guard_ms, .loses_data = loses_data};
    c->random.state = seed;
    set_stage(c);
    for (unsigned i = 0; i < FAULTS; i++) {
        run_for(c, 10000 + below(c, 400000), 0);
        misfortune(c);
    }
    heal(c);
    for (int i = 0; i < 200 && unserved(c); i++)
        run_for(c, 500000, 1);
    holds = !c->overlaps && !unserved(c) && !c->s.is_broken;
    if (!holds && !scene_is_quiet)
        fprintf(stderr, "seed %u, %u masters, guard %u, loses data %d: %d overlaps, %u unserved, %d claims\n", (unsigned)seed, masters, guard_ms, loses_data,
                c->overlaps, unserved(c), c->s.is_broken);
    for (unsigned i = 0; i < HANDS; i++)
        hand_free(c->wishes[i].hand);
    run_ms(&c->s, 3 * LEASE_MS);
    if (is_left(c) && !scene_is_quiet)
        fprintf(stderr, "seed %u: something is left at a store\n", (unsigned)seed);
    holds = holds && !is_left(c);
    holds = scene_end(&c->s) && holds;
    free(c);
    return holds;
}

static void all_hold(unsigned masters, uint32_t guard_ms, int loses_data)
{
    const char *given = getenv("COMPOSITES_SEEDS");
    unsigned seeds = given ? (unsigned)atoi(given) : SEEDS;
    hl_plant = HL_PLANT_NONE;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        assert_true(play_seed(seed, masters, guard_ms, loses_data));
}

/* 1: some seed finds it. */
static int is_found(const char *plant, unsigned masters, uint32_t guard_ms, int loses_data)
{
    int found = 0;
    scene_is_quiet = 1;
    hl_plant = plant ? hl_plant_find(plant) : HL_PLANT_NONE;
    for (uint64_t seed = 1; seed <= SEEDS_TO_FIND && !found; seed++)
        found = !play_seed(seed, masters, guard_ms, loses_data);
    hl_plant = HL_PLANT_NONE;
    scene_is_quiet = 0;
    return found;
}

static void multis(void **state) { (void)state, all_hold(1, 0, 0); }
static void three_masters_that_keep_their_data(void **state) { (void)state, all_hold(3, 0, 0); }
static void five_masters_that_keep_their_data(void **state) { (void)state, all_hold(5, 0, 0); }
static void three_masters_that_lose_their_data(void **state) { (void)state, all_hold(3, 0, 1); }
static void five_masters_that_lose_their_data(void **state) { (void)state, all_hold(5, 0, 1); }
static void without_the_guard_two_hold_at_a_time(void **state) { (void)state, assert_true(is_found(NULL, 3, HILOCK_OFF, 1)); }

static void planted_bugs_are_found(void **state)
{
    static const struct { const char *plant; unsigned masters; int loses_data; } planted[] = {
        {"QUORUM_OF_HALF", 4, 0}, {"GUARD_IGNORED", 3, 1}, {"R1_DEADLINE_FROM_REPLY", 3, 0}, {"R2_ID_REUSED", 3, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        int found = is_found(planted[i].plant, planted[i].masters, 0, planted[i].loses_data);
        if (!found)
            fprintf(stderr, "%s is not found\n", planted[i].plant);
        assert_true(found);
    }
}

static void all_of_this_has_happened(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SEEN_MAX; i++) {
        printf("%-28s %u\n", seen_names[i], seen[i]);
        assert_true(seen[i] > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multis),
        cmocka_unit_test(three_masters_that_keep_their_data),
        cmocka_unit_test(five_masters_that_keep_their_data),
        cmocka_unit_test(three_masters_that_lose_their_data),
        cmocka_unit_test(five_masters_that_lose_their_data),
        cmocka_unit_test(all_of_this_has_happened),
        cmocka_unit_test(without_the_guard_two_hold_at_a_time),
        cmocka_unit_test(planted_bugs_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
