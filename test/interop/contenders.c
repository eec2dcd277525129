/* SPDX-License-Identifier: BSD-3-Clause */
/* contenders - see peer.h: handles that want names, one at a time, until they are stopped. A line of the trace is one write to a file that is appended to,
 * so that kill -9 leaves whole lines, and all of them. Invariant: the clock is read before the question whether the hold is still valid, so that `-` is
 * never later than the validity was. */
#include "peer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS_MAX = 8 };

struct crowd {
    struct peer_client *client;
    hilock_kind kind;
    uint32_t hold_us, think_us, lease_ms;
    uint32_t numbers[NUMBERS_MAX]; /* by how many the handles share the names, one after the other */
    unsigned numbers_count;
    char **names;
    unsigned names_count;
};

struct contender {
    const struct crowd *crowd;
    struct event *timer;
    hilock_lock **locks; /* one a name, made when it is first wanted */
    unsigned index, name;
    uint32_t holders_max;
    int holds;
    int64_t valid_until_ns;
};

static int trace = -1;
static struct event_base *base;
static int is_stopping;
static unsigned running;
static char *stop_tag;

void contenders_open(const char *path, struct event_base *loop)
{
    base = loop;
    trace = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (trace < 0)
        peer_fail("the trace cannot be opened");
}

static void note(const struct contender *contender, char mark, int64_t at_ns, const char *more)
{
    char line[256];
    int length = snprintf(line, sizeof line, "%c %lld %s/%u %s %s\n", mark, (long long)at_ns, contender->crowd->client->label, contender->index,
        contender->crowd->names[contender->name], more);
    if (write(trace, line, (size_t)length) != length)
        peer_fail("the trace cannot be written");
}

static void after_us(struct contender *contender, uint32_t span_us)
{
    event_add(contender->timer, &(struct timeval){span_us / 1000000, span_us % 1000000});
}

static void end(struct contender *contender)
{
    for (unsigned i = 0; i < contender->crowd->names_count; i++)
        hilock_lock_free(contender->locks[i]);
    event_free(contender->timer);
    free(contender->locks);
    free(contender);
    if (--running == 0 && stop_tag) {
        peer_answer(stop_tag, "ok");
        free(stop_tag);
        stop_tag = NULL;
    }
}

static void on_lost(const struct hilock_event *event, void *user)
{
    struct contender *contender = user;
    int64_t now_ns = peer_now_ns();
    (void)event;
    note(contender, '!', now_ns < contender->valid_until_ns ? now_ns : contender->valid_until_ns, "0");
    contender->holds = 0;
    after_us(contender, contender->crowd->think_us);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct contender *contender = user;
    int64_t now_ns = peer_now_ns();
    char token[32];
    if (result->status != HILOCK_OK) {
        note(contender, 'e', now_ns, hilock_status_name(result->status));
        after_us(contender, 10000);
        return;
    }
    snprintf(token, sizeof token, "%llu", (unsigned long long)result->fencing_token);
    contender->valid_until_ns = now_ns + (int64_t)result->remaining_ms * 1000000;
    note(contender, '+', now_ns, token);
    contender->holds = 1;
    after_us(contender, contender->crowd->hold_us);
}

static void on_released(const struct hilock_result *result, void *user)
{
    struct contender *contender = user;
    if (result->status == HILOCK_LOST)
        note(contender, 'x', peer_now_ns(), "0");
    after_us(contender, contender->crowd->think_us);
}

static void ask(struct contender *contender)
{
    const struct crowd *crowd = contender->crowd;
    hilock_lock **lock;
    char number[16];
    contender->name = (unsigned)random() % crowd->names_count;
    lock = &contender->locks[contender->name];
    if (!*lock && hilock_lock_create(lock, crowd->client->hilock, crowd->names[contender->name],
                      HILOCK_LOCK_OPTIONS(.kind = crowd->kind, .lease_ms = crowd->lease_ms, .holders_max = contender->holders_max, .on_lost = on_lost,
                          .user = contender)) != HILOCK_OK)
        peer_fail(hilock_client_refusal(crowd->client->hilock));
    snprintf(number, sizeof number, "%u", (unsigned)contender->holders_max);
    note(contender, '?', peer_now_ns(), number);
    if (hilock_acquire(*lock, HILOCK_FOREVER, on_acquired, contender) != HILOCK_OK)
        peer_fail(hilock_client_refusal(crowd->client->hilock));
}

static void on_timer(evutil_socket_t fd, short what, void *user)
{
    struct contender *contender = user;
    hilock_lock *lock = contender->locks[contender->name];
    int64_t now_ns = peer_now_ns();
    (void)fd, (void)what;
    if (!contender->holds && is_stopping) {
        end(contender);
    } else if (!contender->holds) {
        ask(contender);
    } else if (hilock_lock_remaining_ms(lock) > 0) {
        note(contender, '-', now_ns, "0");
        contender->holds = 0;
        if (hilock_release(lock, on_released, contender) != HILOCK_OK)
            peer_fail(hilock_client_refusal(contender->crowd->client->hilock));
    } /* else on_lost is about to run */
}

static void read_numbers(struct crowd *crowd, char *list)
{
    char *rest = NULL;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (crowd->numbers_count == NUMBERS_MAX)
            peer_fail("too many numbers");
        crowd->numbers[crowd->numbers_count++] = strcmp(word, "any") == 0 ? HILOCK_ANY_NUMBER : (uint32_t)atoi(word);
    }
    if (crowd->numbers_count == 0)
        peer_fail("no number");
}

void contenders_begin(struct peer_client *client, char *const *words, int count)
{
    struct crowd *crowd = peer_new(sizeof *crowd); /* there are few, and they stay */
    *crowd = (struct crowd){.client = client, .kind = peer_kind(words[1]), .hold_us = (uint32_t)atoi(words[2]), .think_us = (uint32_t)atoi(words[3]),
        .lease_ms = (uint32_t)atoi(words[4]), .names_count = (unsigned)count - 6};
    read_numbers(crowd, words[5]);
    crowd->names = peer_new(crowd->names_count * sizeof *crowd->names);
    for (unsigned i = 0; i < crowd->names_count; i++)
        crowd->names[i] = strcpy(peer_new(strlen(words[6 + i]) + 1), words[6 + i]);
    is_stopping = 0;
    srandom((unsigned)getpid());
    for (unsigned i = 0; i < (unsigned)atoi(words[0]); i++) {
        struct contender *contender = peer_new(sizeof *contender);
        *contender = (struct contender){.crowd = crowd, .index = running++, .holders_max = crowd->numbers[i % crowd->numbers_count],
            .locks = peer_new(crowd->names_count * sizeof *contender->locks)};
        contender->timer = event_new(base, -1, 0, on_timer, contender);
        after_us(contender, 0);
    }
}

void contenders_stop(const char *tag)
{
    is_stopping = 1;
    if (running == 0)
        peer_answer(tag, "ok");
    else
        stop_tag = strcpy(peer_new(strlen(tag) + 1), tag);
}
