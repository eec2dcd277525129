/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking_thread - see blocking_thread.h.
 *
 * The queue is a list that a mutex guards, and an eventfd that the base watches. Only a poster that finds the list
 * empty writes to the eventfd, and the thread takes the whole list at once, so many simultaneous posters cost one
 * wake-up. A poster writes after it has unlocked the mutex, because the thread that it wakes needs the mutex at
 * once. Therefore the eventfd stays open until no thread can post.
 *
 * Invariant: no other thread touches the base between start and close, so libevent needs no locks for it, and the
 * process needs no global hooks of evthread. */
#include "blocking_thread.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stddef.h>
#include <sys/eventfd.h>

/* The caller must hold the mutex. */
static struct hl_blocking_message *take(struct hl_blocking_thread *thread)
{
    struct hl_blocking_message *first = thread->first;
    thread->first = NULL;
    thread->last = &thread->first;
    return first;
}

/* Runs a list of messages. A message may be freed while it runs, so its successor is read before. */
static void run_all(struct hl_blocking_message *message)
{
    while (message) {
        struct hl_blocking_message *next = message->next;
        message->run(message);
        message = next;
    }
}

static void on_wake(evutil_socket_t fd, short what, void *user)
{
    struct hl_blocking_thread *thread = user;
    struct hl_blocking_message *messages;
    eventfd_t count;
    (void)what;
    if (eventfd_read(fd, &count) != 0)
        return;
    pthread_mutex_lock(thread->mutex);
    messages = take(thread);
    pthread_mutex_unlock(thread->mutex);
    run_all(messages);
}

int hl_blocking_thread_open(struct hl_blocking_thread *thread, pthread_mutex_t *mutex)
{
    *thread = (struct hl_blocking_thread){.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .mutex = mutex};
    thread->last = &thread->first;
    if (thread->wake_fd >= 0 && (errno = ENOMEM, thread->base = event_base_new()))
        thread->wake = event_new(thread->base, thread->wake_fd, EV_READ | EV_PERSIST, on_wake, thread);
    if (thread->wake && event_add(thread->wake, NULL) == 0)
        return 0;
    hl_blocking_thread_close(thread);
    return -1;
}

/* The thread begins with the mutex, so it waits until its creator has stored the id of the thread. */
static void *turn(void *user)
{
    struct hl_blocking_thread *thread = user;
    pthread_mutex_lock(thread->mutex);
    pthread_mutex_unlock(thread->mutex);
    pthread_setname_np(thread->id, "hilock");
    event_base_dispatch(thread->base);
    return NULL;
}

int hl_blocking_thread_start(struct hl_blocking_thread *thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(thread->mutex);
    errno = pthread_create(&thread->id, NULL, turn, thread);
    thread->has_started = errno == 0;
    pthread_mutex_unlock(thread->mutex);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread->has_started ? 0 : -1;
}

int hl_blocking_thread_is_this(const struct hl_blocking_thread *thread)
{
    return pthread_equal(thread->id, pthread_self());
}

int hl_blocking_thread_post(struct hl_blocking_thread *thread, struct hl_blocking_message *message)
{
    int is_taken, is_first;
    message->next = NULL;
    pthread_mutex_lock(thread->mutex);
    is_taken = !thread->is_stopped;
    is_first = is_taken && !thread->first;
    if (is_taken) {
        *thread->last = message;
        thread->last = &message->next;
    }
    pthread_mutex_unlock(thread->mutex);
    if (is_first)
        eventfd_write(thread->wake_fd, 1);
    return is_taken ? 0 : -1;
}

void hl_blocking_thread_stop(struct hl_blocking_thread *thread)
{
    struct hl_blocking_message *messages;
    pthread_mutex_lock(thread->mutex);
    thread->is_stopped = 1;
    messages = take(thread);
    pthread_mutex_unlock(thread->mutex);
    event_del(thread->wake);
    run_all(messages);
}

/* libevent frees some things only in the turn after they were cancelled, so this turns the loop once more. */
void hl_blocking_thread_close(struct hl_blocking_thread *thread)
{
    if (thread->has_started)
        pthread_join(thread->id, NULL);
    if (thread->wake)
        event_free(thread->wake);
    if (thread->base) {
        event_base_loop(thread->base, EVLOOP_NONBLOCK);
        event_base_free(thread->base);
    }
}
