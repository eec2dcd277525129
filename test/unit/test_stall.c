/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop that stands still is reported, once each time, when it made a timer of ours late; and nothing else is taken for it. */
#include "play.h"

static uint64_t stalls(const struct client *p) { return counts_of(p).stalls; }

/* Holds a lease of 6 s: its renewal is due 2 s after the grant. */
static struct client *holding(struct fixture *s, const struct hilock_client_options *options)
{
    struct client *p = fixture_connect(s, options);
    held(p, "a", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    p->tells = 1;
    return p;
}

GIVEN(a_late_timer_tells_of_it, holding(s, NULL))
{
    frozen_ms(p, 3500);
    TELLS_IN(s, 10, "STALLED");
    HOLDS(s, p->event.stalled_ms >= 1500 && p->event.stalled_ms < 1510); /* 2 s were left */
    HOLDS(s, !p->event.lock && p->event.client == p->client);
    HOLDS(s, p->event.waited_ms >= 3500 && p->event.waited_ms < 3520); /* the whole stop: hilock had just been called */
    HOLDS(s, strstr(p->event_detail, "for 150") && strstr(p->event_detail, " to 35"));
    HOLDS(s, strstr(p->log, p->event_detail));
    SAME(s, stalls(p), 1);
}

/* To the microsecond: not at the limit, but above it. */
A_PLAY(no_more_than_the_limit_is_no_stall)
{
    for (uint64_t more_us = 0; more_us < 2; more_us++) {
        struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.stall_report_ms = 300));
        struct handle *a = handle_new(p, "a", more_us ? "one" : "two", NULL);
        uint64_t due_us = fixture_us(s) + 500000;
        PLAN(s, .on = "mutex_acquire", .fate.answer_is_lost = 1);
        acquire(a, 500);
        run_ms(s, 1);
        world_freeze(&p->loop.lane);
        run_to(s, due_us + 300000 + more_us);
        world_thaw(&s->world, &p->loop.lane);
        TELLS_IN(s, 1, "a:UNREACHABLE");
        SAME(s, stalls(p), more_us);
        client_abandon(p);
    }
}

GIVEN(many_late_timers_are_one_stall, holding(s, NULL))
{
    held(p, "b", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    run_ms(s, 300);
    held(p, "c", "three", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    frozen_ms(p, 5000);
    TELLS_IN(s, 10, "STALLED");
    frozen_ms(p, 5000);
    TELLS_IN(s, 10, "STALLED");
    SAME(s, stalls(p), 2);
}

/* Nothing of ours was due: nothing was late. */
GIVEN(a_stall_that_delays_nothing_is_not_told, holding(s, NULL))
{
    frozen_ms(p, 1900);
    run_ms(s, 60000);
    SAME(s, stalls(p), 0);
    TELLS(s, "");
}

/* Idle for long, away for long, busy for long: the loop turns. */
GIVEN(a_loop_that_turns_is_not_stalled, holding(s, HILOCK_CLIENT_OPTIONS(.stall_report_ms = 1)))
{
    struct handle *b = handle_new(p, "b", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 6000)), *c = handle_new(p, "c", "one", NULL);
    p->tells = 0;
    acquire(c, 100000);
    for (int i = 0; i < 30; i++) {
        acquire(b, HILOCK_FOREVER);
        run_ms(s, 1700);
        release(b);
        run_ms(s, 10);
    }
    cut_off(s);
    run_ms(s, 20000);
    s->place->mood = NET_LISTENS;
    run_ms(s, 20000);
    world_jump_us(&s->world, 0);
    SAME(s, stalls(p), 0);
}

/* The answer of another request is handled before the late timer: the stall is as long as it was. */
GIVEN(what_is_handled_before_the_late_timer_does_not_hide_the_stall,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.stall_report_ms = 300)))
{
    PLAN(s, .on = "mutex_acquire", .fate.answer_is_lost = 1);
    acquire(handle_new(p, "a", "one", NULL), 500);
    run_ms(s, 1);
    acquire(handle_new(p, "b", "two", NULL), HILOCK_TRY);
    p->tells = 1;
    s->is_untold = 1;
    frozen_ms(p, 2500);
    run_ms(s, 1);
    SAME(s, stalls(p), 1);
    HOLDS(s, p->event.stalled_ms >= 1900 && p->event.waited_ms >= 2400);
}
