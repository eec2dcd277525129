/* SPDX-License-Identifier: BSD-3-Clause */
/* service - leader.c as a systemd service, on sd-event: copies run on many hosts, one of them leads. The unit may be of
 * Type=notify: the service is ready when it stands for leader, and its status says whether it leads.
 *
 * hilock's source has the priority SD_EVENT_PRIORITY_IMPORTANT, the work below has the normal one: after a pause of the
 * process on_lost runs before on_work. Invariant: the work's timer is on only while this copy leads; each end of an
 * attempt leads to stand(), sooner or later. What leader.c says of terms and fencing holds here, too.
 * usage: service [URL [NAME [PERIOD_MS [LEASE_MS]]]]    (cron:leader, 1000, 15000); what it prints is leader's */
#include <hilock/adapters/sd-event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#define PAUSE_US 1000000

struct candidate {
    sd_event *loop;
    sd_event_source *work, *retry;
    hilock_client *locks;
    hilock_lock *lead;
    uint64_t period_us;
};

/* To the journal, and to the unit's status. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    puts(text);
    fflush(stdout);
    (void)sd_notifyf(0, "READY=1\nSTATUS=%s", text);
}

static void begin_in(sd_event_source *timer, uint64_t span_us)
{
    (void)sd_event_source_set_time_relative(timer, span_us);
    (void)sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

static int on_work(sd_event_source *timer, uint64_t due_us, void *user)
{
    struct candidate *self = user;
    (void)due_us;
    begin_in(timer, self->period_us);
    if (hilock_lock_remaining_ms(self->lead) > 0) /* a pause may come right here: so each write is fenced */
        say("work of term %llu", (unsigned long long)hilock_lock_token(self->lead));
    return 0;
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct candidate *self = user;
    if (result->status == HILOCK_OK) {
        say("leads, term %llu", (unsigned long long)result->fencing_token);
        begin_in(self->work, self->period_us);
    } else if (result->status != HILOCK_CLOSED) {
        say("cannot stand: %s", result->detail);
        begin_in(self->retry, PAUSE_US);
    }
}

static void stand(struct candidate *self)
{
    if (hilock_acquire(self->lead, HILOCK_FOREVER, on_acquired, self) != HILOCK_OK) {
        say("cannot stand: %s", hilock_client_refusal(self->locks));
        begin_in(self->retry, PAUSE_US);
    }
}

static int on_retry(sd_event_source *timer, uint64_t due_us, void *user)
{
    (void)timer, (void)due_us;
    stand(user);
    return 0;
}

static void on_lost(const struct hilock_event *event, void *user)
{
    struct candidate *self = user;
    (void)sd_event_source_set_enabled(self->work, SD_EVENT_OFF);
    say("leads no more: %s", event->detail);
    if (event->reason != HILOCK_REASON_CLOSING)
        stand(self);
}

static void on_event(const struct hilock_event *event, void *user)
{
    (void)user;
    if (event->kind == HILOCK_EVENT_WAITING)
        say("stands by for %.8s", event->holder);
}

/* sd_event_loop has no end of its own. */
static void on_closed(void *user)
{
    struct candidate *self = user;
    say("left");
    (void)sd_event_exit(self->loop, 0);
}

static int on_term(sd_event_source *term, const struct signalfd_siginfo *info, void *user)
{
    struct candidate *self = user;
    (void)info;
    (void)sd_event_source_set_enabled(term, SD_EVENT_OFF); /* a second one would end us at once; it is blocked */
    (void)sd_event_source_set_enabled(self->work, SD_EVENT_OFF);
    (void)sd_event_source_set_enabled(self->retry, SD_EVENT_OFF);
    (void)sd_notify(0, "STOPPING=1");
    hilock_lock_drop(self->lead); /* in any case: a leader's place is free at once, and a wait ends */
    (void)hilock_client_close(self->locks, 0, on_closed, self);
    return 0;
}

static int sources_open(struct candidate *self)
{
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    if (sigprocmask(SIG_BLOCK, &term, NULL) != 0 || sd_event_default(&self->loop) < 0 ||
        sd_event_add_signal(self->loop, NULL, SIGTERM, on_term, self) < 0 ||
        sd_event_add_time(self->loop, &self->work, CLOCK_BOOTTIME, 0, 0, on_work, self) < 0 ||
        sd_event_add_time(self->loop, &self->retry, CLOCK_BOOTTIME, 0, 0, on_retry, self) < 0)
        return fprintf(stderr, "no loop\n"), -1;
    (void)sd_event_source_set_enabled(self->work, SD_EVENT_OFF);
    (void)sd_event_source_set_enabled(self->retry, SD_EVENT_OFF);
    return 0;
}

static int locks_open(struct candidate *self, const char *url, const char *name, uint32_t lease_ms)
{
    struct hilock_error error = {""};
    if (hilock_client_open_sd_event(&self->locks, self->loop, HILOCK_CLIENT_OPTIONS(.url = url, .label = "service"), &error) != HILOCK_OK)
        return fprintf(stderr, "%s\n", error.text), -1;
    if (hilock_lock_create(&self->lead, self->locks, name,
                           HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .on_event = on_event, .user = self, .lease_ms = lease_ms)) != HILOCK_OK)
        return fprintf(stderr, "%s\n", hilock_client_refusal(self->locks)), -1;
    return 0;
}

int main(int argc, char **argv)
{
    static struct candidate self;
    int status;
    self.period_us = argc > 3 ? strtoull(argv[3], NULL, 10) * 1000 : 1000000;
    if (sources_open(&self) != 0 || locks_open(&self, argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : "cron:leader",
                                               argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 15000) != 0)
        return 1;
    stand(&self);
    status = sd_event_loop(self.loop);
    hilock_lock_free(self.lead);
    sd_event_source_unref(self.work);
    sd_event_source_unref(self.retry);
    sd_event_unref(self.loop);
    return status;
}
