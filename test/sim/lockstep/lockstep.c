/* SPDX-License-Identifier: BSD-3-Clause */
/* lockstep - the same commands at the same virtual times to the simulated store and to a real server: every answer and every message must
 * be the same, and every so often all keys. What the simulator proves about the library is worth what this test finds.
 *
 *   lockstep SHIM [--seed N] [--commands N]   one run; a mismatch prints how to repeat it
 *   lockstep SHIM --lies [--commands N]       the store lies, in each of its ways: every one must be noticed
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "base/contract.h"
#include "clocked.h"
#include "live/support/check.h"
#include "memory/store.h"
#include "trial.h"
#include "world/say.h"

enum { LOOK_EVERY = 1000, LISTEN_EVERY = 16 }; /* commands; batches in which the store says nothing to a listener */

struct run {
    struct clocked *server;
    struct sim_store *store;
    struct trial trial;
    redisContext *real[SPEAKERS];
    unsigned sim[SPEAKERS];
    struct answer heard[SPEAKERS]; /* from the store, by listeners */
    uint64_t seed, done, batches, errors, messages, syncs;
    int is_different, is_quiet;
};

/* ---- what is compared ---- */

static void compare(struct run *run, const struct hl_command *command, const struct answer *real, const struct answer *sim)
{
    if (run->is_different || answer_is(real, sim))
        return;
    run->is_different = 1;
    if (run->is_quiet)
        return;
    printf("MISMATCH: seed %" PRIu64 ", command %" PRIu64 ", server's clock %" PRIu64 " us\n", run->seed, run->done, run->trial.now_us);
    if (command) {
        static struct answer text;
        answer_start(&text);
        for (int i = 0; i < command->argc; i++)
            answer_add_bytes(&text, command->argv[i], command->lengths[i]);
        printf("  command  %s\n", text.text);
    }
    printf("  server  %s\n  store   %s\n", real->text, sim->text);
    printf("  to repeat: --seed %" PRIu64 " --commands %" PRIu64 "\n", run->seed, run->done + BATCH_MAX);
}

static redisReply *receive(struct run *run, unsigned speaker)
{
    void *reply = NULL;
    if (redisGetReply(run->real[speaker], &reply) == REDIS_OK)
        return reply;
    check_fail("the server is gone or owes an answer: %s (seed %" PRIu64 ", command %" PRIu64 ")", run->real[speaker]->errstr, run->seed, run->done);
}

static void send_command(struct run *run, unsigned speaker, const struct hl_command *command)
{
    HL_REQUIRE(redisAppendCommandArgv(run->real[speaker], command->argc, (const char **)command->argv, command->lengths) == REDIS_OK);
}

static const struct sim_reply *execute(struct run *run, unsigned speaker, const struct hl_command *command)
{
    const struct sim_reply *reply = sim_store_execute(run->store, run->sim[speaker], command->argc, command->argv, command->lengths);
    HL_REQUIRE(reply);
    return reply;
}

static void on_message(void *arg, unsigned connection, const struct sim_reply *push)
{
    struct run *run = arg;
    for (unsigned speaker = 0; speaker < SPEAKERS; speaker++)
        if (run->sim[speaker] == connection)
            answer_add_sim(&run->heard[speaker], push);
    run->messages++;
}

/* ---- who listens: replies and messages are one stream, which a PING with a text of its own cuts off ---- */

static void catch_up(struct run *run, unsigned speaker)
{
    static struct answer real;
    char text[32];
    struct hl_command ping;
    redisReply *reply;
    int is_last;
    snprintf(text, sizeof text, "sync %" PRIu64, run->syncs++);
    hl_command_begin(&ping, "PING");
    hl_command_add_word(&ping, text);
    answer_start(&real);
    send_command(run, speaker, &ping);
    do {
        reply = receive(run, speaker);
        answer_add_real(&real, reply);
        const redisReply *echo = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 ? reply->element[1] : reply;
        is_last = echo->type == REDIS_REPLY_STRING && strcmp(echo->str, text) == 0;
        freeReplyObject(reply);
    } while (!is_last);
    answer_add_sim(&run->heard[speaker], execute(run, speaker, &ping));
    compare(run, NULL, &real, &run->heard[speaker]);
    answer_start(&run->heard[speaker]);
}

/* ---- one command ---- */

static void take_answer(struct run *run, const struct hl_command *command, const struct line *line)
{
    static struct answer real, sim;
    redisReply *reply = receive(run, 0);
    const struct sim_reply *said = execute(run, 0, command);
    answer_start(&real);
    answer_start(&sim);
    answer_add_real(&real, reply);
    answer_add_sim(&sim, said);
    compare(run, command, &real, &sim);
    run->errors += said->type == SIM_REPLY_ERROR;
    if (line) {
        run->done++;
        struct hl_reply *heard = say_stored(said);
        trial_answers(&run->trial, line, heard);
        say_free(heard);
    }
    freeReplyObject(reply);
}

/* Lines of the first speaker are sent together, up to one of a listener. */
static void batch(struct run *run)
{
    static struct line lines[BATCH_MAX];
    unsigned count = 1 + (unsigned)trial_below(&run->trial, BATCH_MAX), answered = 0;
    for (unsigned i = 0; i < count; i++)
        trial_line(&run->trial, &lines[i]);
    for (unsigned i = 0; i <= count; i++) {
        unsigned speaker = i < count ? lines[i].speaker : 0;
        for (; (i == count || speaker) && answered < i; answered++)
            take_answer(run, &lines[answered].command, &lines[answered]);
        if (i == count)
            break;
        send_command(run, speaker, &lines[i].command);
        if (!speaker)
            continue;
        answer_add_sim(&run->heard[speaker], execute(run, speaker, &lines[i].command));
        catch_up(run, speaker);
        answered++;
        run->done++;
    }
    run->batches++;
    for (unsigned speaker = 1; speaker < SPEAKERS; speaker++)
        if (run->heard[speaker].length || run->batches % LISTEN_EVERY == 0)
            catch_up(run, speaker);
}

/* ---- all keys ---- */

/* All that is asked of a key is sent together. */
static void look_at(struct run *run, const struct bytes *key)
{
    static const char *const words[][5] = {{"DBSIZE"}, {"TYPE", ""}, {"PEXPIRETIME", ""}, {"GET", ""}, {"HGETALL", ""},
                                           {"ZRANGE", "", "0", "-1", "WITHSCORES"}, {"LINDEX", "", "0"}};
    static struct hl_command questions[sizeof words / sizeof *words];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        hl_command_begin(&questions[i], words[i][0]);
        if (words[i][1])
            hl_command_add(&questions[i], key->at, key->length);
        for (int word = 2; word < 5 && words[i][word]; word++)
            hl_command_add_word(&questions[i], words[i][word]);
        send_command(run, 0, &questions[i]);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        take_answer(run, &questions[i], NULL);
}

/* ---- a run ---- */

static void begin(struct run *run, struct clocked *server, uint64_t seed, enum sim_store_lie lie)
{
    static const struct sim_store_events events = {.message = on_message};
    *run = (struct run){.server = server, .seed = seed, .is_quiet = lie != SIM_LIE_NONE};
    trial_init(&run->trial, seed);
    run->store = sim_store_new(&events, run);
    sim_store_lie(run->store, lie);
    for (unsigned speaker = 0; speaker < SPEAKERS; speaker++) {
        run->real[speaker] = clocked_connect(server);
        run->sim[speaker] = sim_store_connect(run->store);
        answer_start(&run->heard[speaker]);
    }
    freeReplyObject(redisCommand(run->real[0], "FLUSHALL"));
    freeReplyObject(redisCommand(run->real[0], "SCRIPT FLUSH"));
}

static void end(struct run *run)
{
    for (unsigned speaker = 0; speaker < SPEAKERS; speaker++)
        redisFree(run->real[speaker]);
    sim_store_free(run->store);
}

static void go(struct run *run, uint64_t commands)
{
    uint64_t next_look = LOOK_EVERY;
    while (run->done < commands && !run->is_different) {
        const struct bytes *key = &run->trial.keys[trial_below(&run->trial, KEYS)];
        trial_move_clock(&run->trial, sim_store_left_us(run->store, key->at, key->length));
        clocked_set_time(run->server, run->trial.now_us);
        sim_store_set_time(run->store, run->trial.now_us);
        batch(run);
        if (run->done < next_look)
            continue;
        next_look += LOOK_EVERY;
        for (int i = 0; i < KEYS; i++)
            look_at(run, &run->trial.keys[i]);
    }
}

static int compare_all(struct clocked *server, uint64_t seed, uint64_t commands)
{
    static struct run run;
    int is_thin;
    begin(&run, server, seed, SIM_LIE_NONE);
    go(&run, commands);
    printf("%s: seed %" PRIu64 ": %" PRIu64 " commands over %.1f virtual hours: %s\n", server->version, seed, run.done,
           (double)(run.trial.now_us - TRIAL_BEGINS_US) / 3.6e9, run.is_different ? "a mismatch" : "0 mismatches");
    printf("  errors %" PRIu64 "; messages %" PRIu64, run.errors, run.messages);
    is_thin = !run.errors || !run.messages;
    for (int i = 0; i < HAPPENINGS; i++) {
        printf("; %s %" PRIu64, trial_happenings[i], run.trial.happened[i]);
        is_thin |= !run.trial.happened[i];
    }
    printf("\n");
    if (commands >= 10000 && is_thin) {
        printf("  one of these never happened: this compared too little\n");
        run.is_different = 1;
    }
    end(&run);
    return run.is_different;
}

static int tell_lies(struct clocked *server, uint64_t seed, uint64_t commands)
{
    static struct run run;
    int failed = 0;
    for (enum sim_store_lie lie = 0; lie < SIM_LIE_NONE; lie++) {
        begin(&run, server, seed, lie);
        go(&run, commands);
        end(&run);
        printf("%-20s %s after %" PRIu64 " commands\n", sim_store_lie_name(lie), run.is_different ? "noticed" : "NOT NOTICED", run.done);
        failed += !run.is_different;
    }
    return failed;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, commands = 100000;
    int has_lies = 0, failed;
    struct clocked server = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: lockstep SHIM [--seed N] [--commands N] [--lies]\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        has_lies |= strcmp(argv[i], "--lies") == 0;
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(value, NULL, 10);
        if (strcmp(argv[i], "--commands") == 0)
            commands = strtoull(value, NULL, 10);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_in_child(); /* this process: it fails by its status */
    clocked_begin(&server, argv[1], TRIAL_BEGINS_US);
    failed = has_lies ? tell_lies(&server, seed, commands) : compare_all(&server, seed, commands);
    server_end(server.server);
    return failed ? 1 : 0;
}
