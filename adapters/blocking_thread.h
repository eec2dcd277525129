/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking_thread.h - a thread that turns a libevent base of its own and runs messages that any thread posts to it. */
#ifndef HL_BLOCKING_THREAD_H
#define HL_BLOCKING_THREAD_H

#include <pthread.h>

struct event;
struct event_base;

/* Its memory is the poster's until it has run. */
struct hl_blocking_message {
    struct hl_blocking_message *next;
    void (*run)(struct hl_blocking_message *message); /* in the thread */
};

struct hl_blocking_thread {
    struct event_base *base; /* the thread's alone from hl_blocking_thread_start on */
    struct event *wake;
    int wake_fd; /* -1: none. The opener closes it when no thread can post */
    int has_started;
    pthread_t id;
    pthread_mutex_t *mutex; /* guards what follows; the opener ends it, and refuses later posts */
    struct hl_blocking_message *first, **last;
    int is_stopped;
};

/* Both return 0, or -1 with errno. What was opened is closed, started or not. */
int hl_blocking_thread_open(struct hl_blocking_thread *thread, pthread_mutex_t *mutex);
int hl_blocking_thread_start(struct hl_blocking_thread *thread);

int hl_blocking_thread_is_this(const struct hl_blocking_thread *thread);

/* Any thread. -1: it was stopped, and the message will not run. */
int hl_blocking_thread_post(struct hl_blocking_thread *thread, struct hl_blocking_message *message);

/* In the thread: runs the messages posted so far and takes no more; the thread ends when nothing else is on the
 * base. */
void hl_blocking_thread_stop(struct hl_blocking_thread *thread);

/* Waits for its end. */
void hl_blocking_thread_close(struct hl_blocking_thread *thread);

#endif
