/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking_call.h - what the blocking calls share: a client, a lock, and a call, which is a message on its caller's
 * stack.
 *
 * A call is posted to the private thread, runs there, and is answered there when hilock has answered: that posts the
 * semaphore on which the caller sleeps. hilock's own limits end every wait, so there is no second clock, and an
 * answered caller has left nothing behind.
 * Invariant: an accepted call is answered once, and not touched after that. */
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
    atomic_uint references; /* the program's, and one of each lock */
    pthread_mutex_t mutex;  /* guards the thread's queue, is_lost and lost_fd of the locks */
    hilock_event_fn *on_event;
    hilock_log_fn *on_log;
    void *user;
    /* the private thread's */
    hilock_client *hilock; /* NULL: closed */
    hilock_blocking_lock *locks;
    struct hl_blocking_call *closers;
};

struct hilock_blocking_lock {
    hilock_blocking *client;
    hilock_event_fn *on_lost, *on_event;
    void *user;
    hilock_validity *validity; /* written before the acquire is answered, as is the token */
    uint64_t token;
    int is_lost, lost_fd; /* -1: not asked for */
    /* the private thread's */
    hilock_lock *handle; /* NULL: freed */
    hilock_blocking_lock *next, **link; /* in the client's list; link NULL: in none */
    unsigned extends;                   /* accepted, and not yet answered */
    struct hl_blocking_call *release;   /* has its result; its caller waits for the extends */
    char lost_detail[256];              /* "" before it was lost; for any thread once the private thread has ended */
};

struct hl_blocking_call {
    struct hl_blocking_message message; /* first: a message is its call */
    hilock_blocking *client;
    hilock_blocking_lock *lock;
    const char *name;
    const struct hilock_lock_options *options;
    uint32_t span_ms; /* to wait, of the lease, or to drain */
    struct hl_blocking_call *next_closer;
    struct hilock_blocking_result result;
    sem_t answered;
};

/* Runs it on the private thread, and sleeps until it is answered. CLOSED also when the client was closed before. */
hilock_status hl_blocking_ask(struct hl_blocking_call *call, void (*run)(struct hl_blocking_message *message));

/* Whether ret_result, which may be NULL, has room for a status; and copying the result into it, which returns its
 * status. The caller's struct may be of an older or a newer header. */
int hl_blocking_is_sized(const struct hilock_blocking_result *ret_result);
hilock_status hl_blocking_give(struct hilock_blocking_result *ret_result, const struct hl_blocking_call *call);

/* A result with a text of ours, and one of hilock's; both on the private thread or before the call is posted. refuse
 * returns status. */
hilock_status hl_blocking_refuse(struct hl_blocking_call *call, hilock_status status, const char *text);
void hl_blocking_keep(struct hl_blocking_call *call, const struct hilock_result *result);
void hl_blocking_answer(struct hl_blocking_call *call); /* private thread: with the result that it has */

/* As much of an option struct as this version knows. -1: the program's header knows more, and the program uses it;
 * HL_BLOCKING_NEWER says so. */
int hl_blocking_options_copy(void *to, size_t known, const void *from);
#define HL_BLOCKING_NEWER                                                                                              \
    "an option is set that this version of hilock-blocking does not know: leave it zero, or install a newer version"

void hl_blocking_cut(char *to, size_t room, const char *text);
/* without its client and lock */
void hl_blocking_report(hilock_event_fn *on_event, const struct hilock_event *event, void *user);
void hl_blocking_handle_free(hilock_blocking_lock *lock); /* private thread */
void hl_blocking_unref(hilock_blocking *client);

#endif
