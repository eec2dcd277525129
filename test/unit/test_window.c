/* SPDX-License-Identifier: BSD-3-Clause */
/* The window of a pushed grant is long enough for a loop that is late and for a server that is far away. */
#include "play.h"

/* What the first request of a new place asks for. */
static unsigned window_of_a_new_place(struct client *client)
{
    struct fixture *s = client->fixture;
    unsigned window_ms = 0;
    store_grant(&s->store, "stock", "x:9", 60000);
    asking(client, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    run_ms(s, 1000);
    const char *place = strstr(store_line(&s->store, "mutex_acquire", 0)->text, " hilock:grant:");
    HOLDS(s, place && sscanf(place, " %*s %*u %u", &window_ms) == 1);
    return window_ms;
}

A_PLAY(beside_a_quick_server_it_is_0_4_s) { SAME(s, window_of_a_new_place(fixture_connect(s, NULL)), 400); }

A_PLAY(of_a_server_that_is_far_away_it_is_four_times_the_way_there_and_back)
{
    s->net.there_us = s->net.back_us = 75000;
    struct client *p = fixture_open(s, NULL);
    run_ms(s, 2000);
    SAME(s, window_of_a_new_place(p), 600);
}

static unsigned window_of_a_loop_that_is_late(struct fixture *s, unsigned late_ms)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.keepalive_ms = 1000));
    run_ms(s, 999); /* the next probe is due in a moment */
    frozen_ms(p, late_ms);
    run_ms(s, 10);
    return window_of_a_new_place(p);
}

A_PLAY(of_a_loop_that_is_late_it_is_four_times_as_long)
{
    unsigned window_ms = window_of_a_loop_that_is_late(s, 300);
    HOLDS(s, window_ms > 1100 && window_ms <= 1201);
}

A_PLAY(it_is_never_above_3_s) { SAME(s, window_of_a_loop_that_is_late(s, 2000), 3000); }

/* A refusal of TIME takes as long as an answer. */
A_PLAY(the_way_is_known_without_the_right_to_TIME)
{
    PLAN(s, .on = "TIME", .error = "NOPERM this user has no permissions to run the 'time' command", .times = PLAN_ALWAYS);
    s->net.there_us = s->net.back_us = 75000;
    struct client *p = fixture_open(s, NULL);
    run_ms(s, 2000);
    SAME(s, window_of_a_new_place(p), 600);
}

/* A sample is a request about a lock. One takes the place of what TIME took, and each counts as much as those before it,
 * up to eight; none counts for more than twice the mean. */
A_PLAY(the_way_is_a_mean_of_the_latest_ones)
{
    static const struct { unsigned took_ms, window_ms; } ways[] = {
        {300, 600}, {100, 1200}, {1000, 800}, {200, 1066}, {200, 999}, {200, 959}, {200, 933}, {200, 914},
        {300, 899}, {300, 937}, {300, 970}, {112, 999},
    };
    s->net.there_us = s->net.back_us = 75000;
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 5000));
    run_ms(s, 2000);
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        unsigned window_ms = 0;
        s->net.there_us = s->net.back_us = ways[i].took_ms * 500;
        asking(p, "a", formatted("n%u", i), HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 60000));
        run_ms(s, 1100);
        const char *place = strstr(store_line(&s->store, "mutex_acquire", -1)->text, " hilock:grant:");
        HOLDS(s, place && sscanf(place, " %*s %*u %u", &window_ms) == 1);
        SAME(s, window_ms, ways[i].window_ms);
    }
    SAME(s, asked(s, "mutex_acquire"), sizeof ways / sizeof *ways);
    fixture_hush(s);
}
