/* SPDX-License-Identifier: BSD-3-Clause */
/* groups - all groups of a client. */
#include "group/news.h"
#include "lock/walk.h"

int hl_groups_init(struct hl_core *core)
{
    TAILQ_INIT(&core->groups);
    return hl_alarms_init(&core->group_alarms, &core->host, hl_news_alarm);
}

void hl_groups_done(struct hl_core *core) { hl_alarms_done(&core->group_alarms); }

void hl_groups_close(struct hl_core *core)
{
    struct hl_group *group;
    TAILQ_FOREACH(group, &core->groups, entry)
        if (group->state == GROUP_WAITING)
            hl_group_decide(group, HILOCK_CLOSED);
}

void hl_groups_forget(struct hl_core *core)
{
    struct hl_group *group, *next;
    for (group = TAILQ_FIRST(&core->groups); group; group = next) {
        next = TAILQ_NEXT(group, entry);
        group->lock->ops->teardown(core, group->lock);
    }
}

void hl_groups_retry(struct hl_core *core)
{
    struct hl_group *group;
    TAILQ_FOREACH(group, &core->groups, entry)
        if (group->ways->node_up)
            group->ways->node_up(group);
}

void hl_groups_turn(struct hl_core *core)
{
    struct hl_group *group;
    TAILQ_FOREACH(group, &core->groups, entry)
        if (group->ways->node_down)
            group->ways->node_down(group);
}

void hl_groups_visit(const struct hl_core *core, void (*visit)(const struct hilock_lock *lock, void *arg), void *arg)
{
    const struct hl_group *group;
    hl_walk_locks(core, visit, arg);
    TAILQ_FOREACH(group, &core->groups, entry)
        if (group->state != GROUP_IDLE)
            visit(group->lock, arg);
}
