/* SPDX-License-Identifier: BSD-3-Clause */
/* spans - OpenTelemetry's spans of jobs and their locks, made of on_trace, with nothing but libc: each span is a line of
 * OTLP/JSON in a file, as the collector's otlpjsonfilereceiver reads it.
 *
 * Each job is a trace of its own. Below its span are a span for the wait and one for the hold of its lock; steps between
 * are their events. lock_user leads from a step to its job. The loop's clock counts from the start of the machine: what
 * lies between that and the time of day is asked once. Nothing is allocated, for on_trace runs inside of hilock.
 * Invariant: a span is written once, when it ends, and a child before its parent.
 * usage: spans URL FILE; four jobs of two clients take one lock, twice each */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { JOBS = 4, RUNS = 2, WORK_MS = 20, EVENTS_ROOM = 4096, ATTRIBUTES_ROOM = 1024 };

/* ---- spans ---- */

struct span {
    const char *name;
    unsigned long long trace[2], id, parent; /* id 0: it is not open; parent 0: none */
    uint64_t began_us;
    size_t used;
    unsigned dropped;
    char events[EVENTS_ROOM];
};

static FILE *file;
static uint64_t epoch_us; /* the time of day when the loop's clock was 0 */

static uint64_t clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static unsigned long long chance(void)
{
    unsigned long long drawn = 0;
    while (!drawn)
        if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
            drawn = 0;
    return drawn;
}

static void span_begin(struct span *span, const char *name, const struct span *parent, uint64_t at_us)
{
    span->name = name;
    span->trace[0] = parent ? parent->trace[0] : chance();
    span->trace[1] = parent ? parent->trace[1] : chance();
    span->parent = parent ? parent->id : 0;
    span->id = chance();
    span->began_us = at_us;
    span->used = 0;
    span->dropped = 0;
    span->events[0] = '\0';
}

/* Names of locks and words of servers may be any bytes: what is not plain becomes '?'. */
static void quote(char *to, size_t room, const char *text)
{
    size_t i = 0;
    for (; text[i] && i + 1 < room; i++)
        to[i] = text[i] >= ' ' && text[i] < 0x7f && text[i] != '"' && text[i] != '\\' ? text[i] : '?';
    to[i] = '\0';
}

/* The text of a step's attributes; only what it has. */
static void attributes_of(const struct hilock_trace *step, char to[ATTRIBUTES_ROOM])
{
    char name[200], detail[300];
    quote(name, sizeof name, step->name);
    quote(detail, sizeof detail, step->detail);
    int used = snprintf(to, ATTRIBUTES_ROOM, "{\"key\":\"lock.name\",\"value\":{\"stringValue\":\"%s\"}}", name);
    if (step->fencing_token)
        used += snprintf(to + used, ATTRIBUTES_ROOM - (size_t)used, ",{\"key\":\"lock.token\",\"value\":{\"intValue\":\"%llu\"}}",
                         (unsigned long long)step->fencing_token);
    if (step->waiters)
        used += snprintf(to + used, ATTRIBUTES_ROOM - (size_t)used,
                         ",{\"key\":\"lock.place\",\"value\":{\"intValue\":\"%u\"}},{\"key\":\"lock.waiters\",\"value\":{\"intValue\":\"%u\"}}",
                         step->position, step->waiters);
    if (*detail)
        snprintf(to + used, ATTRIBUTES_ROOM - (size_t)used, ",{\"key\":\"detail\",\"value\":{\"stringValue\":\"%s\"}}", detail);
}

static void span_event(struct span *span, const char *name, const struct hilock_trace *step)
{
    char attributes[ATTRIBUTES_ROOM], event[ATTRIBUTES_ROOM + 200];
    if (!span->id)
        return;
    attributes_of(step, attributes);
    int length = snprintf(event, sizeof event, "%s{\"name\":\"%s\",\"timeUnixNano\":\"%llu000\",\"attributes\":[%s]}", span->used ? "," : "", name,
                          (unsigned long long)(epoch_us + step->at_us), attributes);
    if (span->used + (size_t)length >= sizeof span->events) {
        span->dropped++;
        return;
    }
    memcpy(span->events + span->used, event, (size_t)length + 1);
    span->used += (size_t)length;
}

static void span_end(struct span *span, uint64_t at_us, const char *attributes, const char *error)
{
    char why[300];
    if (!span->id)
        return;
    quote(why, sizeof why, error ? error : "");
    fprintf(file,
            "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"spans\"}}]},\"scopeSpans\":"
            "[{\"scope\":{\"name\":\"hilock\",\"version\":\"%s\"},\"spans\":[{\"traceId\":\"%016llx%016llx\",\"spanId\":\"%016llx\",",
            hilock_version(), span->trace[0], span->trace[1], span->id);
    if (span->parent)
        fprintf(file, "\"parentSpanId\":\"%016llx\",", span->parent);
    fprintf(file,
            "\"name\":\"%s\",\"kind\":1,\"startTimeUnixNano\":\"%llu000\",\"endTimeUnixNano\":\"%llu000\",\"attributes\":[%s],\"events\":[%s],"
            "\"droppedEventsCount\":%u,\"status\":{\"code\":%d,\"message\":\"%s\"}}]}]}]}\n",
            span->name, (unsigned long long)(epoch_us + span->began_us), (unsigned long long)(epoch_us + at_us), attributes, span->events, span->dropped,
            error ? 2 : 1, why);
    span->id = 0;
}

/* ---- jobs ---- */

struct job {
    struct event_base *base;
    struct event *work;
    hilock_client *client;
    hilock_lock *lock;
    struct span all, wait, hold;
    int runs, renewals, needs_renewal;
};

static unsigned left = JOBS;

/* Each step of each lock; of the client nothing is shown here. */
static void on_trace(const struct hilock_trace *step, void *user)
{
    struct job *job = step->lock_user;
    char attributes[ATTRIBUTES_ROOM];
    (void)user;
    if (!job)
        return;
    attributes_of(step, attributes);
    switch (step->step) {
    case HILOCK_TRACE_ACQUIRE: span_begin(&job->wait, "wait", &job->all, step->at_us); break;
    case HILOCK_TRACE_ATTEMPT: span_event(&job->wait, "attempt", step); break;
    case HILOCK_TRACE_WAIT: span_event(&job->wait, "held by another", step); break;
    case HILOCK_TRACE_PLACE: span_event(&job->wait, "place", step); break;
    case HILOCK_TRACE_HANDOFF: span_event(&job->wait, "handed on", step); break;
    case HILOCK_TRACE_GRANT:
        span_end(&job->wait, step->at_us, attributes, NULL);
        span_begin(&job->hold, "hold", &job->all, step->at_us);
        break;
    case HILOCK_TRACE_FAILED: span_end(&job->wait, step->at_us, attributes, hilock_status_name(step->status)); break;
    case HILOCK_TRACE_RENEW:
        job->renewals++;
        span_event(&job->hold, "renewed", step);
        break;
    case HILOCK_TRACE_RENEW_FAILED: span_event(&job->hold, "a renewal failed", step); break;
    case HILOCK_TRACE_LOSS: span_end(&job->hold, step->at_us, attributes, "lost"); break;
    case HILOCK_TRACE_RELEASE: span_end(&job->hold, step->at_us, attributes, NULL); break;
    case HILOCK_TRACE_CONNECT:
    case HILOCK_TRACE_DISCONNECT: break;
    }
}

static void begin(struct job *job);

static void on_worked(evutil_socket_t fd, short what, void *user)
{
    static const struct timeval work = {0, WORK_MS * 1000};
    struct job *job = user;
    (void)fd, (void)what;
    if (job->needs_renewal && !job->renewals && hilock_lock_state(job->lock) == HILOCK_STATE_HELD) { /* so that a renewal is seen, too */
        event_add(job->work, &work);
        return;
    }
    if (hilock_release(job->lock, NULL, NULL) != HILOCK_OK)
        fprintf(stderr, "lost before it was released\n");
    span_end(&job->all, clock_us(CLOCK_BOOTTIME), "", NULL);
    if (++job->runs < RUNS)
        begin(job);
    else if (--left == 0)
        event_base_loopbreak(job->base);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    static const struct timeval work = {0, WORK_MS * 1000};
    struct job *job = user;
    if (result->status != HILOCK_OK) {
        fprintf(stderr, "%s\n", result->detail);
        exit(1);
    }
    event_add(job->work, &work);
}

static void begin(struct job *job)
{
    span_begin(&job->all, "job", NULL, clock_us(CLOCK_BOOTTIME));
    if (hilock_acquire(job->lock, HILOCK_FOREVER, on_acquired, job) != HILOCK_OK) {
        fprintf(stderr, "%s\n", hilock_client_refusal(job->client));
        exit(1);
    }
}

static void open_job(struct job *job, struct event_base *base, hilock_client *client)
{
    job->base = base;
    job->client = client;
    job->work = event_new(base, -1, 0, on_worked, job);
    if (!job->work || hilock_lock_create(&job->lock, client, "stock:lamp",
                                         HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = 6000, .user = job)) != HILOCK_OK)
        exit(1);
}

static hilock_client *open_client(struct event_base *base, const char *url)
{
    hilock_client *client;
    struct hilock_error error;
    if (hilock_client_open_libevent(&client, base, HILOCK_CLIENT_OPTIONS(.url = url, .on_log = hilock_log_stderr, .on_trace = on_trace), &error) == HILOCK_OK)
        return client;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

int main(int argc, char **argv)
{
    static struct job jobs[JOBS];
    struct event_base *base = event_base_new();
    hilock_client *clients[2];
    file = argc == 3 ? fopen(argv[2], "w") : NULL;
    if (!file || !base) {
        fprintf(stderr, "usage: spans URL FILE\n");
        return 2;
    }
    event_base_priority_init(base, 2);
    epoch_us = clock_us(CLOCK_REALTIME) - clock_us(CLOCK_BOOTTIME);
    for (int i = 0; i < 2; i++)
        clients[i] = open_client(base, argv[1]);
    for (int i = 0; i < JOBS; i++)
        open_job(&jobs[i], base, clients[i == JOBS - 1]); /* three of one, which hands on to them, and one of another */
    jobs[0].needs_renewal = 1;
    for (int i = 0; i < JOBS; i++)
        begin(&jobs[i]);
    event_base_dispatch(base);
    for (int i = 0; i < JOBS; i++) {
        hilock_lock_free(jobs[i].lock);
        event_free(jobs[i].work);
    }
    for (int i = 0; i < 2; i++)
        if (hilock_client_close(clients[i], 0, NULL, NULL) != HILOCK_OK)
            return 1;
    event_base_dispatch(base); /* until both are closed */
    event_base_free(base);
    return fclose(file) == 0 ? 0 : 1;
}
