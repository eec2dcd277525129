/* SPDX-License-Identifier: BSD-3-Clause */
/* shutdown - a worker that ends well: each job runs under a lock of its own, two jobs want each name, so half of them wait.
 *
 * SIGTERM: waiting jobs give up at once, running jobs get drain_ms to finish; then their locks are lost, and the process ends. A second
 * SIGTERM ends it now: it only shortens the drain. Invariant: no lock is released while the job under it still runs, and the last thing
 * to happen is on_closed: by then no lock is left at the store, unless the store did not answer.
 * usage: shutdown [URL [WORK_MS [DRAIN_MS]]]    (1000, 5000); one line is printed for each thing that happens */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 8 };

struct worker;

struct job {
    struct worker *worker;
    int number;
    hilock_lock *lock;
    struct event *work; /* its timer stands for the work */
};

struct worker {
    struct event_base *base;
    struct event *on_term;
    hilock_client *locks; /* NULL: closed */
    struct job jobs[JOBS];
    int work_ms;
    uint32_t drain_ms;
    int is_stopping;
};

static void say(const struct job *job, const char *what)
{
    printf("job %d %s\n", job->number, what);
    fflush(stdout);
}

/* Legal in any state, and before, during and after the client's close. */
static void job_end(struct job *job)
{
    if (job->work)
        event_free(job->work);
    job->work = NULL;
    hilock_lock_free(job->lock);
    job->lock = NULL;
}

static void on_worked(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    say(user, "done");
    job_end(user);
}

static void on_lost(const struct hilock_event *event, void *user)
{
    say(user, event->reason == HILOCK_REASON_CLOSING ? "stopped: no time left" : "stopped: lock lost");
    job_end(user);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct job *job = user;
    const struct timeval work = {job->worker->work_ms / 1000, job->worker->work_ms % 1000 * 1000};
    if (result->status == HILOCK_OK && evtimer_add(job->work, &work) == 0)
        say(job, "works");
    else {
        say(job, hilock_status_name(result->status)); /* CLOSED at the end */
        job_end(job);
    }
}

static int job_begin(struct worker *worker, int number)
{
    struct job *job = &worker->jobs[number];
    char name[32];
    job->worker = worker;
    job->number = number;
    job->work = evtimer_new(worker->base, on_worked, job);
    snprintf(name, sizeof name, "job:%d", number / 2);
    if (job->work && hilock_lock_create(&job->lock, worker->locks, name, HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = job)) == HILOCK_OK &&
        hilock_acquire(job->lock, HILOCK_FOREVER, on_acquired, job) == HILOCK_OK)
        return 0;
    fprintf(stderr, "refused: %s\n", hilock_client_refusal(worker->locks));
    job_end(job);
    return -1;
}

/* The signal's event would keep the loop turning. */
static void on_closed(void *user)
{
    struct worker *worker = user;
    worker->locks = NULL;
    event_del(worker->on_term);
    printf("left\n");
}

static void show(const struct hilock_lock_info *info, void *user)
{
    fprintf(user, "  %s %s for %u ms\n", info->state == HILOCK_STATE_HELD ? "holds" : "waits for", info->name, info->age_ms);
}

static void on_term(evutil_socket_t fd, short what, void *user)
{
    struct worker *worker = user;
    (void)fd, (void)what;
    printf(worker->is_stopping ? "leaving now\n" : "finishing\n");
    fflush(stdout);
    hilock_client_each_lock(worker->locks, show, stderr);
    (void)hilock_client_close(worker->locks, worker->is_stopping ? 0 : worker->drain_ms, on_closed, worker);
    worker->is_stopping = 1;
}

int main(int argc, char **argv)
{
    static struct worker worker;
    struct hilock_error error = {"out of memory"};
    worker.work_ms = argc > 2 ? atoi(argv[2]) : 1000;
    worker.drain_ms = argc > 3 ? (uint32_t)atoi(argv[3]) : 5000;
    worker.base = event_base_new();
    if (worker.base)
        (void)event_base_priority_init(worker.base, 2); /* hilock has the first: on_lost before on_worked */
    worker.on_term = worker.base ? evsignal_new(worker.base, SIGTERM, on_term, &worker) : NULL;
    if (!worker.on_term || event_add(worker.on_term, NULL) != 0 ||
        hilock_client_open_libevent(&worker.locks, worker.base, HILOCK_CLIENT_OPTIONS(.url = argc > 1 ? argv[1] : NULL, .label = "worker"),
                                    &error) != HILOCK_OK)
        return fprintf(stderr, "%s: %s\n", argv[0], error.text), 1;
    for (int i = 0; i < JOBS; i++)
        if (job_begin(&worker, i) != 0)
            return 1;
    event_base_dispatch(worker.base);
    event_free(worker.on_term);
    event_base_free(worker.base);
    return 0;
}
