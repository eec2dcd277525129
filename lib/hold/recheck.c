/* SPDX-License-Identifier: BSD-3-Clause */
/* recheck - see recheck.h. */
#include "hold/recheck.h"

#include "base/container.h"
#include "node/clock.h"

/* This much, and 1 % of the window for clocks that run apart, is added to the time for which a client may rely on its
 * grant. */
enum { CLOCK_US = 3000 };

enum recheck_state {
    RECHECK_WAITING,  /* it is not sent; its alarm is set for the end of a window */
    RECHECK_SENT,
    RECHECK_DUE_AGAIN /* it is sent, and another one follows when it is answered */
};

struct hl_recheck {
    struct hl_request request;
    struct hl_alarm alarm;      /* set for the end of a window, if one is awaited */
    struct hl_core *core;
    struct hl_name *name;       /* referenced */
    struct hl_terms *terms;     /* the terms whose scripts the recheck uses; referenced */
    LIST_ENTRY(hl_recheck) entry;
    uint64_t id;
    struct hl_lapsed lapsed;    /* the grant whose window is awaited, and then those that earlier rechecks found lapsed,
                                   the newest first. Empty: no grant was made, and the end of a pause is
                                   awaited for which the name was left to other programs */
    enum recheck_state state;
};

static struct hl_recheck *recheck_of(struct hl_request *request)
{
    return HL_CONTAINER(request, struct hl_recheck, request);
}

static void recheck_free(struct hl_recheck *recheck)
{
    struct hl_core *core = recheck->core;
    LIST_REMOVE(recheck, entry);
    recheck->name->recheck = NULL;
    hl_alarm_end(&core->holds->recheck_alarms, &recheck->alarm);
    hl_name_unref(core, &core->host.memory, recheck->name);
    hl_terms_unref(recheck->terms);
    hl_memory_free(&core->host.memory, recheck);
    if (--core->holds->rechecks == 0 && core->phase != PHASE_OPEN)
        hl_host_wake(&core->host);
}

static void about(const struct hl_request *request, struct hl_about *ret)
{
    *ret = hl_name_about(HL_CONTAINER(request, const struct hl_recheck, request)->name);
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    struct hl_recheck *recheck = recheck_of(request);
    const struct hl_core *core = recheck->core;
    const struct hl_target target = {recheck->name->bytes, recheck->name->length, core->uuid, recheck->id, core->label};
    recheck->terms->kind->recheck(command, &target, &(struct hl_recheck_params){
        .token_ttl_ms = core->limits.token_ttl_ms, .lapsed = &recheck->lapsed,
        .is_sharded = hl_node_parent(request->node)->subscriptions.is_sharded,
        .own = hl_hold_own_listeners(recheck->core, recheck->name, request->node)});
}

static void send_recheck(struct hl_recheck *recheck)
{
    struct hl_core *core = recheck->core;
    int is_sent = recheck->state != RECHECK_WAITING;
    recheck->state = is_sent ? RECHECK_DUE_AGAIN : RECHECK_SENT;
    if (is_sent)
        return;
    recheck->id = ++core->id_last;
    hl_route_submit(core->route, &recheck->request, core->limits.command_timeout_ms, HL_REQUEST_URGENT);
}

/* Adds the client of this grant to the front of the list, or moves it there: each client is named once, with its latest
 * grant. */
static void add_client(struct hl_lapsed *lapsed, const struct hl_handover *handover)
{
    size_t length = handover->holder_length < HL_HOLDER_MAX ? handover->holder_length : HL_HOLDER_MAX;
    char client[HL_UUID_LENGTH + 1] = "";
    unsigned i = 0;
    memcpy(client, handover->holder, length < HL_UUID_LENGTH ? length : HL_UUID_LENGTH);
    memcpy(lapsed->holder, handover->holder, length);
    lapsed->holder[length] = '\0';
    while (i < lapsed->count && strcmp(lapsed->of[i].client, client) != 0)
        i++;
    if (i == lapsed->count && lapsed->count < HL_LAPSED_MAX)
        lapsed->count++;
    i -= i == HL_LAPSED_MAX;
    memmove(&lapsed->of[1], &lapsed->of[0], i * sizeof lapsed->of[0]);
    memcpy(lapsed->of[0].client, client, sizeof client);
    lapsed->of[0].at_us = handover->at_us;
    lapsed->window_ms = handover->window_ms;
}

/* Sets the alarm for the end of the window, or of the pause, that an answer shows. If that answer is to a recheck, the
 * clients whose grants lapsed before stay in the list, because their places may alternate in the queue. */
static void note(struct hl_recheck *recheck, const struct hl_handover *handover, int is_of_recheck)
{
    struct hl_core *core = recheck->core;
    uint64_t wait_us = handover->window_ms * 1000;
    if (!is_of_recheck || !handover->at_us)
        recheck->lapsed.count = 0;
    if (handover->at_us) {
        add_client(&recheck->lapsed, handover);
        wait_us = (uint64_t)hl_queued_usable_ms(handover->window_ms) * 1000;
        wait_us += wait_us / 100 + CLOCK_US;
    }
    hl_alarm_set(&core->holds->recheck_alarms, &recheck->alarm, hl_now_us(&core->host) + wait_us);
}

static void done(struct hl_request *request, const struct hl_answer *answer)
{
    struct hl_recheck *recheck = recheck_of(request);
    struct hl_response said = {.result = HL_NO};
    int is_due_again = recheck->state == RECHECK_DUE_AGAIN;
    recheck->state = RECHECK_WAITING;
    if (answer->reply)
        said = recheck->terms->kind->released(answer->reply, HL_FORM_SCRIPT);
    hl_holds_read_news(recheck->core, request->node, recheck->name, &said);
    if (said.handover.window_ms)
        note(recheck, &said.handover, 1);
    else if (said.has_more || is_due_again)
        send_recheck(recheck);
    else if (!hl_alarm_is_set(&recheck->alarm))
        recheck_free(recheck);
}

static void on_alarm(struct hl_alarm *alarm)
{
    send_recheck(HL_CONTAINER(alarm, struct hl_recheck, alarm));
}

int hl_rechecks_init(struct hl_core *core)
{
    LIST_INIT(&core->holds->recheck_list);
    return hl_alarms_init(&core->holds->recheck_alarms, &core->host, on_alarm);
}

/* Returns NULL without memory, or if the kind has no queue. */
static struct hl_recheck *recheck_for(struct hl_core *core, struct hl_name *name, struct hl_terms *terms)
{
    static const struct hl_request_ops ops = {about, encode, done};
    struct hl_recheck *recheck = name->recheck;
    if (recheck || !hl_has_queue(terms))
        return recheck;
    recheck = hl_memory_new(&core->host.memory, sizeof *recheck);
    if (!recheck || hl_alarm_begin(&core->holds->recheck_alarms, &recheck->alarm) != 0) {
        hl_memory_free(&core->host.memory, recheck);
        return NULL;
    }
    recheck->request.ops = &ops;
    recheck->core = core;
    recheck->name = name;
    recheck->terms = terms;
    name->refs++;
    terms->refs++;
    name->recheck = recheck;
    LIST_INSERT_HEAD(&core->holds->recheck_list, recheck, entry);
    core->holds->rechecks++;
    return recheck;
}

void hl_recheck_follow(struct hl_hold *hold, const struct hl_response *said)
{
    struct hl_core *core = hl_hold_core(hold);
    struct hl_recheck *recheck;
    if (hl_hold_alone_of(hold->name)) /* its release will find lapsed grants */
        return;
    if (!said->handover.window_ms)
        hl_recheck_now(core, hold->name, hold->terms);
    else if ((recheck = recheck_for(core, hold->name, hold->terms)) != NULL)
        note(recheck, &said->handover, 0);
}

void hl_recheck_now(struct hl_core *core, struct hl_name *name, struct hl_terms *terms)
{
    struct hl_recheck *recheck = recheck_for(core, name, terms);
    if (recheck)
        send_recheck(recheck);
}

/* A recheck that is already on the wire finds the name held and changes nothing. */
void hl_recheck_cancel(struct hl_name *name)
{
    struct hl_recheck *recheck = name->recheck;
    if (recheck->state == RECHECK_WAITING || hl_node_withdraw(&recheck->request))
        recheck_free(recheck);
    else {
        recheck->state = RECHECK_SENT;
        hl_alarm_stop(&recheck->core->holds->recheck_alarms, &recheck->alarm);
    }
}

void hl_rechecks_clear(struct hl_core *core)
{
    while (!LIST_EMPTY(&core->holds->recheck_list)) {
        hl_request_forget(&LIST_FIRST(&core->holds->recheck_list)->request);
        recheck_free(LIST_FIRST(&core->holds->recheck_list));
    }
}
