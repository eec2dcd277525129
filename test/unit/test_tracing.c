/* SPDX-License-Identifier: BSD-3-Clause */
/* on_trace gets each step of each handle, in order and with its time. */
#include "play.h"

/* The fixture uses the client's user itself, so the steps are kept here. */
static char told[4000];
static uint64_t latest_us;
static const struct handle *watched; /* NULL: every step is written down */

static uint64_t spans_us[HILOCK_TRACE_DISCONNECT + 1]; /* of the latest of each step */

static int is_of_the_user(const struct fixture *s, const hilock_lock *lock)
{
    const struct handle *handle;
    TAILQ_FOREACH(handle, &s->handles, entry)
        if (handle->lock == lock)
            return 1;
    return 0;
}

static void on_trace(const struct hilock_trace *trace, void *user)
{
    static const char *const words[] = {[HILOCK_TRACE_ACQUIRE] = "acquire",   [HILOCK_TRACE_ATTEMPT] = "attempt", [HILOCK_TRACE_WAIT] = "wait",
                                        [HILOCK_TRACE_PLACE] = "place",       [HILOCK_TRACE_GRANT] = "grant",     [HILOCK_TRACE_FAILED] = "failed",
                                        [HILOCK_TRACE_HANDOFF] = "handoff",   [HILOCK_TRACE_RENEW] = "renew",     [HILOCK_TRACE_RENEW_FAILED] = "renew-failed",
                                        [HILOCK_TRACE_LOSS] = "loss",         [HILOCK_TRACE_RELEASE] = "release", [HILOCK_TRACE_CONNECT] = "connect",
                                        [HILOCK_TRACE_DISCONNECT] = "disconnect"};
    size_t used = strlen(told);
    const struct client *client = user;
    HOLDS(client->fixture, trace->step >= HILOCK_TRACE_ACQUIRE && trace->step <= HILOCK_TRACE_DISCONNECT);
    HOLDS(client->fixture, trace->size == sizeof *trace && trace->name && trace->node && trace->detail && trace->at_us >= latest_us);
    HOLDS(client->fixture, trace->at_us == world_clock_us(&client->loop.clock) && !strstr(trace->detail, FIXTURE_SECRET));
    HOLDS(client->fixture, !trace->lock || trace->lock_user);
    latest_us = trace->at_us;
    HOLDS(client->fixture, !trace->lock || is_of_the_user(client->fixture, trace->lock));
    spans_us[trace->step] = trace->span_us;
    if (watched && trace->lock != watched->lock)
        return;
    snprintf(told + used, sizeof told - used, "%s%s", used ? " " : "", words[trace->step]);
    if (trace->step == HILOCK_TRACE_PLACE)
        snprintf(told + strlen(told), sizeof told - strlen(told), ":%u/%u", trace->position, trace->waiters);
    if (trace->step == HILOCK_TRACE_FAILED)
        snprintf(told + strlen(told), sizeof told - strlen(told), ":%s", hilock_status_name(trace->status));
    if (trace->step == HILOCK_TRACE_GRANT || trace->step == HILOCK_TRACE_RELEASE)
        HOLDS(client->fixture, (trace->fencing_token != 0) == (strcmp(trace->name, "one") != 0) && trace->status == HILOCK_OK);
}

static void forget(const struct handle *handle)
{
    told[0] = '\0';
    watched = handle;
}

static struct client *traced(struct fixture *s)
{
    forget(NULL);
    latest_us = 0;
    return fixture_connect(s, HILOCK_CLIENT_OPTIONS(.on_trace = on_trace));
}

GIVEN(a_turn_is_told_from_its_call_to_its_release, traced(s))
{
    TEXT(s, told, "connect");
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    forget(a);
    acquire(a, HILOCK_TRY);
    TEXT(s, told, "acquire attempt");
    run_ms(s, 5);
    TEXT(s, told, "acquire attempt grant");
    run_ms(s, 1500);
    TEXT(s, told, "acquire attempt grant renew");
    release(a);
    TEXT(s, told, "acquire attempt grant renew release");
    run_ms(s, 5);
    TEXT(s, told, "acquire attempt grant renew release");
    forget(a);
    acquire(a, HILOCK_TRY);
    run_ms(s, 5);
    handle_drop(a);
    TEXT(s, told, "acquire attempt grant release");
}

A_PLAY(a_wait_is_told_with_its_places)
{
    const struct hilock_lock_options *fair = HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR);
    struct client *p = traced(s), *q = fixture_connect(s, NULL);
    struct handle *a = held(q, "a", "stock", fair), *b = asking(q, "b", "stock", fair), *c = handle_new(p, "c", "stock", fair);
    run_ms(s, 5);
    forget(c);
    acquire(c, HILOCK_FOREVER);
    run_ms(s, 5);
    HOLDS(s, strncmp(told, "acquire attempt wait place:2/2", 30) == 0 || strncmp(told, "acquire attempt place:2/2 wait", 30) == 0);
    release(a);
    run_ms(s, 9000);
    HOLDS(s, strstr(told, "place:1/1"));
    release(b);
    run_ms(s, 5);
    HOLDS(s, strlen(told) > 6 && strcmp(told + strlen(told) - 6, " grant") == 0);
}

GIVEN(a_hand_off_is_told_of_the_next, traced(s))
{
    struct handle *a = held(p, "a", "stock", NULL), *b = handle_new(p, "b", "stock", NULL);
    forget(b);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 5);
    TEXT(s, told, "acquire wait");
    release(a);
    run_ms(s, 5);
    TEXT(s, told, "acquire wait handoff grant");
    handle_drop(b);
}

HAVING(a_loss_and_failed_renewals_are_told, held(traced(s), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000)))
{
    forget(a);
    PLAN(s, .on = "renew", .error = "OOM x", .times = 1);
    run_ms(s, 2000);
    TEXT(s, told, "renew-failed renew");
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    run_ms(s, 2000);
    TEXT(s, told, "renew-failed renew loss");
}

A_PLAY(of_a_multi_its_handle_is_told_and_names_have_none)
{
    static const char *const names[] = {"one", "two", NULL};
    struct handle *a = multi_new(traced(s), "a", names, HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    forget(a);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2000);
    release(a);
    run_ms(s, 5);
    TEXT(s, told, "acquire grant release");
}

HAVING(a_step_has_its_span, held(traced(s), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000)))
{
    SAME(s, spans_us[HILOCK_TRACE_GRANT], 200);
    run_ms(s, 1500);
    SAME(s, spans_us[HILOCK_TRACE_RENEW], 200);
    release(a);
    HOLDS(s, spans_us[HILOCK_TRACE_RELEASE] / 1000 == 1500);
    run_ms(s, 5);
    cut_off(s);
    run_us(s, 150);
    HOLDS(s, spans_us[HILOCK_TRACE_DISCONNECT] > 0 && spans_us[HILOCK_TRACE_DISCONNECT] < 2000000); /* until the next try */
}
