/* SPDX-License-Identifier: BSD-3-Clause */
/* alarm - see alarm.h. The heap keeps the times beside the pointers, so a move up or down touches only the alarms that
 * move. Each entry has four children, which share a cache line. */
#include "base/alarm.h"

#include "base/contract.h"

enum { STOPPED = 1, FIRST = 2, CHILDREN = 4, ROOM_MIN = 16, BATCH = 1000 };

static void put(struct hl_alarms *alarms, uint32_t i, struct hl_alarm_due due)
{
    alarms->heap[i] = due;
    due.alarm->index = FIRST + i;
}

static uint32_t earliest_below(const struct hl_alarms *alarms, uint32_t i)
{
    uint32_t best = i * CHILDREN + 1, end = best + CHILDREN < alarms->set ? best + CHILDREN : alarms->set;
    for (uint32_t below = best + 1; below < end; below++)
        if (alarms->heap[below].at_us < alarms->heap[best].at_us)
            best = below;
    return best;
}

/* Puts `due` at index i, or as far above or below it as the order of the heap requires. */
static void settle(struct hl_alarms *alarms, uint32_t i, struct hl_alarm_due due)
{
    uint32_t next;
    while (i && alarms->heap[next = (i - 1) / CHILDREN].at_us > due.at_us) {
        put(alarms, i, alarms->heap[next]);
        i = next;
    }
    while ((next = earliest_below(alarms, i)) < alarms->set && alarms->heap[next].at_us < due.at_us) {
        put(alarms, i, alarms->heap[next]);
        i = next;
    }
    put(alarms, i, due);
}

static void wake_at(struct hl_alarms *alarms, uint64_t at_us, uint64_t now_us)
{
    alarms->wakes_us = at_us;
    hl_timer_start(alarms->host, alarms->timer, at_us > now_us ? at_us - now_us : 0);
}

/* Reads the clock only if the alarm moves the timer, or while due alarms are being called. Any other alarm is due no
 * earlier than the timer, which will find it. */
uint64_t hl_alarm_set(struct hl_alarms *alarms, struct hl_alarm *alarm, uint64_t at_us)
{
    uint64_t now_us = at_us < alarms->wakes_us || alarms->passing_us ? hl_now_us(alarms->host) : 0;
    uint64_t soonest_us = alarms->passing_us >= now_us ? alarms->passing_us + 1 : now_us;
    HL_REQUIRE(hl_alarm_has_begun(alarm)); /* a hold always begins its alarm; a wait checks first */
    at_us = at_us < soonest_us ? soonest_us : at_us;
    settle(alarms, alarm->index == STOPPED ? alarms->set++ : alarm->index - FIRST, (struct hl_alarm_due){at_us, alarm});
    if (at_us < alarms->wakes_us && !alarms->passing_us)
        wake_at(alarms, at_us, now_us);
    return at_us;
}

void hl_alarm_stop(struct hl_alarms *alarms, struct hl_alarm *alarm)
{
    uint32_t i = alarm->index - FIRST;
    if (alarm->index < FIRST)
        return;
    alarm->index = STOPPED;
    if (i < --alarms->set)
        settle(alarms, i, alarms->heap[alarms->set]);
}

static void on_timer(void *arg)
{
    struct hl_alarms *alarms = arg;
    struct hl_host *host = alarms->host;
    alarms->wakes_us = UINT64_MAX;
    alarms->passing_us = hl_now_us(host);
    for (unsigned i = 0; i < BATCH && alarms->set && alarms->heap[0].at_us <= alarms->passing_us; i++) {
        const struct hl_alarm_due first = alarms->heap[0];
        hl_alarm_stop(alarms, first.alarm);
        hl_host_check_stall(host, first.at_us);
        alarms->fire(first.alarm);
    }
    alarms->passing_us = 0;
    if (alarms->set)
        wake_at(alarms, alarms->heap[0].at_us, hl_now_us(host));
}

static int resize(struct hl_alarms *alarms, uint32_t room)
{
    struct hl_alarm_due *heap = hl_memory_grow(&alarms->host->memory, alarms->heap, room * sizeof *heap);
    if (!heap)
        return -1;
    alarms->heap = heap;
    alarms->room = room;
    return 0;
}

int hl_alarms_init(struct hl_alarms *alarms, struct hl_host *host, void (*fire)(struct hl_alarm *alarm))
{
    *alarms = (struct hl_alarms){.host = host, .fire = fire, .room = ROOM_MIN, .wakes_us = UINT64_MAX};
    alarms->timer = hl_timer_new(host, on_timer, alarms);
    alarms->heap = hl_memory_new(&host->memory, ROOM_MIN * sizeof *alarms->heap);
    return alarms->timer && alarms->heap ? 0 : -1;
}

void hl_alarms_done(struct hl_alarms *alarms)
{
    if (!alarms->host)
        return;
    HL_REQUIRE(!alarms->begun); /* every hold and wait has ended by now */
    hl_timer_free(alarms->host, alarms->timer);
    hl_memory_free(&alarms->host->memory, alarms->heap);
    *alarms = (struct hl_alarms){.host = NULL};
}

int hl_alarm_begin(struct hl_alarms *alarms, struct hl_alarm *alarm)
{
    if (alarms->begun == alarms->room && resize(alarms, alarms->room + alarms->room / 2) != 0)
        return -1;
    alarms->begun++;
    alarm->index = STOPPED;
    return 0;
}

/* Also shrinks the heap's array when most of it is unused. If that fails, the larger array stays. */
void hl_alarm_end(struct hl_alarms *alarms, struct hl_alarm *alarm)
{
    if (!hl_alarm_has_begun(alarm))
        return;
    hl_alarm_stop(alarms, alarm);
    alarm->index = 0;
    if (--alarms->begun < alarms->room / 3 && alarms->room > ROOM_MIN)
        (void)resize(alarms, alarms->room / 2 > ROOM_MIN ? alarms->room / 2 : ROOM_MIN);
}
