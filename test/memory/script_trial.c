/* SPDX-License-Identifier: BSD-3-Clause */
/* script_trial - see script_trial.h. */
#include "script_trial.h"

#include <inttypes.h>
#include <stdlib.h>

const struct trial_shadow *trial_shadow;

/* ---- the store ---- */

static void on_message(void *arg, unsigned connection, const struct sim_reply *push)
{
    struct trial *trial = arg;
    size_t used = strlen(trial->heard);
    (void)connection;
    snprintf(trial->heard + used, HEARD_ROOM - used, "%.*s %.*s\n", (int)push->items[1].length, push->items[1].bytes,
             (int)push->items[2].length, push->items[2].bytes);
    trial->heard_count++;
}

static void on_published(void *arg, int is_sharded, const struct sim_said *said)
{
    struct trial *trial = arg;
    size_t used = strlen(trial->told);
    snprintf(trial->told + used, HEARD_ROOM - used, "%s%.*s %.*s\n", is_sharded ? "!" : "", (int)said->channel_length, said->channel,
             (int)said->text_length, said->text);
}

static const struct sim_reply *run_as(struct trial *trial, unsigned connection, const char *const *words)
{
    size_t lengths[WORDS_MAX];
    const struct sim_reply *reply;
    int argc = 0;
    for (; words[argc]; argc++) {
        assert_true(argc < WORDS_MAX);
        lengths[argc] = strlen(words[argc]);
    }
    trial->heard[0] = trial->told[0] = '\0';
    reply = sim_store_execute(trial->store, connection, argc, words, lengths);
    if (trial_shadow)
        trial_shadow->execute(connection, words, reply, trial->heard);
    return reply;
}

const struct sim_reply *trial_run(struct trial *trial, const char *const *words)
{
    return run_as(trial, trial->connection, words);
}

void trial_load(struct trial *trial)
{
    for (int i = 0; hl_scripts[i]; i++)
        assert_memory_equal(RUN(trial, "SCRIPT", "LOAD", hl_scripts[i]->text)->bytes, hl_scripts[i]->sha1, 40);
}

void trial_begin(struct trial *trial)
{
    static const struct sim_store_events events = {.message = on_message, .published = on_published};
    sim_store_free(trial->store);
    *trial = (struct trial){.store = sim_store_new(&events, trial)};
    if (trial_shadow)
        trial_shadow->begin();
    trial_set_time(trial, start_us);
    trial->connection = sim_store_connect(trial->store);
    trial_load(trial);
}

void trial_set_time(struct trial *trial, uint64_t now_us)
{
    trial->now_us = now_us;
    sim_store_set_time(trial->store, now_us);
    if (trial_shadow)
        trial_shadow->time(now_us);
}

void trial_deny(struct trial *trial, const char *command, const char *prefix)
{
    sim_store_deny(trial->store, command, prefix);
    if (trial_shadow)
        trial_shadow->deny(command, prefix);
}

void trial_no_memory(struct trial *trial, int is_full)
{
    sim_store_refuse(trial->store, is_full ? SIM_REFUSE_GROWTH : SIM_REFUSE_NOTHING,
                     "OOM command not allowed when used memory > 'maxmemory'.");
    if (trial_shadow)
        trial_shadow->set("maxmemory", is_full ? "1" : "0");
}

void trial_no_writes(struct trial *trial, int is_refused)
{
    sim_store_refuse(trial->store, is_refused ? SIM_REFUSE_WRITES : SIM_REFUSE_NOTHING,
                     "NOREPLICAS Not enough good replicas to write.");
    if (trial_shadow)
        trial_shadow->set("min-replicas-to-write", is_refused ? "1" : "0");
}

unsigned listens_by(struct trial *trial, const char *command, const char *channel)
{
    unsigned connection = sim_store_connect(trial->store);
    run_as(trial, connection, (const char *const[]){command, channel, NULL});
    return connection;
}

unsigned listens(struct trial *trial, const char *channel) { return listens_by(trial, "SUBSCRIBE", channel); }

void leaves(struct trial *trial, unsigned listener)
{
    sim_store_disconnect(trial->store, listener);
    if (trial_shadow)
        trial_shadow->leave(listener);
}

int told(const struct trial *trial, const char *text) { return strstr(trial->told, text) != NULL; }
int heard(const struct trial *trial, const char *text) { return strstr(trial->heard, text) != NULL; }

int trial_set_up(void **state)
{
    static struct trial trial;
    trial_begin(&trial);
    *state = &trial;
    return 0;
}

int trial_tear_down(void **state)
{
    struct trial *trial = *state;
    sim_store_free(trial->store);
    trial->store = NULL;
    return 0;
}

/* ---- answers ---- */

int64_t integer(const struct sim_reply *reply, size_t i)
{
    int is_there = reply->type == SIM_REPLY_ARRAY && i < reply->count && reply->items[i].type == SIM_REPLY_INTEGER;
    return is_there ? reply->items[i].integer : -100;
}

int is_error(const struct sim_reply *reply, const char *start)
{
    return reply->type == SIM_REPLY_ERROR && sim_reply_starts(reply, start);
}

int is_text(const struct sim_reply *reply, size_t i, const char *text)
{
    return reply->type == SIM_REPLY_ARRAY && i < reply->count && sim_reply_is(&reply->items[i], text);
}

void as_text(const struct sim_reply *reply, char to[512])
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; reply->type == SIM_REPLY_ARRAY && i < reply->count && used < 400; i++) {
        const struct sim_reply *item = &reply->items[i];
        if (item->type == SIM_REPLY_INTEGER)
            used += (size_t)snprintf(to + used, 512 - used, "%" PRId64 " ", item->integer);
        else
            used += (size_t)snprintf(to + used, 512 - used, "'%.*s' ", (int)item->length, item->bytes ? item->bytes : "");
    }
    if (reply->type == SIM_REPLY_INTEGER)
        snprintf(to, 512, "%" PRId64, reply->integer);
    else if (reply->type != SIM_REPLY_ARRAY)
        snprintf(to, 512, "'%.*s'", (int)reply->length, reply->bytes ? reply->bytes : "nil");
}

int64_t place_of(const struct sim_reply *reply) { return integer(reply, 3); }

int64_t token_of(const struct sim_reply *reply)
{
    int64_t token = reply->type == SIM_REPLY_INTEGER ? reply->integer : reply->count == 2 ? integer(reply, 0) : 0;
    return token > 0 ? token : 0;
}

int64_t removed_of(const struct sim_reply *reply)
{
    const char *last = reply->type == SIM_REPLY_STRING ? strrchr(reply->bytes, ' ') : NULL;
    int spaces = 0, is_release;
    size_t last_item;
    for (const char *at = reply->type == SIM_REPLY_STRING ? reply->bytes : ""; *at; at++)
        spaces += *at == ' ';
    if (reply->type == SIM_REPLY_STRING) /* "<code> <removed>", or "<code> <window_ms> <us> <holder>[ <removed>]" */
        return spaces != 1 && spaces != 4 ? 0 : strtoll(last, NULL, 10) ? strtoll(last, NULL, 10) : -1; /* it leaves a 0 out */
    if (reply->type != SIM_REPLY_ARRAY)
        return 0;
    is_release = integer(reply, 0) < 0 && integer(reply, 1) != -100; /* its code stands in front of an acquire's answer */
    last_item = (reply->count > 3 ? 8 : 1) + (size_t)is_release;
    return last_item >= reply->count ? 0 : integer(reply, last_item) ? integer(reply, last_item) : -1;
}

int64_t code_of(const struct sim_reply *reply)
{
    if (reply->type == SIM_REPLY_ARRAY)
        return integer(reply, 0);
    return reply->type == SIM_REPLY_INTEGER ? reply->integer : reply->type == SIM_REPLY_STRING ? strtoll(reply->bytes, NULL, 10)
                                                                                               : -100;
}

/* ---- waiters ---- */

const char *holder_of(char client, int number)
{
    static char texts[8][64];
    static unsigned at;
    char *text = texts[at++ % 8];
    snprintf(text, 64, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx:%d", number);
    for (char *x = text; *x && *x != ':'; x++)
        *x = *x == 'x' ? client : *x;
    return text;
}

void waiter_stands(struct waiter *waiter, const char *channel, int64_t due_s, const char *rest)
{
    snprintf(waiter->channel, sizeof waiter->channel, "%s", channel);
    snprintf(waiter->place, sizeof waiter->place, "1 %s %010" PRId64 " %s", channel, due_s, rest);
}

struct waiter waiter_of(const struct trial *trial, char client, int number)
{
    struct waiter waiter = {.number = 0};
    snprintf(waiter.id, sizeof waiter.id, "%s", holder_of(client, number));
    waiter_stands(&waiter, (char[]){'g', ':', client, '\0'}, (int64_t)trial->now_us / SECOND_US + 3, "400 0 1");
    return waiter;
}

static const struct sim_reply *acquire(struct trial *trial, const char *id, const char *asks)
{
    return SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, id, "10000", asks, "300000000");
}

const struct sim_reply *ask_again(struct trial *trial, const struct waiter *waiter)
{
    char text[256];
    snprintf(text, sizeof text, ANY_TIME " -100000 %s", waiter->place);
    return acquire(trial, waiter->id, text);
}

const struct sim_reply *ask(struct trial *trial, struct waiter *waiter)
{
    int64_t due_s = waiter->due_s ? waiter->due_s : (int64_t)trial->now_us / SECOND_US + 10;
    const struct sim_reply *reply;
    char text[400];
    snprintf(text, sizeof text, ANY_TIME " %" PRId64 " %s; %" PRIu64 " %010" PRId64 " %s 400", waiter->ticket, waiter->place,
             waiter->number + 1, due_s, waiter->channel);
    reply = waiter->ticket ? acquire(trial, waiter->id, text) : ask_again(trial, waiter);
    waiter->number++;
    if (integer(reply, 4) > 0)
        waiter->ticket = integer(reply, 4);
    return reply;
}

const struct sim_reply *try_as(struct trial *trial, const char *id) { return acquire(trial, id, ANY_TIME); }

const struct sim_reply *release(struct trial *trial, const char *id, const char *terms)
{
    return SCRIPT(trial, hl_script_mutex_release, "3", N, Q, T, id, terms);
}

const struct sim_reply *leave(struct trial *trial, const struct waiter *waiter)
{
    char place[200];
    snprintf(place, sizeof place, " %s", waiter->place);
    return SCRIPT(trial, hl_script_mutex_release, "3", N, Q, T, waiter->id, NEVER, place);
}

const struct sim_reply *release_for_next(struct trial *trial, const char *id, struct waiter *next)
{
    const struct sim_reply *reply;
    char place[256];
    snprintf(place, sizeof place, "%s %s", next->id, next->place);
    reply = SCRIPT(trial, hl_script_mutex_release, "3", N, Q, T, id, NEVER TO_NEXT, place);
    next->number = 1;
    if (reply->type == SIM_REPLY_ARRAY && reply->count > 3)
        next->ticket = integer(reply, 5);
    return reply;
}

const struct sim_reply *look(struct trial *trial, const char *lapsed)
{
    return SCRIPT(trial, hl_script_mutex_release, "3", N, Q, T, holder_of('z', 9), NEVER, "", lapsed);
}

int holds(struct trial *trial, const char *id) { return RUN(trial, "HEXISTS", N, id)->integer == 1; }

int waits(struct trial *trial, const struct waiter *waiter)
{
    char member[256];
    snprintf(member, sizeof member, "%s %s", waiter->id, waiter->place);
    return RUN(trial, "ZSCORE", Q, member)->type == SIM_REPLY_STRING;
}

int64_t queue_length(struct trial *trial) { return RUN(trial, "ZCOUNT", Q, "1", "+inf")->integer; }

void held_by(struct trial *trial, const char *id) { assert_true(token_of(try_as(trial, id)) > 0); }

/* ---- scenes ---- */

void expect(const struct sim_reply *reply, int64_t code, int64_t removed)
{
    char text[512];
    as_text(reply, text);
    if (code_of(reply) != code || removed_of(reply) != removed)
        fail_msg("%s: not %" PRId64 ", removed %" PRId64, text, code, removed);
}

void many_wait(struct trial *trial, char client, int count)
{
    for (int i = 0; i < count; i++) {
        struct waiter waiter = waiter_of(trial, client, i + 1);
        (void)ask(trial, &waiter);
    }
}

struct waiter one_waits(struct trial *trial, char client)
{
    struct waiter waiter = waiter_of(trial, client, 1);
    (void)listens(trial, (char[]){'g', ':', client, '\0'});
    (void)ask(trial, &waiter);
    return waiter;
}

void a_holds(struct trial *trial)
{
    held_by(trial, holder_of('a', 1));
    (void)RUN(trial, "PEXPIRE", N, "600000");
}

struct awaited held_and_awaited(struct trial *trial)
{
    struct awaited scene = {waiter_of(trial, 'b', 1), waiter_of(trial, 'c', 1)};
    (void)listens(trial, "g:b");
    (void)listens(trial, "g:c");
    held_by(trial, holder_of('a', 1));
    assert_int_equal(place_of(ask(trial, &scene.b)), 1);
    assert_int_equal(place_of(ask(trial, &scene.c)), 2);
    return scene;
}
