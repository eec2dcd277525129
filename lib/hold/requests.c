/* SPDX-License-Identifier: BSD-3-Clause */
/* requests - see requests.h. */
#include "hold/requests.h"

#include "base/contract.h"
#include "base/plant.h"
#include "hold/asking.h"
#include "hold/ending.h"
#include "hold/extend.h"
#include "hold/watchdog.h"

static struct hl_hold *hold_of(struct hl_request *request)
{
    return (struct hl_hold *)(void *)((char *)request - offsetof(struct hl_hold, request));
}

static void about(const struct hl_request *request, struct hl_about *ret)
{
    *ret = hl_name_about(hold_of((struct hl_request *)(uintptr_t)request)->name);
}

static struct hl_params wants_of(const struct hl_hold *hold)
{
    struct hl_node *node = hold->request.node;
    int halves = HL_PLANTED(LEASE_SHORTER) && hold->ask == ASK_ACQUIRE;
    if (HL_PLANTED(RENEWS_SHORTER) && hold->ask == ASK_RENEW)
        halves = 1;
    return (struct hl_params){
        .lease_ms = hold->asked_ms / (halves ? 2 : 1),
        .not_after_ms = hold->ask != ASK_ACQUIRE || HL_PLANTED(NOT_AFTER_MISSING)
                            ? 0 : hl_node_not_after_ms(node, hold->request.sent_us),
        .token_ttl_ms = hl_hold_core(hold)->limits.token_ttl_ms,
        .reserved = hl_hold_reserved(hold),
        .is_second = hold->way >= WAY_SECOND,
        .token = hold->token,
        .is_sharded = hl_node_parent(node)->subscription.is_sharded,
    };
}

/* The end of a hold, or of a place in a queue. A release leaves the name to other programs that listen: a queue that is
 * never empty would keep them out for ever. A vote of a quorum is left to no other program: it is of no use alone. */
static void say_end(const struct hl_hold *hold, struct hl_params *params)
{
    const struct hl_name *name = hold->name;
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX];
    size_t length;
    /* late bytes of its acquire may have taken a second place: then the script searches the whole queue */
    int has_doubt = hold->haunted_until_us && !HL_PLANTED(PLACE_OF_HOLD_LEFT);
    if (has_doubt || hold->kept != KEPT_OURS)
        params->ticket = hold->is_queued && hold->token && !has_doubt ? hold->token : HL_TICKET_UNKNOWN;
    if (!hold->terms->kind->has_queue)
        return;
    if (hl_hold_core(hold)->route->masters || HL_PLANTED(FAIR_NO_YIELD))
        params->own = HL_OWN_ALL;
    else {
        length = hl_key_channel_write(channel, name->bytes, name->length);
        params->own = hl_subscription_hears(&hl_node_parent(hold->request.node)->subscription, channel, length) != 0;
    }
}

/* From here on it may be at the store. */
static void say_next(const struct hl_hold *hold, struct hl_params *params)
{
    struct hl_core *core = hl_hold_core(hold);
    struct hl_hold *next = core->owner->next(hold);
    struct hl_params more;
    int was_haunted;
    if (!next || params->is_second || hl_node_is_guarded(hold->request.node))
        return;
    next->ask = ASK_ACQUIRE;
    next->form = HL_FORM_SCRIPT;
    next->request.node = hold->request.node;
    next->request.sent_us = hold->request.sent_us;
    next->asked_ms = next->terms->lease_ms;
    more = wants_of(next);
    core->owner->asks(next, &more);
    was_haunted = next->haunted_until_us != 0;
    hl_ending_haunt(next);
    next->is_in_order = !was_haunted;
    params->next_id = next->id;
    params->lease_ms = more.lease_ms;
    params->reserved = more.reserved;
    params->number = more.number;
    params->channel = more.channel;
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    struct hl_hold *hold = hold_of(request);
    const struct hl_core *core = hl_hold_core(hold);
    const struct hl_kind *kind = hold->terms->kind;
    struct hl_params params;
    struct hl_target words = {hold->name->bytes, hold->name->length, core->uuid,
                              HL_PLANTED(R2_ID_REUSED) ? 1 : hold->id, core->label};
    hold->asked_ms = hold->ask == ASK_RENEW ? hl_extend_round(hold) : hold->terms->lease_ms;
    params = wants_of(hold);
    words.id -= HL_PLANTED(RELEASE_OF_ANOTHER) && hold->ask == ASK_RELEASE;
    switch ((enum hl_ask)hold->ask) {
    case ASK_ACQUIRE:
        core->owner->asks(hold, &params);
        hold->form = (uint8_t)kind->acquire(command, &words, &params);
        break;
    case ASK_CONFIRM: break; /* the node reports it, for all at once */
    case ASK_RENEW: hold->form = (uint8_t)kind->renew(command, &words, &params); break;
    case ASK_RELEASE:
        say_end(hold, &params);
        say_next(hold, &params);
        hold->form = (uint8_t)kind->release(command, &words, &params);
        break;
    }
}

static void done(struct hl_request *request, const struct hl_answer *answer)
{
    struct hl_hold *hold = hold_of(request);
    HL_REQUIRE(hold->ask != ASK_CONFIRM || hold->state == HOLD_ASKING); /* an end withdraws that request */
    if (hold->ask == ASK_ACQUIRE && !answer->was_sent)
        hl_hold_unsent(hold);
    switch ((enum hl_hold_state)hold->state) {
    case HOLD_IDLE:
    case HOLD_ASKING: hl_asking_answered(hold, answer); break;
    case HOLD_HELD:
        if (hold->ask == ASK_ACQUIRE)
            hl_hold_core(hold)->owner->crossed(hold, answer);
        else
            hl_watchdog_answered(hold, answer);
        break;
    case HOLD_ENDING:
        if (hold->ask == ASK_RELEASE)
            hl_ending_released(hold, answer);
        else
            hl_ending_answered(hold, answer);
        break;
    }
}

static void on_alarm(struct hl_alarm *alarm)
{
    struct hl_hold *hold = (struct hl_hold *)(void *)((char *)alarm - offsetof(struct hl_hold, alarm));
    switch ((enum hl_hold_state)hold->state) {
    case HOLD_IDLE:
    case HOLD_ASKING: hl_hold_core(hold)->owner->resume(hold->lock->acquire); break;
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
