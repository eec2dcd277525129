/* SPDX-License-Identifier: BSD-3-Clause */
/* life - see life.h. */
#include "hold/life.h"

#include "base/container.h"
#include "base/contract.h"
#include "hold/asking.h"
#include "hold/ending.h"
#include "hold/recheck.h"
#include "hold/watchdog.h"

/* For each state, which request is under way, and the state that follows when it is answered, or will not be. */
static const struct {
    uint8_t under_way, then;
} requests[] = {
    [HOLD_IDLE]           = {UNDER_WAY_NOTHING, HOLD_IDLE},

    [HOLD_ASKING]         = {UNDER_WAY_ACQUIRE, HOLD_WAITING},
    [HOLD_WAITING]        = {UNDER_WAY_NOTHING, HOLD_WAITING},
    [HOLD_CONFIRMING]     = {UNDER_WAY_WAIT,    HOLD_WAITING},

    [HOLD_HELD]           = {UNDER_WAY_NOTHING, HOLD_HELD},
    [HOLD_PUSHED]         = {UNDER_WAY_ACQUIRE, HOLD_HELD},
    [HOLD_RENEWING]       = {UNDER_WAY_RENEWAL, HOLD_HELD},
    [HOLD_OVERDUE]        = {UNDER_WAY_RENEWAL, HOLD_HELD},

    [HOLD_AWAITS_ACQUIRE] = {UNDER_WAY_ACQUIRE, HOLD_RELEASE_DUE},
    [HOLD_AWAITS_STALE]   = {UNDER_WAY_ACQUIRE, HOLD_RELEASE_DUE},
    [HOLD_AWAITS_RENEWAL] = {UNDER_WAY_RENEWAL, HOLD_RELEASE_DUE},
    [HOLD_LOST]           = {UNDER_WAY_NOTHING, HOLD_LOST},
    [HOLD_RELEASING]      = {UNDER_WAY_RELEASE, HOLD_RELEASE_DUE},
    [HOLD_RELEASE_DUE]    = {UNDER_WAY_NOTHING, HOLD_RELEASE_DUE},
    [HOLD_GONE]           = {UNDER_WAY_NOTHING, HOLD_GONE},
};

enum hl_under_way hl_life_under_way(const struct hl_hold *hold)
{
    return (enum hl_under_way)requests[hold->state].under_way;
}

/* ---- what the cells of the table do that is in no other file ---- */

static void tell_alarm(struct hl_hold *hold) { hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_ALARM}); }

/* The owner of the hold judges this answer: it may show another token than the push did. If it shows a place, the
 * heartbeat was executed before the grant, or when that had lapsed. */
static void tell_stale(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    hold->is_queued |= said->position != 0;
    hl_hold_tell(hold, &(struct hl_hold_event){.what = EVENT_STALE_ANSWER, .said = said, .answer = answer});
}

static void tell_no_stale(struct hl_hold *hold, const struct hl_answer *answer)
{
    tell_stale(hold, &(struct hl_response){.result = HL_FAULT}, answer);
}

static void go_on(struct hl_hold *hold, const struct hl_answer *answer)
{
    (void)answer;
    hl_ending_go_on(hold);
}

/* Nothing is under way, so there is nothing to answer. */
static void no_answer(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer)
{
    (void)said, (void)answer;
    HL_REQUIRE(hl_life_under_way(hold) != UNDER_WAY_NOTHING);
}

static void no_silence(struct hl_hold *hold, const struct hl_answer *answer) { no_answer(hold, NULL, answer); }

/* A hold ends once. */
static void no_end(struct hl_hold *hold, const struct hl_withdrawal *how)
{
    (void)how;
    HL_REQUIRE(!hl_hold_is_ending(hold));
}

/* ---- the table ---- */

/* What happens in a state. When an answer comes, or none will, nothing is under way any more: on_answer and on_silence
 * find the hold in the state without a request that follows. */
static const struct hl_life {
    void (*on_alarm)(struct hl_hold *hold);
    void (*on_answer)(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);
    void (*on_silence)(struct hl_hold *hold, const struct hl_answer *answer);
    void (*on_end)(struct hl_hold *hold, const struct hl_withdrawal *how);
} lives[] = {
    /*                       its alarm            an answer              no answer               its end */
    [HOLD_IDLE]           = {tell_alarm,          no_answer,             no_silence,             hl_ending_at_rest},

    [HOLD_ASKING]         = {tell_alarm,          hl_asking_on_answer,   hl_asking_on_silence,   hl_ending_in_acquire},
    [HOLD_WAITING]        = {tell_alarm,          no_answer,             no_silence,             hl_ending_at_rest},
    [HOLD_CONFIRMING]     = {tell_alarm,          hl_asking_on_wait,     hl_asking_on_no_wait,   hl_ending_in_wait},

    [HOLD_HELD]           = {hl_watchdog_on_due,  no_answer,             no_silence,             hl_ending_at_rest},
    [HOLD_PUSHED]         = {hl_watchdog_on_late, tell_stale,            tell_no_stale,          hl_ending_in_stale},
    [HOLD_RENEWING]       = {hl_watchdog_on_late, hl_watchdog_on_answer, hl_watchdog_on_silence, hl_ending_in_renewal},
    [HOLD_OVERDUE]        = {hl_watchdog_on_late, hl_watchdog_on_answer, hl_watchdog_on_unheard, hl_ending_in_renewal},

    [HOLD_AWAITS_ACQUIRE] = {hl_ending_go_on,     hl_ending_on_acquire,  hl_ending_on_unheard,   hl_ending_in_loss},
    [HOLD_AWAITS_STALE]   = {hl_ending_go_on,     hl_ending_on_stale,    hl_ending_on_unheard,   hl_ending_in_loss},
    [HOLD_AWAITS_RENEWAL] = {hl_ending_go_on,     hl_ending_on_renewal,  go_on,                  hl_ending_in_loss},
    [HOLD_LOST]           = {hl_ending_go_on,     no_answer,             no_silence,             hl_ending_in_loss},
    [HOLD_RELEASING]      = {hl_ending_go_on,     hl_ending_on_release,  hl_ending_on_silence,   no_end},
    [HOLD_RELEASE_DUE]    = {hl_ending_go_on,     no_answer,             no_silence,             no_end},
    [HOLD_GONE]           = {hl_ending_go_on,     no_answer,             no_silence,             no_end},
};

void hl_life_end(struct hl_hold *hold, const struct hl_withdrawal *how) { lives[hold->state].on_end(hold, how); }

/* ---- what comes ---- */

/* Decodes the answer as the kind of the lock prescribes. */
static struct hl_response read_answer(const struct hl_hold *hold, const struct hl_reply *reply)
{
    const struct hl_kind *kind = hold->terms->kind;
    switch (hl_life_under_way(hold)) {
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
    const struct hl_life *life = &lives[hold->state];
    enum hl_under_way what = hl_life_under_way(hold);
    struct hl_response said;
    if (answer->reply) {
        said = read_answer(hold, answer->reply);
        hl_holds_read_news(hl_hold_core(hold), request->node, hold->name, &said);
        if (said.handover.window_ms || (said.has_more && what == UNDER_WAY_RELEASE))
            hl_recheck_follow(hold, &said);
    }
    if (!answer->was_sent && what == UNDER_WAY_ACQUIRE)
        hl_hold_mark_unsent(hold);
    hl_hold_enter(hold, (enum hl_hold_state)requests[hold->state].then);
    if (answer->reply)
        life->on_answer(hold, &said, answer);
    else
        life->on_silence(hold, answer);
}

static void on_alarm(struct hl_alarm *alarm)
{
    struct hl_hold *hold = HL_CONTAINER(alarm, struct hl_hold, alarm);
    lives[hold->state].on_alarm(hold);
}

int hl_life_init(struct hl_core *core)
{
    static const struct hl_request_ops ops = {hl_asking_about, hl_asking_encode, done};
    core->holds->requests = &ops;
    return hl_alarms_init(&core->holds->alarms, &core->host, on_alarm);
}
