/* SPDX-License-Identifier: BSD-3-Clause */
/* lockstep - the same commands at the same virtual times to the simulated store and to a real server: every answer and every message must
 * be the same, and every so often all keys. What the simulator proves about the library is worth what this test finds.
 *
 *   lockstep SERVER SHIM [--seed N] [--commands N]   one run; a mismatch prints how to repeat it
 *   lockstep SERVER SHIM --lies [--commands N]       the store lies, in each of its ways: every one must be noticed
 *   lockstep SERVER SHIM --lie NAME                  one of them
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "base/contract.h"
#include "memory/store.h"
#include "trial.h"
#include "server.h"
#include "world/say.h"

enum { LOOK_EVERY = 1000 };

struct run {
    struct server *server;
    struct sim_store *store;
    struct trial trial;
    redisContext *real[SPEAKERS];
    unsigned sim[SPEAKERS];
    struct answer heard[SPEAKERS]; /* from the store, by listeners */
    uint64_t seed, done, errors, messages, syncs;
    int is_different, is_quiet;
};

struct command { int argc; const char *const *argv; const size_t *lengths; };

static void show_command(const struct command *command)
{
    static struct answer text;
    answer_start(&text);
    for (int i = 0; i < command->argc; i++)
        answer_add_bytes(&text, command->argv[i], command->lengths[i]);
    printf("  command  %s\n", text.text);
}

static void compare(struct run *run, const struct command *command, const struct answer *real, const struct answer *sim)
{
    if (run->is_different || answer_is(real, sim))
        return;
    run->is_different = 1;
    if (run->is_quiet)
        return;
    printf("MISMATCH: seed %" PRIu64 ", command %" PRIu64 ", server's clock %" PRIu64 " us\n", run->seed, run->done, run->trial.now_us);
    if (command)
        show_command(command);
    printf("  server  %s\n  store   %s\n", real->text, sim->text);
    printf("  to repeat: --seed %" PRIu64 " --commands %" PRIu64 "\n", run->seed, run->done + BATCH_MAX);
}

static redisReply *receive(struct run *run, unsigned speaker)
{
    void *reply = NULL;
    if (redisGetReply(run->real[speaker], &reply) == REDIS_OK)
        return reply;
    fprintf(stderr, "lockstep: the server is gone or owes an answer: %s (seed %" PRIu64 ", command %" PRIu64 ")\n",
            run->real[speaker]->errstr, run->seed, run->done);
    server_stop(run->server);
    exit(2);
}

static void send_command(struct run *run, unsigned speaker, const struct command *command)
{
    HL_REQUIRE(redisAppendCommandArgv(run->real[speaker], command->argc, (const char **)command->argv, command->lengths) == REDIS_OK);
}

static const struct sim_reply *execute(struct run *run, unsigned speaker, const struct command *command)
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

static int is_echo(const redisReply *reply, const char *text)
{
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2)
        reply = reply->element[1];
    return reply->type == REDIS_REPLY_STRING && strcmp(reply->str, text) == 0;
}

static void catch_up(struct run *run, unsigned speaker)
{
    static struct answer real;
    char text[32];
    size_t length = (size_t)snprintf(text, sizeof text, "sync %" PRIu64, run->syncs++);
    const struct command ping = {2, (const char *const[]){"PING", text}, (const size_t[]){4, length}};
    redisReply *reply;
    int is_last;
    answer_start(&real);
    send_command(run, speaker, &ping);
    do {
        reply = receive(run, speaker);
        answer_add_real(&real, reply);
        is_last = is_echo(reply, text);
        freeReplyObject(reply);
    } while (!is_last);
    answer_add_sim(&run->heard[speaker], execute(run, speaker, &ping));
    compare(run, NULL, &real, &run->heard[speaker]);
    answer_start(&run->heard[speaker]);
}

/* ---- one command ---- */

static void take_answer(struct run *run, const struct command *command, const struct line *line)
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
        struct hl_reply *heard = say_stored(said);
        trial_answers(&run->trial, line, heard);
        say_free(heard);
    }
    freeReplyObject(reply);
}

static void batch(struct run *run)
{
    static struct line lines[BATCH_MAX];
    unsigned count = 1 + (unsigned)trial_below(&run->trial, BATCH_MAX), answered = 0;
    for (unsigned i = 0; i < count; i++)
        trial_line(&run->trial, &lines[i]);
    for (unsigned i = 0; i <= count; i++) {
        int is_listener = i < count && lines[i].speaker != 0;
        struct command command;
        for (; (i == count || is_listener) && answered < i; answered++) {
            command = (struct command){lines[answered].command.argc, lines[answered].command.argv, lines[answered].command.lengths};
            take_answer(run, &command, &lines[answered]);
            run->done++;
        }
        if (i == count)
            break;
        command = (struct command){lines[i].command.argc, lines[i].command.argv, lines[i].command.lengths};
        send_command(run, lines[i].speaker, &command);
        if (is_listener) {
            answer_add_sim(&run->heard[lines[i].speaker], execute(run, lines[i].speaker, &command));
            catch_up(run, lines[i].speaker);
            answered++;
            run->done++;
        }
    }
    for (unsigned speaker = 1; speaker < SPEAKERS; speaker++)
        catch_up(run, speaker);
}

/* ---- all keys ---- */

static void look(struct run *run)
{
    static const char *const questions[][5] = {{"TYPE"}, {"PEXPIRETIME"}, {"GET"}, {"HGETALL"}, {"ZRANGE", 0, "0", "-1", "WITHSCORES"},
                                                {"LINDEX", 0, "0"}};
    const struct command dbsize = {1, (const char *const[]){"DBSIZE"}, (const size_t[]){6}};
    send_command(run, 0, &dbsize);
    take_answer(run, &dbsize, NULL);
    for (int i = 0; i < KEYS; i++)
        for (size_t question = 0; question < sizeof questions / sizeof *questions; question++) {
            const struct bytes *key = &run->trial.keys[i];
            const char *const *words = questions[question];
            const struct command command = {words[4] ? 5 : words[2] ? 3 : 2, (const char *const[]){words[0], key->at, words[2], words[3], words[4]},
                                            (const size_t[]){strlen(words[0]), key->length, 1, 2, 10}};
            send_command(run, 0, &command);
            take_answer(run, &command, NULL);
        }
}

/* ---- a run ---- */

static void begin(struct run *run, struct server *server, uint64_t seed, enum sim_store_lie lie)
{
    static const struct sim_store_events events = {.message = on_message};
    static const struct timeval patience = {60, 0};
    *run = (struct run){.server = server, .seed = seed, .is_quiet = lie != SIM_LIE_NONE};
    trial_init(&run->trial, seed);
    run->store = sim_store_new(&events, run);
    sim_store_lie(run->store, lie);
    for (unsigned speaker = 0; speaker < SPEAKERS; speaker++) {
        run->real[speaker] = server_connect(server);
        HL_REQUIRE(run->real[speaker] && redisSetTimeout(run->real[speaker], patience) == REDIS_OK);
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
        server_set_time(run->server, run->trial.now_us);
        sim_store_set_time(run->store, run->trial.now_us);
        batch(run);
        if (run->done < next_look)
            continue;
        next_look += LOOK_EVERY;
        look(run);
    }
}

static int compare_all(struct server *server, uint64_t seed, uint64_t commands)
{
    static struct run run;
    const struct trial *trial = &run.trial;
    begin(&run, server, seed, SIM_LIE_NONE);
    go(&run, commands);
    printf("%s: seed %" PRIu64 ": %" PRIu64 " commands over %.1f virtual hours: %s\n", server->version, seed, run.done,
           (double)(trial->now_us - TRIAL_BEGINS_US) / 3.6e9, run.is_different ? "a mismatch" : "0 mismatches");
    printf("  acquires granted %" PRIu64 ", held %" PRIu64 ", late %" PRIu64 "; renewed %" PRIu64 "; released %" PRIu64 "; SIMPLE: taken %" PRIu64
           ", renewed %" PRIu64 ", released %" PRIu64 "; FAIR: taken %" PRIu64 ", queued %" PRIu64 ", handed over %" PRIu64 "; errors %" PRIu64
           "; messages %" PRIu64 "\n", trial->granted, trial->held, trial->late,
           trial->renewed, trial->released, trial->simple_taken, trial->simple_renewed, trial->simple_released,
           trial->fair_taken, trial->fair_queued, trial->fair_handed, run.errors, run.messages);
    if (commands >= 10000 && !(trial->granted && trial->held && trial->late && trial->renewed && trial->released && trial->simple_taken &&
                               trial->simple_renewed && trial->simple_released && trial->fair_taken && trial->fair_queued && trial->fair_handed && run.errors && run.messages)) {
        printf("  one of these never happened: this compared too little\n");
        run.is_different = 1;
    }
    end(&run);
    return run.is_different;
}

static int tell_lie(struct server *server, enum sim_store_lie lie, uint64_t seed, uint64_t commands)
{
    static struct run run;
    begin(&run, server, seed, lie);
    go(&run, commands);
    end(&run);
    printf("%-20s %s after %" PRIu64 " commands\n", sim_store_lie_name(lie), run.is_different ? "noticed" : "NOT NOTICED", run.done);
    return !run.is_different;
}

static int tell_lies(struct server *server, uint64_t seed, uint64_t commands)
{
    int failed = 0;
    for (enum sim_store_lie lie = 0; lie < SIM_LIE_NONE; lie++)
        failed += tell_lie(server, lie, seed, commands);
    return failed;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, commands = 100000;
    enum sim_store_lie lie = SIM_LIE_NONE;
    int has_lies = 0, failed;
    struct server server;
    if (argc < 3) {
        fprintf(stderr, "usage: lockstep SERVER SHIM [--seed N] [--commands N] [--lies | --lie NAME]\n");
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        has_lies |= strcmp(argv[i], "--lies") == 0;
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(value, NULL, 10);
        if (strcmp(argv[i], "--commands") == 0)
            commands = strtoull(value, NULL, 10);
        if (strcmp(argv[i], "--lie") == 0)
            lie = sim_store_lie_find(value);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    server_start(&server, argv[1], argv[2], TRIAL_BEGINS_US);
    if (has_lies)
        failed = tell_lies(&server, seed, commands);
    else
        failed = lie == SIM_LIE_NONE ? compare_all(&server, seed, commands) : tell_lie(&server, lie, seed, commands);
    server_stop(&server);
    return failed ? 1 : 0;
}
