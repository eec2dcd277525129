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

static void decide(void *arg, const struct hl_link *link, struct message *request)
{
    const char *word = store_word(request->argc, request->argv, request->lengths);
    struct net_fate *fate = &request->fate;
    struct plans *plans = arg;
    struct plan *plan;
    TAILQ_FOREACH(plan, &plans->list, entry)
    {
        if (!matches(plan, link, word) || plan->seen++ < plan->after ||
            (plan->times != PLAN_ALWAYS && plan->met >= plan->times))
            continue;
        plan->met++;
        *fate = plan->fate;
        fate->answer = fate->answer ? say_again(fate->answer) : NULL;
        fate->refusal = plan->error ? say_error("%s", plan->error) : fate->refusal ? say_again(fate->refusal) : NULL;
        fate->held_by = plan->holds ? plan : NULL;
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
        say_free(plan->fate.refusal);
        say_free(plan->fate.answer);
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
