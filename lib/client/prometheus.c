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

/* name: one more label, whose value needs no escape; or NULL. */
static void say_labels(struct page *page, const char *name, const char *value)
{
    say(page, "{client=\"");
    say_label_value(page, page->label);
    if (name)
        say(page, "\",%s=\"%s", name, value);
    say(page, "\"} ");
}

/* ---- metrics ---- */

static void say_head(struct page *page, const char *name, const char *suffix, const char *type, const char *help)
{
    say(page, "# HELP hilock_%s%s %s\n# TYPE hilock_%s%s %s\n", name, suffix, help, name, suffix, type);
}

static void say_number(struct page *page, const char *name, const char *suffix, const char *type, const char *help,
                       uint64_t number)
{
    say_head(page, name, suffix, type, help);
    say(page, "hilock_%s%s", name, suffix);
    say_labels(page, NULL, NULL);
    say(page, "%" PRIu64 "\n", number);
}

static void say_age(struct page *page, const char *name, const char *help, uint32_t age_ms)
{
    say_head(page, name, "_seconds", "gauge", help);
    say(page, "hilock_%s_seconds", name);
    say_labels(page, NULL, NULL);
    say(page, "%" PRIu32 ".%03" PRIu32 "\n", age_ms / 1000, age_ms % 1000);
}

static void say_reason(struct page *page, const char *name, const char *reason, uint64_t number)
{
    say(page, "hilock_%s_total", name);
    say_labels(page, "reason", reason);
    say(page, "%" PRIu64 "\n", number);
}

/* A line for each status from `first` down to `last`, even if it is 0, as a rate needs a line to begin at; and one for
 * any other that occurred. Statuses of a newer version have no name here: they share a line. */
static void say_reasons(struct page *page, const char *name, const char *help, const uint64_t *by_status, int first,
                        int last)
{
    const char *const unnamed = hilock_status_name((hilock_status)-HILOCK_STATUSES);
    uint64_t others = 0;
    say_head(page, name, "_total", "counter", help);
    for (int i = 0; i < HILOCK_STATUSES; i++) {
        const char *reason = hilock_status_name((hilock_status)-i);
        if (strcmp(reason, unnamed) == 0)
            others += by_status[i];
        else if (by_status[i] || (-i <= first && -i >= last))
            say_reason(page, name, reason, by_status[i]);
    }
    if (others)
        say_reason(page, name, unnamed, others);
}

static void say_build(struct page *page)
{
    say_head(page, "build", "_info", "gauge", "The library.");
    say(page, "hilock_build_info");
    say_labels(page, "version", hilock_version());
    say(page, "1\n");
}

#define COUNTER(member, help) {#member, help, offsetof(struct hilock_stats, member)}
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
    COUNTER(waiting, "Acquires that wait."),
    COUNTER(held, "Handles that hold."),
    COUNTER(locks, "Handles."),
    COUNTER(inflight, "Requests on the wire."),
    COUNTER(nodes_up, "Nodes that are connected."),
    COUNTER(nodes, "Nodes."),
};

static void say_histogram(struct page *page, const char *name, const char *help,
                          const struct hilock_histogram *histogram)
{
    static const char *const bounds[HILOCK_BUCKETS] = {"0.0001", "0.00025", "0.0005", "0.001", "0.002", "0.005", "0.01",
                                                       "0.02",   "0.05",    "0.1",    "0.2",   "0.5",   "1",     "2",
                                                       "5",      "10",      "30",     "60",    "+Inf"};
    uint64_t sum = 0;
    say_head(page, name, "_seconds", "histogram", help);
    for (size_t i = 0; i < HILOCK_BUCKETS; i++) {
        sum += histogram->buckets[i];
        say(page, "hilock_%s_seconds_bucket", name);
        say_labels(page, "le", bounds[i]);
        say(page, "%" PRIu64 "\n", sum);
    }
    say(page, "hilock_%s_seconds_sum", name);
    say_labels(page, NULL, NULL);
    say(page, "%" PRIu64 ".%06" PRIu64 "\n", histogram->sum_us / 1000000, histogram->sum_us % 1000000);
    say(page, "hilock_%s_seconds_count", name);
    say_labels(page, NULL, NULL);
    say(page, "%" PRIu64 "\n", sum);
}

size_t hilock_stats_prometheus(const struct hilock_stats *stats, const char *label, char *buffer, size_t buffer_size)
{
    struct page page = {buffer, buffer ? buffer_size : 0, 0, label ? label : ""};
    struct hilock_stats known;
    uint64_t counter;
    uint32_t gauge;
    hl_stats_read(&known, stats);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        memcpy(&counter, (const char *)&known + counters[i].at, sizeof counter);
        say_number(&page, counters[i].name, "_total", "counter", counters[i].help, counter);
    }
    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++) {
        memcpy(&gauge, (const char *)&known + gauges[i].at, sizeof gauge);
        say_number(&page, gauges[i].name, "", "gauge", gauges[i].help, gauge);
    }
    say_reasons(&page, "failed", "Acquires that failed, by status.", known.failed_by, HILOCK_UNREACHABLE,
                HILOCK_PROTOCOL);
    say_reasons(&page, "refused", "Acquires refused by the call, by status.", known.refused_by, HILOCK_INVALID,
                HILOCK_FORKED);
    say_age(&page, "oldest_hold", "Age of the oldest hold.", known.oldest_hold_ms);
    say_age(&page, "oldest_wait", "Age of the oldest acquire that waits.", known.oldest_wait_ms);
    say_build(&page);
    say_histogram(&page, "wait", "From an acquire to its answer.", &known.wait);
    say_histogram(&page, "hold", "From a grant to the release or the loss.", &known.hold);
    say_histogram(&page, "command", "From a request to its answer.", &known.command);
    if (page.room)
        buffer[page.length < page.room ? page.length : page.room - 1] = '\0';
    return page.length;
}
