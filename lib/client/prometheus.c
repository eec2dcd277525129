/* SPDX-License-Identifier: BSD-3-Clause */
/* prometheus - statistics as text, format 0.0.4. Pure, and the same in any locale: numbers are integers, and
 * milliseconds (microseconds in sums) become seconds by placing the point. Invariant: the text is valid for any bytes
 * of the label, and its length does not depend on the buffer. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "client/stats.h"

struct page { /* like snprintf: counts all, writes what fits */
    char *buffer;
    size_t room, length;
    const char *label;
};

static void put(struct page *page, char byte)
{
    if (page->length + 1 < page->room)
        page->buffer[page->length] = byte;
    page->length++;
}

__attribute__((format(printf, 2, 3))) static void say(struct page *page, const char *format, ...)
{
    char text[192];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (const char *c = text; *c; c++)
        put(page, *c);
}

/* ---- the label ---- */

/* Length of the UTF-8 character at text; 0: not one (overlong, a surrogate, out of range, cut). */
static size_t utf8_length(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *text < 0x80                    ? 1
                    : *text >= 0xc2 && *text < 0xe0 ? 2
                    : (*text & 0xf0) == 0xe0        ? 3
                    : (*text & 0xf8) == 0xf0        ? 4
                                                    : 0;
    uint32_t character = *text & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (text[i] & 0x3fu);
    }
    if (length > 1 &&
        (character < least[length] || character > 0x10ffff || (character >= 0xd800 && character < 0xe000)))
        return 0;
    return length;
}

static void say_label_value(struct page *page, const char *label)
{
    const unsigned char *text = (const unsigned char *)label;
    while (*text) {
        size_t length = utf8_length(text);
        if (*text == '\n')
            say(page, "\\n");
        else if (*text == '"' || *text == '\\')
            say(page, "\\%c", *text);
        else if (length == 0 || *text < 0x20 || *text == 0x7f)
            put(page, '?');
        else
            for (size_t i = 0; i < length; i++)
                put(page, (char)text[i]);
        text += length ? length : 1;
    }
}

/* ---- metrics ---- */

static void say_head(struct page *page, const char *name, const char *type, const char *help)
{
    say(page, "# HELP hilock_%s %s\n# TYPE hilock_%s %s\n", name, help, name, type);
}

/* One line; label: of its value, which needs no escape; or NULL. */
__attribute__((format(printf, 5, 6))) static void say_line(struct page *page, const char *name, const char *label,
                                                           const char *value, const char *format, ...)
{
    char number[64];
    va_list list;
    va_start(list, format);
    vsnprintf(number, sizeof number, format, list);
    va_end(list);
    say(page, "hilock_%s{client=\"", name);
    say_label_value(page, page->label);
    if (label)
        say(page, "\",%s=\"%s", label, value);
    say(page, "\"} %s\n", number);
}

/* A line for each status from `first` down to `last`, even if it is 0, as a rate needs a line to begin at; and one for
 * any other that occurred. Statuses of a newer version have no name here: they share a line. */
static void say_reasons(struct page *page, const char *name, const char *help, const uint64_t *by_status, int first,
                        int last)
{
    const char *const unnamed = hilock_status_name((hilock_status)-HILOCK_STATUSES);
    uint64_t others = 0;
    say_head(page, name, "counter", help);
    for (int i = 0; i < HILOCK_STATUSES; i++) {
        const char *reason = hilock_status_name((hilock_status)-i);
        if (strcmp(reason, unnamed) == 0)
            others += by_status[i];
        else if (by_status[i] || (-i <= first && -i >= last))
            say_line(page, name, "reason", reason, "%" PRIu64, by_status[i]);
    }
    if (others)
        say_line(page, name, "reason", unnamed, "%" PRIu64, others);
}

#define COUNTER(member, help) {#member "_total", help, offsetof(struct hilock_stats, member)}
#define GAUGE(member, help) {#member, help, offsetof(struct hilock_stats, member)}
static const struct metric { const char *name, *help; size_t at; } counters[] = {
    COUNTER(acquires, "Acquires that were accepted."),
    COUNTER(granted, "Acquires answered OK."),
    COUNTER(granted_local, "Of these, handed over by another handle of the client."),
    COUNTER(reentered, "Acquires of a handle that held already."),
    COUNTER(timed_out, "Acquires that ended while another held the lock."),
    COUNTER(cancelled, "Acquires cancelled, dropped, or ended by the client's close."),
    COUNTER(released, "Holds released by their user."),
    COUNTER(release_lost, "Releases answered LOST: the hold had ended before."),
    COUNTER(release_unknown, "Releases answered UNKNOWN: no answer in time."),
    COUNTER(lost_taken, "Holds that the store no longer knew."),
    COUNTER(lost_expired, "Holds whose renewal did not get through in time."),
    COUNTER(lost_suspended, "Holds that ended while the process did not run."),
    COUNTER(lost_hold_max, "Holds that reached hold_max_ms."),
    COUNTER(lost_closing, "Holds left when the drain time ran out."),
    COUNTER(undone, "Grants that nobody wanted any more, given back."),
    COUNTER(renewals, "Renewals that were confirmed."),
    COUNTER(renewals_failed, "Renewals that failed."),
    COUNTER(commands, "Requests sent."),
    COUNTER(wakeups, "Unlock messages that reached a waiter."),
    COUNTER(connects, "Connections that came to carry commands."),
    COUNTER(disconnects, "Such connections lost."),
    COUNTER(redirects, "Redirections followed."),
    COUNTER(failovers, "Changes of the node that serves."),
    COUNTER(stalls, "Times that the loop was late by stall_report_ms or more."),
    COUNTER(wrong_thread, "Calls refused for coming from a wrong thread."),
}, gauges[] = {
    GAUGE(waiting, "Acquires that wait."),
    GAUGE(held, "Handles that hold."),
    GAUGE(locks, "Handles."),
    GAUGE(inflight, "Requests on the wire."),
    GAUGE(nodes_up, "Nodes that are connected."),
    GAUGE(nodes, "Nodes."),
};

static void say_histogram(struct page *page, const char *name, const char *help,
                          const struct hilock_histogram *histogram)
{
    static const char *const bounds[HILOCK_BUCKETS] = {"0.0001", "0.00025", "0.0005", "0.001", "0.002", "0.005", "0.01",
                                                       "0.02",   "0.05",    "0.1",    "0.2",   "0.5",   "1",     "2",
                                                       "5",      "10",      "30",     "60",    "+Inf"};
    char bucket[48], total[48], count[48];
    uint64_t sum = 0;
    snprintf(bucket, sizeof bucket, "%s_bucket", name);
    snprintf(total, sizeof total, "%s_sum", name);
    snprintf(count, sizeof count, "%s_count", name);
    say_head(page, name, "histogram", help);
    for (size_t i = 0; i < HILOCK_BUCKETS; i++) {
        sum += histogram->buckets[i];
        say_line(page, bucket, "le", bounds[i], "%" PRIu64, sum);
    }
    say_line(page, total, NULL, NULL, "%" PRIu64 ".%06" PRIu64, histogram->sum_us / 1000000,
             histogram->sum_us % 1000000);
    say_line(page, count, NULL, NULL, "%" PRIu64, sum);
}

static const void *member(const struct hilock_stats *stats, const struct metric *metric)
{
    return (const char *)stats + metric->at;
}

static void say_age(struct page *page, const char *name, const char *help, uint32_t age_ms)
{
    say_head(page, name, "gauge", help);
    say_line(page, name, NULL, NULL, "%" PRIu32 ".%03" PRIu32, age_ms / 1000, age_ms % 1000);
}

static void say_metric(struct page *page, const struct metric *metric, const char *type, uint64_t number)
{
    say_head(page, metric->name, type, metric->help);
    say_line(page, metric->name, NULL, NULL, "%" PRIu64, number);
}

size_t hilock_stats_prometheus(const struct hilock_stats *stats, const char *label, char *buffer, size_t buffer_size)
{
    struct page page = {buffer, buffer ? buffer_size : 0, 0, label ? label : ""};
    struct hilock_stats known;
    hl_stats_read(&known, stats);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        say_metric(&page, &counters[i], "counter", *(const uint64_t *)member(&known, &counters[i]));
    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++)
        say_metric(&page, &gauges[i], "gauge", *(const uint32_t *)member(&known, &gauges[i]));
    say_reasons(&page, "failed_total", "Acquires that failed, by status.", known.failed_by, HILOCK_UNREACHABLE,
                HILOCK_PROTOCOL);
    say_reasons(&page, "refused_total", "Acquires refused by the call, by status.", known.refused_by, HILOCK_INVALID,
                HILOCK_FORKED);
    say_age(&page, "oldest_hold_seconds", "Age of the oldest hold.", known.oldest_hold_ms);
    say_age(&page, "oldest_wait_seconds", "Age of the oldest acquire that waits.", known.oldest_wait_ms);
    say_head(&page, "build_info", "gauge", "The library.");
    say_line(&page, "build_info", "version", hilock_version(), "1");
    say_histogram(&page, "wait_seconds", "From an acquire to its answer.", &known.wait);
    say_histogram(&page, "hold_seconds", "From a grant to the release or the loss.", &known.hold);
    say_histogram(&page, "command_seconds", "From a request to its answer.", &known.command);
    if (page.room)
        buffer[page.length < page.room ? page.length : page.room - 1] = '\0';
    return page.length;
}
