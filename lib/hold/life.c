/* SPDX-License-Identifier: BSD-3-Clause */
/* life - see life.h. */
#include "hold/life.h"

#include "base/container.h"
#include "base/contract.h"
#include "base/plant.h"
#include "hold/asking.h"
#include "hold/downgrade.h"
#include "hold/ending.h"
#include "hold/recheck.h"
#include "hold/shortening.h"
#include "hold/watchdog.h"
#include "node/clock.h"

/* ---- what the cells of the table do that is in no other file ---- */

static void tell_alarm(struct hl_hold *hold) { hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_ALARM}); }

static void go_on(struct hl_hold *hold, const struct hl_answer *answer)
{
    (void)answer;
    hl_ending_go_on(hold);
}

/* Nothing is under way, so there is nothing to answer. */
static void no_answer(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    (void)said, (void)answer;
    HL_REQUIRE(hl_life_in[hold->state].under_way != UNDER_WAY_NOTHING);
}

static void no_silence(struct hl_hold *hold, const struct hl_answer *answer) { no_answer(hold, NULL, answer); }

/* ---- the table ---- */

/* In each row: the request that is under way, the state after that, and the state in which the hold ends; then what its
 * alarm, an answer and no answer do. */
const struct hl_life hl_life_in[] = {
    [HOLD_IDLE]           = {UNDER_WAY_NOTHING, HOLD_IDLE,        HOLD_RELEASE_DUE,
                             tell_alarm,          no_answer,             no_silence},

    [HOLD_ASKING]         = {UNDER_WAY_ACQUIRE, HOLD_WAITING,     HOLD_AWAITS_ACQUIRE,
                             tell_alarm,          hl_asking_on_answer,   hl_asking_on_silence},
    [HOLD_WAITING]        = {UNDER_WAY_NOTHING, HOLD_WAITING,     HOLD_RELEASE_DUE,
                             tell_alarm,          no_answer,             no_silence},
    [HOLD_CONFIRMING]     = {UNDER_WAY_WAIT,    HOLD_WAITING,     HOLD_RELEASE_DUE,
                             tell_alarm,          hl_asking_on_wait,     hl_asking_on_no_wait},

    [HOLD_HELD]           = {UNDER_WAY_NOTHING, HOLD_HELD,        HOLD_RELEASE_DUE,
                             hl_watchdog_on_due,  no_answer,             no_silence},
    [HOLD_PUSHED]         = {UNDER_WAY_ACQUIRE, HOLD_HELD,        HOLD_AWAITS_STALE,
                             hl_watchdog_on_late, hl_watchdog_on_stale,  hl_watchdog_on_no_stale},
    [HOLD_RENEWING]       = {UNDER_WAY_RENEWAL, HOLD_HELD,        HOLD_AWAITS_RENEWAL,
                             hl_watchdog_on_late, hl_watchdog_on_answer, hl_watchdog_on_silence},
    [HOLD_OVERDUE]        = {UNDER_WAY_RENEWAL, HOLD_HELD,        HOLD_AWAITS_RENEWAL,
                             hl_watchdog_on_late, hl_watchdog_on_answer, hl_watchdog_on_unheard},

    [HOLD_AWAITS_ACQUIRE] = {UNDER_WAY_ACQUIRE, HOLD_RELEASE_DUE, HOLD_AWAITS_ACQUIRE,
                             hl_ending_go_on,     hl_ending_on_acquire,  hl_ending_on_unheard},
    [HOLD_AWAITS_STALE]   = {UNDER_WAY_ACQUIRE, HOLD_RELEASE_DUE, HOLD_AWAITS_STALE,
                             hl_ending_go_on,     hl_ending_on_stale,    hl_ending_on_unheard},
    [HOLD_AWAITS_RENEWAL] = {UNDER_WAY_RENEWAL, HOLD_RELEASE_DUE, HOLD_AWAITS_RENEWAL,
                             hl_ending_go_on,     hl_ending_on_renewal,  go_on},
    [HOLD_LOST]           = {UNDER_WAY_NOTHING, HOLD_LOST,        HOLD_LOST,
                             hl_ending_go_on,     no_answer,             no_silence},
    [HOLD_RELEASING]      = {UNDER_WAY_RELEASE, HOLD_RELEASE_DUE, HOLD_RELEASING,
                             hl_ending_go_on,     hl_ending_on_release,  hl_ending_on_silence},
    [HOLD_RELEASE_DUE]    = {UNDER_WAY_NOTHING, HOLD_RELEASE_DUE, HOLD_RELEASE_DUE,
                             hl_ending_go_on,     no_answer,             no_silence},
    [HOLD_GONE]           = {UNDER_WAY_NOTHING, HOLD_GONE,        HOLD_GONE,
                             hl_ending_go_on,     no_answer,             no_silence}
};

/* ---- what goes out ---- */

static void about(const struct hl_request *request, struct hl_about *ret)
{
    *ret = hl_name_about(HL_CONTAINER(request, const struct hl_hold, request)->name);
}

static struct hl_renew_params renew_params(struct hl_hold *hold)
{
    struct hl_renew_params params = {.lease_ms = hold->asked_ms,
                                     .token = hold->token, .most_ms = hl_shortening_begin(hold)};
    if (params.most_ms)
        params.not_after_ms = hl_clock_not_after_ms(hold->request.node, hold->request.sent_us);
    return params;
}

/* A release ends what the store keeps of an id: its lease, or its place in the queue. It never keeps both, because no
 * script makes a place for an id that holds the name. If a push granted the hold, a heartbeat from before may have
 * found that grant lapsed, and have taken a place again. */
static struct hl_release_params release_params(const struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    struct hl_release_params params = {
        .is_second = hold->stage >= STAGE_SECOND,
        .is_sharded = hl_node_parent(hold->request.node)->subscriptions.is_sharded,
        .token_ttl_ms = core->limits.token_ttl_ms,
    };
    if (hold->kept != KEPT_OURS || hold->is_queued)
        params.entry = hl_hold_entry(hold);
    if (hl_has_queue(hold->terms))
        params.own = hl_hold_own_listeners(core, hold->name, hold->request.node);
    hl_asking_add_carried(hold, &params);
    return params;
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    struct hl_hold *hold = HL_CONTAINER(request, struct hl_hold, request);
    const struct hl_core *core = hl_hold_core(hold);
    const struct hl_kind *kind = hold->terms->kind;
    struct hl_target words = {hold->name->bytes, hold->name->length, core->uuid,
                              HL_PLANTED(R2_ID_REUSED) ? 1 : hold->id, core->label};
    enum hl_under_way what = (enum hl_under_way)hl_life_in[hold->state].under_way;
    hold->asked_ms = what == UNDER_WAY_RENEWAL ? hl_watchdog_begin_round(hold) : hold->terms->lease_ms;
    switch (what) {
    case UNDER_WAY_NOTHING:
    case UNDER_WAY_WAIT: break; /* the node sends WAIT, once for all holds that wait for it */
    case UNDER_WAY_ACQUIRE: {
        const struct hl_acquire_params params = hl_asking_params(hold);
        hold->form = kind->acquire(command, &words, &params) & 7u;
        break;
    }
    case UNDER_WAY_RENEWAL: {
        if (hl_downgrade_is_due(hold) && !hl_shortening_may_run(hold)) {
            hold->form = hl_downgrade_encode(hold, command, &words) & 7u;
            break;
        }
        const struct hl_renew_params params = renew_params(hold);
        hold->form = kind->renew(command, &words, &params) & 7u;
        break;
    }
    case UNDER_WAY_RELEASE: {
        const struct hl_release_params params = release_params(hold);
        hold->form = kind->release(command, &words, &params) & 7u;
        break;
    }
    }
}

/* ---- what comes ---- */

/* Decodes the answer as the kind of the lock prescribes. */
static struct hl_response read_answer(const struct hl_hold *hold, const struct hl_reply *reply)
{
    const struct hl_kind *kind = hold->terms->kind;
    switch ((enum hl_under_way)hl_life_in[hold->state].under_way) {
    case UNDER_WAY_NOTHING:
    case UNDER_WAY_WAIT: break; /* of WAIT the reply itself is read */
    case UNDER_WAY_ACQUIRE: return kind->acquired(reply, (enum hl_form)hold->form);
    case UNDER_WAY_RENEWAL: return kind->renewed(reply, (enum hl_form)hold->form);
    case UNDER_WAY_RELEASE: return kind->released(reply, (enum hl_form)hold->form);
    }
    return hl_response_fault(reply);
}

static void done(struct hl_request *request, const struct hl_answer *answer)
{
    struct hl_hold *hold = HL_CONTAINER(request, struct hl_hold, request);
    const struct hl_life *life = &hl_life_in[hold->state];
    struct hl_response said;
    if (answer->reply) {
        said = read_answer(hold, answer->reply);
        hl_holds_read_news(hl_hold_core(hold), request->node, hold->name, &said);
        if (said.handover.window_ms || (said.has_more && life->under_way == UNDER_WAY_RELEASE))
            hl_recheck_follow(hold, &said);
    }
    if (!answer->was_sent && life->under_way == UNDER_WAY_ACQUIRE)
        hl_hold_mark_unsent(hold);
    hl_hold_enter(hold, (enum hl_hold_state)life->then);
    if (answer->reply)
        life->on_answer(hold, &said, answer);
    else
        life->on_silence(hold, answer);
}

static void on_alarm(struct hl_alarm *alarm)
{
    struct hl_hold *hold = HL_CONTAINER(alarm, struct hl_hold, alarm);
    hl_life_in[hold->state].on_alarm(hold);
}

int hl_life_init(struct hl_core *core)
{
    static const struct hl_request_ops ops = {about, encode, done};
    core->holds->requests = &ops;
    return hl_alarms_init(&core->holds->alarms, &core->host, on_alarm);
}
