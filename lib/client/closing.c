/* SPDX-License-Identifier: BSD-3-Clause */
/* closing - see closing.h. */
#include "client/closing.h"

#include "core/lease.h"
#include "group/group.h"
#include "hold/ending.h"
#include "hold/watchdog.h"
#include "lock/inquiry.h"
#include "lock/line.h"

void hl_closing_init(struct hl_closing *closing)
{
    *closing = (struct hl_closing){.is_busy = ATOMIC_FLAG_INIT};
    atomic_init(&closing->ends_us, UINT64_MAX);
}

static void leave_soon(struct hilock_client *client)
{
    uint64_t span_us = (uint64_t)client->core.limits.command_timeout_ms * 1000, now_us = hl_now_us(&client->core.host);
    client->core.phase = PHASE_LEAVING;
    client->drain_ends_us = client->phase_ends_us;
    client->phase_ends_us = now_us + span_us;
    if (hl_left_us(client->drain_ends_us, now_us))
        span_us = hl_left_us(client->drain_ends_us, now_us) < span_us ? client->drain_ends_us - now_us : span_us;
    hl_timer_start(&client->core.host, client->close_timer, span_us);
}

/* Answers every call that is still open, once the client has nothing left to wait for or its time is up. Returns 1 when
 * nothing is left to report. While the drain time lasts, the client also waits for its rechecks of grants that it made
 * and that may lapse. */
static int try_finish(struct hilock_client *client)
{
    struct hl_core *core = &client->core;
    int must_recheck = core->holds->rechecks && hl_now_us(&core->host) < client->drain_ends_us;
    int is_quiet = !core->holds->count && !core->waiting && !core->locks->inquiries_open &&
                   !hl_notices_are_due(&core->notices) && !must_recheck;
    if (!is_quiet && hl_now_us(&core->host) < client->phase_ends_us)
        return 0;
    hl_inquiries_end(core);
    hl_endings_answer_users(core);
    return !hl_notices_are_due(&core->notices);
}

/* The end waits for threads that are still inside hilock_client_close, which use the client for a few more
 * instructions. */
int hl_closing_advance(struct hilock_client *client)
{
    if (client->core.phase == PHASE_DRAINING && !client->core.held)
        leave_soon(client);
    if (client->core.phase != PHASE_LEAVING || !try_finish(client))
        return 0;
    if (!atomic_load(&client->closing.askers))
        return 1;
    hl_host_wake(&client->core.host);
    return 0;
}

static void lose(struct hl_hold *hold, void *core)
{
    if (hl_hold_is_with_user(hold))
        hl_watchdog_take_from_user(core, hold, HILOCK_REASON_CLOSING);
}

void hl_closing_timer(void *arg)
{
    struct hilock_client *client = arg;
    struct hl_host *host = &client->core.host;
    uint64_t now_us = hl_now_us(host);
    if (now_us < client->phase_ends_us)
        hl_timer_start(host, client->close_timer, client->phase_ends_us - now_us);
    else if (client->core.phase == PHASE_DRAINING) {
        hl_hold_each_held(&client->core, lose, &client->core);
        leave_soon(client);
    }
}

void hl_closing_begin(struct hilock_client *client, uint64_t ends_us)
{
    uint64_t now_us = hl_now_us(&client->core.host);
    if (client->core.phase == PHASE_OPEN) {
        client->core.phase = PHASE_DRAINING;
        client->phase_ends_us = UINT64_MAX;
        hl_groups_close(&client->core);
        hl_lines_close(&client->core);
    }
    if (client->core.phase == PHASE_DRAINING && ends_us < client->phase_ends_us) {
        client->phase_ends_us = ends_us;
        hl_timer_start(&client->core.host, client->close_timer, ends_us > now_us ? ends_us - now_us : 0);
    }
}

void hl_closing_begin_asked(struct hilock_client *client)
{
    if (atomic_load_explicit(&client->closing.is_asked, memory_order_relaxed) &&
        atomic_exchange(&client->closing.is_asked, 0))
        hl_closing_begin(client, atomic_load(&client->closing.ends_us));
}

void hl_closing_report(const struct hl_closing *closing)
{
    for (unsigned i = 0; i < closing->count; i++)
        closing->closers[i].on_closed(closing->closers[i].user);
}

static int is_known(const struct hl_closing *closing, hilock_closed_fn *on_closed, const void *user)
{
    for (unsigned i = 0; i < closing->count; i++)
        if (closing->closers[i].on_closed == on_closed && closing->closers[i].user == user)
            return 1;
    return 0;
}

hilock_status hl_closing_keep(struct hl_closing *closing, hilock_closed_fn *on_closed, void *user)
{
    hilock_status status = HILOCK_OK;
    while (atomic_flag_test_and_set(&closing->is_busy)) /* another thread keeps it for a few instructions only */
        ;
    if (on_closed && !is_known(closing, on_closed, user)) {
        if (closing->count < HL_CLOSERS_MAX)
            closing->closers[closing->count++] = (struct hl_closer){on_closed, user};
        else
            status = HILOCK_IN_USE;
    }
    atomic_flag_clear(&closing->is_busy);
    return status;
}

/* As soon as the loop is woken, the client may end on its own thread. It stays until `askers` is 0 again. */
hilock_status hl_closing_ask(struct hilock_client *client, uint64_t ends_us, hilock_closed_fn *on_closed, void *user)
{
    struct hl_closing *closing = &client->closing;
    const struct hilock_loop *loop = &client->core.host.loop;
    uint64_t earliest_us = atomic_load(&closing->ends_us);
    if (!loop->timer_wake)
        return hl_cell_admit(client->core.cell); /* returns WRONG_THREAD, and counts the refusal */
    atomic_fetch_add(&closing->askers, 1);
    hilock_status status = hl_closing_keep(closing, on_closed, user);
    if (status == HILOCK_OK) {
        while (ends_us < earliest_us && !atomic_compare_exchange_weak(&closing->ends_us, &earliest_us, ends_us))
            ;
        atomic_store(&closing->is_asked, 1);
        loop->timer_wake(client->core.host.wake_timer->handle);
    }
    atomic_fetch_sub(&closing->askers, 1);
    return status;
}
