/* SPDX-License-Identifier: BSD-3-Clause */
/* plan - see plan.h. */
#include "world/plan.h"

#include <stdlib.h>
#include <string.h>

static int matches(const struct plan *plan, const struct hl_link *link, const char *word)
{
    if ((plan->on && strcmp(plan->on, word) != 0) || (plan->at && plan->at != link->place->store))
        return 0;
    return plan->on_stream == 0 || (plan->on_stream > 0) == link->is_stream;
}

static void meet(struct plan *plan, struct net_fate *fate)
{
    switch (plan->act) {
    case PLAN_NOTHING: break;
    case PLAN_REFUSE:
        fate->refusal = say_error("%s", plan->error);
        fate->back_us = plan->us;
        break;
    case PLAN_INSTEAD: fate->refusal = say_again(plan->reply); break;
    case PLAN_ANSWER: fate->answer = say_again(plan->reply); break;
    case PLAN_DELAY_REQUEST: fate->there_us = plan->us; break;
    case PLAN_DELAY_ANSWER: fate->back_us = plan->us; break;
    case PLAN_HOLD: fate->held_by = plan; break;
    case PLAN_LOSE_REQUEST: fate->is_lost = 1; break;
    case PLAN_LOSE_ANSWER: fate->answer_is_lost = 1; break;
    case PLAN_RESET_BEFORE: fate->resets_before = 1; break;
    case PLAN_RESET_AFTER: fate->resets_after = 1; break;
    case PLAN_STRAY:
        fate->is_stray = 1;
        fate->there_us = plan->us;
        break;
    }
}

static void decide(void *arg, const struct hl_link *link, struct message *request)
{
    const char *word = store_word(request->argc, request->argv, request->lengths);
    struct plans *plans = arg;
    struct plan *plan;
    TAILQ_FOREACH(plan, &plans->list, entry)
    {
        if (!matches(plan, link, word) || plan->seen++ < plan->after ||
            (plan->times != PLAN_ALWAYS && plan->met >= plan->times))
            continue;
        plan->met++;
        meet(plan, &request->fate);
        return;
    }
}

void plans_init(struct plans *plans, struct net *net)
{
    plans->net = net;
    TAILQ_INIT(&plans->list);
    net->decide = decide;
    net->arg = plans;
}

void plans_done(struct plans *plans)
{
    struct plan *plan;
    plans->net->decide = NULL;
    while ((plan = TAILQ_FIRST(&plans->list)) != NULL) {
        TAILQ_REMOVE(&plans->list, plan, entry);
        say_free(plan->reply);
        free(plan);
    }
}

struct plan *plan_add(struct plans *plans, struct plan given)
{
    struct plan *plan = malloc(sizeof *plan);
    if (!plan)
        abort();
    *plan = given;
    plan->times = given.times ? given.times : 1;
    TAILQ_INSERT_TAIL(&plans->list, plan, entry);
    return plan;
}

void plan_end(struct plan *plan) { plan->times = 0; }

void plan_let_go(struct plans *plans, struct plan *plan)
{
    plan_end(plan);
    net_let_go(plans->net, plan);
}
