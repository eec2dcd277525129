/* SPDX-License-Identifier: BSD-3-Clause */
/* subscriptions - see subscriptions.h.
 *
 *   OFF -> SENT (SUBSCRIBE) -> ON -> SENT (UNSUBSCRIBE) -> freed
 *            `-> REFUSED -> SENT (SUBSCRIBE), when its next listener opens
 *   any -> OFF, when the link is lost, or when the slot of the channel is at another server
 *
 * After each confirmation the state is compared with what is wanted: a channel that is wanted again while its
 * UNSUBSCRIBE is on its way is subscribed again. */
#include "node/subscriptions.h"

#include "base/container.h"
#include "base/stranger.h"
#include "link/words.h"
#include "node/words.h"

enum { AGAIN_US = 200000 };

/* SENT: a command of the channel has no answer yet. */
enum channel_state { CHANNEL_OFF, CHANNEL_SENT, CHANNEL_ON, CHANNEL_REFUSED };

struct hl_channel {
    struct hl_table_entry entry;
    TAILQ_ENTRY(hl_channel) sent_entry; /* in the FIFO `sent` of the subscription */
    struct hl_subscriptions *subscriptions;
    TAILQ_HEAD(, hl_listener) listeners; /* empty: the channel is not wanted */
    uint64_t sent_us;
    enum channel_state state;
    uint8_t sent_unsubscribe, has_marker;
    size_t length;
    char name[];
};

static struct hl_channel *channel_of(struct hl_table_entry *entry)
{
    return HL_CONTAINER(entry, struct hl_channel, entry);
}

static void tell(struct hl_channel *channel, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_listener **next = &channel->subscriptions->next, *listener;
    for (*next = TAILQ_FIRST(&channel->listeners); (listener = *next) != NULL;) {
        *next = TAILQ_NEXT(listener, entry);
        listener->on_event(listener->arg, event, message);
    }
}

static int is_wanted(const struct hl_channel *channel) { return !TAILQ_EMPTY(&channel->listeners); }
static int is_probe(const struct hl_channel *channel) { return channel == channel->subscriptions->probe; }

static void forget(struct hl_channel *channel)
{
    struct hl_subscriptions *subscriptions = channel->subscriptions;
    hl_table_remove(&subscriptions->channels, &channel->entry);
    hl_memory_free(&subscriptions->host->memory, channel);
}

static int is_sharded(const struct hl_channel *c) { return c->subscriptions->is_sharded && !is_probe(c); }

static const char *word_of(const struct hl_channel *channel)
{
    if (is_sharded(channel))
        return channel->sent_unsubscribe ? "SUNSUBSCRIBE" : "SSUBSCRIBE";
    return channel->sent_unsubscribe ? "UNSUBSCRIBE" : "SUBSCRIBE";
}

static int send_word(const struct hl_channel *channel, const char *word)
{
    struct hl_command command;
    hl_command_begin(&command, word);
    hl_command_add(&command, channel->name, channel->length);
    return hl_session_send(&channel->subscriptions->session, &command);
}

/* Sends the command that is wanted now. Without a link nothing is sent: the next link subscribes all wanted
 * channels. */
static void send_wanted(struct hl_channel *channel)
{
    struct hl_subscriptions *subscriptions = channel->subscriptions;
    if (!hl_session_is_open(&subscriptions->session))
        return;
    TAILQ_INSERT_TAIL(&subscriptions->sent, channel, sent_entry);
    channel->state = CHANNEL_SENT;
    channel->sent_unsubscribe = !is_wanted(channel);
    channel->sent_us = hl_now_us(subscriptions->host);
    channel->has_marker = channel->sent_unsubscribe && is_sharded(channel);
    hl_session_wake_at(&subscriptions->session, channel->sent_us + subscriptions->timeout_us);
    if (send_word(channel, word_of(channel)) == 0 && channel->has_marker)
        send_word(subscriptions->probe, "UNSUBSCRIBE");
}

/* Moves a channel towards what is wanted. A refused channel is subscribed again only when its next listener opens. */
static void reconcile(struct hl_channel *channel)
{
    int is_off = channel->state == CHANNEL_OFF || channel->state == CHANNEL_REFUSED;
    if (channel->state == (is_wanted(channel) ? CHANNEL_OFF : CHANNEL_ON))
        send_wanted(channel);
    else if (is_off && !is_wanted(channel) && !is_probe(channel))
        forget(channel);
}

static void reconcile_all(struct hl_subscriptions *subscriptions)
{
    struct hl_table_entry *entry, *next = hl_table_next(&subscriptions->channels, NULL);
    while ((entry = next) != NULL) {
        next = hl_table_next(&subscriptions->channels, entry);
        reconcile(channel_of(entry));
    }
}

/* Takes the answer to the channel's command; refusal NULL: confirmed. If UNSUBSCRIBE is refused, a channel that is
 * wanted again counts as on, and an unwanted one is forgotten. */
static void on_answer(struct hl_channel *channel, const struct hl_reply *refusal)
{
    struct hl_subscriptions *subscriptions = channel->subscriptions;
    uint8_t *is_reported = &subscriptions->reported_refusals[channel->sent_unsubscribe];
    struct hl_text what;
    if (refusal && !*is_reported) {
        *is_reported = 1;
        hl_words_refused(&what, word_of(channel),
                         hl_host_quote(subscriptions->host, refusal->bytes, refusal->length).bytes, "");
        hl_trace(subscriptions->host, HL_NODE_FAULT,
                 &(struct hl_fact){.node = subscriptions->session.options->endpoint.name, .detail = what.bytes});
    }
    if (channel->sent_unsubscribe)
        channel->state = refusal && is_wanted(channel) ? CHANNEL_ON : CHANNEL_OFF;
    else
        channel->state = refusal ? CHANNEL_REFUSED : CHANNEL_ON;
    if (is_wanted(channel) && channel->state != CHANNEL_OFF)
        tell(channel, channel->state == CHANNEL_ON ? HL_CHANNEL_ON : HL_CHANNEL_REFUSED, NULL);
    else
        reconcile(channel);
}

/* Handles a channel whose slot is not at this server, or no longer. */
static void on_wrong_slot(struct hl_channel *channel)
{
    struct hl_subscriptions *subscriptions = channel->subscriptions;
    channel->state = CHANNEL_OFF;
    if (!is_wanted(channel))
        forget(channel);
    hl_session_wake_at(&subscriptions->session, hl_now_us(subscriptions->host) + AGAIN_US);
    subscriptions->on_wrong_slot(subscriptions->wrong_slot_arg);
}

static int is_confirmed(const struct hl_channel *channel, const struct hl_reply *kind, const struct hl_channel *named)
{
    const struct hl_channel *last = channel->has_marker ? channel->subscriptions->probe : channel;
    const char *word = channel->sent_unsubscribe ? "unsubscribe" : is_sharded(channel) ? "ssubscribe" : "subscribe";
    return kind && hl_reply_is(kind, word) && named == last;
}

/* Takes any reply but a message. It must answer the oldest command; otherwise the stream is out of step and the link is
 * given up. One reply answers no command: the sunsubscribe that a server sends by itself when a slot has left. */
static void on_confirmation(struct hl_subscriptions *subscriptions, const struct hl_reply *reply,
                            const struct hl_reply *kind, struct hl_channel *named)
{
    struct hl_channel *channel = TAILQ_FIRST(&subscriptions->sent);
    int is_of_slot = hl_reply_starts(reply, "MOVED ") || hl_reply_starts(reply, "ASK ") ||
                      hl_reply_starts(reply, "CLUSTERDOWN") || hl_reply_starts(reply, "TRYAGAIN");
    int is_error = reply->type == HL_REPLY_ERROR, is_taken = kind && hl_reply_is(kind, "sunsubscribe");
    if (channel && channel->has_marker && (is_error || (is_taken && named == channel)))
        return;
    if (is_taken && subscriptions->is_sharded) {
        if (named && named->state == CHANNEL_ON)
            on_wrong_slot(named);
        return;
    }
    if (!channel || (!is_error && !is_confirmed(channel, kind, named))) {
        struct hl_quoted quote = hl_host_quote(subscriptions->host, reply->bytes, reply->length);
        hl_session_break(&subscriptions->session, is_error ? quote.bytes : hl_words_unexpected);
        return;
    }
    TAILQ_REMOVE(&subscriptions->sent, channel, sent_entry);
    if (is_error && is_of_slot && is_sharded(channel))
        on_wrong_slot(channel);
    else
        on_answer(channel, is_error ? reply : NULL);
}

static void on_reply(void *arg, const struct hl_reply *reply)
{
    struct hl_subscriptions *subscriptions = arg;
    const struct hl_reply *kind = hl_reply_item(reply, 0, HL_REPLY_STRING);
    const struct hl_reply *name = hl_reply_item(reply, 1, HL_REPLY_STRING);
    const struct hl_reply *text = hl_reply_item(reply, 2, HL_REPLY_STRING);
    struct hl_table_entry *entry = name ? hl_table_find(&subscriptions->channels, name->bytes, name->length) : NULL;
    struct hl_channel *named = entry ? channel_of(entry) : NULL;
    subscriptions->active_at_us = hl_now_us(subscriptions->host);
    if (!kind || !(hl_reply_is(kind, "message") || hl_reply_is(kind, "smessage")))
        on_confirmation(subscriptions, reply, kind, named);
    else if (named && text)
        tell(named, HL_CHANNEL_MESSAGE, text);
}

static void on_open(void *arg)
{
    struct hl_subscriptions *subscriptions = arg;
    /* from now on the link delivers every message, and does not pair replies with commands (link.h) */
    subscriptions->session.options->links.stream(subscriptions->session.link);
    subscriptions->was_open = 1;
    subscriptions->active_at_us = hl_now_us(subscriptions->host);
    reconcile_all(subscriptions);
    hl_session_wake_at(&subscriptions->session, subscriptions->active_at_us + subscriptions->keepalive_us);
    if (subscriptions->on_open)
        subscriptions->on_open(subscriptions->open_arg);
}

static void lose_all(struct hl_subscriptions *subscriptions)
{
    struct hl_table_entry *entry = NULL;
    TAILQ_INIT(&subscriptions->sent);
    while ((entry = hl_table_next(&subscriptions->channels, entry)) != NULL)
        channel_of(entry)->state = CHANNEL_OFF;
    reconcile_all(subscriptions);
}

/* Returns 1 if the loss is news, that is, worth a report. If an open link ends while the link for commands goes on
 * working, the server cut it, most often because a burst of messages was more than it keeps for a subscriber. That
 * will happen again, so only the first cut is news, until the command link is lost as well. The command link reports a
 * stranger, so here a stranger is no news. */
static int note_loss(struct hl_subscriptions *subscriptions, const struct hl_reply *refusal)
{
    int was_open = subscriptions->was_open, was_reported = subscriptions->is_cut_reported;
    subscriptions->was_open = 0;
    if (was_open)
        subscriptions->is_cut_reported = 1;
    if (refusal && hl_stranger_named(refusal->bytes, refusal->length))
        return 0;
    return subscriptions->session.failures <= 1 && !(was_open && was_reported);
}

static void on_close(void *arg, const char *why, const struct hl_reply *refusal, uint64_t retry_us)
{
    struct hl_subscriptions *subscriptions = arg;
    struct hl_text what;
    int was_open = subscriptions->was_open;
    lose_all(subscriptions);
    hl_words_subscriptions_lost(&what, why, was_open);
    if (note_loss(subscriptions, refusal))
        hl_trace(subscriptions->host, HL_NODE_FAULT,
                 &(struct hl_fact){.node = subscriptions->session.options->endpoint.name,
                                   .detail = what.bytes,
                                   .retry_us = retry_us});
}

/* Runs when the earliest of these is due: an overdue answer, the next check of all channels, the next keep-alive. If
 * nothing has come for too long, the link is given up if a command is unanswered; otherwise a keep-alive is sent. */
static void on_due(void *arg, uint64_t due_us)
{
    struct hl_subscriptions *subscriptions = arg;
    struct hl_session *session = &subscriptions->session;
    uint64_t now_us = hl_now_us(subscriptions->host), quiet_us = now_us - subscriptions->active_at_us;
    uint64_t timeout_us = subscriptions->timeout_us;
    (void)due_us;
    reconcile_all(subscriptions);
    const struct hl_channel *oldest = TAILQ_FIRST(&subscriptions->sent);
    if (oldest && quiet_us >= timeout_us && now_us - oldest->sent_us >= timeout_us)
        hl_session_break(session, hl_words_subscription_timed_out);
    else if (oldest)
        hl_session_wake_at(session, now_us + timeout_us / 4);
    else if (quiet_us < subscriptions->keepalive_us)
        hl_session_wake_at(session, subscriptions->active_at_us + subscriptions->keepalive_us);
    else
        send_wanted(subscriptions->probe);
}

static struct hl_channel *channel_new(struct hl_subscriptions *subscriptions, const char *name, size_t length)
{
    struct hl_channel *channel = hl_memory_new(&subscriptions->host->memory, sizeof *channel + length);
    if (!channel)
        return NULL;
    memcpy(channel->name, name, length);
    channel->length = length;
    channel->subscriptions = subscriptions;
    TAILQ_INIT(&channel->listeners);
    if (hl_table_add(&subscriptions->channels, &channel->entry, channel->name, length) == 0)
        return channel;
    hl_memory_free(&subscriptions->host->memory, channel);
    return NULL;
}

int hl_subscriptions_init(struct hl_subscriptions *subscriptions, struct hl_host *host,
                          const struct hl_session_options *options, uint32_t timeout_ms, uint32_t keepalive_ms)
{
    /* there is no on_fault, because the command session reports the same */
    static const struct hl_session_events events = {on_open, on_reply, on_close, NULL, on_due, NULL};
    static const char probe[] = "hilock:probe";
    *subscriptions = (struct hl_subscriptions){.host = host, .timeout_us = (uint64_t)timeout_ms * 1000,
                                               .keepalive_us = (uint64_t)keepalive_ms * 1000};
    TAILQ_INIT(&subscriptions->sent);
    hl_table_init(&subscriptions->channels, &host->memory, hl_random_next(&host->random),
                  hl_random_next(&host->random));
    subscriptions->probe = channel_new(subscriptions, probe, sizeof probe - 1);
    if (subscriptions->probe && hl_session_init(&subscriptions->session, host, options, &events, subscriptions) == 0)
        return 0;
    hl_subscriptions_done(subscriptions);
    return -1;
}

int hl_subscriptions_is_idle(const struct hl_subscriptions *subscriptions)
{
    const struct hl_table_entry *entry = NULL;
    const struct hl_listener *listener;
    while ((entry = hl_table_next(&subscriptions->channels, entry)) != NULL) {
        const struct hl_channel *channel = HL_CONTAINER(entry, const struct hl_channel, entry);
        if (!is_wanted(channel) && !is_probe(channel))
            return 0;
        TAILQ_FOREACH(listener, &channel->listeners, entry)
            if (!listener->may_rest)
                return 0;
    }
    return 1;
}

void hl_subscriptions_rest(struct hl_subscriptions *subscriptions)
{
    hl_session_stop(&subscriptions->session);
    lose_all(subscriptions);
}

void hl_subscriptions_done(struct hl_subscriptions *subscriptions)
{
    struct hl_table_entry *entry;
    hl_session_done(&subscriptions->session);
    while ((entry = hl_table_next(&subscriptions->channels, NULL)) != NULL) {
        struct hl_channel *channel = channel_of(entry);
        while (is_wanted(channel))
            hl_listener_close(TAILQ_FIRST(&channel->listeners));
        forget(channel);
    }
}

int hl_subscriptions_has(const struct hl_subscriptions *subscriptions, const char *name, size_t length)
{
    struct hl_table_entry *entry = hl_table_find(&subscriptions->channels, name, length);
    return entry && channel_of(entry)->state == CHANNEL_ON;
}

struct hl_listener *hl_listener_open(struct hl_subscriptions *subscriptions, const char *name, size_t length,
                                     hl_channel_fn *on_event, void *arg)
{
    struct hl_table_entry *found = hl_table_find(&subscriptions->channels, name, length);
    struct hl_channel *channel = found ? channel_of(found) : channel_new(subscriptions, name, length);
    struct hl_listener *listener = channel ? hl_memory_new(&subscriptions->host->memory, sizeof *listener) : NULL;
    if (!listener && channel && !found)
        forget(channel);
    if (!listener)
        return NULL;
    *listener = (struct hl_listener){.channel = channel, .on_event = on_event, .arg = arg};
    TAILQ_INSERT_TAIL(&channel->listeners, listener, entry);
    hl_subscriptions_start(subscriptions);
    if (channel->state == CHANNEL_OFF || channel->state == CHANNEL_REFUSED)
        send_wanted(channel);
    return listener;
}

/* Sends nothing at once: in a forked child the parent shares the link, and the channel may be wanted again in a
 * moment. */
void hl_listener_close(struct hl_listener *listener)
{
    if (!listener)
        return;
    struct hl_channel *channel = listener->channel;
    struct hl_subscriptions *subscriptions = channel->subscriptions;
    if (subscriptions->next == listener)
        subscriptions->next = TAILQ_NEXT(listener, entry);
    TAILQ_REMOVE(&channel->listeners, listener, entry);
    hl_memory_free(&subscriptions->host->memory, listener);
    if (!is_wanted(channel))
        hl_session_wake_at(&subscriptions->session, hl_now_us(subscriptions->host) + AGAIN_US);
}

const struct hl_subscriptions *hl_listener_where(const struct hl_listener *it) { return it->channel->subscriptions; }

int hl_listener_is_on(const struct hl_listener *listener) { return listener->channel->state == CHANNEL_ON; }
