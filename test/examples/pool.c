/* SPDX-License-Identifier: BSD-3-Clause */
/* pool - slow work under locks, done by threads, and a good end: the loop takes the lock and gives it back, a pool thread
 * works, and asks before each step whether the lock is still ours. Two jobs want each name, so half of them wait.
 *
 * A handle belongs to the loop's thread; what another thread may have is a hilock_validity: one hold as seen from outside.
 * It is 0 once that hold has ended, by release, loss or close, even when handle and client are gone. So nobody waits for a
 * worker: the loop frees the lock when it must, and the worker finds out before its next step.
 * SIGTERM: waiting jobs give up at once, running jobs get DRAIN_MS to finish; then their locks are lost. A second one only
 * shortens the drain. When all is closed no lock is left at the store, unless the store did not answer.
 * Invariant: a job is the loop's, but for `steps` and `validity` while a worker has it; event_active hands it back, which
 * needs libevent_pthreads.
 * usage: pool [URL [STEPS [DRAIN_MS]]]    (100 of 10 ms, 5000). One line is printed for each thing that happens */
#include <event2/event.h>
#include <event2/thread.h>
#include <hilock/adapters/libevent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

enum { THREADS = 4, JOBS = 8, STEP_US = 10000 };

struct shop;

struct job {
    struct shop *shop;
    int number;
    hilock_lock *lock;         /* NULL: given back */
    struct event *returned;
    STAILQ_ENTRY(job) next;
    hilock_validity *validity; /* these two are the worker's while it has the job */
    int steps;                 /* still to do */
};

struct shop {
    struct event_base *base;
    hilock_client *locks; /* NULL: closed */
    struct event *term;
    uint32_t drain_ms;
    struct job jobs[JOBS];
    int left; /* not ended */
    pthread_t threads[THREADS];
    pthread_mutex_t mutex;
    pthread_cond_t more;
    STAILQ_HEAD(, job) queue;
    int is_over;
};

static void say(const struct job *job, const char *what)
{
    printf("job %d %s\n", job->number, what);
    fflush(stdout);
}

/* ---- the workers ---- */

static struct job *take(struct shop *shop)
{
    struct job *job;
    pthread_mutex_lock(&shop->mutex);
    while (!(job = STAILQ_FIRST(&shop->queue)) && !shop->is_over)
        pthread_cond_wait(&shop->more, &shop->mutex);
    if (job)
        STAILQ_REMOVE_HEAD(&shop->queue, next);
    pthread_mutex_unlock(&shop->mutex);
    return job;
}

static void *work(void *arg)
{
    struct job *job;
    while ((job = take(arg)) != NULL) {
        for (; job->steps > 0 && hilock_validity_remaining_ms(job->validity) > 0; job->steps--)
            usleep(STEP_US); /* a write, say: fenced, for this thread may be stopped right here */
        event_active(job->returned, 0, 0);
    }
    return NULL;
}

static void post(struct job *job)
{
    struct shop *shop = job->shop;
    pthread_mutex_lock(&shop->mutex);
    STAILQ_INSERT_TAIL(&shop->queue, job, next);
    pthread_cond_signal(&shop->more);
    pthread_mutex_unlock(&shop->mutex);
}

static void join_all(struct shop *shop)
{
    pthread_mutex_lock(&shop->mutex);
    shop->is_over = 1;
    pthread_cond_broadcast(&shop->more);
    pthread_mutex_unlock(&shop->mutex);
    for (int i = 0; i < THREADS; i++)
        pthread_join(shop->threads[i], NULL);
}

/* ---- the loop ---- */

static void on_closed(void *user);

/* When each job has ended the client is closed, and when it is the program ends; at SIGTERM these come in any order. */
static void leave_when_all_ended(struct shop *shop)
{
    if (shop->left == 0 && shop->locks)
        (void)hilock_client_close(shop->locks, 0, on_closed, shop);
    else if (shop->left == 0)
        event_base_loopbreak(shop->base);
}

static void on_closed(void *user)
{
    struct shop *shop = user;
    shop->locks = NULL;
    leave_when_all_ended(shop);
}

/* Legal in any state, and before, during and after the client's close. */
static void give_back(struct job *job)
{
    hilock_lock_free(job->lock); /* the worker's validity is 0 from here on */
    job->lock = NULL;
}

static void end(struct job *job, const char *how)
{
    say(job, how);
    give_back(job);
    job->shop->left--;
    leave_when_all_ended(job->shop);
}

static void on_returned(evutil_socket_t fd, short what, void *user)
{
    struct job *job = user;
    (void)fd, (void)what;
    hilock_validity_unref(job->validity);
    job->validity = NULL;
    end(job, job->steps == 0 ? "done" : "stopped");
}

/* The worker sees it too, and returns the job. */
static void on_lost(const struct hilock_event *event, void *user)
{
    say(user, event->reason == HILOCK_REASON_CLOSING ? "has no time left" : "lost");
    give_back(user);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct job *job = user;
    if (result->status != HILOCK_OK)
        end(job, hilock_status_name(result->status)); /* CLOSED at the end */
    else if (hilock_lock_validity(job->lock, &job->validity) != HILOCK_OK)
        end(job, "refused");
    else {
        say(job, "works");
        post(job);
    }
}

static void job_begin(struct shop *shop, int number, int steps)
{
    struct job *job = &shop->jobs[number];
    char name[32];
    *job = (struct job){.shop = shop, .number = number, .steps = steps};
    job->returned = event_new(shop->base, -1, 0, on_returned, job);
    snprintf(name, sizeof name, "job:%d", number / 2);
    if (!job->returned ||
        hilock_lock_create(&job->lock, shop->locks, name,
                           HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = job, .lease_ms = 3000)) != HILOCK_OK ||
        hilock_acquire(job->lock, HILOCK_FOREVER, on_acquired, job) != HILOCK_OK)
        end(job, hilock_client_refusal(shop->locks));
}

static void on_term(evutil_socket_t fd, short what, void *user)
{
    struct shop *shop = user;
    (void)fd, (void)what;
    puts("finishing");
    fflush(stdout);
    if (shop->locks)
        (void)hilock_client_close(shop->locks, shop->drain_ms, on_closed, shop);
    shop->drain_ms = 0; /* a second one ends it now */
}

static int open_all(struct shop *shop, const char *url)
{
    struct hilock_error error = {"out of memory"};
    evthread_use_pthreads(); /* before the base: event_active comes from other threads */
    shop->base = event_base_new();
    if (shop->base)
        (void)event_base_priority_init(shop->base, 2); /* hilock has the first: on_lost before on_returned */
    shop->term = shop->base ? evsignal_new(shop->base, SIGTERM, on_term, shop) : NULL;
    if (!shop->term || event_add(shop->term, NULL) != 0 ||
        hilock_client_open_libevent(&shop->locks, shop->base, HILOCK_CLIENT_OPTIONS(.url = url, .label = "pool"), &error) !=
            HILOCK_OK)
        return fprintf(stderr, "%s\n", error.text), -1;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&shop->threads[i], NULL, work, shop) != 0)
            return -1;
    return 0;
}

int main(int argc, char **argv)
{
    static struct shop shop = {.mutex = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .left = JOBS};
    const int steps = argc > 2 ? atoi(argv[2]) : 100;
    STAILQ_INIT(&shop.queue);
    shop.drain_ms = argc > 3 ? (uint32_t)atoi(argv[3]) : 5000;
    if (open_all(&shop, argc > 1 ? argv[1] : NULL) != 0)
        return 1;
    for (int i = 0; i < JOBS; i++)
        job_begin(&shop, i, steps);
    event_base_dispatch(shop.base);
    join_all(&shop);
    for (int i = 0; i < JOBS; i++)
        event_free(shop.jobs[i].returned);
    event_free(shop.term);
    event_base_free(shop.base);
    return 0;
}
