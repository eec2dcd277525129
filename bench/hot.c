/* SPDX-License-Identifier: BSD-3-Clause */
/* hot.c - scenario hot: many handles in several processes want one name at the same time; what does that cost the
 * server?
 *
 * The scenario follows a published table of a lock framework for Java: in each of 3 processes 4 contenders share 400
 * tries for one name. The table has them first all ask the store, and then with a local lock in front. Here hilock
 * makes the same tries in three modes: handing over inside a client, without that (turns_max 1), and polling with
 * kind SIMPLE, which is how the framework works. The table counts SETs, so acquisition commands are counted apart:
 * those that ask for the lock, whether it is granted or not. The counts are the server's, from the moment when all
 * are connected until all tries are answered. The modes run one after the other, `rounds` times, each in processes
 * of its own. */
#include "hot.h"
#include "line.h"
#include "scenario.h"
#include "stage.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRIES_MAX = 1000000 };

static unsigned processes = 3, contenders = 4, tries = 400, hold_ms = 5, wait_ms = 1000, rounds = 1;
static const char *only;

static const struct option_entry options[] = {
    {"processes", OPTION_COUNT, &processes, "that contend", 1, CROWD_MAX},
    {"contenders", OPTION_COUNT, &contenders, "handles in each process", 1, 100000},
    {"tries", OPTION_COUNT, &tries, "of each process, shared by its contenders", 1, TRIES_MAX},
    {"hold-ms", OPTION_COUNT, &hold_ms, "for how long each holds", 0, 60000},
    {"wait-ms", OPTION_COUNT, &wait_ms, "for how long each waits at most", 1, 3600000},
    {"rounds", OPTION_COUNT, &rounds, "of all modes", 1, 1000},
    {"only", OPTION_TEXT, &only, "one mode: handoff, one-turn or simple", 0, 0},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

struct mode {
    const char *name, *what;
    hilock_kind kind;
    uint32_t turns_max; /* 0: the default */
    uint64_t acquired, failed, lost, commands, acquire_commands; /* the sums over all rounds */
    bool has_tokens_rising;
};

static struct mode modes[] = {
    {"handoff", "with local hand-off", HILOCK_MUTEX, 0, 0, 0, 0, 0, 0, true},
    {"one-turn", "without it (turns_max 1)", HILOCK_MUTEX, 1, 0, 0, 0, 0, 0, true},
    {"simple", "polling (kind SIMPLE)", HILOCK_SIMPLE, 1, 0, 0, 0, 0, 0, false},
};
enum { MODES = sizeof modes / sizeof *modes };

struct sent { /* what clients have sent so far, as the server counts */
    uint64_t all, releases, sets;
};

/* Counts acquisition commands. MUTEX: a release publishes once. SIMPLE: every request is one SET, and the processes
 * report their releases. */
static int ask_sent(struct commands *commands, struct sent *ret_sent)
{
    return commands_count(commands, &ret_sent->all) == 0 &&
                   commands_count_of(commands, "publish", &ret_sent->releases) == 0 &&
                   commands_count_of(commands, "set", &ret_sent->sets) == 0
               ? 0
               : -1;
}

static void add_part(struct mode *mode, const struct hot_part *part)
{
    mode->acquired += part->acquired;
    mode->failed += part->failed;
    mode->lost += part->lost;
}

static void add(struct mode *mode, const struct hot_board *board, const struct sent *before, const struct sent *after)
{
    uint64_t holds = 0;
    for (unsigned i = 0; i < processes; i++) {
        add_part(mode, &board->parts[i]);
        holds += board->parts[i].holds;
    }
    for (unsigned i = 1; i < board->grants; i++)
        mode->has_tokens_rising = mode->has_tokens_rising && board->tokens[i] > board->tokens[i - 1];
    if (mode->kind == HILOCK_SIMPLE) {
        mode->acquire_commands += after->sets - before->sets;
        mode->commands += after->sets - before->sets + holds;
    } else {
        mode->commands += after->all - before->all;
        mode->acquire_commands += after->all - before->all - (after->releases - before->releases);
    }
}

static int play(struct mode *mode, struct hot_board *board, struct commands *commands)
{
    struct crowd crowd;
    struct sent before, after;
    if (crowd_start(&crowd, &hot_role, processes, board) != 0)
        return -1;
    if (ask_sent(commands, &before) != 0 || crowd_order(&crowd, 'b') != 0 || crowd_await(&crowd) != 0 ||
        ask_sent(commands, &after) != 0) {
        crowd_stop(&crowd);
        return -1;
    }
    crowd_stop(&crowd);
    add(mode, board, &before, &after);
    return 0;
}

static int play_round(struct mode *mode, const char *server_url, struct commands *commands)
{
    size_t bytes = sizeof(struct hot_board) + (size_t)processes * tries * sizeof(uint64_t);
    struct hot_board *board = crowd_board(bytes);
    int status;
    if (!board)
        return -1;
    *board = (struct hot_board){.kind = mode->kind,
                                .turns_max = mode->turns_max,
                                .hold_ms = hold_ms,
                                .wait_ms = wait_ms,
                                .contenders = contenders,
                                .tries = tries};
    snprintf(board->url, sizeof board->url, "%s", server_url);
    snprintf(board->name, sizeof board->name, "bench:hot:%s:%d", mode->name, (int)getpid());
    status = play(mode, board, commands);
    crowd_board_free(board, bytes);
    return status;
}

static double per_success(const struct mode *mode, uint64_t commands)
{
    return (double)commands / (double)mode->acquired; /* without grants: not finite, null in JSON */
}

static void tell(const struct mode *mode)
{
    printf("  %-28s %8llu %7llu %16.2f %11.2f   %s\n", mode->what, (unsigned long long)mode->acquired,
           (unsigned long long)mode->failed, per_success(mode, mode->acquire_commands),
           per_success(mode, mode->commands),
           mode->kind == HILOCK_SIMPLE ? "has none"
           : mode->has_tokens_rising   ? "rising"
                                       : "NOT RISING");
    if (mode->lost)
        printf("    %llu of these holds were lost before their release\n", (unsigned long long)mode->lost);
}

static void tell_json(const struct mode *mode)
{
    struct json json = line_begin("hot");
    json_text(&json, "mode", mode->name);
    json_count(&json, "processes", processes);
    json_count(&json, "contenders", contenders);
    json_count(&json, "tries", tries);
    json_count(&json, "hold_ms", hold_ms);
    json_count(&json, "wait_ms", wait_ms);
    json_count(&json, "rounds", rounds);
    json_count(&json, "acquired", mode->acquired);
    json_count(&json, "failed", mode->failed);
    json_number(&json, "acquire_commands_per_success", per_success(mode, mode->acquire_commands));
    json_number(&json, "commands_per_success", per_success(mode, mode->commands));
    if (mode->kind == HILOCK_SIMPLE)
        json_null(&json, "tokens_rising");
    else
        json_truth(&json, "tokens_rising", mode->has_tokens_rising);
    line_end(&json);
}

static bool is_wanted(const struct mode *mode)
{
    return !only || strcmp(only, mode->name) == 0;
}

static void tell_all(void)
{
    printf("one name, %u processes x %u contenders, %u tries a process, hold %u ms, wait at most %u ms; %u round%s\n",
           processes, contenders, tries, hold_ms, wait_ms, rounds, rounds == 1 ? "" : "s");
    printf("  %-28s %8s %7s %16s %11s   %s\n", "", "acquired", "failed", "acquire commands", "commands", "tokens");
    printf("  %-28s %8s %7s %16s %11s\n", "", "", "", "per success", "per success");
    for (unsigned i = 0; i < MODES; i++)
        if (is_wanted(&modes[i]))
            tell(&modes[i]);
    printf("  as published, for 3 x 4 x 400 (SETs):\n");
    printf("  %-28s %8d %7d %16.2f\n", "no local lock", 1099, 101, 21245.0 / 1099);
    printf("  %-28s %8d %7d %16.2f\n", "a local lock before it", 1147, 53, 6105.0 / 1147);
    for (unsigned i = 0; i < MODES && options_has_json; i++)
        if (is_wanted(&modes[i]))
            tell_json(&modes[i]);
}

static int play_all(const char *server_url, struct commands *commands)
{
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < MODES; i++)
            if (is_wanted(&modes[i]) && play_round(&modes[i], server_url, commands) != 0)
                return -1;
    return 0;
}

static bool is_known(const char *name)
{
    for (unsigned i = 0; i < MODES; i++)
        if (strcmp(modes[i].name, name) == 0)
            return true;
    fprintf(stderr, "hilock-bench: --only %s: must be handoff, one-turn or simple\n", name);
    return false;
}

static int run(void)
{
    struct stage stage;
    int status;
    if (only && !is_known(only))
        return -1;
    status = stage_open(&stage);
    if (status == 0)
        status = play_all(stage.server.url, stage.commands);
    if (status == 0)
        tell_all();
    stage_close(&stage);
    return status;
}

const struct scenario scenario_hot = {
    "hot", "a name that many handles in several processes want at once: commands per acquire", options, run};
