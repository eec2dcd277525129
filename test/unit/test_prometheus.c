/* SPDX-License-Identifier: BSD-3-Clause */
/* The page for Prometheus is valid text format 0.0.4 for any label, has each member of the statistics once, and is cut
 * like snprintf's. Sums and pages accept structs of older and newer programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hilock/hilock.h>

#include "suite.h"

/* ---- a strict reader of the format ---- */

struct sample {
    char name[80], client[400], key[16], value[40]; /* of a second label */
    uint64_t whole, part;
    size_t decimals;
};

static int is_name(char c) { return (c >= 'a' && c <= 'z') || c == '_' || c == ':'; }

static const char *read_word(const char *at, char *to, size_t room)
{
    size_t used = 0;
    while (is_name(*at) && used + 1 < room)
        to[used++] = *at++;
    to[used] = '\0';
    assert_true(used > 0);
    return at;
}

static const char *read_value(const char *at, char *to, size_t room)
{
    size_t used = 0;
    assert_int_equal(*at++, '"');
    while (*at != '"') {
        assert_true((unsigned char)*at >= 0x20 && used + 1 < room);
        if (*at == '\\') {
            at++;
            assert_true(*at == '\\' || *at == '"' || *at == 'n');
            to[used++] = *at == 'n' ? '\n' : *at;
            at++;
        } else
            to[used++] = *at++;
    }
    to[used] = '\0';
    return at + 1;
}

static const char *read_number(const char *at, struct sample *sample)
{
    char *end;
    assert_true(*at >= '0' && *at <= '9');
    sample->whole = strtoull(at, &end, 10);
    if (*end == '.') {
        sample->decimals = strspn(end + 1, "0123456789");
        assert_true(sample->decimals == 3 || sample->decimals == 6);
        sample->part = strtoull(end + 1, &end, 10);
    }
    return end;
}

static const char *read_sample(const char *at, struct sample *sample)
{
    memset(sample, 0, sizeof *sample);
    at = read_word(at, sample->name, sizeof sample->name);
    assert_memory_equal(at, "{client=", 8);
    at = read_value(at + 8, sample->client, sizeof sample->client);
    if (*at == ',') {
        at = read_word(at + 1, sample->key, sizeof sample->key);
        assert_int_equal(*at, '=');
        at = read_value(at + 1, sample->value, sizeof sample->value);
    }
    assert_memory_equal(at, "} ", 2);
    at = read_number(at + 2, sample);
    assert_int_equal(*at, '\n');
    return at + 1;
}

struct family { char name[80], type[16]; };

/* Each status once, and in sum all of them. */
static const char *read_reasons(const char *at, const struct family *family, const uint64_t *by_status, const char *label)
{
    uint64_t sum = 0, all = 0;
    char seen[HILOCK_STATUSES][40] = {""};
    unsigned lines = 0;
    for (int i = 0; i < HILOCK_STATUSES; i++)
        all += by_status[i];
    while (*at && *at != '#') {
        struct sample sample;
        at = read_sample(at, &sample);
        assert_string_equal(sample.name, family->name);
        assert_string_equal(sample.client, label);
        assert_string_equal(sample.key, "reason");
        for (unsigned i = 0; i < lines; i++)
            assert_string_not_equal(seen[i], sample.value);
        assert_true(lines < HILOCK_STATUSES && !sample.decimals);
        memcpy(seen[lines++], sample.value, sizeof sample.value);
        sum += sample.whole;
    }
    assert_true(sum == all);
    return at;
}

static const char *read_build(const char *at, const struct family *family, const char *label)
{
    struct sample sample;
    at = read_sample(at, &sample);
    assert_string_equal(sample.name, family->name);
    assert_string_equal(sample.client, label);
    assert_string_equal(sample.key, "version");
    assert_string_equal(sample.value, hilock_version());
    assert_true(sample.whole == 1 && !sample.decimals);
    return at;
}

static const char *read_head(const char *at, struct family *family)
{
    char name[80];
    assert_memory_equal(at, "# HELP ", 7);
    at = read_word(at + 7, family->name, sizeof family->name);
    assert_int_equal(*at, ' ');
    at += strcspn(at, "\n");
    assert_memory_equal(at, "\n# TYPE ", 8);
    at = read_word(at + 8, name, sizeof name);
    assert_string_equal(name, family->name);
    at = read_word(at + 1, family->type, sizeof family->type);
    assert_int_equal(*at, '\n');
    return at + 1;
}

static uint64_t le_us(const char *le)
{
    uint64_t whole = strtoull(le, NULL, 10), part = 0;
    const char *point = strchr(le, '.');
    if (strcmp(le, "+Inf") == 0)
        return UINT64_MAX;
    for (int i = 1; i <= 6; i++)
        part = part * 10 + (point && (int)strlen(point) > i ? (uint64_t)(point[i] - '0') : 0);
    return whole * 1000000 + part;
}

static const char *read_histogram(const char *at, const struct family *family, const struct hilock_histogram *histogram, const char *label)
{
    static const uint64_t bounds_us[HILOCK_BUCKETS] = {100,    250,    500,    1000,    2000,    5000,    10000,    20000,    50000,   100000,
                                                       200000, 500000, 1000000, 2000000, 5000000, 10000000, 30000000, 60000000, UINT64_MAX};
    struct sample sample;
    char name[100];
    uint64_t sum = 0;
    for (int i = 0; i < HILOCK_BUCKETS; i++) {
        at = read_sample(at, &sample);
        snprintf(name, sizeof name, "%s_bucket", family->name);
        assert_string_equal(sample.name, name);
        assert_string_equal(sample.client, label);
        assert_string_equal(sample.key, "le");
        assert_true(le_us(sample.value) == bounds_us[i]);
        sum += histogram->buckets[i];
        assert_true(sample.whole == sum && !sample.decimals);
    }
    at = read_sample(at, &sample);
    snprintf(name, sizeof name, "%s_sum", family->name);
    assert_string_equal(sample.name, name);
    assert_true(sample.decimals == 6 && sample.whole * 1000000 + sample.part == histogram->sum_us);
    at = read_sample(at, &sample);
    snprintf(name, sizeof name, "%s_count", family->name);
    assert_string_equal(sample.name, name);
    assert_true(sample.whole == sum);
    return at;
}

/* Reads all of it. values: of counters and gauges, in order. Returns how many families. */
static unsigned read_page(const char *page, const struct hilock_stats *stats, const char *label, uint64_t *values)
{
    const struct hilock_histogram *histograms[] = {&stats->wait, &stats->hold, &stats->command};
    char seen[64][80];
    unsigned families = 0, histograms_seen = 0;
    const char *at = page;
    for (; *at; families++) {
        struct family family;
        struct sample sample;
        size_t length;
        at = read_head(at, &family);
        for (unsigned i = 0; i < families; i++)
            assert_string_not_equal(seen[i], family.name);
        memcpy(seen[families], family.name, sizeof family.name);
        length = strlen(family.name);
        assert_memory_equal(family.name, "hilock_", 7);
        assert_true((strcmp(family.name + length - 6, "_total") == 0) == (strcmp(family.type, "counter") == 0));
        if (strcmp(family.type, "histogram") == 0) {
            assert_true(histograms_seen < 3);
            at = read_histogram(at, &family, histograms[histograms_seen++], label);
            continue;
        }
        assert_true(strcmp(family.type, "counter") == 0 || strcmp(family.type, "gauge") == 0);
        if (strcmp(family.name, "hilock_failed_total") == 0 || strcmp(family.name, "hilock_refused_total") == 0) {
            at = read_reasons(at, &family, family.name[7] == 'f' ? stats->failed_by : stats->refused_by, label);
            continue;
        }
        if (strcmp(family.name, "hilock_build_info") == 0) {
            at = read_build(at, &family, label);
            continue;
        }
        at = read_sample(at, &sample);
        assert_string_equal(sample.name, family.name);
        assert_string_equal(sample.client, label);
        assert_true(sample.decimals == (strstr(family.name, "_seconds") ? 3 : 0));
        *values++ = sample.whole * (sample.decimals ? 1000 : 1) + sample.part;
    }
    assert_int_equal(histograms_seen, 3);
    return families;
}

/* ---- what is read ---- */

/* Of the counters failed and refused have no line of their own, but one for each status. */
enum { COUNTERS = 27, BY_STATUS = 2 * HILOCK_STATUSES, GAUGES = 8, VALUES = COUNTERS - 2 + GAUGES, FAMILIES = VALUES + 2 + 1 + 3 };

static struct hilock_stats some_stats(void)
{
    struct hilock_stats stats = {.size = sizeof stats};
    uint64_t *counters = &stats.acquires;
    uint32_t *gauges = &stats.waiting;
    struct hilock_histogram *histograms = &stats.wait;
    for (unsigned i = 0; i < COUNTERS; i++)
        counters[i] = (uint64_t)1000000000000 + i;
    for (unsigned i = 0; i < HILOCK_STATUSES; i++) {
        stats.failed_by[i] = i % 5;
        stats.refused_by[i] = i % 3;
    }
    for (unsigned i = 0; i < GAUGES; i++)
        gauges[i] = 4000000000u + i;
    for (unsigned i = 0; i < 3; i++) {
        histograms[i].sum_us = 1000 * i + 7;
        for (unsigned j = 0; j < HILOCK_BUCKETS; j++)
            histograms[i].count += histograms[i].buckets[j] = i + j;
    }
    return stats;
}

static char *page_of(const struct hilock_stats *stats, const char *label)
{
    size_t length = hilock_stats_prometheus(stats, label, NULL, 0);
    char *page = malloc(length + 1);
    assert_non_null(page);
    assert_true(hilock_stats_prometheus(stats, label, page, length + 1) == length);
    assert_true(strlen(page) == length);
    return page;
}

TEST(every_member_is_on_the_page)
{
    struct hilock_stats stats = some_stats();
    uint64_t values[VALUES];
    char *page = page_of(&stats, "shop");
    assert_int_equal(offsetof(struct hilock_stats, waiting) - offsetof(struct hilock_stats, acquires), (COUNTERS + BY_STATUS) * sizeof(uint64_t));
    assert_int_equal(offsetof(struct hilock_stats, wait) - offsetof(struct hilock_stats, waiting), GAUGES * sizeof(uint32_t));
    assert_int_equal(read_page(page, &stats, "shop", values), FAMILIES);
    for (unsigned i = 0, at = 0; i < COUNTERS; i++)
        if (&stats.acquires + i != &stats.failed && &stats.acquires + i != &stats.refused)
            assert_true(values[at++] == (uint64_t)1000000000000 + i);
    for (unsigned i = 0; i < GAUGES; i++)
        assert_true(values[COUNTERS - 2 + i] == (uint64_t)4000000000 + i);
    assert_non_null(strstr(page, "hilock_acquires_total{client=\"shop\"} 1000000000000\n"));
    assert_non_null(strstr(page, "hilock_wrong_thread_total{client=\"shop\"} 1000000000026\n"));
    assert_non_null(strstr(page, "hilock_nodes{client=\"shop\"} 4000000005\n"));
    assert_non_null(strstr(page, "hilock_wait_seconds_sum{client=\"shop\"} 0.000007\n"));
    assert_non_null(strstr(page, "hilock_failed_total{client=\"shop\",reason=\"UNREACHABLE\"} 0\n"));
    assert_non_null(strstr(page, "hilock_failed_total{client=\"shop\",reason=\"DENIED\"} 1\n"));
    assert_non_null(strstr(page, "hilock_refused_total{client=\"shop\",reason=\"IN_USE\"} 1\n"));
    assert_non_null(strstr(page, "hilock_oldest_hold_seconds{client=\"shop\"} 4000000.006\n"));
    free(page);
}

TEST(hostile_labels_stay_one_value)
{
    static const struct { const char *label, *is; } cases[] = {
        {"", ""},
        {NULL, ""},
        {"\"} 1\nevil_total 666\n", "\"} 1\nevil_total 666\n"},
        {"\\", "\\"},
        {"\\n\\\"", "\\n\\\""},
        {"tab\tbell\a\x7f\r", "tab?bell???"},
        {"K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x94\x92", "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x94\x92"},
        {"cut \xe2\x82", "cut ??"},
        {"cut \xf0\x9f\x94", "cut ???"},
        {"overlong \xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "overlong ?? ??? ????"},
        {"surrogate \xed\xa0\x80", "surrogate ???"},
        {"beyond \xf4\x90\x80\x80 \xf8\x88\x80\x80\x80 \xff\xfe", "beyond ???? ????? ??"},
        {"%s%n{}[],= #", "%s%n{}[],= #"},
    };
    struct hilock_stats stats = some_stats();
    uint64_t values[VALUES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *page = page_of(&stats, cases[i].label);
        assert_int_equal(read_page(page, &stats, cases[i].is, values), FAMILIES);
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
    uint64_t values[VALUES];
    struct hilock_stats expected = {.size = sizeof expected, .acquires = all.acquires, .granted = all.granted};
    char *page;
    assert_non_null(old);
    memcpy(old, &all, size);
    memcpy(old, &size, sizeof size);
    page = page_of(old, "");
    assert_int_equal(read_page(page, &expected, "", values), FAMILIES);
    assert_true(values[0] == all.acquires && values[1] == all.granted && values[2] == 0);
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
    struct hilock_stats total = some_stats(), part = some_stats(), all = some_stats();
    const uint64_t *is = &total.acquires, *was = &all.acquires;
    hilock_stats_add(&total, &part);
    for (unsigned i = 0; i < COUNTERS; i++)
        assert_true(is[i] == 2 * was[i]);
    for (unsigned i = 0; i < HILOCK_STATUSES; i++)
        assert_true(total.failed_by[i] == 2 * all.failed_by[i] && total.refused_by[i] == 2 * all.refused_by[i]);
    for (unsigned i = 0; i < GAUGES - 2; i++)
        assert_true((&total.waiting)[i] == 2 * (&all.waiting)[i]);
    assert_true(total.oldest_hold_ms == all.oldest_hold_ms && total.oldest_wait_ms == all.oldest_wait_ms);
    for (unsigned i = 0; i < 3; i++) {
        assert_true((&total.wait)[i].count == 2 * (&all.wait)[i].count && (&total.wait)[i].sum_us == 2 * (&all.wait)[i].sum_us);
        for (unsigned j = 0; j < HILOCK_BUCKETS; j++)
            assert_true((&total.wait)[i].buckets[j] == 2 * (&all.wait)[i].buckets[j]);
    }
}
