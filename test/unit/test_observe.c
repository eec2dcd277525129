/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted, logged and reported of the client: every outcome once, and no secret. */
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
    struct handle *a = held(p, "a", "one", NULL), *b = handle_new(p, "b", "two", NULL), *c = handle_new(p, "c", "one", NULL);
    acquire(b, HILOCK_FOREVER);
    cancel(b);
    acquire(c, HILOCK_TRY);
    run_ms(s, 10);
    PLAN(s, .on = "mutex_acquire", .act = PLAN_REFUSE, .error = "ERR x");
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 10);
    SAME(s, acquire(a, 1), HILOCK_IN_USE);
    acquire(b, HILOCK_FOREVER);
    handle_drop(b);
    run_ms(s, 10);
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
    PLAN(s, .on = "mutex_release", .act = PLAN_DELAY_ANSWER, .us = 300000);
    run_ms(s, 200);
    TEXT(s, counted(p),
         "acquires_total 7, granted_total 7, released_total 2, lost_taken_total 1, lost_expired_total 1, "
         "lost_suspended_total 1, lost_hold_max_total 1, lost_closing_total 1, renewals_total 4, commands_total 19, "
         "connects_total 1, stalls_total 1, locks 6, inflight 1, nodes_up 1, nodes 1, wait_seconds_count 7, "
         "hold_seconds_count 7, command_seconds_count 18");
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

/* At the default level, WARN: a server that is not there, and what is wrong then. Not each attempt. */
A_PLAY(what_is_wrong_from_the_begin_is_warned_of_once)
{
    s->place->mood = NET_REFUSES;
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET, .log_level = HILOCK_LOG_WARN));
    run_ms(s, 5000);
    SAME(s, client_lines(p, "Connection refused"), 1);
    PLAN(s, .on = "AUTH", .act = PLAN_REFUSE, .error = "WRONGPASS", .times = 2);
    s->place->mood = NET_LISTENS;
    run_ms(s, 5000);
    SAME(s, client_lines(p, "AUTH refused"), 1);
    HOLDS(s, hilock_client_is_connected(p->client));
    PLAN(s, .on = "AUTH", .act = PLAN_REFUSE, .error = "WRONGPASS", .times = 1);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 5000);
    SAME(s, client_lines(p, "AUTH refused"), 2);
}
