/* SPDX-License-Identifier: BSD-3-Clause */
/* script_trial - the library's scripts, run one by one at a store of their own, in a time that stands still. N is a lock's
 * name, Q its queue, T its token, R the records of heartbeats, S its shares, C its channel, J Redisson's queue.
 * A shadow is a real server that hears the same and must answer the same (../sim/lockstep/shadow.c). */
#ifndef TEST_MEMORY_SCRIPT_TRIAL_H
#define TEST_MEMORY_SCRIPT_TRIAL_H

#include <stdio.h>
#include <string.h>

#include "memory/store.h"
#include "staged.h"
#include "wire/scripts.h"

#define N "stock"
#define Q "hilock:queue:{stock}"
#define T "hilock:token:{stock}"
#define R "hilock:place:{stock}"
#define S "hilock:share:{stock}"
#define C "redisson_lock__channel:{stock}"
#define J "redisson_lock_queue:{stock}"
#define ANY_TIME "9999999999999999"
#define NEVER "1000000 300000" /* to others */
#define TO_OTHERS "0 300000"
#define TO_NEXT " 10000" /* behind one of these: next wants 10 s */
#define SECOND_US INT64_C(1000000)

enum { WORDS_MAX = 80, HEARD_ROOM = 16384, LEASE_MS = 10000 };
static const uint64_t start_us = 1700000000123456;

struct trial {
    struct sim_store *store;
    unsigned connection;
    uint64_t now_us, heard_count;
    char heard[HEARD_ROOM]; /* messages since the last command began, each "<channel> <text>\n" */
    char told[HEARD_ROOM];  /* the same of all that was published, heard or not; "!" in front: by SPUBLISH */
};

struct trial_shadow { /* what the store is told in other ways than by commands, and each answer */
    void (*begin)(void);
    void (*time)(uint64_t now_us);
    void (*execute)(unsigned connection, const char *const *words, const struct sim_reply *reply, const char *heard);
    void (*deny)(const char *command, const char *prefix);
    void (*set)(const char *setting, const char *value); /* of its configuration, until the next begin */
    void (*leave)(unsigned connection);                 /* closed */
};
extern const struct trial_shadow *trial_shadow; /* NULL: none */

const struct sim_reply *trial_run(struct trial *trial, const char *const *words);
#define RUN(trial, ...) trial_run((trial), (const char *const[]){__VA_ARGS__, NULL})
#define SCRIPT(trial, script, ...) RUN(trial, "EVALSHA", (script).sha1, __VA_ARGS__)

void trial_begin(struct trial *trial); /* in a store that is new */
void trial_load(struct trial *trial);  /* the scripts, which it has */
void trial_set_time(struct trial *trial, uint64_t now_us);
void trial_deny(struct trial *trial, const char *command, const char *prefix); /* as sim_store_deny */
void trial_no_memory(struct trial *trial, int is_full);
void trial_no_writes(struct trial *trial, int is_refused); /* "NOREPLICAS ..." */
unsigned listens(struct trial *trial, const char *channel); /* one more; its connection */
unsigned listens_by(struct trial *trial, const char *command, const char *channel); /* SUBSCRIBE or SSUBSCRIBE */
void leaves(struct trial *trial, unsigned listener);
int told(const struct trial *trial, const char *text);
int heard(const struct trial *trial, const char *text); /* some message since the last command began has it in it */

int trial_set_up(void **state);
int trial_tear_down(void **state);
#define TRIAL(name) STAGED(name, struct trial, trial, trial_set_up, trial_tear_down)

int64_t integer(const struct sim_reply *reply, size_t i); /* -100: it is none */
int is_error(const struct sim_reply *reply, const char *start);
int is_text(const struct sim_reply *reply, size_t i, const char *text); /* an item */
void as_text(const struct sim_reply *reply, char to[512]);             /* for a reader */

/* ---- waiters ---- */

/* One client has many; the first 36 letters of a holder are its client's. */
struct waiter {
    char id[64], place[160]; /* "1 <channel> <due> <window_ms> <reserved> <most>" */
    char channel[64];        /* of the next beat */
    uint64_t number;         /* of the last question; 0: none */
    int64_t ticket;
    int64_t due_s;           /* of the next question; 0: in ten seconds */
};

struct waiter waiter_of(const struct trial *trial, char client, int number); /* hears on "g:<client>"; due in 3 s */
/* Before its first question. */
void waiter_stands(struct waiter *waiter, const char *channel, int64_t due_s, const char *rest);
const char *holder_of(char client, int number); /* good for eight calls */

/* Its first question, or its heartbeat. */
const struct sim_reply *ask(struct trial *trial, struct waiter *waiter);
const struct sim_reply *ask_again(struct trial *trial, const struct waiter *waiter); /* the first question, repeated */
const struct sim_reply *try_as(struct trial *trial, const char *id);
const struct sim_reply *release(struct trial *trial, const char *id, const char *terms);
const struct sim_reply *leave(struct trial *trial, const struct waiter *waiter);
const struct sim_reply *release_for_next(struct trial *trial, const char *id, struct waiter *next);
/* Nobody's release, which looks whether the name is free. lapsed: "<holder> <us>"; "" none. */
const struct sim_reply *look(struct trial *trial, const char *lapsed);
int64_t place_of(const struct sim_reply *reply);   /* 1 is next; -100: it does not wait */
int64_t token_of(const struct sim_reply *reply);   /* 0: not granted */
int64_t removed_of(const struct sim_reply *reply); /* of any answer */
int64_t code_of(const struct sim_reply *reply);    /* of a release: what it begins with */

int holds(struct trial *trial, const char *id);
int waits(struct trial *trial, const struct waiter *waiter);
int64_t queue_length(struct trial *trial);
void held_by(struct trial *trial, const char *id); /* it becomes the holder: fails if it does not */

/* ---- scenes ---- */

void expect(const struct sim_reply *reply, int64_t code, int64_t removed); /* exactly this answer */
void many_wait(struct trial *trial, char client, int count);     /* of one client, which listens or not; due in 3 s */
struct waiter one_waits(struct trial *trial, char client);       /* it listens */
void a_holds(struct trial *trial);                               /* a:1, for ten minutes */
struct awaited { struct waiter b, c; };                            /* of two clients; both listen */
struct awaited held_and_awaited(struct trial *trial);              /* a:1 holds, and they wait */

#endif
