/* SPDX-License-Identifier: BSD-3-Clause */
/* requests - see requests.h. */
#include "lock/requests.h"

#include "base/plant.h"
#include "lock/asking.h"
#include "lock/ending.h"
#include "lock/extend.h"
#include "lock/hold.h"
#include "lock/part.h"
#include "lock/renewal.h"
#include "lock/replicas.h"
#include "lock/watchdog.h"

static struct hl_hold *hold_of(struct hl_request *request)
{
    struct hl_part *part = (struct hl_part *)(void *)request;
    return (struct hl_hold *)(void *)((char *)(part - part->index) - offsetof(struct hl_hold, parts));
}

static void about(const struct hl_request *request, struct hl_about *ret)
{
    const struct hl_part *part = (const struct hl_part *)(const void *)request;
    *ret = (struct hl_about){part->name->bytes, part->name->length, part->index};
}

/* A part that is healed takes part in the round: it is asked for as much as the others. */
static uint32_t lease_of(const struct hl_hold *hold, const struct hl_part *part)
{
    int is_healed = hold->state == HOLD_HELD && hl_hold_is_quorum(hold) && !HL_PLANTED(QUORUM_HEALED_SHORT), is_in_round = part->ask == PART_RENEW || is_healed;
    return is_in_round ? hl_hold_asked_ms(hold) : hold->terms->lease_ms;
}

static struct hl_wants wants_of(const struct hl_hold *hold, const struct hl_part *part)
{
    const struct hl_core *core = hl_hold_core(hold);
    const struct hl_node *node = part->request.node;
    int halves = (HL_PLANTED(LEASE_SHORTER) && part->ask == PART_ACQUIRE) || (HL_PLANTED(RENEWS_SHORTER) && part->ask == PART_RENEW);
    return (struct hl_wants){
        .lease_ms = lease_of(hold, part) / (halves ? 2 : 1),
        .not_after_ms = HL_PLANTED(NOT_AFTER_MISSING) ? 0 : hl_node_not_after_ms(node, hl_now_us(&core->host)),
        .token_ttl_ms = core->limits.token_ttl_ms,
        .reserved = hl_hold_reserved(hold),
        .is_second = part->is_second,
        .token = part->token,
        .is_extended = hl_extend_was_asked(hold) && !HL_PLANTED(SIMPLE_SHORTENS),
        .natives = node->natives,
        .is_sharded = hl_node_home(part->request.node)->subscription.is_sharded,
    };
}

static int hears_releases(const struct hl_part *part)
{
    const struct hl_name *name = part->name;
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX];
    size_t length = hl_key_channel_write(channel, name->bytes, name->length);
    return hl_subscription_hears(&hl_node_home(part->request.node)->subscription, channel, length);
}

/* The end of a hold, or of a place in a queue. Now and then a release leaves the name to other kinds of lock: a queue that is never empty would
 * keep them out for ever. */
static void say_end(const struct hl_hold *hold, const struct hl_part *part, struct hl_wants *wants)
{
    wants->ticket = hold->is_queued && part->token ? part->token : HL_TICKET_UNKNOWN;
    if (!hold->terms->kind->yields || part->state != PART_OURS || HL_PLANTED(FAIR_NO_YIELD))
        return;
    wants->coin = 1 + (unsigned)hl_random_below(&hl_hold_core(hold)->host.random, HL_COIN_SIDES);
    wants->hears = hears_releases(part);
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    struct hl_part *part = (struct hl_part *)(void *)request;
    struct hl_hold *hold = hold_of(request);
    const struct hl_kind *kind = hold->terms->kind;
    struct hl_wants wants = wants_of(hold, part);
    struct hl_words words = {part->name->bytes, part->name->length, hl_hold_core(hold)->uuid, HL_PLANTED(R2_ID_REUSED) ? 1 : hold->id};
    if (kind->has_natives)
        hl_lacks_natives_wanted(request->node);
    words.id -= HL_PLANTED(RELEASE_OF_ANOTHER) && part->ask == PART_RELEASE;
    switch ((enum hl_part_ask)part->ask) {
    case PART_ACQUIRE:
        hl_hold_core(hold)->owner->asks(hold, part, &wants);
        hl_extend_sent(hold, part, lease_of(hold, part));
        part->form = (uint8_t)kind->acquire(command, &words, &wants);
        break;
    case PART_CONFIRM: break; /* said for many at once, by the node */
    case PART_RENEW:
        hl_extend_sent(hold, part, lease_of(hold, part));
        part->form = (uint8_t)kind->renew(command, &words, &wants);
        break;
    case PART_RELEASE:
        say_end(hold, part, &wants);
        part->form = (uint8_t)kind->release(command, &words, &wants);
        break;
    }
}

static void on_acquire_done(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer)
{
    if (!answer->was_sent && part->state != PART_OURS)
        part->state = part->is_haunted || (hold->is_queued && !HL_PLANTED(FAIR_UNSENT_LEAVES_QUEUE)) ? PART_MAYBE
                                                                                                      : PART_CLEAR;
    if (hold->state == HOLD_ENDING || hold->state == HOLD_RETURNING)
        hl_ending_answered(hold, part, answer);
    else if (hold->state == HOLD_HELD && hl_hold_is_quorum(hold))
        hl_renewal_joined(hold, part, answer);
    else if (hold->state == HOLD_HELD)
        hl_hold_core(hold)->owner->crossed(hold, part, answer);
    else
        hl_asking_answered(hold, part, answer);
}

static void done(struct hl_request *request, const struct hl_answer *answer)
{
    struct hl_part *part = (struct hl_part *)(void *)request;
    struct hl_hold *hold = hold_of(request);
    switch ((enum hl_part_ask)part->ask) {
    case PART_ACQUIRE: on_acquire_done(hold, part, answer); break;
    case PART_CONFIRM: hl_replicas_answered(hold, part, answer); break;
    case PART_RENEW: hl_renewal_answered(hold, part, answer); break;
    case PART_RELEASE: hl_ending_released(hold, part, answer); break;
    }
}

static void on_alarm(struct hl_alarm *alarm)
{
    struct hl_hold *hold = (struct hl_hold *)(void *)((char *)alarm - offsetof(struct hl_hold, alarm));
    switch ((enum hl_hold_state)hold->state) {
    case HOLD_IDLE:
    case HOLD_ASKING:
    case HOLD_RETURNING: hl_hold_core(hold)->owner->tick(hold); break;
    case HOLD_HELD: hl_watchdog_tick(hold); break;
    case HOLD_ENDING: hl_ending_tick(hold); break;
    }
}

int hl_requests_init(struct hl_core *core)
{
    static const struct hl_request_ops ops = {about, encode, done};
    core->hold_requests = &ops;
    return hl_alarms_init(&core->hold_alarms, &core->host, on_alarm);
}
