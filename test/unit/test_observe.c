/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted, logged and reported of the client: every outcome once, and no secret. */
#include <pthread.h>

#include "play.h"

static uint64_t sum_of(const struct hilock_histogram *histogram)
{
    uint64_t sum = 0;
    for (int i = 0; i < HILOCK_BUCKETS; i++)
        sum += histogram->buckets[i];
    return sum;
}

/* All that is not 0 of its statistics, as the page for Prometheus calls it. */
static const char *counted(const struct client *p)
{
    static char text[1000];
    char page[20000], *rest = NULL;
    struct hilock_stats stats = counts_of(p);
    size_t used = 0;
    HOLDS(p->fixture, stats.wait.count == sum_of(&stats.wait) && stats.hold.count == sum_of(&stats.hold));
    HOLDS(p->fixture, stats.command.count == sum_of(&stats.command));
    hilock_stats_prometheus(&stats, "", page, sizeof page);
    for (char *line = strtok_r(page, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *value = strrchr(line, ' '), *reason = strstr(line, "reason=\"");
        if (*line == '#' || strstr(line, "_bucket") || strstr(line, "_sum") || strcmp(value, " 0") == 0)
            continue;
        if (strstr(line, "oldest") || strstr(line, "version"))
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", used ? ", " : "",
                                 (int)strcspn(line, "{") - 7, line + 7);
        if (reason)
            used += (size_t)snprintf(text + used, sizeof text - used, " %.*s", (int)strcspn(reason + 8, "\""),
                                     reason + 8);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", value);
    }
    return text;
}

WITH_CLIENT(every_outcome_of_an_acquire_is_counted_once)
{
    struct handle *a = held(p, "a", "one", NULL), *b = asking(p, "b", "two", NULL), *c = handle_new(p, "c", "one", NULL);
    cancel(b);
    acquire(c, HILOCK_TRY);
    run_ms(s, 10);
    PLAN(s, .on = "mutex_acquire", .error = "ERR x");
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 10);
    SAME(s, acquire(a, 1), HILOCK_IN_USE);
    acquire(b, HILOCK_FOREVER);
    handle_drop(b);
    run_ms(s, 10);
    SAME(s, counts_of(p).refused, 1);
    TEXT(s, counted(p),
         "acquires_total 5, granted_total 1, timed_out_total 1, cancelled_total 2, undone_total 2, "
         "commands_total 7, connects_total 1, held 1, locks 3, nodes_up 1, nodes 1, failed_total SERVER 1, "
         "refused_total IN_USE 1, wait_seconds_count 5, command_seconds_count 7");
}

WITH_CLIENT(every_end_of_a_hold_is_counted_once)
{
    s->is_tampered = 1;
    release(held(p, "a", "released", NULL));
    handle_free(held(p, "b", "freed", NULL));
    held(p, "c", "taken", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    store_delete(&s->store, "taken");
    held(p, "d", "max", HILOCK_LOCK_OPTIONS(.lease_ms = 1000, .hold_max_ms = 1500));
    held(p, "e", "expired", HILOCK_LOCK_OPTIONS(.lease_ms = 1000, .renew = HILOCK_RENEW_NEVER));
    run_ms(s, 2000);
    held(p, "f", "suspended", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    world_jump_us(&s->world, 10000000);
    run_ms(s, 10);
    held(p, "g", "closing", NULL);
    client_close(p, 100);
    PLAN(s, .on = "mutex_release", .fate.back_us = 300000);
    run_ms(s, 200);
    TEXT(s, counted(p),
         "acquires_total 7, granted_total 7, released_total 2, lost_taken_total 1, lost_expired_total 1, "
         "lost_suspended_total 1, lost_hold_max_total 1, lost_closing_total 1, renewals_total 4, commands_total 19, "
         "connects_total 1, stalls_total 1, locks 6, inflight 1, nodes_up 1, nodes 1, wait_seconds_count 7, "
         "hold_seconds_count 7, command_seconds_count 18");
}

WITH_CLIENT(commands_wakeups_undos_and_connections_are_counted)
{
    store_take(&s->store, "stock", "another", 60000);
    asking(p, "a", "stock", NULL);
    run_ms(s, 5);
    store_free_name(&s->store, "stock");
    run_ms(s, 5);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 10000);
    struct handle *b = asking(p, "b", "other", NULL);
    run_ms(s, 5);
    handle_drop(b);
    run_ms(s, 20);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 100);
    /* Asked thrice; granted and undone; renewed when the link was back. */
    TEXT(s, counted(p),
         "acquires_total 2, granted_total 1, cancelled_total 1, undone_total 1, renewals_total 1, commands_total 6, "
         "wakeups_total 1, connects_total 2, disconnects_total 1, held 1, locks 2, nodes_up 1, nodes 1, "
         "wait_seconds_count 2, command_seconds_count 6");
    SAME(s, counts_of(p).command.buckets[1], 5); /* 100 to 250 us */
    SAME(s, client_lines(p, "a grant of \"other\" came too late and is given back"), 1);
}

WITH_CLIENT(buckets_have_the_bounds_of_the_header)
{
    static const uint32_t waits_ms[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 60001};
    store_take(&s->store, "stock", "another", 600000000);
    s->is_untold = 1;
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++)
        acquiring(handle_new(p, "w", "stock", NULL), waits_ms[i]);
    run_ms(s, 100000);
    struct hilock_stats stats = counts_of(p);
    for (size_t i = 3; i < HILOCK_BUCKETS; i++) /* a wait is whole milliseconds: see the next play for the others */
        SAME(s, stats.wait.buckets[i], 1);
    SAME(s, stats.wait.sum_us / 1000, 1 + 2 + 5 + 10 + 20 + 50 + 100 + 200 + 500 + 1000 + 2000 + 5000 + 10000 + 30000 + 60000 + 60001);
}

/* Its microseconds are more than 32 bits have room for. */
HOLDING(a_hold_of_two_hours_is_in_the_last_bucket, HILOCK_LOCK_OPTIONS(.lease_ms = 86400000, .renew = HILOCK_RENEW_NEVER))
{
    run_ms(s, 7200000);
    release(a);
    SAME(s, counts_of(p).hold.buckets[HILOCK_BUCKETS - 1], 1);
    SAME(s, counts_of(p).hold.sum_us / 1000000, 7200);
}

/* Also between a call and the next turn of the loop. */
WITH_CLIENT(what_there_is_now_is_counted_at_once)
{
    struct handle *a = handle_new(p, "a", "stock", NULL);
    SAME(s, counts_of(p).locks, 1);
    acquire(a, HILOCK_TRY);
    SAME(s, counts_of(p).waiting, 1);
    run_ms(s, 1);
    SAME(s, counts_of(p).held, 1);
    release_quietly(a);
    SAME(s, counts_of(p).held, 0);
}

GIVEN(releases_lost_and_unknown_are_counted, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    struct handle *a = held(p, "a", "one", NULL), *b = held(p, "b", "two", NULL), *c = held(p, "c", "three", NULL);
    s->is_tampered = 1;
    store_delete(&s->store, "one");
    store_delete(&s->store, "two");
    release(a);
    handle_drop(b); /* nobody is called back */
    run_ms(s, 10);
    PLAN(s, .on = "mutex_release", .fate.answer_is_lost = 1);
    release(c);
    unheard_ms(s, 2000);
    TEXT(s, counted(p),
         "acquires_total 3, granted_total 3, released_total 3, release_lost_total 2, release_unknown_total 1, "
         "commands_total 7, connects_total 2, disconnects_total 1, locks 3, nodes_up 1, nodes 1, "
         "wait_seconds_count 3, hold_seconds_count 3, command_seconds_count 6");
}

WITH_CLIENT(shares_and_permits_are_told)
{
    struct handle *a = held(p, "a", "page", HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER));
    struct handle *b = held(p, "b", "page", HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER));
    struct handle *c = held(p, "c", "export", HILOCK_LOCK_OPTIONS(.holders_max = 1));
    struct handle *d = held(p, "d", "import", HILOCK_LOCK_OPTIONS(.holders_max = 5));
    struct handle *e = asking(p, "e", "export", HILOCK_LOCK_OPTIONS(.holders_max = 5));
    struct hilock_stats stats = counts_of(p), sum = {.size = sizeof sum};
    SAME(s, stats.held, 4);
    SAME(s, stats.shares, 3);
    SAME(s, stats.permits, 1);
    hilock_stats_add(&sum, &stats);
    hilock_stats_add(&sum, &stats);
    SAME(s, sum.shares * 10 + sum.permits, 62);
    handle_free(e);
    release_quietly(a);
    release_quietly(b);
    release_quietly(c);
    SAME(s, counts_of(p).shares, 1);
    release_quietly(d);
    SAME(s, counts_of(p).shares + counts_of(p).permits, 0);
}

struct reading {
    const hilock_client *client;
    struct hilock_stats stats;
};

static void *read_here(void *arg)
{
    struct reading *reading = arg;
    reading->stats = (struct hilock_stats){.size = sizeof reading->stats};
    hilock_client_stats(reading->client, &reading->stats);
    return NULL;
}

static struct hilock_stats counts_elsewhere(const struct client *client)
{
    pthread_t thread;
    struct reading reading = {.client = client->client};
    HOLDS(client->fixture, pthread_create(&thread, NULL, read_here, &reading) == 0);
    pthread_join(thread, NULL);
    return reading.stats;
}

/* What takes a visit to all handles, from the first reading on. */
WITH_CLIENT(another_thread_is_told_the_same)
{
    held(p, "a", "page", HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER));
    held(p, "d", "import", HILOCK_LOCK_OPTIONS(.holders_max = 5));
    asking(fixture_connect(s, NULL), "b", "export", NULL);
    run_ms(s, 500);
    asking(p, "e", "export", NULL);
    run_ms(s, 1500);
    SAME(s, counts_elsewhere(p).oldest_hold_ms + counts_elsewhere(p).oldest_wait_ms, 0); /* not known yet */
    run_ms(s, 20000); /* the loop turns: renewals */
    struct hilock_stats there = counts_elsewhere(p), here = counts_of(p);
    SAME(s, there.shares * 10 + there.permits, 21);
    SAME(s, there.oldest_hold_ms, here.oldest_hold_ms);
    SAME(s, there.oldest_wait_ms, here.oldest_wait_ms);
    SAME(s, there.size, sizeof there);
    SAME(s, memcmp(&there, &here, sizeof there), 0);
}

/* It is found anew once a second, to the microsecond, because every handle must be looked at. */
WITH_CLIENT(another_thread_is_told_what_was_true_a_second_ago_at_most)
{
    (void)counts_elsewhere(p);
    acquiring(handle_new(p, "a", "one", HILOCK_LOCK_OPTIONS(.holders_max = 5)), HILOCK_TRY);
    uint64_t looked_us = fixture_us(s);
    run_us(s, 1);
    acquiring(handle_new(p, "b", "two", HILOCK_LOCK_OPTIONS(.holders_max = 5)), HILOCK_TRY);
    run_to(s, looked_us + 999999);
    acquiring(handle_new(p, "c", "three", NULL), HILOCK_TRY); /* the loop turns */
    run_us(s, 1);
    SAME(s, counts_elsewhere(p).permits, 0);
    acquiring(handle_new(p, "d", "four", NULL), HILOCK_TRY);
    run_us(s, 1);
    SAME(s, counts_elsewhere(p).permits, 2);
}

WITH_CLIENT(the_oldest_hold_and_wait_are_told)
{
    struct client *q = fixture_connect(s, NULL);
    struct hilock_stats stats = counts_of(p), more;
    SAME(s, stats.oldest_hold_ms + stats.oldest_wait_ms, 0);
    struct handle *a = held(p, "a", "one", NULL);
    run_ms(s, 3000);
    held(p, "b", "two", NULL);
    asking(p, "c", "one", NULL);
    run_ms(s, 2000);
    asking(p, "d", "two", NULL);
    run_ms(s, 500);
    stats = counts_of(p);
    HOLDS(s, stats.oldest_hold_ms >= 5500 && stats.oldest_hold_ms < 5600);
    HOLDS(s, stats.oldest_wait_ms >= 2500 && stats.oldest_wait_ms < 2600);
    held(q, "e", "three", NULL);
    more = counts_of(q);
    hilock_stats_add(&more, &stats);
    SAME(s, more.oldest_hold_ms, stats.oldest_hold_ms);
    SAME(s, more.oldest_wait_ms, stats.oldest_wait_ms);
    handle_free(a);
    run_ms(s, 10);
    HOLDS(s, counts_of(p).oldest_wait_ms < 600);
}

WITH_CLIENT(a_smaller_struct_is_not_written_past_its_end)
{
    struct hilock_stats stats;
    held(p, "a", "stock", NULL);
    memset(&stats, 0x5a, sizeof stats);
    stats.size = offsetof(struct hilock_stats, timed_out);
    hilock_client_stats(p->client, &stats);
    SAME(s, stats.granted, 1);
    SAME(s, stats.timed_out, 0x5a5a5a5a5a5a5a5a);
}

/* One that has no room for its own size is left as it is. */
TEST(a_sum_without_room_for_its_size_is_not_written)
{
    struct hilock_stats sum = {.size = sizeof sum.size - 1, .granted = 1};
    const struct hilock_stats part = {.size = sizeof part, .granted = 2};
    hilock_stats_add(&sum, &part);
    assert_int_equal(sum.size, sizeof sum.size - 1);
    assert_int_equal(sum.granted, 1);
    sum.size = sizeof sum.size;
    hilock_stats_add(&sum, &part);
    assert_int_equal(sum.size, sizeof sum.size);
    assert_int_equal(sum.granted, 1);
}

/* Whoever takes places out of a queue counts them: h, whose release finds them. One of them stands still, or has ended. */
static struct hilock_stats beside_two_that_do_not_answer(struct fixture *s, int have_ended, unsigned still_ms)
{
    const struct hilock_lock_options *fair = HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR);
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    struct handle *h = held(p, "h", "stock", NULL);
    asking(q, "x", "stock", fair);
    asking(q, "y", "stock", fair);
    run_ms(s, 5);
    if (have_ended)
        client_abandon(q);
    else
        world_freeze(&q->loop.lane);
    run_ms(s, still_ms);
    release_quietly(h);
    run_ms(s, 1000);
    q->loop.lane.until_us = 0;
    return counts_of(p);
}

A_PLAY(places_of_the_dead_are_counted_as_unheard)
{
    struct hilock_stats stats = beside_two_that_do_not_answer(s, 1, 5);
    SAME(s, stats.places_unheard, 2);
    HOLDS(s, client_lines(the_client(s), "removed from the queue of \"stock\": 2 waiters that nobody listens for") == 1);
    SAME(s, stats.places_overdue + stats.places_lapsed, 0);
}

/* An acquire removes the places of waiters that are gone, as a release does, and these are counted as well. */
A_PLAY(places_that_an_acquire_removes_are_counted_too)
{
    const struct hilock_lock_options *fair = HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR);
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    store_take(&s->store, "stock", "another", 60000);
    asking(q, "x", "stock", fair);
    asking(q, "y", "stock", fair);
    run_ms(s, 5);
    client_abandon(q);
    run_ms(s, 30000);
    store_delete(&s->store, "stock");
    asking(p, "z", "stock", fair);
    run_ms(s, 5);
    SAME(s, counts_of(p).places_unheard + counts_of(p).places_overdue, 2);
}

static const struct hilock_lock_options reads = {.size = sizeof reads, .holders_max = HILOCK_ANY_NUMBER};

A_PLAY(places_that_a_downgrade_removes_are_counted_too)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *w = held(p, "w", "stock", NULL), *x = asking(fixture_connect(s, NULL), "x", "stock", &reads);
    asking(fixture_connect(s, NULL), "y", "stock", &reads);
    run_ms(s, 5);
    client_abandon(x->client);
    run_ms(s, 5);
    downgrade(w);
    run_ms(s, 5);
    SAME(s, counts_of(p).places_unheard, 1);
    fixture_hush(s);
}

/* The heartbeat that finds the dead one is answered when its wait was cancelled; or behind a push, and the hold which that push gave has
 * ended by then. */
static void late_answer(struct fixture *s, int is_pushed)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *h = held(fixture_connect(s, NULL), "h", "stock", NULL), *x = asking(fixture_connect(s, NULL), "x", "stock", NULL), *b;
    run_ms(s, 5);
    b = asking(q, "b", "stock", NULL);
    run_ms(s, 5);
    client_abandon(x->client);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 100000);
    for (size_t before = asked(s, "mutex_acquire"); asked(s, "mutex_acquire") == before;)
        run_ms(s, 1);
    if (is_pushed)
        release_quietly(h);
    run_ms(s, 2);
    SAME(s, is_held(b), is_pushed);
    SAME(s, counts_of(q).places_overdue, 0);
    handle_drop(b);
    run_ms(s, 200);
    SAME(s, counts_of(q).places_overdue, 1);
    fixture_hush(s);
}

A_PLAY(places_that_a_late_answer_tells_of_are_counted_too) { late_answer(s, 0); }
A_PLAY(places_that_an_answer_behind_a_push_tells_of_are_counted_too) { late_answer(s, 1); }

A_PLAY(places_that_stand_still_for_long_are_counted_as_overdue)
{
    struct hilock_stats stats = beside_two_that_do_not_answer(s, 0, 12000);
    SAME(s, stats.places_overdue, 2);
    SAME(s, stats.places_unheard + stats.places_lapsed, 0);
}

/* Its client listens already, for another name, so it has asked once only: what it promised then is what counts. */
A_PLAY(a_place_is_overdue_as_soon_as_the_promise_of_its_first_request_is_over)
{
    const struct hilock_lock_options *fair = HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR);
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    struct handle *h = held(p, "h", "stock", NULL);
    held(p, "g", "other", NULL);
    asking(q, "w", "other", fair);
    run_ms(s, 10);
    size_t before = asked(s, "mutex_acquire");
    asking(q, "x", "stock", fair);
    run_ms(s, 10);
    SAME(s, asked(s, "mutex_acquire"), before + 1);
    world_freeze(&q->loop.lane);
    run_ms(s, 4500);
    release_quietly(h);
    run_ms(s, 1000);
    world_thaw(&s->world, &q->loop.lane);
    SAME(s, counts_of(p).places_overdue, 1);
    fixture_hush(s);
}

A_PLAY(places_of_a_client_whose_grant_lapsed_are_counted)
{
    struct hilock_stats stats = beside_two_that_do_not_answer(s, 0, 5); /* x is granted the name; y is of the same client */
    SAME(s, stats.places_lapsed, 1);
    SAME(s, stats.places_unheard + stats.places_overdue, 0);
}

static void abandon_client(struct handle *handle) { client_abandon(handle->client); }

/* Losses are reported before events: the one of the stall is still due. Nothing is left behind. */
HOLDING(an_event_that_is_due_when_its_client_is_abandoned_is_not_reported, HILOCK_LOCK_OPTIONS(.lease_ms = 1000, .renew = HILOCK_RENEW_NEVER))
{
    p->tells = 1;
    when(a, "LOST SUSPENDED", abandon_client);
    frozen_ms(p, 3000);
    TELLS_IN(s, 10, "a:LOST SUSPENDED");
}

/* At the default level, WARN: a server that is not there, and what is wrong then. Not each attempt. */
A_PLAY(what_is_wrong_from_the_begin_is_warned_of_once)
{
    s->place->mood = NET_REFUSES;
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET, .log_level = HILOCK_LOG_WARN));
    run_ms(s, 5000);
    SAME(s, client_lines(p, "Connection refused"), 1);
    PLAN(s, .on = "AUTH", .error = "WRONGPASS", .times = 2);
    s->place->mood = NET_LISTENS;
    run_ms(s, 5000);
    SAME(s, client_lines(p, "AUTH refused"), 1);
    HOLDS(s, hilock_client_is_connected(p->client));
    PLAN(s, .on = "AUTH", .error = "WRONGPASS", .times = 1);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 5000);
    SAME(s, client_lines(p, "AUTH refused"), 2);
}

HOLDING(a_lost_connection_tells_what_is_at_risk, HILOCK_LOCK_OPTIONS(.lease_ms = 60000))
{
    uint64_t granted_us = fixture_us(s);
    held(p, "b", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 20000));
    handle_new(p, "c", "three", NULL);
    run_to(s, granted_us + 1390000); /* 20 s, less 207 ms for clocks and lateness, less 1.39 s */
    cut_off(s);
    run_us(s, 150);
    HOLDS(s, strstr(p->event_detail, "127.0.0.1:6379: Connection reset by peer; next try in "));
    TEXT(s, strstr(p->event_detail, " ms; "), " ms; 2 holds at risk, the first in 18.4 s");
    HOLDS(s, strstr(p->log, p->event_detail));
}

HOLDING(one_hold_that_is_at_risk_is_one, NULL)
{
    cut_off(s);
    run_us(s, 150);
    HOLDS(s, strstr(p->event_detail, " ms; 1 hold at risk, the first in 29."));
}
