/* SPDX-License-Identifier: BSD-3-Clause */
/* spans - OpenTelemetry's spans of a job and its lock, made of on_trace, with nothing but libc: each span is a line of
 * OTLP/JSON in a file, as the collector's otlpjsonfilereceiver reads it.
 *
 * A job is a trace of its own. Below its span are a span for the wait and one for the hold of its lock; steps between
 * are their events. lock_user leads from a step to its job. The loop's clock counts from the start of the machine: what
 * lies between that and the time of day is asked once. Nothing is allocated, for on_trace runs inside of hilock; an event
 * for which a span has no room is left out.
 * Invariant: a span is written once, when it ends, and a child before its parent.
 * usage: spans URL FILE WORK_MS */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

/* ---- spans ---- */

struct span {
    const char *name;
    unsigned long long trace[2], id, parent; /* id 0: it is not open; parent 0: none */
    uint64_t began_us;
    size_t used;
    char events[4096];
};

static FILE *file;
static uint64_t epoch_us; /* the time of day when the loop's clock was 0 */

static uint64_t clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Asked until nothing came between the two answers. */
static uint64_t epoch(void)
{
    for (;;) {
        const uint64_t before_us = clock_us(CLOCK_BOOTTIME), now_us = clock_us(CLOCK_REALTIME);
        if (clock_us(CLOCK_BOOTTIME) - before_us < 10)
            return now_us - before_us;
    }
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

static void span_event(struct span *span, const char *name, uint64_t at_us)
{
    const size_t room = sizeof span->events - span->used;
    int length = snprintf(span->events + span->used, room, "%s{\"name\":\"%s\",\"timeUnixNano\":\"%llu000\"}", span->used ? "," : "", name,
                          (unsigned long long)(epoch_us + at_us));
    if ((size_t)length < room)
        span->used += (size_t)length;
    span->events[span->used] = '\0';
}

/* The name of a lock may be any bytes: what is not plain becomes '?'. */
static void print_plain(const char *text)
{
    for (; *text; text++)
        fputc(*text >= ' ' && *text < 0x7f && *text != '"' && *text != '\\' ? *text : '?', file);
}

/* step: the one that ends it; NULL: none does. error: NULL: none */
static void span_end(struct span *span, uint64_t at_us, const struct hilock_trace *step, const char *error)
{
    if (!span->id)
        return;
    fprintf(file,
            "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"spans\"}}]},\"scopeSpans\":"
            "[{\"scope\":{\"name\":\"hilock\",\"version\":\"%s\"},\"spans\":[{\"traceId\":\"%016llx%016llx\",\"spanId\":\"%016llx\",",
            hilock_version(), span->trace[0], span->trace[1], span->id);
    if (span->parent)
        fprintf(file, "\"parentSpanId\":\"%016llx\",", span->parent);
    fprintf(file, "\"name\":\"%s\",\"kind\":1,\"startTimeUnixNano\":\"%llu000\",\"endTimeUnixNano\":\"%llu000\",\"attributes\":[", span->name,
            (unsigned long long)(epoch_us + span->began_us), (unsigned long long)(epoch_us + at_us));
    if (step) {
        fprintf(file, "{\"key\":\"lock.token\",\"value\":{\"intValue\":\"%llu\"}},{\"key\":\"lock.name\",\"value\":{\"stringValue\":\"",
                (unsigned long long)step->fencing_token);
        print_plain(step->name);
        fprintf(file, "\"}}");
    }
    fprintf(file, "],\"events\":[%s],\"status\":{\"code\":%d,\"message\":\"%s\"}}]}]}]}\n", span->events, error ? 2 : 1, error ? error : "");
    span->id = 0;
}

/* ---- a job ---- */

struct job {
    struct event_base *base;
    hilock_client *client;
    hilock_lock *lock;
    struct timeval takes;
    int code;
    struct span all, wait, hold;
};

/* Each step of each lock; of the client nothing is shown here. */
static void on_trace(const struct hilock_trace *step, void *user)
{
    struct job *job = step->lock_user;
    const uint64_t at_us = step->at_us;
    (void)user;
    if (!job)
        return;
    switch (step->step) {
    case HILOCK_TRACE_ACQUIRE: span_begin(&job->wait, "wait", &job->all, at_us); break;
    case HILOCK_TRACE_ATTEMPT: span_event(&job->wait, "attempt", at_us); break;
    case HILOCK_TRACE_WAIT: span_event(&job->wait, "held by another", at_us); break;
    case HILOCK_TRACE_PLACE: span_event(&job->wait, "place", at_us); break;
    case HILOCK_TRACE_HANDOFF: span_event(&job->wait, "handed on", at_us); break;
    case HILOCK_TRACE_GRANT:
        span_end(&job->wait, at_us, step, NULL);
        span_begin(&job->hold, "hold", &job->all, at_us);
        break;
    case HILOCK_TRACE_FAILED: span_end(&job->wait, at_us, step, hilock_status_name(step->status)); break;
    case HILOCK_TRACE_RENEW: span_event(&job->hold, "renewed", at_us); break;
    case HILOCK_TRACE_RENEW_FAILED: span_event(&job->hold, "a renewal failed", at_us); break;
    case HILOCK_TRACE_LOSS: span_end(&job->hold, at_us, step, "lost"); break;
    case HILOCK_TRACE_RELEASE: span_end(&job->hold, at_us, step, NULL); break;
    case HILOCK_TRACE_CONNECT:
    case HILOCK_TRACE_DISCONNECT: break;
    }
}

/* Nothing is left on the loop then. */
static void on_worked(evutil_socket_t fd, short what, void *user)
{
    struct job *job = user;
    (void)fd, (void)what;
    if (hilock_release(job->lock, NULL, NULL) != HILOCK_OK)
        fprintf(stderr, "lost before it was released\n");
    hilock_lock_free(job->lock);
    (void)hilock_client_close(job->client, HILOCK_FOREVER, NULL, NULL);
    span_end(&job->all, clock_us(CLOCK_BOOTTIME), NULL, NULL);
}

static int failed(const char *why) { return fprintf(stderr, "%s\n", why) < 0 ? 2 : 1; }

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct job *job = user;
    if (result->status == HILOCK_OK && event_base_once(job->base, -1, EV_TIMEOUT, on_worked, job, &job->takes) == 0)
        return;
    job->code = failed(result->detail);
    hilock_lock_free(job->lock);
    (void)hilock_client_close(job->client, HILOCK_FOREVER, NULL, NULL); /* the loop ends when that is done */
}

int main(int argc, char **argv)
{
    struct job job = {.base = event_base_new()};
    struct hilock_client_options options = hilock_client_options_default();
    struct hilock_error error;
    file = argc == 4 ? fopen(argv[2], "w") : NULL;
    if (!file || !job.base)
        return failed("usage: spans URL FILE WORK_MS");
    job.takes = (struct timeval){atoi(argv[3]) / 1000, atoi(argv[3]) % 1000 * 1000};
    epoch_us = epoch();
    options.url = argv[1];
    options.on_log = hilock_log_stderr;
    options.on_trace = on_trace;
    if (hilock_client_open_libevent(&job.client, job.base, &options, &error) != HILOCK_OK)
        return failed(error.text);
    span_begin(&job.all, "job", NULL, clock_us(CLOCK_BOOTTIME));
    if (hilock_lock_create(&job.lock, job.client, "stock:lamp",
                           HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = 6000, .user = &job)) !=
            HILOCK_OK ||
        hilock_acquire(job.lock, HILOCK_FOREVER, on_acquired, &job) != HILOCK_OK)
        return failed(hilock_client_refusal(job.client));
    event_base_dispatch(job.base);
    event_base_free(job.base);
    return fclose(file) == 0 ? job.code : 1;
}
