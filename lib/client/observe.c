/* SPDX-License-Identifier: BSD-3-Clause */
/* observe - see observe.h. A client event carries a copy of its facts, as it is delivered later; without memory for the
 * copy it is only logged. Events of locks, on which programs act, need no memory. */
#include "client/observe.h"

#include <stdio.h>

#include "base/plant.h"
#include "base/quote.h"
#include "client/handles.h"
#include "client/stats.h"
#include "client/tracing.h"
#include "lock/lease.h"
#include "lock/lock.h"

struct client_event {
    struct hl_notice notice;
    struct hilock_event event;
    struct hl_text node, detail;
};

void hl_observe_log(struct hilock_client *client, hilock_log_level level, const char *format, ...)
{
    struct hl_text line;
    va_list list;
    if (!client->on_log || level > client->log_level)
        return;
    va_start(list, format);
    hl_text_set_list(&line, format, list);
    va_end(list);
    client->on_log(level, line.bytes, client->user);
}

void hilock_log_stderr(hilock_log_level level, const char *line, void *user)
{
    static const char *const words[] = {"?", "error", "warning", "info", "debug"};
    (void)user;
    fprintf(stderr, "hilock: %s: %s\n", words[level <= HILOCK_LOG_DEBUG ? level : 0], line);
}

static void report_event(struct hl_core *core, struct hl_notice *notice)
{
    struct hilock_client *client = (struct hilock_client *)(void *)core;
    struct client_event *news = (struct client_event *)(void *)notice;
    hl_notice_cancel(core, notice);
    news->event.client = client;
    news->event.holder = "";
    news->event.node = news->node.bytes;
    news->event.detail = news->detail.bytes;
    client->on_event(&news->event, client->user);
    hl_memory_free(&core->host.memory, news);
}

static void forget_event(struct hl_core *core, struct hl_notice *notice) { hl_memory_free(&core->host.memory, notice); }

static void raise_event(struct hilock_client *client, hilock_event_kind kind, const struct hl_fact *fact)
{
    static const struct hl_notice_ops ops = {report_event, forget_event};
    struct client_event *news;
    if (!client->on_event || !(news = hl_memory_new(&client->core.host.memory, sizeof *news)))
        return;
    news->notice.ops = &ops;
    hl_text_set(&news->node, "%s", fact->node ? fact->node : "");
    hl_text_set(&news->detail, "%s", fact->detail ? fact->detail : "");
    news->event = (struct hilock_event){.size = sizeof news->event,
                                        .kind = kind,
                                        .retry_ms = hl_lease_span_ms(fact->retry_us),
                                        .remaining_ms = hl_lease_span_ms(fact->remaining_us),
                                        .stalled_ms = hl_lease_span_ms(fact->waited_us),
                                        .waited_ms = hl_lease_span_ms(fact->longest_us)};
    hl_notice_post(&client->core, &news->notice, 1);
}

static void histogram_add(struct hilock_histogram *histogram, uint64_t span_us)
{
    static const uint32_t bounds_us[HILOCK_BUCKETS - 1] = {100,     250,     500,     1000,     2000,     5000,
                                                           10000,   20000,   50000,   100000,   200000,   500000,
                                                           1000000, 2000000, 5000000, 10000000, 30000000, 60000000};
    size_t i = 0;
    while (i < HILOCK_BUCKETS - 1 && span_us > bounds_us[i])
        i++;
    histogram->count++;
    histogram->sum_us += span_us;
    histogram->buckets[i]++;
}

static void count_acquire(struct hilock_stats *stats, const struct hl_fact *fact)
{
    histogram_add(&stats->wait, fact->waited_us);
    if (fact->status == HILOCK_OK) {
        stats->granted++;
        stats->granted_local += fact->is_local != 0;
    } else if (fact->status == HILOCK_TIMED_OUT)
        stats->timed_out++;
    else if (fact->status == HILOCK_CANCELLED || fact->status == HILOCK_CLOSED)
        stats->cancelled++;
    else {
        stats->failed++;
        stats->failed_by[hl_stats_index(fact->status)]++;
    }
}

static void count_loss(struct hilock_stats *stats, const struct hl_fact *fact)
{
    histogram_add(&stats->hold, fact->waited_us);
    switch (fact->reason) {
    case HILOCK_REASON_NONE: break;
    case HILOCK_REASON_TAKEN: stats->lost_taken++; break;
    case HILOCK_REASON_EXPIRED: stats->lost_expired++; break;
    case HILOCK_REASON_SUSPENDED: stats->lost_suspended++; break;
    case HILOCK_REASON_HOLD_MAX: stats->lost_hold_max++; break;
    case HILOCK_REASON_CLOSING: stats->lost_closing++; break;
    }
}

static void count(struct hilock_stats *stats, enum hl_what what, const struct hl_fact *fact)
{
    switch (what) {
    case HL_ACQUIRE_BEGUN: stats->acquires++; break;
    case HL_ACQUIRE_ENDED: count_acquire(stats, fact); break;
    case HL_ACQUIRE_REENTERED: stats->reentered++; break;
    case HL_WAKEUP: stats->wakeups++; break;
    case HL_HOLD_RENEWED: stats->renewals++; break;
    case HL_HOLD_RENEWAL_FAILED: stats->renewals_failed++; break;
    case HL_HOLD_RELEASED:
        stats->released++;
        histogram_add(&stats->hold, fact->waited_us);
        break;
    case HL_RELEASE_ANSWERED:
        stats->release_lost += fact->status == HILOCK_LOST;
        stats->release_unknown += fact->status == HILOCK_UNKNOWN;
        break;
    case HL_HOLD_LOST: count_loss(stats, fact); break;
    case HL_HOLD_UNDONE: stats->undone++; break;
    case HL_COMMAND_SENT: stats->commands++; break;
    case HL_COMMAND_ANSWERED: histogram_add(&stats->command, fact->waited_us); break;
    case HL_NODE_UP: stats->connects++; break;
    case HL_NODE_DOWN: stats->disconnects += fact->count; break;
    case HL_NODE_RESTS: stats->disconnects++; break;
    case HL_LOOP_STALLED: stats->stalls++; break;
    case HL_FAILOVER: stats->failovers++; break;
    case HL_REDIRECTED: stats->redirects++; break;
    case HL_ACQUIRE_ASKED:
    case HL_ACQUIRE_WAITS:
    case HL_ACQUIRE_PLACED:
    case HL_HOLD_HANDED_ON:
    case HL_GRANT_DOUBTED:
    case HL_RELEASE_SETTLED:
    case HL_INQUIRY_ENDED:
    case HL_CLOCK_ANOMALY:
    case HL_STORE_RESTARTED:
    case HL_EVICTION_RISK:
    case HL_ROUTE_UNSETTLED:
    case HL_ROUTE_SETTLED:
    case HL_NODE_FAULT: break;
    }
}

static void log_lock(struct hilock_client *client, enum hl_what what, const struct hl_fact *fact)
{
    const struct hl_quoted name = hl_quote(fact->name ? fact->name : "", fact->name ? strlen(fact->name) : 0);
    if (what == HL_HOLD_LOST)
        hl_observe_log(client, fact->reason == HILOCK_REASON_CLOSING ? HILOCK_LOG_WARN : HILOCK_LOG_ERROR, "lost: %s",
                       fact->detail);
    else if (what == HL_HOLD_RENEWAL_FAILED)
        hl_observe_log(client, fact->count < 2 ? HILOCK_LOG_INFO : HILOCK_LOG_WARN,
                       "renewal %u of \"%s\" in a row failed: %s; valid for %u ms", fact->count, name.bytes,
                       fact->detail, hl_lease_span_ms(fact->remaining_us));
    else if (what == HL_CLOCK_ANOMALY)
        hl_observe_log(client, HILOCK_LOG_WARN, "%s", fact->detail);
    else if (what == HL_HOLD_RENEWED && fact->count >= 2)
        hl_observe_log(client, HILOCK_LOG_INFO, "\"%s\" is renewed again after %u failures", name.bytes, fact->count);
    else if (what == HL_RELEASE_SETTLED)
        hl_observe_log(client, HILOCK_LOG_INFO, "%s", fact->detail);
    else if (what == HL_ACQUIRE_WAITS)
        hl_observe_log(client, HILOCK_LOG_DEBUG, "\"%s\" is held: waiting", name.bytes);
    else if (what == HL_INQUIRY_ENDED)
        hl_observe_log(client, fact->count ? HILOCK_LOG_INFO : HILOCK_LOG_DEBUG, "%s of \"%s\": %s: %s",
                       fact->count ? "force_release" : "peek", name.bytes, hilock_status_name(fact->status),
                       fact->detail);
    else if (what == HL_ACQUIRE_ENDED)
        hl_observe_log(client, HILOCK_LOG_DEBUG, "acquire of \"%s\": %s after %u ms, %u requests", name.bytes,
                       hilock_status_name(fact->status), hl_lease_span_ms(fact->waited_us), fact->count);
    else if (what == HL_HOLD_RELEASED)
        hl_observe_log(client, HILOCK_LOG_DEBUG, "released \"%s\" after %u ms", name.bytes,
                       hl_lease_span_ms(fact->waited_us));
    else if (what == HL_HOLD_HANDED_ON)
        hl_observe_log(client, HILOCK_LOG_DEBUG, "\"%s\" is handed to the next handle, turn %u, %u ms after its grant",
                       name.bytes, fact->count + 1, hl_lease_span_ms(fact->waited_us));
    else if (what == HL_HOLD_UNDONE)
        hl_observe_log(client, HILOCK_LOG_INFO, "a grant of \"%s\" came too late and is given back", name.bytes);
}

struct risk { unsigned holds; uint64_t left_us, now_us; };

static void count_risk(const struct hilock_lock *lock, void *arg)
{
    struct risk *risk = arg;
    uint64_t left_us = lock->ops->look(lock, risk->now_us).left_us;
    risk->holds += left_us > 0;
    if (left_us && left_us < risk->left_us)
        risk->left_us = left_us;
}

static struct hl_text words_of_outage(const struct hilock_client *client, const struct hl_fact *fact)
{
    struct risk risk = {0, UINT64_MAX, hl_now_us(&client->core.host)};
    struct hl_text text;
    hl_text_set(&text, "%s: %s; next try in %u ms", fact->node, fact->detail, hl_lease_span_ms(fact->retry_us));
    hl_handles_visit(&client->core, count_risk, &risk);
    if (risk.holds)
        hl_text_add(&text, ", %u holds at risk in %u.%u s", risk.holds, hl_lease_span_ms(risk.left_us) / 1000,
                    hl_lease_span_ms(risk.left_us) % 1000 / 100);
    return text;
}

static void raise_outage(struct hilock_client *client, const struct hl_fact *fact)
{
    struct hl_text words;
    struct hl_fact told = *fact;
    if (!client->on_event)
        return;
    words = words_of_outage(client, fact);
    told.detail = words.bytes;
    raise_event(client, HILOCK_EVENT_DISCONNECTED, &told);
}

static void log_node(struct hilock_client *client, enum hl_what what, const struct hl_fact *fact)
{
    if (what == HL_NODE_UP)
        hl_observe_log(client, HILOCK_LOG_INFO, "%s: connected%s%s", fact->node,
                       HL_PLANTED(PASSWORD_LOGGED) ? client->logins[0].password : "",
                       HL_PLANTED(HOLDER_LOGGED) ? client->core.uuid : "");
    else if (what == HL_NODE_DOWN)
        hl_observe_log(client, fact->is_news ? HILOCK_LOG_WARN : HILOCK_LOG_INFO, "%s",
                       words_of_outage(client, fact).bytes);
    else if (what == HL_ROUTE_SETTLED)
        hl_observe_log(client, HILOCK_LOG_INFO, "%s: connected", fact->node);
    else if (what == HL_ROUTE_UNSETTLED)
        hl_observe_log(client, HILOCK_LOG_WARN, "%s", words_of_outage(client, fact).bytes);
    else if (what == HL_STORE_RESTARTED || what == HL_LOOP_STALLED)
        hl_observe_log(client, HILOCK_LOG_WARN, "%s", fact->detail);
    else if (what == HL_NODE_RESTS)
        hl_observe_log(client, HILOCK_LOG_INFO, "%s: %s", fact->node, fact->detail);
    else if (what == HL_FAILOVER)
        hl_observe_log(client, HILOCK_LOG_WARN, "failover: %s", fact->detail);
    else if (what == HL_NODE_FAULT || what == HL_EVICTION_RISK)
        hl_observe_log(client, HILOCK_LOG_WARN, "%s: %s", fact->node ? fact->node : "", fact->detail);
}

void hl_observe(void *arg, enum hl_what what, const struct hl_fact *fact)
{
    struct hilock_client *client = arg;
    count(&client->stats, what, fact);
    if (client->on_trace)
        hl_tracing_tell(client, what, fact);
    if (client->on_log) {
        log_lock(client, what, fact);
        log_node(client, what, fact);
    }
    if (what == HL_NODE_UP || what == HL_ROUTE_SETTLED)
        raise_event(client, HILOCK_EVENT_CONNECTED, fact);
    else if (what == HL_NODE_DOWN || what == HL_ROUTE_UNSETTLED)
        raise_outage(client, fact);
    else if (what == HL_NODE_RESTS)
        raise_event(client, HILOCK_EVENT_DISCONNECTED, fact);
    else if (what == HL_FAILOVER)
        raise_event(client, HILOCK_EVENT_FAILOVER, fact);
    else if (what == HL_CLOCK_ANOMALY)
        raise_event(client, HILOCK_EVENT_CLOCK_ANOMALY, fact);
    else if (what == HL_LOOP_STALLED)
        raise_event(client, HILOCK_EVENT_LOOP_STALLED, fact);
    else if (what == HL_STORE_RESTARTED)
        raise_event(client, HILOCK_EVENT_STORE_RESTARTED, fact);
    else if (what == HL_EVICTION_RISK)
        raise_event(client, HILOCK_EVENT_EVICTION_RISK, fact);
}
