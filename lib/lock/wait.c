/* SPDX-License-Identifier: BSD-3-Clause */
/* wait - see wait.h. */
#include "lock/wait.h"

#include "base/plant.h"
#include "lock/hold.h"
#include "lock/name.h"

static struct hl_core *core_of(const struct hl_acquire *acquire) { return acquire->lock->terms->cell->core; }

struct hl_name *hl_wait_name(const struct hl_acquire *acquire)
{
    const struct hl_names *names = acquire->lock->terms->multi;
    return names ? names->of[acquire->at] : acquire->lock->name;
}

/* By default half of what was granted: the lease, or a window that was pushed. */
uint64_t hl_wait_least_us(const struct hl_acquire *acquire)
{
    const struct hl_terms *terms = acquire->lock->terms;
    uint32_t granted_ms = acquire->hold->is_windowed && HL_FAIR_WINDOW_MS < terms->lease_ms ? HL_FAIR_WINDOW_MS : terms->lease_ms;
    return (uint64_t)(terms->min_validity_ms ? terms->min_validity_ms : granted_ms / 2) * 1000;
}

/* Of half of the time that its lease has to spare; from the first that it got. */
uint64_t hl_wait_keeps_until_us(const struct hl_acquire *acquire)
{
    const struct hl_hold *hold = acquire->lock->terms->multi ? acquire->hold : NULL;
    uint64_t earliest_us = UINT64_MAX;
    if (hold && hold->state == HOLD_RETURNING) /* it goes back already */
        return UINT64_MAX;
    for (unsigned i = 0; hold && i < hold->parts_count; i++)
        if (hold->parts[i].state == PART_OURS && hold->parts[i].deadline_us < earliest_us)
            earliest_us = hold->parts[i].deadline_us;
    if (earliest_us == UINT64_MAX || HL_PLANTED(MULTI_KEEPS))
        return UINT64_MAX;
    return earliest_us - (hl_terms_lease_us(acquire->lock->terms) + hl_wait_least_us(acquire)) / 2;
}

/* ---- its time ---- */

/* When it has something to do, but for going on. */
static uint64_t due_us(const struct hl_acquire *acquire)
{
    return acquire->report_us < acquire->ends_us ? acquire->report_us : acquire->ends_us;
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
    if (acquire->state != ACQUIRE_ASKING && hl_wait_keeps_until_us(acquire) < at_us)
        at_us = hl_wait_keeps_until_us(acquire);
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

void hl_wait_taken_over(struct hl_acquire *acquire, struct hl_hold *hold)
{
    acquire->hold = hold;
    acquire->state = ACQUIRE_GRANTED;
    acquire->is_starved = 0;
    hl_wait_stop(acquire);
}
