/* SPDX-License-Identifier: BSD-3-Clause */
/* pool - does jobs, of which at most N are at work at the same time, in however many such processes on however many
 * hosts. One job is one would-be holder of a permit, so each has a handle; all of them have holders_max N. They wait in
 * one queue at the store, first come, first served. Who is killed at work keeps a permit until its lease is over.
 * Invariant: a job is at work only from its grant until its permit is freed or lost, and that is also what LOG says:
 * "begin", "end" and "lost" are written while the permit is held, or as soon as it is known to be lost.
 * usage: pool LOG N JOBS [URL [JOB_MS [LEASE_MS]]]    (10; 30000) LOG: lines of all such processes are appended to it */
#include <event2/event.h>
#include <fcntl.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct pool {
    struct event_base *base;
    hilock_client *client;
    struct timeval work; /* how long one job takes */
    int log, left;       /* left: jobs that are not done */
};

struct job {
    struct pool *pool;
    int number;
    hilock_lock *permit;
    struct event *work;
};

static void tell(const struct job *job, const char *what)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%s %ld.%d\n", what, (long)getpid(), job->number);
    if (write(job->pool->log, line, (size_t)length) != length)
        perror("the log");
}

static void job_end(struct job *job)
{
    struct pool *pool = job->pool;
    hilock_lock_free(job->permit); /* the first that waits gets it */
    event_free(job->work);
    free(job);
    if (--pool->left == 0)
        (void)hilock_client_close(pool->client, HILOCK_FOREVER, NULL, NULL); /* the loop ends when all is released */
}

static void on_work_done(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    tell(user, "end");
    job_end(user);
}

static void on_permit(const struct hilock_result *result, void *user)
{
    struct job *job = user;
    if (result->status == HILOCK_OK) {
        tell(job, "begin");
        event_add(job->work, &job->pool->work); /* stands for the work */
    } else { /* with HILOCK_FOREVER: waiting longer would not help */
        fprintf(stderr, "no permit: %s\n", result->detail);
        job_end(job);
    }
}

/* Another may have the permit now. The job is begun again when it has one. */
static void on_permit_lost(const struct hilock_event *event, void *user)
{
    struct job *job = user;
    event_del(job->work);
    tell(job, "lost");
    if (event->reason == HILOCK_REASON_CLOSING || hilock_acquire(job->permit, HILOCK_FOREVER, on_permit, job) != HILOCK_OK)
        job_end(job);
}

static int job_begin(struct pool *pool, int number, uint32_t permits, uint32_t lease_ms)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return -1;
    *job = (struct job){.pool = pool, .number = number};
    job->work = evtimer_new(pool->base, on_work_done, job);
    if (job->work && hilock_lock_create(&job->permit, pool->client, "pool",
                                        HILOCK_LOCK_OPTIONS(.on_lost = on_permit_lost, .user = job, .lease_ms = lease_ms,
                                                            .holders_max = permits)) == HILOCK_OK &&
        hilock_acquire(job->permit, HILOCK_FOREVER, on_permit, job) == HILOCK_OK)
        return 0;
    fprintf(stderr, "refused: %s\n", hilock_client_refusal(pool->client));
    return -1;
}

int main(int argc, char **argv)
{
    const int work_ms = argc > 5 ? atoi(argv[5]) : 10;
    struct pool pool = {.base = event_base_new(), .work = {work_ms / 1000, work_ms % 1000 * 1000},
                        .log = argc > 3 ? open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0666) : -1};
    struct hilock_error error = {"usage: pool LOG N JOBS [URL [JOB_MS [LEASE_MS]]]"};
    if (pool.log < 0 || !pool.base ||
        hilock_client_open_libevent(&pool.client, pool.base, HILOCK_CLIENT_OPTIONS(.url = argc > 4 ? argv[4] : NULL, .label = "pool"),
                                    &error) != HILOCK_OK)
        return fprintf(stderr, "%s\n", error.text), 1;
    pool.left = atoi(argv[3]);
    for (int i = 0; i < pool.left; i++)
        if (job_begin(&pool, i, (uint32_t)atoi(argv[2]), argc > 6 ? (uint32_t)atoi(argv[6]) : 0) != 0)
            return 1;
    event_base_dispatch(pool.base);
    event_base_free(pool.base);
    close(pool.log);
    return 0;
}
