/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking_call.h - the structs that the blocking calls share: the client, the lock, and the call, which is a
 * message on its caller's stack.
 *
 * A call is posted to the private thread and runs there. When hilock has answered, the private thread answers the
 * call by posting the semaphore on which the caller sleeps. hilock's own limits end every wait, so there is no
 * second clock, and when a caller wakes up nothing of its call is left behind. Invariant: an accepted call is
 * answered once, and not touched after that. */
#ifndef HL_BLOCKING_CALL_H
#define HL_BLOCKING_CALL_H

#include "blocking_thread.h"

#include <hilock/blocking.h>

#include <semaphore.h>
#include <stdatomic.h>
#include <sys/types.h>

struct hl_blocking_call;

struct hilock_blocking {
    struct hl_blocking_thread thread;
    pid_t pid;
    atomic_uint references; /* the program has one, and each lock has one */
    pthread_mutex_t mutex;  /* guards the thread's queue, and is_lost and lost_fd of every lock */
    hilock_event_fn *on_event;
    hilock_log_fn *on_log;
    void *user;
    /* only the private thread may use the members from here on */
    hilock_client *hilock; /* NULL: the client is closed */
    hilock_blocking_lock *locks;
    struct hl_blocking_call *closers;
};

struct hilock_blocking_lock {
    hilock_blocking *client;
    hilock_event_fn *on_lost, *on_event;
    void *user;
    hilock_validity *validity; /* like the token, written before the acquire is answered, and never changed */
    uint64_t token;
    int is_lost, lost_fd; /* lost_fd -1: the program has not asked for the descriptor */
    /* only the private thread may use the members from here on */
    hilock_lock *handle;                /* NULL: the handle is freed */
    hilock_blocking_lock *next, **link; /* in the client's list of locks; link NULL: this lock is in no list */
    unsigned extends;                   /* how many extends and downgrades are accepted and not answered yet */
    struct hl_blocking_call *release;   /* a release that has its result, and is answered after the extends; or NULL */
    char lost_detail[256];              /* "": not lost. Any thread may read it once the private thread has ended */
};

struct hl_blocking_call {
    struct hl_blocking_message message; /* first, so that the address of a message is that of its call */
    hilock_blocking *client;
    hilock_blocking_lock *lock;
    const char *name;
    const struct hilock_lock_options *options;
    uint32_t span_ms; /* acquire: how long to wait; extend: the lease; close: the drain time */
    struct hl_blocking_call *next_closer;
    struct hilock_blocking_result result;
    sem_t answered;
};

/* Runs the call on the private thread, and sleeps until it is answered. CLOSED: also if the client was closed
 * before. */
hilock_status hl_blocking_ask(struct hl_blocking_call *call, void (*run)(struct hl_blocking_message *message));

/* The first checks that ret_result, which may be NULL, has room for a status. The second copies the result into it and
 * returns the status. The caller's struct may come from an older or a newer header. */
int hl_blocking_is_sized(const struct hilock_blocking_result *ret_result);
hilock_status hl_blocking_give(struct hilock_blocking_result *ret_result, const struct hl_blocking_call *call);

/* The first gives the call a result with a text of this adapter, and returns the status; the second gives it a
 * result of hilock. Both may be called before the call is posted, and on the private thread after that. */
hilock_status hl_blocking_refuse(struct hl_blocking_call *call, hilock_status status, const char *text);
void hl_blocking_keep(struct hl_blocking_call *call, const struct hilock_result *result);
void hl_blocking_answer(struct hl_blocking_call *call); /* private thread: wakes the caller, who reads call->result */

/* Copies as much of an option struct as this version knows. Returns -1 if the program was built for a newer header and
 * sets a member that this version does not know; the text for that is HL_BLOCKING_NEWER. */
int hl_blocking_options_copy(void *to, size_t known, const void *from);
#define HL_BLOCKING_NEWER                                                                                              \
    "an option is set that this version of hilock-blocking does not know: leave it zero, or install a newer version"

void hl_blocking_cut(char *to, size_t room, const char *text);
/* without its client and lock */
void hl_blocking_report(hilock_event_fn *on_event, const struct hilock_event *event, void *user);
void hl_blocking_handle_free(hilock_blocking_lock *lock); /* private thread */
void hl_blocking_unref(hilock_blocking *client);

#endif
