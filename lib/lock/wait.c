/* SPDX-License-Identifier: BSD-3-Clause */
/* wait - see wait.h. */
#include "lock/wait.h"

#include "base/plant.h"
#include "lock/hold.h"
#include "lock/name.h"
#include "lock/place.h"

static struct hl_core *core_of(const struct hl_acquire *acquire) { return acquire->lock->terms->cell->core; }

int hl_wait_is_behind_others(const struct hl_acquire *acquire)
{
    const struct hl_queue_place *place = acquire->place;
    return acquire->state == ACQUIRE_SLEEPING && !acquire->lock->name->hold &&
           (!place || (place->ticket && !place->hands_over));
}

/* ---- its time ---- */

uint64_t hl_wait_report_us(const struct hl_acquire *acquire)
{
    int is_to_come = acquire->report_ms && acquire->report_ms != UINT32_MAX;
    return is_to_come ? acquire->begun_us + (uint64_t)acquire->report_ms * 1000 : UINT64_MAX;
}

/* When it has something to do, but for going on. */
static uint64_t due_us(const struct hl_acquire *acquire)
{
    uint64_t report_us = hl_wait_report_us(acquire);
    return report_us < acquire->ends_us ? report_us : acquire->ends_us;
}

static void sleep_without_hold(struct hl_acquire *acquire)
{
    struct hl_alarms *alarms = &core_of(acquire)->wait_alarms;
    if (!hl_alarm_has_begun(&acquire->alarm))
        return;
    if (due_us(acquire) == UINT64_MAX)
        hl_alarm_stop(alarms, &acquire->alarm);
    else
        hl_alarm_set(alarms, &acquire->alarm, due_us(acquire));
}

void hl_wait_resume_at(struct hl_acquire *acquire, uint64_t at_us)
{
    acquire->hold->resume_us = at_us;
    hl_hold_wake_at(acquire->hold, due_us(acquire) < at_us ? due_us(acquire) : at_us);
}

void hl_wait_sleep_on(struct hl_acquire *acquire)
{
    if (acquire->hold)
        hl_wait_resume_at(acquire, acquire->hold->resume_us);
    else
        sleep_without_hold(acquire);
}

int hl_wait_take_alarm(struct hl_core *core, struct hl_acquire *acquire)
{
    if (acquire->ends_us == UINT64_MAX && !acquire->lock->terms->wait_report_ms)
        return 1;
    if (hl_alarm_begin(&core->wait_alarms, &acquire->alarm) != 0)
        return 0;
    sleep_without_hold(acquire);
    return 1;
}

void hl_wait_stop(struct hl_acquire *acquire)
{
    hl_alarm_end(&core_of(acquire)->wait_alarms, &acquire->alarm);
}
