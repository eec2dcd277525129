/* SPDX-License-Identifier: BSD-3-Clause */
/* spans - OpenTelemetry's spans of jobs and their locks, made of on_trace, with nothing but libc: each span is a line of
 * OTLP/JSON in a file, as the collector's otlpjsonfilereceiver reads it.
 *
 * Each job is a trace of its own. Below its span are a span for the wait and one for the hold of its lock; steps between
 * are their events. lock_user leads from a step to its job. The loop's clock counts from the start of the machine: what
 * lies between that and the time of day is asked once. Nothing is allocated, for on_trace runs inside of hilock.
 * Invariant: a span is written once, when it ends, and a child before its parent.
 * usage: spans URL FILE; four jobs of two clients take one lock */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

enum { JOBS = 4, WORK_MS = 20 };

/* ---- text of JSON ---- */

struct text {
    char bytes[4096];
    size_t used;
    unsigned dropped;
};

/* All of it or, where there is no room, nothing. */
__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...)
{
    const size_t room = sizeof text->bytes - text->used;
    va_list list;
    int length;
    va_start(list, format);
    length = vsnprintf(text->bytes + text->used, room, format, list);
    va_end(list);
    if ((size_t)length < room)
        text->used += (size_t)length;
    else
        text->dropped++;
    text->bytes[text->used] = '\0';
}

/* Names of locks and words of servers may be any bytes: what is not plain becomes '?'. */
static void append_string(struct text *text, const char *key, const char *value)
{
    char plain[300];
    size_t i = 0;
    for (; value[i] && i + 1 < sizeof plain; i++)
        plain[i] = value[i] >= ' ' && value[i] < 0x7f && value[i] != '"' && value[i] != '\\' ? value[i] : '?';
    plain[i] = '\0';
    append(text, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":\"%s\"}}", text->used ? "," : "", key, plain);
}

static void append_number(struct text *text, const char *key, uint64_t value)
{
    append(text, "%s{\"key\":\"%s\",\"value\":{\"intValue\":\"%llu\"}}", text->used ? "," : "", key, (unsigned long long)value);
}

/* Only what the step has. */
static struct text attributes_of(const struct hilock_trace *step)
{
    struct text text = {.used = 0};
    append_string(&text, "lock.name", step->name);
    if (step->fencing_token)
        append_number(&text, "lock.token", step->fencing_token);
    if (step->waiters) {
        append_number(&text, "lock.place", step->position);
        append_number(&text, "lock.waiters", step->waiters);
    }
    if (*step->detail)
        append_string(&text, "detail", step->detail);
    return text;
}

/* ---- spans ---- */

struct span {
    const char *name;
    unsigned long long trace[2], id, parent; /* id 0: it is not open; parent 0: none */
    uint64_t began_us;
    struct text events;
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
    *span = (struct span){.name = name, .id = chance(), .parent = parent ? parent->id : 0, .began_us = at_us};
    for (int i = 0; i < 2; i++)
        span->trace[i] = parent ? parent->trace[i] : chance();
}

static void span_event(struct span *span, const char *name, const struct hilock_trace *step)
{
    const struct text attributes = attributes_of(step);
    append(&span->events, "%s{\"name\":\"%s\",\"timeUnixNano\":\"%llu000\",\"attributes\":[%s]}", span->events.used ? "," : "", name,
           (unsigned long long)(epoch_us + step->at_us), attributes.bytes);
}

/* error: a word without quotes; NULL: none */
static void span_end(struct span *span, uint64_t at_us, const char *attributes, const char *error)
{
    if (!span->id)
        return;
    fprintf(file,
            "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"spans\"}}]},\"scopeSpans\":"
            "[{\"scope\":{\"name\":\"hilock\",\"version\":\"%s\"},\"spans\":[{\"traceId\":\"%016llx%016llx\",\"spanId\":\"%016llx\",",
            hilock_version(), span->trace[0], span->trace[1], span->id);
    if (span->parent)
        fprintf(file, "\"parentSpanId\":\"%016llx\",", span->parent);
    fprintf(file,
            "\"name\":\"%s\",\"kind\":1,\"startTimeUnixNano\":\"%llu000\",\"endTimeUnixNano\":\"%llu000\",\"attributes\":[%s],\"events\":[%s],"
            "\"droppedEventsCount\":%u,\"status\":{\"code\":%d,\"message\":\"%s\"}}]}]}]}\n",
            span->name, (unsigned long long)(epoch_us + span->began_us), (unsigned long long)(epoch_us + at_us), attributes, span->events.bytes,
            span->events.dropped, error ? 2 : 1, error ? error : "");
    span->id = 0;
}

/* ---- jobs ---- */

struct job {
    struct event *work;
    hilock_lock *lock;
    struct span all, wait, hold;
    int needs_renewal;
};

static unsigned left = JOBS;

/* Each step of each lock; of the client nothing is shown here. */
static void on_trace(const struct hilock_trace *step, void *user)
{
    struct job *job = step->lock_user;
    const struct text attributes = attributes_of(step);
    (void)user;
    if (!job)
        return;
    switch (step->step) {
    case HILOCK_TRACE_ACQUIRE: span_begin(&job->wait, "wait", &job->all, step->at_us); break;
    case HILOCK_TRACE_ATTEMPT: span_event(&job->wait, "attempt", step); break;
    case HILOCK_TRACE_WAIT: span_event(&job->wait, "held by another", step); break;
    case HILOCK_TRACE_PLACE: span_event(&job->wait, "place", step); break;
    case HILOCK_TRACE_HANDOFF: span_event(&job->wait, "handed on", step); break;
    case HILOCK_TRACE_GRANT:
        span_end(&job->wait, step->at_us, attributes.bytes, NULL);
        span_begin(&job->hold, "hold", &job->all, step->at_us);
        break;
    case HILOCK_TRACE_FAILED: span_end(&job->wait, step->at_us, attributes.bytes, hilock_status_name(step->status)); break;
    case HILOCK_TRACE_RENEW:
        job->needs_renewal = 0;
        span_event(&job->hold, "renewed", step);
        break;
    case HILOCK_TRACE_RENEW_FAILED: span_event(&job->hold, "a renewal failed", step); break;
    case HILOCK_TRACE_LOSS: span_end(&job->hold, step->at_us, attributes.bytes, "lost"); break;
    case HILOCK_TRACE_RELEASE: span_end(&job->hold, step->at_us, attributes.bytes, NULL); break;
    case HILOCK_TRACE_CONNECT:
    case HILOCK_TRACE_DISCONNECT: break;
    }
}

static void work_on(struct job *job)
{
    static const struct timeval span = {0, WORK_MS * 1000};
    event_add(job->work, &span);
}

static void on_worked(evutil_socket_t fd, short what, void *user)
{
    struct job *job = user;
    (void)fd, (void)what;
    if (job->needs_renewal && hilock_lock_state(job->lock) == HILOCK_STATE_HELD) { /* one holds for so long that a renewal is seen, too */
        work_on(job);
        return;
    }
    if (hilock_release(job->lock, NULL, NULL) != HILOCK_OK)
        fprintf(stderr, "lost before it was released\n");
    span_end(&job->all, clock_us(CLOCK_BOOTTIME), "", NULL);
    if (--left == 0)
        event_base_loopbreak(event_get_base(job->work));
}

static void fail(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    if (result->status != HILOCK_OK)
        fail(result->detail);
    work_on(user);
}

static void job_begin(struct job *job, struct event_base *base, hilock_client *client)
{
    job->work = event_new(base, -1, 0, on_worked, job);
    span_begin(&job->all, "job", NULL, clock_us(CLOCK_BOOTTIME));
    if (!job->work ||
        hilock_lock_create(&job->lock, client, "stock:lamp", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = 6000, .user = job)) !=
            HILOCK_OK ||
        hilock_acquire(job->lock, HILOCK_FOREVER, on_acquired, job) != HILOCK_OK)
        fail(hilock_client_refusal(client));
}

int main(int argc, char **argv)
{
    static struct job jobs[JOBS] = {{.needs_renewal = 1}};
    struct event_base *base = event_base_new();
    struct hilock_error error;
    hilock_client *clients[2];
    file = argc == 3 ? fopen(argv[2], "w") : NULL;
    if (!file || !base)
        fail("usage: spans URL FILE");
    event_base_priority_init(base, 2);
    epoch_us = clock_us(CLOCK_REALTIME) - clock_us(CLOCK_BOOTTIME);
    for (int i = 0; i < 2; i++)
        if (hilock_client_open_libevent(&clients[i], base, HILOCK_CLIENT_OPTIONS(.url = argv[1], .on_log = hilock_log_stderr, .on_trace = on_trace),
                                        &error) != HILOCK_OK)
            fail(error.text);
    for (int i = 0; i < JOBS; i++)
        job_begin(&jobs[i], base, clients[i == JOBS - 1]); /* three of one, which hands on to them, and one of another */
    event_base_dispatch(base);
    for (int i = 0; i < JOBS; i++) {
        hilock_lock_free(jobs[i].lock);
        event_free(jobs[i].work);
    }
    for (int i = 0; i < 2; i++)
        (void)hilock_client_close(clients[i], 0, NULL, NULL);
    event_base_dispatch(base); /* until both are closed */
    event_base_free(base);
    return fclose(file) == 0 ? 0 : 1;
}
