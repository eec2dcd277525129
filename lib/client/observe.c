/* SPDX-License-Identifier: BSD-3-Clause */
/* observe - makes statistics, log lines and the client's own events from the inner events. One table has what each
 * inner event becomes; words.c has the texts. A client event is delivered later, so it carries a copy of its facts;
 * without memory for the copy the event is only logged. The events of locks, on which programs act, need no memory.
 * Neither do the steps of on_trace, because the user gets them while the inner event is being reported. */
#include "base/container.h"
#include "client/client.h"

#include <stdio.h>

#include "client/log.h"
#include "client/words.h"
#include "core/lease.h"
#include "core/lock.h"

#define COUNT(member) .counter = offsetof(struct hilock_stats, member)
#define SPAN(member) .histogram = offsetof(struct hilock_stats, member)

/* What an inner event becomes. 0 in a member: nothing of that kind. */
static const struct effect {
    uint16_t counter, histogram; /* offsets in the statistics; the histogram gets waited_us */
    uint8_t step;                /* the step that on_trace reports */
    uint8_t event;               /* the kind of the client's event */
    uint8_t level;               /* the level of the log line */
    const char *lead;            /* the log line is this text and the detail; NULL: line_of() makes the line */
} effects[] = {
    [HL_ACQUIRE_BEGUN] = {COUNT(acquires), .step = HILOCK_TRACE_ACQUIRE},
    [HL_ACQUIRE_ASKED] = {.step = HILOCK_TRACE_ATTEMPT},
    [HL_ACQUIRE_WAITS] = {.step = HILOCK_TRACE_WAIT, .level = HILOCK_LOG_DEBUG},
    [HL_ACQUIRE_PLACED] = {.step = HILOCK_TRACE_PLACE},
    [HL_ACQUIRE_PASSED_OVER] = {COUNT(passed_over), .level = HILOCK_LOG_INFO},
    [HL_PLACES_REMOVED] = {.level = HILOCK_LOG_DEBUG},
    [HL_ACQUIRE_ENDED] = {SPAN(wait), .step = HILOCK_TRACE_FAILED, .level = HILOCK_LOG_DEBUG},
    [HL_ACQUIRE_REENTERED] = {COUNT(reentered), .step = HILOCK_TRACE_GRANT},
    [HL_WAKEUP] = {COUNT(wakeups)},
    [HL_HOLD_RENEWED] = {COUNT(renewals), .step = HILOCK_TRACE_RENEW, .level = HILOCK_LOG_INFO},
    [HL_HOLD_RENEWAL_FAILED] = {COUNT(renewals_failed), .step = HILOCK_TRACE_RENEW_FAILED, .level = HILOCK_LOG_WARN},
    [HL_HOLD_RELEASED] = {COUNT(released), SPAN(hold), .step = HILOCK_TRACE_RELEASE, .level = HILOCK_LOG_DEBUG},
    [HL_HOLD_HANDED_ON] = {.step = HILOCK_TRACE_HANDOFF, .level = HILOCK_LOG_DEBUG},
    [HL_HOLD_LOST] = {SPAN(hold), .step = HILOCK_TRACE_LOSS, .level = HILOCK_LOG_ERROR, .lead = hl_words_lead_lost},
    [HL_RELEASE_REFUSED] = {.level = HILOCK_LOG_WARN},
    [HL_RELEASE_SETTLED] = {.level = HILOCK_LOG_INFO, .lead = ""},
    [HL_HOLD_UNDONE] = {COUNT(undone), .level = HILOCK_LOG_INFO},
    [HL_INQUIRY_ENDED] = {.level = HILOCK_LOG_INFO},
    [HL_CLOCK_ANOMALY] = {.event = HILOCK_EVENT_CLOCK_ANOMALY, .level = HILOCK_LOG_WARN, .lead = ""},
    [HL_COMMAND_SENT] = {COUNT(commands)},
    [HL_COMMAND_ANSWERED] = {SPAN(command)},
    [HL_NODE_UP] = {COUNT(connects), .step = HILOCK_TRACE_CONNECT, .event = HILOCK_EVENT_CONNECTED,
                    .level = HILOCK_LOG_INFO},
    [HL_NODE_DOWN] = {COUNT(disconnects), .step = HILOCK_TRACE_DISCONNECT, .event = HILOCK_EVENT_DISCONNECTED,
                      .level = HILOCK_LOG_WARN},
    [HL_ROUTE_UNSETTLED] = {.event = HILOCK_EVENT_DISCONNECTED, .level = HILOCK_LOG_WARN},
    [HL_ROUTE_SETTLED] = {.event = HILOCK_EVENT_CONNECTED, .level = HILOCK_LOG_INFO},
    [HL_NODE_RESTS] = {COUNT(disconnects), .event = HILOCK_EVENT_DISCONNECTED, .level = HILOCK_LOG_INFO},
    [HL_FAILOVER] = {COUNT(failovers), .event = HILOCK_EVENT_FAILOVER, .level = HILOCK_LOG_WARN,
                     .lead = hl_words_lead_failover},
    [HL_REDIRECTED] = {COUNT(redirects)},
    [HL_NODE_FAULT] = {.level = HILOCK_LOG_WARN},
    [HL_STORE_RESTARTED] = {.event = HILOCK_EVENT_STORE_RESTARTED, .level = HILOCK_LOG_WARN, .lead = ""},
    [HL_SERVER_CHANGED] = {COUNT(server_changes), .event = HILOCK_EVENT_SERVER_CHANGED, .level = HILOCK_LOG_WARN,
                           .lead = ""},
    [HL_LINKS_APART] = {COUNT(links_apart), .event = HILOCK_EVENT_LINKS_APART, .level = HILOCK_LOG_WARN},
    [HL_EVICTION_RISK] = {.event = HILOCK_EVENT_EVICTION_RISK, .level = HILOCK_LOG_WARN},
    [HL_REFUSED] = {.level = HILOCK_LOG_WARN, .lead = hl_words_lead_refused},
    [HL_TURN_REFUSED] = {.level = HILOCK_LOG_ERROR, .lead = ""},
    [HL_LOOP_STALLED] = {COUNT(stalls), .event = HILOCK_EVENT_LOOP_STALLED, .level = HILOCK_LOG_WARN, .lead = ""},
};

static const char *text_of(const char *text) { return text ? text : ""; }

static void histogram_add(struct hilock_histogram *histogram, uint64_t span_us)
{
    static const uint32_t bounds_us[HILOCK_BUCKETS - 1] = {100,     250,     500,     1000,     2000,     5000,
                                                           10000,   20000,   50000,   100000,   200000,   500000,
                                                           1000000, 2000000, 5000000, 10000000, 30000000, 60000000};
    size_t i = 0;
    while (i < HILOCK_BUCKETS - 1 && span_us > bounds_us[i])
        i++;
    hl_stats_count(&histogram->count, 1);
    hl_stats_count(&histogram->sum_us, span_us);
    hl_stats_count(&histogram->buckets[i], 1);
}

static void count(struct hilock_stats *stats, enum hl_what what, const struct hl_fact *fact)
{
    const struct effect *effect = &effects[what];
    if (effect->counter) /* HL_NODE_DOWN counts only if the node had been up */
        hl_stats_count((uint64_t *)(void *)((char *)stats + effect->counter), what == HL_NODE_DOWN ? fact->count : 1);
    if (effect->histogram)
        histogram_add((struct hilock_histogram *)(void *)((char *)stats + effect->histogram), fact->waited_us);
    switch (fact->reason) {
    case HILOCK_REASON_NONE: break;
    case HILOCK_REASON_TAKEN: hl_stats_count(&stats->lost_taken, 1); break;
    case HILOCK_REASON_EXPIRED: hl_stats_count(&stats->lost_expired, 1); break;
    case HILOCK_REASON_SUSPENDED: hl_stats_count(&stats->lost_suspended, 1); break;
    case HILOCK_REASON_HOLD_MAX: hl_stats_count(&stats->lost_hold_max, 1); break;
    case HILOCK_REASON_CLOSING: hl_stats_count(&stats->lost_closing, 1); break;
    }
    if (what == HL_PLACES_REMOVED) {
        hl_stats_count(&stats->places_unheard, fact->count);
        hl_stats_count(&stats->places_overdue, fact->overdue);
        hl_stats_count(&stats->places_lapsed, fact->lapsed);
    }
    if (what == HL_RELEASE_ANSWERED) {
        hl_stats_count(&stats->release_lost, fact->status == HILOCK_LOST);
        hl_stats_count(&stats->release_unknown, fact->status == HILOCK_UNKNOWN);
    }
    if (what != HL_ACQUIRE_ENDED)
        return;
    if (fact->status == HILOCK_OK) {
        hl_stats_count(&stats->granted, 1);
        hl_stats_count(&stats->granted_local, fact->is_local != 0);
    } else if (fact->status == HILOCK_TIMED_OUT)
        hl_stats_count(&stats->timed_out, 1);
    else if (fact->status == HILOCK_CANCELLED || fact->status == HILOCK_CLOSED)
        hl_stats_count(&stats->cancelled, 1);
    else {
        hl_stats_count(&stats->failed, 1);
        hl_stats_count(&stats->failed_by[-fact->status], 1);
    }
}

static void report_step(struct hilock_client *client, enum hl_what what, const struct hl_fact *fact)
{
    int is_grant = what == HL_ACQUIRE_ENDED && fact->status == HILOCK_OK;
    /* A hold that is lost before its grant was reported is no step for the user: its acquire asks again. */
    if (!effects[what].step || (what == HL_HOLD_LOST && !fact->lock))
        return;
    const struct hilock_lock *lock = fact->lock && !hl_terms_are_internal(fact->lock->terms) ? fact->lock : NULL;
    const struct hilock_trace trace = {.size = sizeof trace,
                                       .step = is_grant ? HILOCK_TRACE_GRANT : (hilock_trace_step)effects[what].step,
                                       .at_us = hl_now_us(&client->core.host),
                                       .span_us = what == HL_NODE_DOWN ? fact->retry_us : fact->waited_us,
                                       .client = client,
                                       .lock = lock,
                                       .lock_user = lock ? lock->user : NULL,
                                       .fencing_token = fact->token,
                                       .status = fact->status,
                                       .reason = fact->reason,
                                       .position = fact->position,
                                       .waiters = fact->waiters,
                                       .name = text_of(fact->name),
                                       .node = text_of(fact->node),
                                       .detail = text_of(fact->detail)};
    client->options.on_trace(&trace, client->options.user);
}

void hilock_log_stderr(hilock_log_level level, const char *line, void *user)
{
    static const char *const words[] = {"?", "error", "warning", "info", "debug"};
    (void)user;
    fprintf(stderr, "hilock: %s: %s\n", words[level <= HILOCK_LOG_DEBUG ? level : 0], line);
}

void hilock_log_nothing(hilock_log_level level, const char *line, void *user) { (void)level, (void)line, (void)user; }

static struct hl_text words_of_outage(const struct hilock_client *client, const struct hl_fact *fact)
{
    uint64_t now_us = hl_now_us(&client->core.host), first_us = UINT64_MAX;
    const struct hilock_lock *lock;
    unsigned holds = 0;
    TAILQ_FOREACH(lock, &client->core.handles, entry) {
        uint64_t left_us = hl_left_us(lock->ops->snapshot(lock).ends_us, now_us);
        holds += left_us > 0;
        if (left_us && left_us < first_us)
            first_us = left_us;
    }
    return hl_words_outage(fact->node, fact->detail, hl_lease_span_ms(fact->retry_us), holds,
                           hl_lease_span_ms(first_us));
}

/* Returns the level of the log line for this event; 0: it is not logged. */
static hilock_log_level level_of(enum hl_what what, const struct hl_fact *fact)
{
    int is_less = (what == HL_HOLD_RENEWAL_FAILED && fact->count < 2) || (what == HL_NODE_DOWN && !fact->is_news) ||
                  (what == HL_INQUIRY_ENDED && !fact->count);
    /* these two come from the program's own clients, which can cause any number of them */
    int is_visitors = what == HL_REFUSED &&
                      (fact->status == HILOCK_BAD_NAME || fact->status == HILOCK_TOO_MANY_WAITERS);
    if (is_visitors || (what == HL_RELEASE_REFUSED && !fact->is_news))
        return HILOCK_LOG_DEBUG;
    if (what == HL_HOLD_RENEWED && fact->count < 2)
        return 0;
    if (what == HL_HOLD_LOST && fact->reason == HILOCK_REASON_CLOSING)
        return HILOCK_LOG_WARN;
    return (hilock_log_level)(effects[what].level + is_less);
}

static struct hl_text line_of(const struct hilock_client *client, enum hl_what what, const struct hl_fact *fact)
{
    const struct hl_quoted name = hl_text_quote(text_of(fact->name), strlen(text_of(fact->name)));
    uint32_t span_ms = hl_lease_span_ms(fact->waited_us);
    struct hl_text line = {""};
    if (what == HL_NODE_DOWN || what == HL_ROUTE_UNSETTLED)
        return words_of_outage(client, fact);
    if (effects[what].lead)
        hl_text_set(&line, "%s%s", effects[what].lead, fact->detail);
    else if (what == HL_NODE_UP || what == HL_ROUTE_SETTLED) {
        line = hl_words_connected(fact->node);
    } else if (what == HL_NODE_RESTS || what == HL_NODE_FAULT || what == HL_EVICTION_RISK || what == HL_LINKS_APART ||
               what == HL_RELEASE_REFUSED)
        line = hl_words_of_node(text_of(fact->node), fact->detail);
    else if (what == HL_HOLD_RENEWAL_FAILED)
        line = hl_words_renewal_failed(name.bytes, fact->count, fact->detail, hl_lease_span_ms(fact->remaining_us));
    else if (what == HL_HOLD_RENEWED)
        line = hl_words_renewed_again(name.bytes, fact->count);
    else if (what == HL_ACQUIRE_WAITS)
        line = hl_words_wait_begun(name.bytes);
    else if (what == HL_INQUIRY_ENDED)
        line = hl_words_inquiry(fact->count ? "force_release" : "peek", name.bytes, fact->status, fact->detail);
    else if (what == HL_ACQUIRE_ENDED)
        line = hl_words_acquire_ended(name.bytes, fact->status, span_ms, fact->count);
    else if (what == HL_HOLD_RELEASED)
        line = hl_words_released(name.bytes, span_ms);
    else if (what == HL_HOLD_HANDED_ON)
        line = hl_words_turn_handed_on(name.bytes, fact->count + 1, span_ms);
    else if (what == HL_ACQUIRE_PASSED_OVER)
        line = hl_words_turn_passed_over(name.bytes);
    else if (what == HL_PLACES_REMOVED)
        line = hl_words_places_removed(name.bytes, fact->count, fact->overdue, fact->lapsed);
    else if (what == HL_HOLD_UNDONE)
        line = hl_words_undone(name.bytes);
    return line;
}

struct client_event {
    struct hl_notice notice;
    struct hilock_event event;
    struct hl_text node, detail;
};

static void report_event(struct hl_core *core, struct hl_notice *notice)
{
    struct client_event *news = HL_CONTAINER(notice, struct client_event, notice);
    const struct hilock_client_options *options = &news->event.client->options;
    hl_notice_cancel(core, notice);
    options->on_event(&news->event, options->user);
    hl_memory_free(&core->host.memory, news);
}

static void forget_event(struct hl_core *core, struct hl_notice *notice)
{
    hl_memory_free(&core->host.memory, HL_CONTAINER(notice, struct client_event, notice));
}

static void raise_event(struct hilock_client *client, enum hl_what what, const struct hl_fact *fact)
{
    static const struct hl_notice_ops ops = {report_event, forget_event};
    struct client_event *news = hl_memory_new(&client->core.host.memory, sizeof *news);
    if (!news)
        return;
    news->notice.ops = &ops;
    hl_text_set(&news->node, "%s", text_of(fact->node));
    if (what == HL_NODE_DOWN || what == HL_ROUTE_UNSETTLED)
        news->detail = words_of_outage(client, fact);
    else
        hl_text_set(&news->detail, "%s", text_of(fact->detail));
    news->event = (struct hilock_event){.size = sizeof news->event,
                                        .kind = (hilock_event_kind)effects[what].event,
                                        .client = client,
                                        .holder = "",
                                        .holder_label = "",
                                        .node = news->node.bytes,
                                        .detail = news->detail.bytes,
                                        .retry_ms = hl_lease_span_ms(fact->retry_us),
                                        .remaining_ms = hl_lease_span_ms(fact->remaining_us),
                                        .stalled_ms = hl_lease_span_ms(fact->waited_us),
                                        .waited_ms = hl_lease_span_ms(fact->longest_us)};
    hl_notice_post(&client->core, &news->notice, 1);
}

void hl_observe(void *arg, enum hl_what what, const struct hl_fact *fact)
{
    struct hilock_client *client = arg;
    hilock_log_level level = client->options.on_log ? level_of(what, fact) : 0;
    count(&client->stats, what, fact);
    if (client->options.on_trace)
        report_step(client, what, fact);
    if (level && level <= client->options.log_level)
        hl_log_write(client, what, level, line_of(client, what, fact).bytes);
    if (client->options.on_event && effects[what].event)
        raise_event(client, what, fact);
}
