/* SPDX-License-Identifier: BSD-3-Clause */
/* The page for Prometheus is, line by line, the text format 0.0.4 of all statistics, for any label, and is cut
 * like snprintf's. Sums and pages accept structs of older and newer programs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hilock/hilock.h>

#include "suite.h"

/* ---- the page as it must be ---- */

static const char *const counter_names[] = {
    "acquires", "granted", "granted_local", "reentered", "timed_out", "cancelled", "released", "release_lost",
    "release_unknown", "lost_taken", "lost_expired", "lost_suspended", "lost_hold_max", "lost_closing", "undone",
    "renewals", "renewals_failed", "commands", "wakeups", "connects", "disconnects", "redirects", "failovers",
    "server_changes", "links_apart", "stalls", "wrong_thread", "passed_over", "places_unheard", "places_overdue",
    "places_lapsed",
}, *const gauge_names[] = {
    "waiting", "held", "locks", "inflight", "nodes_up", "nodes", "shares", "permits",
}, *const bounds[HILOCK_BUCKETS] = {
    "0.0001", "0.00025", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2",
    "5", "10", "30", "60", "+Inf",
};

/* What is left of a page, and its label as it stands there. */
struct reader { const char *at, *label; };

__attribute__((format(printf, 2, 3))) static void line(struct reader *reader, const char *format, ...)
{
    char due[1000];
    size_t length = strcspn(reader->at, "\n");
    va_list list;
    va_start(list, format);
    vsnprintf(due, sizeof due, format, list);
    va_end(list);
    if (reader->at[length] != '\n' || length != strlen(due) || memcmp(reader->at, due, length) != 0)
        fail_msg("\"%.*s\", not \"%s\"", (int)length, reader->at, due);
    reader->at += length + 1;
}

static void head(struct reader *reader, const char *name, const char *suffix, const char *type)
{
    char help[100];
    int length = snprintf(help, sizeof help, "# HELP hilock_%s%s ", name, suffix);
    assert_int_equal(strncmp(reader->at, help, (size_t)length), 0);
    assert_true(strcspn(reader->at, "\n") > (size_t)length); /* in words */
    reader->at += strcspn(reader->at, "\n") + 1;
    line(reader, "# TYPE hilock_%s%s %s", name, suffix, type);
}

static void reasons(struct reader *reader, const char *name, const uint64_t *by_status, int first, int last)
{
    uint64_t others = 0;
    head(reader, name, "_total", "counter");
    for (int i = 0; i < HILOCK_STATUSES; i++) {
        const char *reason = hilock_status_name((hilock_status)-i);
        if (*reason == '?')
            others += by_status[i];
        else if (by_status[i] || (i >= first && i <= last))
            line(reader, "hilock_%s_total{client=\"%s\",reason=\"%s\"} %" PRIu64, name, reader->label, reason,
                 by_status[i]);
    }
    if (others)
        line(reader, "hilock_%s_total{client=\"%s\",reason=\"?\"} %" PRIu64, name, reader->label, others);
}

static void age(struct reader *reader, const char *name, uint32_t ms)
{
    head(reader, name, "_seconds", "gauge");
    line(reader, "hilock_%s_seconds{client=\"%s\"} %u.%03u", name, reader->label, ms / 1000, ms % 1000);
}

static void histogram(struct reader *reader, const char *name, const struct hilock_histogram *is)
{
    uint64_t sum = 0;
    head(reader, name, "_seconds", "histogram");
    for (int i = 0; i < HILOCK_BUCKETS; i++) {
        sum += is->buckets[i];
        line(reader, "hilock_%s_seconds_bucket{client=\"%s\",le=\"%s\"} %" PRIu64, name, reader->label, bounds[i], sum);
    }
    line(reader, "hilock_%s_seconds_sum{client=\"%s\"} %" PRIu64 ".%06" PRIu64, name, reader->label,
         is->sum_us / 1000000, is->sum_us % 1000000);
    line(reader, "hilock_%s_seconds_count{client=\"%s\"} %" PRIu64, name, reader->label, sum);
}

/* All of it, in order. */
static void assert_page(const char *page, const struct hilock_stats *stats, const char *label)
{
    const uint64_t *counter = &stats->acquires;
    const uint32_t *gauge = &stats->waiting;
    struct reader reader = {page, label};
    for (size_t i = 0; i < sizeof counter_names / sizeof *counter_names; i++) {
        while (counter == &stats->refused || counter == &stats->failed) /* they have a line for each status */
            counter++;
        head(&reader, counter_names[i], "_total", "counter");
        line(&reader, "hilock_%s_total{client=\"%s\"} %" PRIu64, counter_names[i], label, *counter++);
    }
    assert_ptr_equal(counter, stats->failed_by);
    for (size_t i = 0; i < sizeof gauge_names / sizeof *gauge_names; i++) {
        head(&reader, gauge_names[i], "", "gauge");
        line(&reader, "hilock_%s{client=\"%s\"} %u", gauge_names[i], label, *gauge++);
    }
    assert_ptr_equal(gauge, &stats->oldest_hold_ms);
    reasons(&reader, "failed", stats->failed_by, -HILOCK_UNREACHABLE, -HILOCK_QUEUE_FULL);
    reasons(&reader, "refused", stats->refused_by, -HILOCK_INVALID, -HILOCK_FORKED);
    age(&reader, "oldest_hold", stats->oldest_hold_ms);
    age(&reader, "oldest_wait", stats->oldest_wait_ms);
    head(&reader, "build", "_info", "gauge");
    line(&reader, "hilock_build_info{client=\"%s\",version=\"%s\"} 1", label, hilock_version());
    histogram(&reader, "wait", &stats->wait);
    histogram(&reader, "hold", &stats->hold);
    histogram(&reader, "command", &stats->command);
    assert_string_equal(reader.at, "");
}

/* ---- what is read ---- */

enum { COUNTERS = 33, BY_STATUS = 2 * HILOCK_STATUSES, GAUGES = 10 };

_Static_assert(offsetof(struct hilock_stats, waiting) - offsetof(struct hilock_stats, acquires) ==
                   (COUNTERS + BY_STATUS) * sizeof(uint64_t), "every counter is filled");
_Static_assert(offsetof(struct hilock_stats, wait) - offsetof(struct hilock_stats, waiting) == GAUGES * sizeof(uint32_t),
               "every gauge is filled");

/* All of it so many times as much. */
static struct hilock_stats stats_times(unsigned times)
{
    struct hilock_stats stats;
    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    for (unsigned i = 0; i < COUNTERS; i++)
        (&stats.acquires)[i] = times * ((uint64_t)1000000000000 + i);
    for (unsigned i = 0; i < HILOCK_STATUSES; i++) {
        stats.failed_by[i] = times * (i % 5);
        stats.refused_by[i] = times * (i % 3);
    }
    for (unsigned i = 0; i < GAUGES; i++)
        (&stats.waiting)[i] = times * (1400000000u + i);
    for (unsigned i = 0; i < 3; i++) {
        struct hilock_histogram *histogram = &stats.wait + i;
        histogram->sum_us = times * (1000 * i + 7);
        for (unsigned j = 0; j < HILOCK_BUCKETS; j++)
            histogram->count += histogram->buckets[j] = times * (i + j);
    }
    return stats;
}

static struct hilock_stats some_stats(void) { return stats_times(1); }

static char *page_of(const struct hilock_stats *stats, const char *label)
{
    size_t length = hilock_stats_prometheus(stats, label, NULL, 0);
    char *page = malloc(length + 1);
    assert_non_null(page);
    assert_true(hilock_stats_prometheus(stats, label, page, length + 1) == length);
    assert_true(strlen(page) == length);
    return page;
}

TEST(hostile_labels_stay_one_value)
{
    static const struct { const char *label, *is; } cases[] = {
        {"", ""},
        {NULL, ""},
        {"\"} 1\nevil_total 666\n", "\\\"} 1\\nevil_total 666\\n"},
        {"\\", "\\\\"},
        {"\\n\\\"", "\\\\n\\\\\\\""},
        {"tab\tbell\a\x7f\r", "tab?bell???"},
        {"K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x94\x92", "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x94\x92"},
        {"cut \xe2\x82", "cut ??"},
        {"cut \xf0\x9f\x94", "cut ???"},
        {"overlong \xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "overlong ?? ??? ????"},
        {"surrogates \xed\xa0\x80 \xed\xbf\xbf", "surrogates ??? ???"},
        {"first and last \xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf", "first and last \xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf"},
        {"\xee\x80\x80 \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf \x7e", "\xee\x80\x80 \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf \x7e"},
        {"nearly \xc1\xbf \xe0\x9f\xbf \xf0\x8f\xbf\xbf \x1f", "nearly ?? ??? ???? ?"},
        {"beyond \xf4\x90\x80\x80 \xf8\x88\x80\x80\x80 \xff\xfe", "beyond ???? ????? ??"},
        {"%s%n{}[],= #", "%s%n{}[],= #"},
    };
    struct hilock_stats stats = some_stats();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *page = page_of(&stats, cases[i].label);
        assert_page(page, &stats, cases[i].is);
        free(page);
    }
}

/* Each buffer is exactly as long as it says: one byte too many is found by the sanitizers. */
TEST(any_buffer_is_filled_and_ended)
{
    struct hilock_stats stats = some_stats();
    char *page = page_of(&stats, "a \"b\"");
    size_t length = strlen(page);
    for (size_t room = 1; room <= length + 1; room += room < 300 ? 1 : 97) {
        char *buffer = malloc(room);
        assert_non_null(buffer);
        assert_true(hilock_stats_prometheus(&stats, "a \"b\"", buffer, room) == length);
        assert_true(strlen(buffer) == room - 1 && memcmp(buffer, page, room - 1) == 0);
        free(buffer);
    }
    free(page);
}

TEST(a_struct_of_another_version_is_borne)
{
    size_t size = offsetof(struct hilock_stats, granted_local);
    struct { struct hilock_stats known; uint64_t unknown[4]; } newer = {.known = some_stats(), .unknown = {1, 2, 3, 4}};
    struct hilock_stats all = some_stats(), *old = malloc(size), total = some_stats();
    struct hilock_stats expected = {.size = sizeof expected, .acquires = all.acquires, .granted = all.granted};
    assert_non_null(old);
    memcpy(old, &all, size);
    memcpy(old, &size, sizeof size);
    char *page = page_of(old, "");
    assert_page(page, &expected, "");
    free(page);
    page = page_of(NULL, "");
    free(page);
    hilock_stats_add(old, &all);
    hilock_stats_add(&total, old);
    assert_true(total.granted == 3 * all.granted && total.granted_local == all.granted_local && total.hold.count == all.hold.count);
    newer.known.size = sizeof newer;
    hilock_stats_add(&newer.known, &all);
    assert_true(newer.known.nodes == (uint32_t)(2 * (uint64_t)all.nodes) && newer.known.size == sizeof newer && newer.unknown[0] == 1);
    hilock_stats_add(NULL, &all);
    hilock_stats_add(&total, NULL);
    total.size = 1;
    hilock_stats_add(&total, &all);
    assert_true(total.granted == 3 * all.granted);
    free(old);
}

TEST(every_member_is_summed)
{
    const struct hilock_stats parts[] = {some_stats(), stats_times(2)};
    struct hilock_stats thrice = stats_times(3);
    thrice.oldest_hold_ms = parts[1].oldest_hold_ms; /* the older of two */
    thrice.oldest_wait_ms = parts[1].oldest_wait_ms;
    for (int i = 0; i < 2; i++) {
        struct hilock_stats total = parts[i];
        hilock_stats_add(&total, &parts[!i]);
        assert_memory_equal(&total, &thrice, sizeof total);
    }
}
