/* SPDX-License-Identifier: BSD-3-Clause */
/* chaos.c - half-way: a holder is killed, another sleeps past its lease.
 *
 *   BEFORE -> KILLING -> SUSPENDING -> ASLEEP -> AWAKE -> DONE
 *
 * To hit a process while it really holds a lock it is stopped first, and then the store is asked: if one of the items'
 * locks names it as holder, the resource has seen the token of that hold (it has read the stock) and the ledger has no
 * line for it (it has not written), it is in the middle of a sale. The store shows the token of the grant; where one
 * handle of the shop has handed the hold on to the next, the resource has seen a higher one since. The store is asked
 * twice, as commands sent before it stopped may have been on their way. If it is not, it goes on, and another is tried
 * a few milliseconds later. So what is recorded here as held was held.
 *
 * The sleeper wakes when the lease is over and others have sold its items: only then a late write does harm. AWAKE
 * ends when the ledger has for each of its holds that the loss was reported and the write refused, or after a patience:
 * the verdict looks at the ledger, not at this stage. */
#include "chaos.h"

#include "report.h"

#include <string.h>

enum { PATIENCE_MS = 6000 };

static bool is_in_mid_sale(const struct chaos *chaos, const struct branch *branch, const struct shelf *shelf,
                           struct hold hold)
{
    size_t count;
    const struct entry *entries = ledger_entries(chaos->ledger, &count);
    return strncmp(shelf->holder, branch->uuid, strlen(branch->uuid)) == 0 && shelf->fence >= shelf->token &&
           shelf->left > 0 && !audit_has(entries, count, ENTRY_SALE, hold) &&
           !audit_has(entries, count, ENTRY_REFUSED, hold);
}

static int find_holds(struct chaos *chaos, const struct branch *branch, struct chaos_victim *ret_victim)
{
    struct shelf shelves[ITEMS_MAX];
    if (ledger_shelves(chaos->ledger, shelves) != 0 || ledger_follow(chaos->ledger) != 0)
        return -1;
    ret_victim->count = 0;
    for (unsigned item = 0; item < ITEMS_MAX; item++) {
        struct hold hold = {item, shelves[item].fence};
        if (is_in_mid_sale(chaos, branch, &shelves[item], hold))
            ret_victim->holds[ret_victim->count++] = hold;
    }
    return 0;
}

/* Stops the next open shop in the row, and keeps it stopped if it is in the middle of a sale. -1: a fault. */
static int catch_holder(struct chaos *chaos, struct chaos_victim *victim)
{
    struct branch *branch = &chaos->branches[++chaos->tries % SHOPS];
    if (branch->state != BRANCH_OPEN)
        return 0;
    if (!branch_suspend(branch) || find_holds(chaos, branch, victim) != 0 || find_holds(chaos, branch, victim) != 0)
        return -1;
    if (victim->count == 0) {
        branch_resume(branch);
        return 0;
    }
    victim->branch = branch;
    return 0;
}

static void move(struct chaos *chaos, enum chaos_stage stage, uint64_t now_ms)
{
    chaos->stage = stage;
    chaos->since_ms = now_ms;
}

static int kill_holder(struct chaos *chaos, uint64_t now_ms)
{
    struct chaos_victim *victim = &chaos->killed;
    if (catch_holder(chaos, victim) != 0)
        return -1;
    if (!victim->branch)
        return 0;
    branch_kill(victim->branch);
    if (ledger_now(chaos->ledger, &chaos->killed_ms) != 0)
        return -1;
    report_event("kill -9 of shop %c in the middle of %u sale%s: item %u, token %llu", victim->branch->name,
                 victim->count, victim->count == 1 ? "" : "s", victim->holds[0].item,
                 (unsigned long long)victim->holds[0].token);
    chaos->reopen_ms = now_ms + RESTART_MS;
    move(chaos, CHAOS_SUSPENDING, now_ms);
    return 0;
}

static int suspend_holder(struct chaos *chaos, uint64_t now_ms)
{
    struct chaos_victim *victim = &chaos->suspended;
    if (catch_holder(chaos, victim) != 0)
        return -1;
    if (!victim->branch)
        return 0;
    report_event("shop %c is suspended in the middle of %u sale%s: item %u, token %llu", victim->branch->name,
                 victim->count, victim->count == 1 ? "" : "s", victim->holds[0].item,
                 (unsigned long long)victim->holds[0].token);
    move(chaos, CHAOS_ASLEEP, now_ms);
    return 0;
}

static bool others_have_been_there(const struct chaos_victim *victim, const struct shelf shelves[ITEMS_MAX])
{
    for (unsigned i = 0; i < victim->count; i++)
        if (shelves[victim->holds[i].item].fence <= victim->holds[i].token)
            return false;
    return true;
}

static int wake_sleeper(struct chaos *chaos, uint64_t now_ms)
{
    struct shelf shelves[ITEMS_MAX];
    uint64_t asleep_ms = now_ms - chaos->since_ms;
    if (asleep_ms < chaos->plan->suspended_ms)
        return 0;
    if (ledger_shelves(chaos->ledger, shelves) != 0)
        return -1;
    if (!others_have_been_there(&chaos->suspended, shelves) && asleep_ms < chaos->plan->suspended_ms + PATIENCE_MS)
        return 0;
    report_event("shop %c runs again after %llu ms; its lease was %u ms", chaos->suspended.branch->name,
                 (unsigned long long)asleep_ms, chaos->plan->lease_ms);
    branch_resume(chaos->suspended.branch);
    move(chaos, CHAOS_AWAKE, now_ms);
    return 0;
}

static void await_word(struct chaos *chaos, uint64_t now_ms)
{
    const struct chaos_victim *victim = &chaos->suspended;
    size_t count;
    const struct entry *entries = ledger_entries(chaos->ledger, &count);
    bool is_all_told = true;
    for (unsigned i = 0; i < victim->count; i++)
        is_all_told = is_all_told && audit_has(entries, count, ENTRY_LOST, victim->holds[i]) &&
                      audit_has(entries, count, ENTRY_REFUSED, victim->holds[i]);
    if (!is_all_told && now_ms - chaos->since_ms < PATIENCE_MS)
        return;
    report_event(is_all_told ? "shop %c learned of each loss, and the till refused each of its late writes"
                             : "shop %c did not learn of each loss, or a late write was not refused",
                 victim->branch->name);
    move(chaos, CHAOS_DONE, now_ms);
}

int chaos_step(struct chaos *chaos, uint64_t now_ms)
{
    int status = 0;
    if (chaos->reopen_ms != 0 && now_ms >= chaos->reopen_ms) {
        chaos->reopen_ms = 0;
        if (branch_start(chaos->killed.branch) != 0)
            return -1;
    }
    switch (chaos->stage) {
    case CHAOS_BEFORE: move(chaos, CHAOS_KILLING, now_ms); break;
    case CHAOS_KILLING: status = kill_holder(chaos, now_ms); break;
    case CHAOS_SUSPENDING: status = suspend_holder(chaos, now_ms); break;
    case CHAOS_ASLEEP: status = wake_sleeper(chaos, now_ms); break;
    case CHAOS_AWAKE: await_word(chaos, now_ms); break;
    case CHAOS_DONE: break;
    }
    return status;
}
