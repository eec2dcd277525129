/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking_thread.h - a thread that turns a libevent base of its own and runs messages that any thread posts to it. */
#ifndef HL_BLOCKING_THREAD_H
#define HL_BLOCKING_THREAD_H

#include <pthread.h>

struct event;
struct event_base;

/* A message belongs to its poster, who must keep its memory until it has run. */
struct hl_blocking_message {
    struct hl_blocking_message *next;
    void (*run)(struct hl_blocking_message *message); /* called on the thread */
};

struct hl_blocking_thread {
    struct event_base *base; /* after hl_blocking_thread_start only the thread may use it */
    struct event *wake;
    int wake_fd; /* -1: there is none. The opener closes it when no thread can post any more */
    int has_started;
    pthread_t id;
    pthread_mutex_t *mutex; /* guards the members below; it belongs to the opener */
    struct hl_blocking_message *first, **last;
    int is_stopped;
};

/* Both return 0, or -1 with errno. A thread that was opened must be closed, whether it was started or not. */
int hl_blocking_thread_open(struct hl_blocking_thread *thread, pthread_mutex_t *mutex);
int hl_blocking_thread_start(struct hl_blocking_thread *thread);

int hl_blocking_thread_is_this(const struct hl_blocking_thread *thread);

/* May be called on any thread. Returns -1 if the thread was stopped: the message will not run. */
int hl_blocking_thread_post(struct hl_blocking_thread *thread, struct hl_blocking_message *message);

/* Called on the thread: runs the messages that were posted so far and accepts no more. The thread ends when nothing
 * else is on the base. */
void hl_blocking_thread_stop(struct hl_blocking_thread *thread);

/* Waits until the thread has ended, and frees what it had. */
void hl_blocking_thread_close(struct hl_blocking_thread *thread);

#endif
