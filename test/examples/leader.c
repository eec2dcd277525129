/* SPDX-License-Identifier: BSD-3-Clause */
/* leader - many copies run, one of them leads: it works once a period; the others stand by and one takes over when it
 * ends, in any way.
 *
 * Leading is holding a lock for as long as it goes: HILOCK_FOREVER to get it, the watchdog to keep it. Three things
 * end it: our own wish (SIGTERM: released, so that the next leads at once), a loss (on_lost: not a moment of work
 * after it), and the end of this process (the lease runs out). Work that was begun can still overlap with the next
 * leader's if this host stops in its midst; so a leader announces its term, which is the fencing token, before it
 * reads anything, and each write carries it: the resource refuses a term older than one it has seen.
 * Invariant: work is done only while remaining is above 0; every end of an attempt leads to stand(), sooner or later.
 * usage: leader [URL [NAME [PERIOD_MS [LEASE_MS]]]]    (cron:leader, 1000, 15000); one line is printed for each thing
 * that happens */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAUSE_S = 1 };

struct candidate {
    struct event_base *base;
    struct event *work, *retry, *term;
    hilock_client *locks;
    hilock_lock *lead;
    struct timeval period;
};

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    fflush(stdout);
}

static void stand_later(struct candidate *self)
{
    static const struct timeval pause = {PAUSE_S, 0};
    event_add(self->retry, &pause);
}

static void on_work(evutil_socket_t fd, short what, void *user)
{
    struct candidate *self = user;
    (void)fd, (void)what;
    if (hilock_lock_remaining_ms(self->lead) > 0) /* a pause may come right here: so each write is fenced */
        say("work of term %llu", (unsigned long long)hilock_lock_token(self->lead));
}

/* A wait for ever ends with what waiting does not heal: rights, a key of another kind, a client that closes. */
static void on_acquired(const struct hilock_result *result, void *user)
{
    struct candidate *self = user;
    if (result->status == HILOCK_OK) {
        say("leads, term %llu", (unsigned long long)result->fencing_token);
        event_add(self->work, &self->period);
    } else if (result->status != HILOCK_CLOSED) {
        say("cannot stand: %s", result->detail);
        stand_later(self);
    }
}

static void stand(struct candidate *self)
{
    if (hilock_acquire(self->lead, HILOCK_FOREVER, on_acquired, self) != HILOCK_OK) {
        say("cannot stand: %s", hilock_client_refusal(self->locks));
        stand_later(self);
    }
}

static void on_retry(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    stand(user);
}

/* The handle is idle by now, and may stand again from in here; not while the client closes. */
static void on_lost(const struct hilock_event *event, void *user)
{
    struct candidate *self = user;
    event_del(self->work);
    say("leads no more: %s", event->detail);
    if (event->reason != HILOCK_REASON_CLOSING)
        stand(self);
}

static void on_event(const struct hilock_event *event, void *user)
{
    (void)user;
    if (event->kind == HILOCK_EVENT_WAITING)
        say("stands by for %.8s", event->holder); /* who that is, CLIENT LIST knows */
    else if (event->kind == HILOCK_EVENT_RENEWAL_FAILED)
        say("in danger, %u ms left", event->remaining_ms);
    else if (event->kind == HILOCK_EVENT_RENEWED)
        say("safe again");
}

static void on_closed(void *user)
{
    struct candidate *self = user;
    self->locks = NULL;
    event_del(self->term);
    say("left");
}

static void on_term(evutil_socket_t fd, short what, void *user)
{
    struct candidate *self = user;
    (void)fd, (void)what;
    event_del(self->work);
    event_del(self->retry);
    hilock_lock_drop(self->lead); /* in any case: a leader's place is free at once, and a wait ends */
    (void)hilock_client_close(self->locks, 0, on_closed, self);
}

static int open_all(struct candidate *self, const char *url, const char *name, uint32_t lease_ms)
{
    struct hilock_error error = {"out of memory"};
    self->base = event_base_new();
    if (self->base)
        (void)event_base_priority_init(self->base, 2); /* hilock has the first: on_lost before on_work */
    self->work = self->base ? event_new(self->base, -1, EV_PERSIST, on_work, self) : NULL;
    self->retry = self->base ? evtimer_new(self->base, on_retry, self) : NULL;
    self->term = self->base ? evsignal_new(self->base, SIGTERM, on_term, self) : NULL;
    if (!self->work || !self->retry || !self->term || event_add(self->term, NULL) != 0 ||
        hilock_client_open_libevent(&self->locks, self->base, HILOCK_CLIENT_OPTIONS(.url = url, .label = "leader"), &error) != HILOCK_OK)
        return fprintf(stderr, "%s\n", error.text), -1;
    if (hilock_lock_create(&self->lead, self->locks, name,
                           HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .on_event = on_event, .user = self, .lease_ms = lease_ms)) != HILOCK_OK)
        return fprintf(stderr, "%s\n", hilock_client_refusal(self->locks)), -1;
    return 0;
}

int main(int argc, char **argv)
{
    static struct candidate self;
    int period_ms = argc > 3 ? atoi(argv[3]) : 1000;
    self.period = (struct timeval){period_ms / 1000, period_ms % 1000 * 1000};
    if (open_all(&self, argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : "cron:leader", argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 15000) != 0)
        return 1;
    stand(&self);
    event_base_dispatch(self.base);
    hilock_lock_free(self.lead);
    event_free(self.work);
    event_free(self.retry);
    event_free(self.term);
    event_base_free(self.base);
    return 0;
}
