/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks: in which order, how many a turn, what may be called inside them, and that a silenced handle is silent. */
#include "play.h"

static const struct hilock_lock_options short_lease = {.size = sizeof short_lease, .lease_ms = 3000};

/* ---- what is legal inside ---- */

static void free_all(struct handle *handle)
{
    struct handle *other;
    TAILQ_FOREACH(other, &handle->fixture->handles, entry)
        handle_free(other);
}

static void acquire_again(struct handle *handle) { (void)!acquire(handle, HILOCK_FOREVER); }
static void release_it(struct handle *handle) { (void)!release(handle); }
static void extend_again(struct handle *handle) { (void)!extend(handle, 0); }
static void abandon(struct handle *handle) { client_abandon(handle->client); }
static void close_now(struct handle *handle) { client_close(handle->client, 0); }
static void abandon_and_free_all(struct handle *handle)
{
    client_abandon(handle->client);
    free_all(handle);
}

static void free_all_and_abandon(struct handle *handle)
{
    free_all(handle);
    client_abandon(handle->client);
}

/* ---- every callback there is, and a step inside it. The fixture's end finds what was left behind; sanitizers, what was touched too late ---- */

static void grant(struct fixture *s, struct handle *a)
{
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 5);
}

static void timing_out(struct fixture *s, struct handle *a)
{
    store_take(&s->store, "stock", "another", 60000);
    acquire(a, 50);
    run_ms(s, 100);
}

static void cancelling(struct fixture *s, struct handle *a)
{
    acquire(a, 50);
    cancel(a);
    run_ms(s, 100);
}

static void closing(struct fixture *s, struct handle *a)
{
    acquire(a, HILOCK_FOREVER);
    client_close(a->client, 100);
    run_ms(s, 5);
}

static void releasing(struct fixture *s, struct handle *a)
{
    store_delete(&s->store, "stock");
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2);
    if (a->lock && hilock_lock_state(a->lock) == HILOCK_STATE_HELD)
        release(a);
    run_ms(s, 5);
}

static void losing(struct fixture *s, struct handle *a)
{
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2);
    store_delete(&s->store, "stock");
    run_ms(s, 15000);
}

static void failing_renewals(struct fixture *s, struct handle *a)
{
    struct plan *busy = PLAN(s, .on = "renew", .error = "BUSY", .times = 6); /* c is renewed too */
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 25000);
    plan_end(busy);
}

static void settling(struct fixture *s, struct handle *a)
{
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2);
    cut_off(s);
    if (a->lock)
        release(a);
    run_ms(s, 5000);
    s->place->mood = NET_LISTENS;
    run_ms(s, 5000);
}

static void extending(struct fixture *s, struct handle *a)
{
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2);
    extend(a, 0);
    extend(a, 0);
    run_ms(s, 5);
}

static void extending_what_is_gone(struct fixture *s, struct handle *a)
{
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2);
    store_delete(&s->store, "stock");
    extend(a, 0);
    extend(a, 0);
    run_ms(s, 5);
}

static const struct { const char *told; void (*bring_about)(struct fixture *, struct handle *); } moments[] = {
    {"OK", grant},            {"WAITING", timing_out},     {"TIMED_OUT", timing_out},        {"CANCELLED", cancelling}, {"CLOSED", closing},
    {"released", releasing},  {"LOST TAKEN", losing},      {"RENEWAL_FAILED", failing_renewals}, {"RENEWED", failing_renewals},
    {"release UNKNOWN", settling}, {"SETTLED", settling},  {"extended", extending},
    {"extend LOST", extending_what_is_gone},
};

static void step_inside_every_callback(struct fixture *s, void (*step)(struct handle *handle))
{
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct client *p = fixture_connect(s, NULL);
        struct handle *a = handle_new(p, "a", "stock", NULL), *b = handle_new(p, "b", "stock", NULL), *c = held(p, "c", "other", NULL);
        s->is_tampered = 1;
        if (a->lock && b->lock && c->lock)
            acquire(b, HILOCK_FOREVER);
        handle_free(b); /* an undo is under way as well */
        run_us(s, 50);
        when(a, moments[i].told, step);
        moments[i].bring_about(s, a);
        HOLDS(s, strstr(s->story, moments[i].told));
        HOLDS(s, !a->then);
        a->then = NULL;
        handle_free(a);
        handle_free(c);
        run_ms(s, 50);
        if (p->client && !p->is_closing)
            client_close(p, 0);
        run_ms(s, 10000);
        store_clear(&s->store); /* places of abandoned clients are kept for a while */
        s->place->mood = NET_LISTENS;
        fixture_hush(s);
    }
}

A_PLAY(a_handle_may_be_freed_inside_each) { step_inside_every_callback(s, handle_free); }
A_PLAY(a_handle_may_be_dropped_inside_each) { step_inside_every_callback(s, handle_drop); }
A_PLAY(all_may_be_freed_inside_each) { step_inside_every_callback(s, free_all); }
A_PLAY(acquired_again_inside_each) { step_inside_every_callback(s, acquire_again); }
A_PLAY(released_inside_each) { step_inside_every_callback(s, release_it); }
A_PLAY(extended_inside_each) { step_inside_every_callback(s, extend_again); }
A_PLAY(the_client_may_be_abandoned_inside_each) { step_inside_every_callback(s, abandon); }
A_PLAY(the_client_may_be_closed_inside_each) { step_inside_every_callback(s, close_now); }
A_PLAY(abandoned_and_freed_inside_each) { step_inside_every_callback(s, abandon_and_free_all); }
A_PLAY(freed_and_abandoned_inside_each) { step_inside_every_callback(s, free_all_and_abandon); }

/* ---- turns ---- */

static unsigned turns, turn_of_x, turn_of_y;
static uint64_t takes_us;

static void turned(void *arg) { (void)arg, turns++; }
static void y_is_told(struct handle *handle) { (void)handle, turn_of_y = turns; }

static void x_takes_long(struct handle *handle)
{
    turn_of_x = turns;
    world_jump_us(&handle->fixture->world, takes_us);
}

static void x_cancels_y(struct handle *handle)
{
    turn_of_x = turns;
    SAME(handle->fixture, cancel(TAILQ_NEXT(handle, entry)), HILOCK_OK);
}

/* y waits, and x is cancelled, which takes one turn. */
static void cancels_x(struct fixture *s, void (*in_x)(struct handle *handle), int cancels_y)
{
    struct client *p = the_client(s);
    struct handle *x, *y;
    store_take(&s->store, "stock", "another", 600000);
    x = acquiring(handle_new(p, "x", "stock", NULL), HILOCK_FOREVER);
    y = acquiring(handle_new(p, "y", "stock", NULL), HILOCK_FOREVER);
    unheard_ms(s, 10);
    p->loop.turned = turned;
    turns = 0;
    if (in_x)
        when(x, "CANCELLED", in_x);
    when(y, "CANCELLED", y_is_told);
    cancel(x);
    if (cancels_y)
        cancel(y);
    run_ms(s, 1);
    run_ms(s, 1);
}

/* So callbacks that cause each other cannot keep the loop in one turn. */
A_PLAY(what_a_callback_brings_about_is_told_in_a_later_turn)
{
    cancels_x(s, x_cancels_y, 0);
    TELLS(s, "x:CANCELLED y:CANCELLED");
    SAME(s, turn_of_x, 0);
    HOLDS(s, turn_of_y > 0);
}

A_PLAY(news_cost_one_turn)
{
    cancels_x(s, NULL, 0);
    TELLS(s, "x:CANCELLED");
    SAME(s, turns, 1);
}

/* In one it is sent, and one follows its answer. */
HOLDING(a_release_costs_two_turns_at_most, NULL)
{
    p->loop.turned = turned;
    turns = 0;
    release(a);
    TELLS_IN(s, 5, "a:released");
    HOLDS(s, turns <= 2);
}

/* After 2 ms of callbacks the loop has other work. */
A_PLAY(a_turn_has_two_milliseconds_for_callbacks)
{
    for (takes_us = 2000; takes_us < 2002; takes_us++) {
        cancels_x(s, x_takes_long, 1);
        TELLS(s, "x:CANCELLED y:CANCELLED");
        SAME(s, turn_of_y - turn_of_x, takes_us - 2000);
    }
}

static void take_long_before_a_late_turn(struct handle *handle)
{
    world_jump_us(&handle->fixture->world, 3000);
    handle->client->loop.late_us = 50000;
}

/* Also if nothing is left of the news that were cut off, and an answer without news came in between. */
HOLDING(after_callbacks_that_took_too_long_news_wait_for_the_next_turn, NULL)
{
    struct handle *e = held(p, "e", "other", NULL), *x = handle_new(p, "x", "one", NULL), *y = handle_new(p, "y", "two", NULL);
    PLAN(s, .on = "mutex_release", .fate.back_us = 5000);
    PLAN(s, .on = "renew", .fate.back_us = 6000);
    release_quietly(e);
    extend(a, 0);
    when(x, "CANCELLED", take_long_before_a_late_turn);
    acquire(x, HILOCK_FOREVER);
    acquire(y, HILOCK_FOREVER);
    cancel(x);
    cancel(y);
    run_us(s, 10);
    handle_free(y);
    TELLS_IN(s, 20, "x:CANCELLED");
    TELLS_IN(s, 40, "a:extended");
}

/* ---- what is not told yet ---- */

/* Of two losses that were found in one turn. */
WITH_CLIENT(a_client_may_be_abandoned_between_two_losses)
{
    struct handle *a = held(p, "a", "one", &short_lease);
    held(p, "b", "two", &short_lease);
    s->is_tampered = 1;
    when(a, "LOST SUSPENDED", abandon);
    world_jump_us(&s->world, 9000000);
    TELLS_IN(s, 10, "a:LOST SUSPENDED");
}

static void take_four_seconds(struct handle *handle) { world_jump_us(&handle->fixture->world, 4000000); }

/* Two are answered by one renewal. The callback of the first takes longer than the time of the call, but the second was answered before. */
HOLDING(an_answer_that_was_got_in_time_is_told_however_late, NULL)
{
    for (int i = 0; i < 3; i++)
        extend(a, 0);
    run_us(s, 250);
    TELLS(s, "a:extended");
    when(a, "extended", take_four_seconds);
    for (int i = 0; i < 2; i++)
        run_ms(s, 1);
    TELLS_IN(s, 1, "a:extended a:extended");
}

/* ---- a handle without callbacks ---- */

static void note_status(const struct hilock_result *result, void *user) { *(hilock_status *)user = result->status; }

static void ignore(const struct hilock_event *event, void *user) { (void)event, (void)user; }

/* Renewals of it fail, and it is lost. */
WITH_CLIENT(who_wants_to_hear_of_no_event_hears_of_none)
{
    hilock_lock *lock = NULL;
    hilock_status status = HILOCK_INVALID;
    SAME(s, hilock_lock_create(&lock, p->client, "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .on_lost = ignore)), HILOCK_OK);
    SAME(s, hilock_acquire(lock, HILOCK_FOREVER, note_status, &status), HILOCK_OK);
    run_ms(s, 2);
    SAME(s, status, HILOCK_OK);
    cut_off(s);
    run_ms(s, 3000);
    SAME(s, hilock_lock_state(lock), HILOCK_STATE_IDLE);
    SAME(s, counts_of(p).lost_expired, 1);
    hilock_lock_free(lock);
}

/* ---- silence ---- */

A_PLAY(a_freed_or_dropped_handle_is_silent_in_every_state)
{
    for (uint64_t after_us = 0; after_us < 2000; after_us += 50) {
        struct client *p = fixture_open(s, NULL);
        struct handle *a = asking(p, "a", "stock", &short_lease), *b = asking(p, "b", "stock", &short_lease);
        run_us(s, after_us);
        fixture_hush(s);
        handle_free(a);
        handle_drop(b);
        SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_IDLE);
        TELLS_IN(s, 20, "");
        HOLDS(s, !is_ours(s, "stock"));
        acquire(b, HILOCK_FOREVER);
        TELLS_IN(s, 20, "b:OK");
        handle_free(b);
        client_close(p, 0);
        TELLS_IN(s, 5000, "closed");
    }
}
