/* SPDX-License-Identifier: BSD-3-Clause */
/* gate - see gate.h. */
#include "lock/gate.h"

#include "base/contract.h"
#include "base/plant.h"
#include "lock/courtesy.h"
#include "lock/deliver.h"
#include "lock/fair.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/multi.h"

enum { SAFETY_POLL_US = 5000000, RETRY_US = 50000, RETRY_STEPS_MAX = 5, YIELDS_MAX = 5, SILENCE_US = 200000, NOTE_MAX = 200, HOLDER_MAX = 255, PACE_US = 20 };

TAILQ_HEAD(hl_line, hl_acquire);

struct hl_gate {
    struct hl_core *core;
    struct hl_name *name;
    struct hl_line line;           /* who wait, in order of arrival; the last ones, and now and then the first, are untold that it is held */
    struct hl_line aside, asking;  /* tries: that have not asked, and that have */
    struct hl_line queued;         /* of kinds with a queue at the store: each asks for itself */
    unsigned waiting;              /* of all but tries */
    struct hl_channel *channel;
    int is_deaf;                   /* no subscription to be had: poll */
    uint64_t news_us;              /* latest message, or begin of listening: an older request proves nothing */
    struct hl_courtesy courtesy;   /* to others who wait */
    hilock_status known;           /* see struct hl_known; OK: nothing yet */
    const struct hl_kind *asker;   /* whose answer that was: a key of the wrong kind for one is right for another */
    unsigned faults;               /* in a row */
    unsigned yields;               /* since the name was last free */
    uint64_t left_until_us;        /* end of the holder's lease, as last told */
    int has_no_ttl;
    char *holder, *note;           /* NULL: "" */
};

static void advance(struct hl_gate *gate, int wakes);

static struct hl_gate *gate_at(const struct hl_name *name) { return name->is_awaited ? name->gate : NULL; }

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

void hl_gate_learn(struct hl_core *core, const struct hl_acquire *acquire, const struct hl_asked *asked)
{
    struct hl_gate *gate = hl_acquire_name(acquire)->gate;
    uint64_t now_us = hl_now_us(&core->host);
    gate->asker = acquire->lock->terms->kind;
    keep(core, &gate->note, asked->quote, asked->quote_length, NOTE_MAX);
    gate->faults = asked->answer == ASKED_FAULT ? gate->faults + 1 : 0;
    switch (asked->answer) {
    case ASKED_GRANTED: break;
    case ASKED_HELD:
        if (is_another(gate, asked))
            hl_courtesy_done(&gate->courtesy);
        keep(core, &gate->holder, asked->holder, asked->holder_length, HOLDER_MAX);
        gate->known = HILOCK_TIMED_OUT;
        gate->has_no_ttl = asked->has_no_ttl;
        gate->left_until_us = now_us + asked->left_ms * 1000;
        break;
    case ASKED_FAULT: gate->known = asked->fault.status; break;
    case ASKED_UNANSWERED: gate->known = HILOCK_UNREACHABLE; break;
    }
}

int hl_gate_knows_held(const struct hl_name *name)
{
    const struct hl_gate *gate = gate_at(name);
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

struct hl_known hl_gate_known(struct hl_core *core, const struct hl_acquire *acquire)
{
    const struct hl_name *name = hl_acquire_name(acquire);
    const struct hl_gate *gate = gate_at(name);
    struct hl_node *node = hl_route_node(core->route, name->bytes, name->length);
    struct hl_known known = {HILOCK_UNREACHABLE, "", 0, ""};
    if (name->hold)
        known.status = HILOCK_TIMED_OUT;
    else if (gate && node->is_up && gate->known != HILOCK_OK && !is_silent(core, gate, acquire) && !is_of_another_kind(gate, acquire))
        known.status = gate->known;
    if (gate && gate->holder && known.status == HILOCK_TIMED_OUT && !name->hold) {
        known.holder = gate->holder;
        known.holder_remaining_ms = hl_span_ms(hl_left_us(gate->left_until_us, hl_now_us(&core->host)));
    }
    known.note = gate && gate->note ? gate->note : "";
    return known;
}

/* ---- listening ---- */

/* News is written down even while a request is out: its answer may be older than the news. */
static void on_news(struct hl_gate *gate)
{
    struct hl_acquire *acquire;
    gate->news_us = hl_now_us(&gate->core->host);
    advance(gate, 1);
    TAILQ_FOREACH(acquire, &gate->queued, line)
        if (hl_fair_of(acquire)->position <= 1)
            hl_fair_wake(hl_fair_of(acquire), 0);
}

/* What may have passed unheard is asked for by everybody who stands in the store's queue; paced, for they may be many. */
static void wake_queued(struct hl_gate *gate)
{
    struct hl_acquire *acquire;
    TAILQ_FOREACH(acquire, &gate->queued, line)
        hl_fair_wake(hl_fair_of(acquire), (uint64_t)gate->waiting * PACE_US);
}

static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_gate *gate = arg;
    (void)message;
    switch (event) {
    case HL_CHANNEL_ON:
        gate->is_deaf = 0;
        if (!HL_PLANTED(R7_NO_SECOND_TRY))
            on_news(gate);
        break;
    case HL_CHANNEL_MESSAGE:
        hl_trace(&gate->core->host, HL_WAKEUP, &(struct hl_fact){.name = gate->name->bytes});
        hl_courtesy_go_on(&gate->courtesy, gate->core, gate->name);
        if (!HL_PLANTED(WAKE_IGNORED))
            on_news(gate);
        break;
    case HL_CHANNEL_OFF: break;
    case HL_CHANNEL_REFUSED:
        gate->is_deaf = 1;
        on_news(gate); /* whoever sleeps counts on messages: it polls from here on */
        break;
    }
}

/* A channel that lingers is on at once, but what came before somebody listened is lost: that too asks for a second try. */
static void listen(struct hl_gate *gate)
{
    struct hl_core *core = gate->core;
    struct hl_node *node = hl_route_node(core->route, gate->name->bytes, gate->name->length);
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX];
    size_t length = hl_key_tagged(channel, hl_key_channel, gate->name->bytes, gate->name->length);
    if (gate->channel)
        return;
    gate->channel = hl_channel_open(&node->subscription, channel, length, on_channel, gate);
    if (gate->channel && hl_channel_is_on(gate->channel) && !HL_PLANTED(R7_NO_SECOND_TRY))
        gate->news_us = hl_now_us(&core->host);
}

int hl_gate_may_sleep(const struct hl_acquire *acquire, uint64_t asked_us)
{
    struct hl_gate *gate = hl_acquire_name(acquire)->gate;
    if (!acquire->lock->terms->is_polling)
        listen(gate);
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
    uint64_t guard_us = hl_node_guard_left_us(hl_route_node(core->route, name->bytes, name->length), now_us);
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

/* ---- the line ---- */

static struct hl_gate *gate_of(struct hl_core *core, struct hl_name *name)
{
    struct hl_gate *gate = gate_at(name);
    if (gate)
        return gate;
    gate = hl_memory_new(&core->host.memory, sizeof *gate);
    if (!gate)
        return NULL;
    gate->core = core;
    gate->name = name;
    gate->courtesy = name->courtesy;
    TAILQ_INIT(&gate->line);
    TAILQ_INIT(&gate->aside);
    TAILQ_INIT(&gate->asking);
    TAILQ_INIT(&gate->queued);
    name->refs++;
    name->is_awaited = 1;
    name->gate = gate;
    return gate;
}

/* The last of those who stand here: nobody's turn comes when it goes. NULL: nobody does. */
static struct hl_acquire *last_of(const struct hl_gate *gate)
{
    const struct hl_line *const from[] = {&gate->line, &gate->queued, &gate->asking, &gate->aside};
    struct hl_acquire *last = NULL;
    for (size_t i = 0; !last && i < sizeof from / sizeof *from; i++)
        last = TAILQ_LAST(from[i], hl_line);
    return last;
}

static void drop_if_empty(struct hl_gate *gate)
{
    struct hl_core *core = gate->core;
    struct hl_name *name = gate->name;
    if (last_of(gate))
        return;
    hl_channel_close(gate->channel);
    name->is_awaited = 0;
    name->courtesy = gate->courtesy;
    hl_memory_free(&core->host.memory, gate->holder);
    hl_memory_free(&core->host.memory, gate->note);
    hl_memory_free(&core->host.memory, gate);
    hl_name_unref(core, &core->host.memory, name);
}

static struct hl_line *line_of(struct hl_gate *gate, enum hl_stands stands)
{
    struct hl_line *const lines[] = {NULL, &gate->line, &gate->aside, &gate->asking, &gate->queued}; /* as in the enum */
    return lines[stands];
}

static enum hl_stands stands_of(const struct hl_acquire *acquire)
{
    return acquire->lock->terms->kind->has_queue ? STANDS_QUEUED : acquire->is_try ? STANDS_ASIDE : STANDS_IN_LINE;
}

static void stand(struct hl_gate *gate, struct hl_acquire *acquire, enum hl_stands stands)
{
    struct hl_line *from = line_of(gate, (enum hl_stands)acquire->stands), *to = line_of(gate, stands);
    if (from)
        TAILQ_REMOVE(from, acquire, line);
    if (to)
        TAILQ_INSERT_TAIL(to, acquire, line);
    if (!acquire->is_try)
        gate->waiting += (unsigned)(to != NULL) - (unsigned)(from != NULL);
    acquire->stands = (uint8_t)stands;
}

static int may_ask(const struct hl_gate *gate)
{
    return (!gate->name->ending || HL_PLANTED(R4_UNDO_UNORDERED)) && !gate->name->hold;
}

static int is_ready(const struct hl_acquire *acquire, int wakes)
{
    return (acquire->state == ACQUIRE_IN_LINE || (wakes && acquire->state == ACQUIRE_SLEEPING)) && acquire->hold->state != HOLD_RETURNING;
}

/* Tries all ask; of those who wait only the first. wakes: also if it sleeps. */
static void advance(struct hl_gate *gate, int wakes)
{
    struct hl_acquire *acquire;
    while (may_ask(gate) && (acquire = TAILQ_FIRST(&gate->aside)) != NULL) {
        stand(gate, acquire, STANDS_ASKING);
        hl_acquire_ask(acquire);
    }
    acquire = TAILQ_FIRST(&gate->line);
    if (!acquire || !may_ask(gate) || !is_ready(acquire, wakes))
        return;
    if (gate->courtesy.until_us > hl_now_us(&gate->core->host))
        hl_acquire_resume_at(acquire, gate->courtesy.until_us);
    else
        hl_acquire_ask(acquire);
}

/* Who asks, or may have left something at the store, is not to be had. */
struct hl_acquire *hl_gate_next(const struct hl_name *name)
{
    const struct hl_gate *gate = gate_at(name);
    struct hl_acquire *acquire = gate ? TAILQ_FIRST(&gate->line) : NULL;
    if (acquire && acquire->state == ACQUIRE_GRANTED)
        acquire = TAILQ_NEXT(acquire, line);
    return acquire && is_ready(acquire, 1) && hl_hold_is_blank(acquire->hold) ? acquire : NULL;
}

void hl_gate_wake(struct hl_name *name) { advance(name->gate, 1); }

void hl_gate_wake_for(struct hl_acquire *acquire)
{
    struct hl_gate *gate = hl_acquire_name(acquire)->gate;
    if (acquire->is_try && acquire->state == ACQUIRE_IN_LINE)
        stand(gate, acquire, STANDS_ASIDE);
    advance(gate, 1);
}

/* A sibling holds it now: a try that has not asked yet is answered by that. */
void hl_gate_deny_tries(struct hl_name *name)
{
    struct hl_acquire *acquire;
    while (name->is_awaited && (acquire = TAILQ_FIRST(&name->gate->aside)) != NULL)
        hl_acquire_decide(acquire, HILOCK_TIMED_OUT);
}

void hl_gates_close(struct hl_core *core)
{
    struct hl_table_entry *entry = NULL, *next = hl_table_next(&core->names, NULL);
    while ((entry = next) != NULL) {
        struct hl_name *name = (struct hl_name *)(void *)entry;
        name->refs++; /* the last to leave would take the name along */
        while (name->is_awaited)
            hl_acquire_decide(last_of(name->gate), HILOCK_CLOSED);
        next = hl_table_next(&core->names, entry);
        hl_name_unref(core, &core->host.memory, name);
    }
}

static int is_untold(const struct hl_acquire *acquire) { return acquire && acquire->is_untold && acquire->state != ACQUIRE_GRANTED; }

/* Once per acquire, and then as often as it asked for. Who is not told yet came last; but the first, if it was granted when the others were. */
void hl_gate_tell_waiting(struct hl_core *core, struct hl_name *name)
{
    struct hl_line *line = &name->gate->line;
    struct hl_acquire *acquire, *first = NULL;
    if (is_untold(TAILQ_FIRST(line)))
        hl_acquire_tell_waiting(core, TAILQ_FIRST(line));
    for (acquire = TAILQ_LAST(line, hl_line); is_untold(acquire); acquire = TAILQ_PREV(acquire, hl_line, line))
        first = acquire;
    for (acquire = first; acquire; acquire = TAILQ_NEXT(acquire, line))
        hl_acquire_tell_waiting(core, acquire);
}

hilock_status hl_gate_join(struct hl_core *core, struct hl_acquire *acquire)
{
    struct hl_gate *gate = gate_of(core, hl_acquire_name(acquire));
    if (!gate)
        return HILOCK_NO_MEMORY;
    acquire->is_untold = !acquire->is_try;
    stand(gate, acquire, stands_of(acquire));
    if (acquire->lock->terms->kind->has_queue)
        hl_acquire_ask(acquire);
    else
        advance(gate, 0);
    return HILOCK_OK;
}

int hl_gate_move(struct hl_core *core, struct hl_acquire *acquire, unsigned at)
{
    struct hl_gate *gate = at == acquire->at ? NULL : gate_of(core, acquire->lock->terms->multi->of[at]);
    enum hl_stands stands = (enum hl_stands)acquire->stands;
    if (!gate)
        return at == acquire->at;
    hl_gate_leave(core, acquire);
    acquire->at = (uint8_t)at;
    stand(gate, acquire, stands);
    return 1;
}

int hl_gate_is_head(const struct hl_acquire *acquire)
{
    return acquire->is_try || TAILQ_FIRST(&hl_acquire_name(acquire)->gate->line) == acquire;
}

void hl_gate_leave(struct hl_core *core, struct hl_acquire *acquire)
{
    struct hl_gate *gate = hl_acquire_name(acquire)->gate;
    (void)core;
    stand(gate, acquire, STANDS_NOWHERE);
    advance(gate, 0);
    drop_if_empty(gate);
}

void hl_gate_yield(struct hl_core *core, struct hl_name *name)
{
    struct hl_gate *gate = name->gate;
    hl_courtesy_for(&gate->courtesy, core, hl_random_below(&core->host.random, hl_courtesy_span_us(core, name) << gate->yields));
    gate->yields += gate->yields < YIELDS_MAX;
}

void hl_gate_released(struct hl_core *core, struct hl_name *name, uint64_t listeners)
{
    struct hl_gate *gate = gate_at(name);
    hl_courtesy_begin(gate ? &gate->courtesy : &name->courtesy, core, name, listeners);
    if (!gate)
        return;
    gate->known = HILOCK_OK;
    gate->yields = 0;
    advance(gate, 1);
}

void hl_gate_retry_at(struct hl_core *core, const struct hl_node *node)
{
    struct hl_table_entry *entry = NULL;
    while ((entry = hl_table_next(&core->names, entry)) != NULL) {
        struct hl_name *name = (struct hl_name *)(void *)entry;
        if (!name->is_awaited || hl_route_node(core->route, name->bytes, name->length) != node || HL_PLANTED(R7_NO_RETRY_AT_RECONNECT))
            continue;
        on_news(name->gate);
        wake_queued(name->gate);
    }
}

/* A channel at the old node says nothing any more. */
void hl_gate_follow_all(struct hl_core *core)
{
    struct hl_table_entry *entry = NULL;
    while ((entry = hl_table_next(&core->names, entry)) != NULL) {
        struct hl_name *name = (struct hl_name *)(void *)entry;
        struct hl_gate *gate = gate_at(name);
        if (gate)
            wake_queued(gate);
        if (!gate || !gate->channel || hl_channel_where(gate->channel) == &hl_route_node(core->route, name->bytes, name->length)->subscription)
            continue;
        hl_channel_close(gate->channel);
        gate->channel = NULL;
        listen(gate);
        on_news(gate);
    }
}

void hl_gate_forget(struct hl_acquire *acquire)
{
    struct hl_gate *gate = hl_acquire_name(acquire)->gate;
    stand(gate, acquire, STANDS_NOWHERE);
    drop_if_empty(gate);
}

static void clear(struct hl_gate *gate)
{
    struct hl_acquire *acquire;
    while ((acquire = last_of(gate)) != NULL) {
        stand(gate, acquire, STANDS_NOWHERE);
        acquire->lock->acquire = NULL;
        hl_acquire_free(gate->core, acquire);
    }
    drop_if_empty(gate);
}

void hl_gates_clear(struct hl_core *core)
{
    struct hl_table_entry *entry, *next = hl_table_next(&core->names, NULL);
    while ((entry = next) != NULL) {
        struct hl_gate *gate = gate_at((struct hl_name *)(void *)entry);
        next = hl_table_next(&core->names, entry);
        if (gate)
            clear(gate);
    }
}

unsigned hl_gate_waiting(const struct hl_name *name) { return name->is_awaited ? name->gate->waiting : 0; }
