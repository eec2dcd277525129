/* SPDX-License-Identifier: BSD-3-Clause */
/* hearsay - what a gate knows of its name: what the store said last, to whom, and what is heard on the channels; and for how long one may
 * sleep on that. With several masters a gate listens at each of them. */
#include "base/plant.h"
#include "lock/ballot.h"
#include "lock/courtesy.h"
#include "lock/fair.h"
#include "lock/gate_inside.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/replicas.h"
#include "lock/words.h"

enum { SAFETY_POLL_US = 5000000, RETRY_US = 50000, RETRY_STEPS_MAX = 5, SILENCES_MAX = 5, SILENCE_US = 200000 };
enum { HOLDER_MAX = 255 };

/* ---- what the store said ---- */

static int is_another(const struct hl_gate *gate, const struct hl_asked *asked)
{
    return !gate->holder || strlen(gate->holder) != asked->holder_length || memcmp(gate->holder, asked->holder, asked->holder_length) != 0;
}

static void keep(struct hl_core *core, char **text, const char *bytes, size_t length, size_t length_max)
{
    hl_memory_free(&core->host.memory, *text);
    *text = bytes ? hl_memory_copy(&core->host.memory, bytes, length < length_max ? length : length_max) : NULL;
}

void hl_gate_hear(struct hl_core *core, const struct hl_acquire *acquire, const struct hl_asked *asked)
{
    struct hl_gate *gate = hl_acquire_name(acquire)->gate;
    struct hl_text note;
    gate->asker = acquire->lock->terms->kind;
    note = hl_words_of_server(core, asked->quote ? asked->quote : "", asked->quote_length);
    keep(core, &gate->note, asked->quote ? note.bytes : NULL, strlen(note.bytes), sizeof note.bytes);
    if (asked->answer != ASKED_HELD)
        return;
    if (is_another(gate, asked))
        hl_courtesy_done(&gate->courtesy);
    keep(core, &gate->holder, asked->holder, asked->holder_length, HOLDER_MAX);
    gate->has_no_ttl = asked->has_no_ttl;
    gate->left_until_us = hl_now_us(&core->host) + asked->left_ms * 1000;
}

unsigned hl_gate_silences(const struct hl_name *name) { return hl_gate_at(name) ? name->gate->silences : 0; }

void hl_gate_learn(struct hl_core *core, const struct hl_acquire *acquire, const struct hl_asked *asked)
{
    struct hl_gate *gate = hl_acquire_name(acquire)->gate;
    if (!asked->is_verdict)
        hl_gate_hear(core, acquire, asked);
    gate->faults = asked->answer == ASKED_FAULT ? gate->faults + 1 : 0;
    if (asked->answer == ASKED_HELD && asked->is_verdict && !asked->is_split && !HL_PLANTED(LOSERS_YIELD_LONGER))
        gate->yields = 0; /* one of them has won: the next race begins anew for all */
    gate->silences = asked->answer != ASKED_UNANSWERED ? 0 : gate->silences + (gate->silences < SILENCES_MAX);
    switch (asked->answer) {
    case ASKED_GRANTED: break;
    case ASKED_HELD: gate->known = HILOCK_TIMED_OUT; break;
    case ASKED_FAULT: gate->known = asked->fault.status; break;
    case ASKED_UNANSWERED: gate->known = HILOCK_UNREACHABLE; break;
    }
}

int hl_gate_knows_held(const struct hl_name *name)
{
    const struct hl_gate *gate = hl_gate_at(name);
    return name->hold || (gate && gate->known == HILOCK_TIMED_OUT && gate->waiting);
}

/* So many requests have been out for longer than any answer takes that the others are too few. */
static int is_silent(struct hl_core *core, const struct hl_gate *gate, const struct hl_acquire *acquire)
{
    const struct hl_acquire *head = acquire->lock->terms->kind->has_queue || acquire->is_try ? acquire : TAILQ_FIRST(&gate->line);
    const struct hl_hold *hold = head ? head->hold : NULL;
    unsigned silent = 0;
    for (unsigned i = 0; hold && i < hold->parts_count; i++) {
        const struct hl_request *request = &hold->parts[i].request;
        silent += request->place == REQUEST_SENT && hl_now_us(&core->host) - request->sent_us > SILENCE_US;
    }
    return hold && silent > (unsigned)(hold->parts_count - hold->needed);
}

static int is_of_another_kind(const struct hl_gate *gate, const struct hl_acquire *acquire)
{
    return gate->known == HILOCK_WRONG_KIND && gate->asker != acquire->lock->terms->kind;
}

/* Granted to it, and replicas are asked: who stands behind it need not know of replicas. */
static int is_taken_by_head(const struct hl_gate *gate, const struct hl_acquire *acquire)
{
    const struct hl_acquire *head = gate ? TAILQ_FIRST(&gate->line) : NULL;
    return head && head != acquire && hl_replicas_are_asked(head->hold);
}

static hilock_status known_status(struct hl_core *core, const struct hl_gate *gate, const struct hl_acquire *acquire)
{
    const struct hl_name *name = hl_acquire_name(acquire);
    if (name->hold || is_taken_by_head(gate, acquire))
        return HILOCK_TIMED_OUT;
    if (!gate || !hl_route_can_decide(core->route, name->bytes, name->length) || is_silent(core, gate, acquire) || is_of_another_kind(gate, acquire))
        return HILOCK_UNREACHABLE;
    if (gate->known == HILOCK_NOT_REPLICATED && !acquire->lock->terms->replicas)
        return HILOCK_TIMED_OUT;
    if (gate->known == HILOCK_OK)
        return acquire->is_unconfirmed ? HILOCK_NOT_REPLICATED : HILOCK_UNREACHABLE;
    return gate->known;
}

struct hl_known hl_gate_known(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = hl_acquire_name(acquire);
    const struct hl_gate *gate = hl_gate_at(name);
    struct hl_known known = {known_status(core, gate, acquire), "", 0, ""};
    if (gate && gate->holder && known.status == HILOCK_TIMED_OUT && !name->hold) {
        known.holder = gate->holder;
        known.holder_remaining_ms = hl_span_ms(hl_left_us(gate->left_until_us, hl_now_us(&core->host)));
    }
    known.note = gate && gate->note ? gate->note : "";
    return known;
}

/* ---- listening ---- */

/* News is written down even while a request is out: its answer may be older than the news. Of those in the store's queue it concerns who is next
 * there, and who has not heard its place yet: behind the first one that has another place nobody is. */
void hl_gate_news(struct hl_gate *gate)
{
    struct hl_acquire *acquire;
    gate->news_us = hl_now_us(&gate->core->host);
    hl_gate_advance(gate, 1);
    TAILQ_FOREACH(acquire, &gate->queued, line)
    {
        if (hl_fair_of(acquire)->position > 1)
            break;
        hl_fair_wake(hl_fair_of(acquire), 0);
    }
}

static unsigned heard_at(const struct hl_gate *gate)
{
    unsigned heard = 0;
    for (unsigned i = 0; i < hl_route_members(gate->core->route); i++)
        heard += gate->channels[i] && hl_listener_is_on(gate->channels[i]);
    return heard;
}

/* From one master at least comes word of every release of so many votes as a hold needs. */
static unsigned enough_to_hear(const struct hl_route *route) { return route->masters ? route->masters - route->needed + 1u : 1u; }

/* All who wait hear of a release at the same time, and from every master: the first of the line here asks in order (ballot.h). Whose lease is too
 * short for that comes at random, not again while it lasts. */
static void line_up(struct hl_gate *gate)
{
    struct hl_core *core = gate->core;
    struct hl_acquire *head = TAILQ_FIRST(&gate->line);
    uint64_t span_us = hl_courtesy_span_us(core, gate->name);
    if (!head || !core->route->masters)
        return;
    head->halvings = 1;
    if (head->hold && !hl_ballot_can_order(head) && gate->courtesy.until_us + span_us < hl_now_us(&core->host))
        hl_courtesy_for(&gate->courtesy, core, hl_random_below(&core->host.random, (1 + gate->name->crowd) * span_us));
}

/* All who wait for this name come within as many turns as they are. */
static void cut_pause(struct hl_gate *gate)
{
    struct hl_core *core = gate->core;
    uint64_t most_us = (1 + gate->name->crowd) * hl_courtesy_span_us(core, gate->name);
    uint64_t left_us = hl_left_us(gate->yields_until_us, hl_now_us(&core->host));
    if (gate->courtesy.until_us == gate->yields_until_us && left_us > most_us)
        hl_courtesy_for(&gate->courtesy, core, hl_random_below(&core->host.random, most_us));
}

static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_gate *gate = arg;
    (void)message;
    switch (event) {
    case HL_CHANNEL_ON:
        gate->is_deaf = 0;
        if (!HL_PLANTED(R7_NO_SECOND_TRY) && heard_at(gate) == enough_to_hear(gate->core->route))
            hl_gate_news(gate);
        break;
    case HL_CHANNEL_MESSAGE:
        hl_trace(&gate->core->host, HL_WAKEUP, &(struct hl_fact){.name = gate->name->bytes});
        cut_pause(gate);
        hl_courtesy_go_on(&gate->courtesy, gate->core, gate->name);
        line_up(gate);
        if (!HL_PLANTED(WAKE_IGNORED))
            hl_gate_news(gate);
        break;
    case HL_CHANNEL_OFF: break;
    case HL_CHANNEL_REFUSED:
        gate->is_deaf = 1;
        hl_gate_news(gate); /* whoever sleeps counts on messages: it polls from here on */
        break;
    }
}

/* A channel that lingers is on at once, but what came before somebody listened is lost: that too asks for a second try. */
void hl_gate_listen(struct hl_gate *gate)
{
    const struct hl_name *name = gate->name;
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX];
    size_t length = hl_channel_write(channel, name->bytes, name->length);
    for (unsigned i = 0; i < hl_route_members(gate->core->route); i++) {
        struct hl_node *node = hl_route_member(gate->core->route, name->bytes, name->length, i);
        if (gate->channels[i])
            continue;
        gate->channels[i] = hl_listener_open(&node->subscription, channel, length, on_channel, gate);
        if (gate->channels[i] && hl_listener_is_on(gate->channels[i]) && !HL_PLANTED(R7_NO_SECOND_TRY))
            gate->news_us = hl_now_us(&gate->core->host);
    }
}

int hl_gate_may_sleep(const struct hl_acquire *acquire, uint64_t asked_us)
{
    struct hl_gate *gate = hl_acquire_name(acquire)->gate;
    if (!acquire->lock->terms->is_polling)
        hl_gate_listen(gate);
    return gate->news_us <= asked_us || HL_PLANTED(R7_NEWS_FORGOTTEN);
}

/* A part of the pause is chance, so that those who poll do not come in step. Also for who listens, where the server refuses it. */
static uint64_t poll_us(struct hl_gate *gate, const struct hl_terms *terms)
{
    uint64_t jitter_us = (uint64_t)terms->poll_jitter_ms * 1000;
    if (!terms->is_polling && !gate->is_deaf)
        return SAFETY_POLL_US;
    return (uint64_t)terms->poll_min_ms * 1000 + hl_random_below(&gate->core->host.random, jitter_us + 1);
}

/* Until the holder's lease is over at the server (the last millisecond is still his), or the next poll, or the safety poll: other kinds of
 * lock on this name exclude us but do not publish here. Until the restart guard is over. After another fault: a pause that doubles. */
uint64_t hl_gate_sleep_us(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = hl_acquire_name(acquire);
    struct hl_gate *gate = name->gate;
    uint64_t now_us = hl_now_us(&core->host), left_us = hl_left_us(gate->left_until_us, now_us) + 1000, step;
    uint64_t guard_us = hl_route_guard_left_us(core->route, name->bytes, name->length, now_us);
    if (HL_PLANTED(SLEEPS_FOR_EVER))
        return (uint64_t)1 << 50;
    if (gate->known == HILOCK_UNWRITABLE && guard_us)
        return guard_us;
    if (gate->known == HILOCK_TIMED_OUT) {
        step = poll_us(gate, acquire->lock->terms);
        return gate->has_no_ttl || left_us > step || HL_PLANTED(POLL_OVERSLEEPS) ? step : left_us;
    }
    step = (uint64_t)RETRY_US << (gate->faults < RETRY_STEPS_MAX ? gate->faults : RETRY_STEPS_MAX);
    return step / 2 + hl_random_below(&core->host.random, step / 2);
}
