/* SPDX-License-Identifier: BSD-3-Clause */
/* multi.c - scenario multi: processes that want several names at once, beside others that want one of the same
 * names.
 *
 * Each process repeats: choose names by chance, acquire, hold, release, think. When the time is over, every wait
 * that is under way still goes on to its end, so that the longest wait is measured whole. A process that was granted
 * nothing in the given time is unserved. */
#include "line.h"
#include "multi.h"
#include "samples.h"
#include "scenario.h"
#include "stage.h"

#include <stdio.h>

static unsigned multis = 16, singles = 16, each = 5, names = 20, hold_ms = 5, think_ms = 5, rounds = 3;
static double seconds = 3;

static const struct option_entry options[] = {
    {"multis", OPTION_COUNT, &multis, "processes that want several names", 1, CROWD_MAX / 2},
    {"each", OPTION_COUNT, &each, "of the names at once", 2, 64},
    {"names", OPTION_COUNT, &names, "that there are", 2, 100000},
    {"singles", OPTION_COUNT, &singles, "processes that want one name", 0, CROWD_MAX / 2},
    {"hold-ms", OPTION_COUNT, &hold_ms, "for how long each holds", 0, 60000},
    {"think-ms", OPTION_COUNT, &think_ms, "from a release to the next acquire", 0, 60000},
    {"seconds", OPTION_SECONDS, &seconds, "of each round", 0, 0},
    {"rounds", OPTION_COUNT, &rounds, "each with new processes", 1, 1000},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

struct sort { /* one sort of process: with several names, or with a single one */
    const char *name;
    struct samples waits;
    uint64_t grants; /* grants within the given time */
    unsigned unserved;
};
static struct sort of_multis = {.name = "multi"}, of_singles = {.name = "single"};
static uint64_t commands_sent;

static int add(struct sort *sort, const struct multi_waits *waits, const uint32_t *grants, unsigned count)
{
    if (waits->count > MULTI_WAITS_MAX) {
        fprintf(stderr, "hilock-bench: more than %d grants in a round: make it shorter by --seconds\n",
                MULTI_WAITS_MAX);
        return -1;
    }
    for (unsigned i = 0; i < waits->count; i++)
        if (samples_add(&sort->waits, waits->us[i]) != 0)
            return -1;
    for (unsigned i = 0; i < count; i++) {
        sort->grants += grants[i];
        sort->unserved += grants[i] == 0;
    }
    return 0;
}

static int play(struct multi_board *board, struct commands *commands)
{
    struct crowd crowd;
    uint64_t before, after;
    int status = -1;
    if (crowd_start(&crowd, &multi_role, multis + singles, board) != 0)
        return -1;
    if (commands_count(commands, &before) == 0 && crowd_order(&crowd, 'b') == 0) {
        crowd_rest(seconds);
        board->is_over = true;
        status = crowd_await(&crowd) != 0 || commands_count(commands, &after) != 0 ? -1 : 0;
    }
    crowd_stop(&crowd);
    if (status != 0)
        return -1;
    commands_sent += after - before;
    return add(&of_multis, &board->of_multis, board->grants, multis) != 0 ||
                   add(&of_singles, &board->of_singles, board->grants + multis, singles) != 0
               ? -1
               : 0;
}

static int play_round(const char *server_url, struct commands *commands)
{
    struct multi_board *board = crowd_board(sizeof *board);
    int status;
    if (!board)
        return -1;
    snprintf(board->url, sizeof board->url, "%s", server_url);
    board->multis = multis;
    board->singles = singles;
    board->each = each;
    board->names = names;
    board->hold_us = hold_ms * 1000;
    board->think_us = think_ms * 1000;
    status = play(board, commands);
    crowd_board_free(board, sizeof *board);
    return status;
}

static void tell(const struct sort *sort)
{
    printf("  %-8s %8.1f grants/s; wait %.1f ms p50, %.1f ms p99, %.1f ms at most; %u unserved\n", sort->name,
           (double)sort->grants / (seconds * rounds), samples_at(&sort->waits, 0.5) / 1e3,
           samples_at(&sort->waits, 0.99) / 1e3, samples_at(&sort->waits, 1) / 1e3, sort->unserved);
}

static void tell_json(const struct sort *sort, unsigned count)
{
    struct json json = line_begin("multi");
    json_text(&json, "sort", sort->name);
    json_count(&json, "processes", count);
    json_count(&json, "each", sort == &of_singles ? 1 : each);
    json_count(&json, "names", names);
    json_count(&json, "hold_ms", hold_ms);
    json_count(&json, "think_ms", think_ms);
    json_number(&json, "seconds", seconds);
    json_count(&json, "rounds", rounds);
    json_number(&json, "grants_per_s", (double)sort->grants / (seconds * rounds));
    json_number(&json, "wait_p50_us", samples_at(&sort->waits, 0.5));
    json_number(&json, "wait_p99_us", samples_at(&sort->waits, 0.99));
    json_number(&json, "wait_max_us", samples_at(&sort->waits, 1));
    json_count(&json, "unserved", sort->unserved);
    line_end(&json);
}

static void tell_all(void)
{
    samples_sort(&of_multis.waits);
    samples_sort(&of_singles.waits);
    printf("%u processes want %u of %u names at once, %u want one; hold %u ms, think %u ms; %u rounds of %g s\n",
           multis, each, names, singles, hold_ms, think_ms, rounds, seconds);
    tell(&of_multis);
    if (singles)
        tell(&of_singles);
    printf("  commands %.2f per grant\n",
           (double)commands_sent / (double)(of_multis.waits.count + of_singles.waits.count));
    if (options_has_json)
        tell_json(&of_multis, multis);
    if (options_has_json && singles)
        tell_json(&of_singles, singles);
}

static int run(void)
{
    struct stage stage;
    int status;
    if (each > names) {
        fprintf(stderr, "hilock-bench: --each %u: there are %u names only, see --names\n", each, names);
        return -1;
    }
    status = stage_open(&stage);
    for (unsigned round = 0; status == 0 && round < rounds; round++)
        status = play_round(stage.server.url, stage.commands);
    if (status == 0)
        tell_all();
    stage_close(&stage);
    samples_free(&of_multis.waits);
    samples_free(&of_singles.waits);
    return status;
}

const struct scenario scenario_multi = {
    "multi", "processes that want several names at once, beside others that want one of them", options, run};
