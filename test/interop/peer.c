/* SPDX-License-Identifier: BSD-3-Clause */
/* peer - see peer.h: the lines, and single calls. An actor is one handle at a time; each acquire makes a new one. Invariant: each line has
 * one answer, and a refused call is answered by `refused` and the reason. End of input ends the program at once, as kill -9 would. */
#include "peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

enum { WORDS_MAX = 64 };

struct actor {
    struct actor *next;
    struct peer_client *client;
    char *label, *tag; /* tag: of the call that is to be answered */
    hilock_lock *lock;
};

static struct event_base *base;
static struct peer_client *clients;
static struct actor *actors;

int64_t peer_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void peer_answer(const char *tag, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("%s %lld ", tag, (long long)peer_now_ns());
    vprintf(format, list);
    printf("\n");
    fflush(stdout);
    va_end(list);
}

void peer_fail(const char *what)
{
    fprintf(stderr, "peer: %s\n", what);
    exit(1);
}

void *peer_new(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        peer_fail("no memory");
    return memory;
}

static char *copy(const char *text) { return strcpy(peer_new(strlen(text) + 1), text); }

hilock_kind peer_kind(const char *word)
{
    if (strcmp(word, "mutex") == 0)
        return HILOCK_MUTEX;
    if (strcmp(word, "fair") != 0)
        peer_fail("no such kind");
    return HILOCK_FAIR;
}

static struct peer_client *client_of(const char *label)
{
    for (struct peer_client *client = clients; client; client = client->next)
        if (strcmp(client->label, label) == 0)
            return client;
    peer_fail("no such client");
}

static struct actor *actor_of(struct peer_client *client, const char *label)
{
    struct actor *actor;
    for (actor = actors; actor; actor = actor->next)
        if (actor->client == client && strcmp(actor->label, label) == 0)
            return actor;
    actor = peer_new(sizeof *actor);
    *actor = (struct actor){.next = actors, .client = client, .label = copy(label)};
    return actors = actor;
}

static void on_event(const struct hilock_event *event, void *user)
{
    struct actor *actor = user;
    char tag[80];
    if (event->kind != HILOCK_EVENT_WAITING)
        return;
    snprintf(tag, sizeof tag, "@%s", actor->label);
    peer_answer(tag, "%s", event->holder);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    const struct actor *actor = user;
    peer_answer(actor->tag, "%s %llu %u %s", hilock_status_name(result->status), (unsigned long long)result->fencing_token, result->waited_ms,
        result->holder);
}

static void on_answered(const struct hilock_result *result, void *user)
{
    const struct actor *actor = user;
    peer_answer(actor->tag, "%s %s", hilock_status_name(result->status), result->detail);
}

static void on_peeked(const struct hilock_result *result, void *user)
{
    const struct actor *actor = user;
    peer_answer(actor->tag, "%s %s %u %u %s", hilock_status_name(result->status), *result->holder ? result->holder : "-",
        result->holder_remaining_ms, result->waiters, result->detail);
}

static void accepted(const struct actor *actor, hilock_status status)
{
    if (status != HILOCK_OK)
        peer_answer(actor->tag, "refused %s %s", hilock_status_name(status), hilock_client_refusal(actor->client->hilock));
}

static struct actor *asked(const char *tag, const char *client, const char *label)
{
    struct actor *actor = actor_of(client_of(client), label);
    free(actor->tag);
    actor->tag = copy(tag);
    return actor;
}

/* A new handle in the place of the actor's last one. */
static hilock_status handle_make(struct actor *actor, const char *kind, const char *name, uint32_t lease_ms)
{
    hilock_lock_free(actor->lock);
    actor->lock = NULL;
    return hilock_lock_create(&actor->lock, actor->client->hilock, name,
        HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .on_event = on_event, .user = actor, .kind = peer_kind(kind), .lease_ms = lease_ms));
}

static void do_open(const char *tag, char *const *words, int count)
{
    struct hilock_client_options options = hilock_client_options_default();
    struct peer_client *client = peer_new(sizeof *client);
    struct hilock_error error;
    options.url = words[1];
    options.label = words[0];
    options.lease_ms = count > 2 ? (uint32_t)atoi(words[2]) : 0;
    options.on_log = hilock_log_stderr;
    if (hilock_client_open_libevent(&client->hilock, base, &options, &error) != HILOCK_OK) {
        peer_answer(tag, "refused %s", error.text);
        free(client);
        return;
    }
    client->label = copy(words[0]);
    client->next = clients;
    clients = client;
    peer_answer(tag, "ok %s", hilock_client_uuid(client->hilock));
}

static void do_acquire(const char *tag, char *const *words)
{
    struct actor *actor = asked(tag, words[0], words[1]);
    hilock_status status = handle_make(actor, words[2], words[3], (uint32_t)atoi(words[5]));
    if (status == HILOCK_OK)
        status = hilock_acquire(actor->lock, strcmp(words[4], "-1") == 0 ? HILOCK_FOREVER : (uint32_t)atoi(words[4]), on_acquired, actor);
    accepted(actor, status);
}

static void do_release(const char *tag, char *const *words)
{
    struct actor *actor = asked(tag, words[0], words[1]);
    accepted(actor, hilock_release(actor->lock, on_answered, actor));
}

/* holder: NULL asks who it is, "-" ends the hold of any, all else that of this one. */
static void do_operator(const char *tag, char *const *words, const char *holder)
{
    struct actor *actor = asked(tag, words[0], "an operator");
    hilock_status status = handle_make(actor, words[1], words[2], 0);
    if (status == HILOCK_OK && !holder)
        status = hilock_peek(actor->lock, on_peeked, actor);
    else if (status == HILOCK_OK)
        status = hilock_force_release(actor->lock, strcmp(holder, "-") == 0 ? NULL : holder, on_answered, actor);
    accepted(actor, status);
}

static void on_closed(void *tag)
{
    peer_answer(tag, "ok");
    free(tag);
}

static void do_close(const char *tag, struct peer_client *client)
{
    for (struct actor *actor = actors; actor; actor = actor->next)
        if (actor->client == client) {
            hilock_lock_free(actor->lock);
            actor->lock = NULL;
        }
    if (hilock_client_close(client->hilock, 0, on_closed, copy(tag)) != HILOCK_OK)
        peer_fail("close is refused");
}

static void obey(char *const *words, int count)
{
    const char *tag = words[0], *verb = words[1];
    if (strcmp(verb, "now") == 0)
        peer_answer(tag, "ok");
    else if (strcmp(verb, "stop") == 0)
        contenders_stop(tag);
    else if (strcmp(verb, "open") == 0 && count >= 4)
        do_open(tag, words + 2, count - 2);
    else if (strcmp(verb, "acquire") == 0 && count == 8)
        do_acquire(tag, words + 2);
    else if (strcmp(verb, "release") == 0 && count == 4)
        do_release(tag, words + 2);
    else if (strcmp(verb, "peek") == 0 && count == 5)
        do_operator(tag, words + 2, NULL);
    else if (strcmp(verb, "force") == 0 && count == 6)
        do_operator(tag, words + 2, words[5]);
    else if (strcmp(verb, "close") == 0 && count == 3)
        do_close(tag, client_of(words[2]));
    else if (strcmp(verb, "contend") == 0 && count >= 10) {
        contenders_begin(client_of(words[2]), words + 3, count - 3);
        peer_answer(tag, "ok");
    } else
        peer_answer(tag, "error no such verb, or not its words");
}

static void on_input(struct bufferevent *input, void *ctx)
{
    char *line;
    (void)ctx;
    while ((line = evbuffer_readln(bufferevent_get_input(input), NULL, EVBUFFER_EOL_LF)) != NULL) {
        char *words[WORDS_MAX], *rest = NULL;
        int count = 0;
        for (char *word = strtok_r(line, " ", &rest); word && count < WORDS_MAX; word = strtok_r(NULL, " ", &rest))
            words[count++] = word;
        if (count >= 2)
            obey(words, count);
        free(line);
    }
}

static void on_end(struct bufferevent *input, short what, void *ctx)
{
    (void)input, (void)what, (void)ctx;
    _Exit(0);
}

/* peer TRACE: the file to which contenders append. */
int main(int argc, char **argv)
{
    struct event_config *config = event_config_new();
    struct bufferevent *input;
    if (argc != 2 || !config)
        peer_fail("usage: peer TRACE");
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER); /* a hold of 1 ms is no hold of 2 */
    base = event_base_new_with_config(config);
    event_config_free(config);
    input = bufferevent_socket_new(base, 0, 0);
    if (!base || !input)
        peer_fail("no loop");
    contenders_open(argv[1], base);
    bufferevent_setcb(input, on_input, NULL, on_end, NULL);
    bufferevent_enable(input, EV_READ);
    return event_base_dispatch(base);
}
