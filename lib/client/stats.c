/* SPDX-License-Identifier: BSD-3-Clause */
/* stats - statistics for the program: a copy of the client's counters and gauges, sums of such copies, and their
 * text for Prometheus, in the text format 0.0.4. The text is the same in any locale: all numbers are printed as
 * integers, and milliseconds (in sums, microseconds) become seconds by placing the decimal point. Invariant: the
 * text is valid whatever bytes the label has, and its reported length does not depend on the buffer. */
#include "client/client.h"

#include <inttypes.h>
#include <stdio.h>

#include "client/gauges.h"
#include "core/lease.h"

/* ---- statistics of one client ---- */

static uint32_t age_ms(uint64_t since_us, uint64_t now_us)
{
    return since_us && now_us > since_us ? hl_lease_span_ms(now_us - since_us) : 0;
}

static void read_counters(uint64_t *to, const uint64_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

static unsigned gauge_of(const atomic_uint *gauge) { return atomic_load_explicit(gauge, memory_order_relaxed); }

/* Copies counters and gauges; may run on any thread. The counters are two blocks without gaps, one before the gauges
 * and one behind them. */
static void read_stats(const struct hilock_client *client, struct hilock_stats *to,
                       struct hl_census census)
{
    const struct hl_gauges *gauges = &client->gauges;
    const struct hilock_stats *from = &client->stats;
    uint64_t now_us = hl_now_us(&client->core.host);
    read_counters(&to->acquires, &from->acquires,
                  offsetof(struct hilock_stats, waiting) - offsetof(struct hilock_stats, acquires));
    read_counters(&to->wait.count, &from->wait.count, sizeof *to - offsetof(struct hilock_stats, wait));
    to->waiting = gauge_of(&gauges->waiting);
    to->held = gauge_of(&gauges->held);
    to->locks = gauge_of(&gauges->locks);
    to->inflight = gauge_of(&gauges->inflight);
    to->nodes_up = gauge_of(&gauges->nodes_up);
    to->nodes = gauge_of(&gauges->nodes);
    to->shares = census.shares;
    to->permits = census.permits;
    to->oldest_hold_ms = to->held ? age_ms(census.hold_since_us, now_us) : 0;
    to->oldest_wait_ms = to->waiting ? age_ms(census.wait_since_us, now_us) : 0;
    to->wrong_thread = atomic_load_explicit(&client->core.cell->wrong_thread, memory_order_relaxed);
}

/* Reads on another thread than the loop's. The first such call makes the loop take the census. It casts the caller's
 * const away for that one mark; nothing that the caller can see changes. */
static void read_elsewhere(const struct hilock_client *client, struct hilock_stats *to)
{
    struct hl_gauges *gauges = (struct hl_gauges *)(uintptr_t)&client->gauges;
    atomic_store_explicit(&gauges->are_ages_wanted, 1, memory_order_relaxed);
    read_stats(client, to, (struct hl_census){atomic_load_explicit(&gauges->hold_since_us, memory_order_relaxed),
                                           atomic_load_explicit(&gauges->wait_since_us, memory_order_relaxed),
                                           gauge_of(&gauges->shares), gauge_of(&gauges->permits)});
}

void hilock_client_stats(const hilock_client *client, struct hilock_stats *ret_stats)
{
    struct hilock_stats stats = {0};
    size_t size = ret_stats ? ret_stats->size : 0;
    hilock_status caller = client ? hl_cell_check_thread(client->core.cell) : HILOCK_OK;
    if (size < sizeof size || caller == HILOCK_FORKED)
        return;
    if (client && caller == HILOCK_OK) {
        hl_gauges_publish((struct hilock_client *)(uintptr_t)client);
        read_stats(client, &stats, hl_gauges_census(&client->core));
    } else if (client)
        read_elsewhere(client, &stats);
    stats.size = size;
    memcpy(ret_stats, &stats, size < sizeof stats ? size : sizeof stats);
}

/* ---- sums ---- */

/* Copies statistics of any version of the header. Members that `stats` lacks become 0, and members that this version
 * does not know are left out. A NULL counts as all zeroes. */
static void read_sized(struct hilock_stats *to, const struct hilock_stats *stats)
{
    size_t size = stats ? stats->size : 0;
    memset(to, 0, sizeof *to);
    if (size >= sizeof size)
        memcpy(to, stats, size < sizeof *to ? size : sizeof *to);
}

static void add_numbers(uint64_t *to, const uint64_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] += from[i];
}

void hilock_stats_add(struct hilock_stats *total, const struct hilock_stats *part)
{
    struct hilock_stats sum, more;
    size_t size = total ? total->size : 0;
    if (size < sizeof size)
        return;
    read_sized(&sum, total);
    read_sized(&more, part);
    /* From `acquires` up to the gauges there are only counters, without gaps. So it is in the histograms behind
     * them. */
    add_numbers(&sum.acquires, &more.acquires,
                offsetof(struct hilock_stats, waiting) - offsetof(struct hilock_stats, acquires));
    add_numbers(&sum.wait.count, &more.wait.count, sizeof sum - offsetof(struct hilock_stats, wait));
    sum.waiting += more.waiting;
    sum.held += more.held;
    sum.locks += more.locks;
    sum.inflight += more.inflight;
    sum.nodes_up += more.nodes_up;
    sum.nodes += more.nodes;
    sum.shares += more.shares;
    sum.permits += more.permits;
    if (sum.oldest_hold_ms < more.oldest_hold_ms)
        sum.oldest_hold_ms = more.oldest_hold_ms;
    if (sum.oldest_wait_ms < more.oldest_wait_ms)
        sum.oldest_wait_ms = more.oldest_wait_ms;
    memcpy(total, &sum, size < sizeof sum ? size : sizeof sum);
}

/* ---- statistics as text ---- */

struct page { /* a text that is cut where the buffer ends; length counts all of it */
    char *buffer;
    size_t room, length;
    const char *label;
};

__attribute__((format(printf, 2, 3))) static void append(struct page *page, const char *format, ...)
{
    size_t written = page->length < page->room ? page->length : page->room;
    va_list list;
    va_start(list, format);
    page->length += (size_t)vsnprintf(page->room ? page->buffer + written : NULL, page->room - written, format, list);
    va_end(list);
}

/* Returns the length of the UTF-8 character at `text`; 0: these bytes are none (overlong, a surrogate, out of range, or
 * cut short). */
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
    int is_surrogate = character >= 0xd800 && character < 0xe000;
    return character >= least[length] && character <= 0x10ffff && !is_surrogate ? length : 0;
}

static void append_label_value(struct page *page, const char *label)
{
    const unsigned char *text = (const unsigned char *)label;
    while (*text) {
        size_t length = utf8_length(text);
        if (*text == '\n')
            append(page, "\\n");
        else if (*text == '"' || *text == '\\')
            append(page, "\\%c", *text);
        else if (length == 0 || *text < 0x20 || *text == 0x7f)
            append(page, "?");
        else
            append(page, "%.*s", (int)length, (const char *)text);
        text += length ? length : 1;
    }
}

static void append_head(struct page *page, const char *name, const char *type, const char *help)
{
    append(page, "# HELP hilock_%s %s\n# TYPE hilock_%s %s\n", name, help, name, type);
}

/* Appends the line of one value. label: the name of a second label, or NULL; its value needs no escapes. per_second:
 * how many units of `number` make a second; 1: the number is no time */
static void append_line(struct page *page, const char *name, const char *suffix, const char *label, const char *value,
                        uint64_t number, uint64_t per_second)
{
    append(page, "hilock_%s%s{client=\"", name, suffix);
    append_label_value(page, page->label);
    if (label)
        append(page, "\",%s=\"%s", label, value);
    append(page, "\"} %" PRIu64, number / per_second);
    if (per_second > 1)
        append(page, ".%0*" PRIu64, per_second == 1000 ? 3 : 6, number % per_second);
    append(page, "\n");
}

static void append_metric(struct page *page, const char *name, const char *type, const char *help, uint64_t number,
                          uint64_t per_second)
{
    append_head(page, name, type, help);
    append_line(page, name, "", NULL, NULL, number, per_second);
}

/* Appends a line for each status from `first` down to `last`, even if its count is 0, because a rate needs a line to
 * begin at; and a line for each other status that occurred. Statuses of a newer version have no name here, and share
 * one line. */
static void append_reasons(struct page *page, const char *name, const char *help, const uint64_t *by_status, int first,
                           int last)
{
    const char *const unnamed = hilock_status_name((hilock_status)-HILOCK_STATUSES);
    uint64_t others = 0;
    append_head(page, name, "counter", help);
    for (int i = 0; i < HILOCK_STATUSES; i++) {
        const char *reason = hilock_status_name((hilock_status)-i);
        if (strcmp(reason, unnamed) == 0)
            others += by_status[i];
        else if (by_status[i] || (-i <= first && -i >= last))
            append_line(page, name, "", "reason", reason, by_status[i], 1);
    }
    if (others)
        append_line(page, name, "", "reason", unnamed, others, 1);
}

#define COUNTER(member, help) {#member "_total", help, offsetof(struct hilock_stats, member), 0}
#define GAUGE(member, help) {#member, help, offsetof(struct hilock_stats, member), 1}
static const struct metric { const char *name, *help; size_t at; int is_gauge; } metrics[] = {
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
    COUNTER(server_changes, "Times that a name or address led to another server than before."),
    COUNTER(links_apart, "Times that the links of a node were at different servers."),
    COUNTER(stalls, "Times that the loop was late by stall_report_ms or more."),
    COUNTER(wrong_thread, "Calls refused for coming from a wrong thread."),
    COUNTER(passed_over, "Waiters that lost a turn because the loop stood still."),
    COUNTER(places_unheard, "Places of waiters taken out of queues because nobody listened for them."),
    COUNTER(places_overdue, "Places of waiters taken out of queues because their heartbeat was overdue."),
    COUNTER(places_lapsed, "Places of waiters taken out of queues because their client let a grant lapse."),
    GAUGE(waiting, "Acquires that wait."),
    GAUGE(held, "Handles that hold."),
    GAUGE(locks, "Handles."),
    GAUGE(inflight, "Requests on the wire."),
    GAUGE(nodes_up, "Nodes that are connected."),
    GAUGE(nodes, "Nodes."),
    GAUGE(shares, "Shares of names that several may hold; handles that count on one share are one."),
    GAUGE(permits, "Of these, permits: of handles with a number of holders."),
};

static void append_histogram(struct page *page, const char *name, const char *help,
                             const struct hilock_histogram *histogram)
{
    static const char *const bounds[HILOCK_BUCKETS] = {"0.0001", "0.00025", "0.0005", "0.001", "0.002", "0.005", "0.01",
                                                       "0.02",   "0.05",    "0.1",    "0.2",   "0.5",   "1",     "2",
                                                       "5",      "10",      "30",     "60",    "+Inf"};
    uint64_t sum = 0;
    append_head(page, name, "histogram", help);
    for (size_t i = 0; i < HILOCK_BUCKETS; i++) {
        sum += histogram->buckets[i];
        append_line(page, name, "_bucket", "le", bounds[i], sum, 1);
    }
    append_line(page, name, "_sum", NULL, NULL, histogram->sum_us, 1000000);
    append_line(page, name, "_count", NULL, NULL, sum, 1);
}

size_t hilock_stats_prometheus(const struct hilock_stats *stats, const char *label, char *buffer, size_t buffer_size)
{
    struct page page = {buffer, buffer ? buffer_size : 0, 0, label ? label : ""};
    struct hilock_stats known;
    read_sized(&known, stats);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const struct metric *metric = &metrics[i];
        const void *at = (const char *)&known + metric->at;
        uint64_t number = metric->is_gauge ? *(const uint32_t *)at : *(const uint64_t *)at;
        append_metric(&page, metric->name, metric->is_gauge ? "gauge" : "counter", metric->help, number, 1);
    }
    append_reasons(&page, "failed_total", "Acquires that failed, by status.", known.failed_by, HILOCK_UNREACHABLE,
                   HILOCK_QUEUE_FULL);
    append_reasons(&page, "refused_total", "Acquires refused by the call, by status.", known.refused_by, HILOCK_INVALID,
                   HILOCK_FORKED);
    append_metric(&page, "oldest_hold_seconds", "gauge", "Age of the oldest hold.", known.oldest_hold_ms, 1000);
    append_metric(&page, "oldest_wait_seconds", "gauge", "Age of the oldest acquire that waits.",
                  known.oldest_wait_ms, 1000);
    append_head(&page, "build_info", "gauge", "The library.");
    append_line(&page, "build_info", "", "version", hilock_version(), 1, 1);
    append_histogram(&page, "wait_seconds", "From an acquire to its answer.", &known.wait);
    append_histogram(&page, "hold_seconds", "From a grant to the release or the loss.", &known.hold);
    append_histogram(&page, "command_seconds", "From a request to its answer.", &known.command);
    return page.length;
}
