/* SPDX-License-Identifier: BSD-3-Clause */
/* notice - see notice.h. */
#include "core/notice.h"

#include "base/contract.h"
#include "base/plant.h"
#include "core/core.h"

enum { BATCH = 1000, BATCH_US = 2000 };

void hl_notices_init(struct hl_notices *notices, uint64_t (*look)(struct hl_core *core))
{
    TAILQ_INIT(&notices->losses);
    TAILQ_INIT(&notices->news);
    notices->look = look;
}

static struct hl_notice_list *list_of(struct hl_core *core, enum hl_notice_place place)
{
    struct hl_notice_list *const lists[] = {NULL, &core->notices.losses, &core->notices.news}; /* in the order of the
                                                                                                  enum */
    return lists[place];
}

static void move(struct hl_core *core, struct hl_notice *notice, enum hl_notice_place place)
{
    struct hl_notice_list *from = list_of(core, (enum hl_notice_place)notice->place), *to = list_of(core, place);
    if (from)
        TAILQ_REMOVE(from, notice, entry);
    if (to)
        TAILQ_INSERT_TAIL(to, notice, entry);
    notice->place = (uint8_t)place;
}

void hl_notice_post(struct hl_core *core, struct hl_notice *notice, unsigned bit)
{
    notice->pending |= (uint8_t)bit;
    if (notice->place == NOTICE_NOWHERE)
        move(core, notice, NOTICE_NEWS);
    hl_host_wake(&core->host);
}

void hl_notice_post_loss(struct hl_core *core, struct hl_notice *notice, unsigned bit)
{
    hl_notice_post(core, notice, bit);
    if (!HL_PLANTED(R6_LOSS_IN_LINE))
        move(core, notice, NOTICE_LOSSES);
}

void hl_notice_withdraw(struct hl_core *core, struct hl_notice *notice, unsigned bit)
{
    notice->pending &= (uint8_t)~bit;
    if (!notice->pending)
        move(core, notice, NOTICE_NOWHERE);
}

unsigned hl_notice_take(struct hl_core *core, struct hl_notice *notice)
{
    unsigned bit = notice->pending & (unsigned)-notice->pending;
    hl_notice_withdraw(core, notice, bit);
    return bit;
}

void hl_notice_cancel(struct hl_core *core, struct hl_notice *notice) { hl_notice_withdraw(core, notice, UINT8_MAX); }

/* ---- the drain ---- */

/* Losses first, even those caused by a callback of this drain; of the news only those before the marker. */
static struct hl_notice *next_notice(struct hl_core *core, int is_for_losses)
{
    struct hl_notice *notice = TAILQ_FIRST(&core->notices.losses);
    if (notice || is_for_losses)
        return notice;
    notice = TAILQ_FIRST(&core->notices.news);
    return notice == &core->notices.marker ? NULL : notice;
}

static uint64_t look(struct hl_core *core) { return core->notices.looked_us = core->notices.look(core); }

static void drain(struct hl_core *core, int is_for_losses)
{
    struct hl_notices *notices = &core->notices;
    uint64_t ends_us = look(core) + BATCH_US;
    struct hl_notice *notice;
    if (!hl_notices_are_due(core))
        return;
    move(core, &notices->marker, NOTICE_NEWS);
    for (int reported = 0; !core->is_gone && reported < BATCH &&
         (notice = next_notice(core, is_for_losses)) != NULL; reported++) {
        notice->ops->report(core, notice);
        /* too slow, but expired holds are reported now: the loop may do other work before our next turn */
        if (!core->is_gone && look(core) > ends_us && TAILQ_EMPTY(&notices->losses))
            break;
    }
    move(core, &notices->marker, NOTICE_NOWHERE);
    notices->is_behind = !core->is_gone && hl_notices_are_due(core);
    if (notices->is_behind && !is_for_losses)
        hl_host_wake_next_turn(&core->host);
}

/* One turn of the loop may bring several of our events: after a whole batch the rest waits for the next turn, except
 * losses. */
void hl_notices_deliver(struct hl_core *core)
{
    int is_next_turn = core->notices.is_behind && core->host.is_armed;
    HL_REQUIRE(!core->notices.is_delivering); /* the host leaves once, at its outermost level */
    core->notices.is_delivering = 1;
    drain(core, is_next_turn && !HL_PLANTED(BATCH_UNBOUNDED));
    core->notices.is_delivering = 0;
}

int hl_notices_are_due(const struct hl_core *core)
{
    return !TAILQ_EMPTY(&core->notices.news) || !TAILQ_EMPTY(&core->notices.losses);
}

static void forget_list(struct hl_core *core, struct hl_notice_list *list)
{
    struct hl_notice *notice;
    while ((notice = TAILQ_FIRST(list)) != NULL) {
        move(core, notice, NOTICE_NOWHERE);
        if (notice != &core->notices.marker)
            notice->ops->forget(core, notice);
    }
}

void hl_notices_forget(struct hl_core *core)
{
    forget_list(core, &core->notices.losses);
    forget_list(core, &core->notices.news);
}
