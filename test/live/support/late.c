/* SPDX-License-Identifier: BSD-3-Clause */
/* late - see late.h. */
#include "late.h"

#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { SLEEP_MS = 5, HOPS = 4 /* processes that stand in line for a processor, where the thread here stands alone */ };

static _Atomic uint64_t late_us;

static void *sleep_on(void *arg)
{
    for (;;) {
        uint64_t begun_us = check_now_us(), took_us;
        check_pause_ms(SLEEP_MS);
        took_us = check_now_us() - begun_us;
        atomic_fetch_add(&late_us, took_us > SLEEP_MS * 1000 ? took_us - SLEEP_MS * 1000 : 0);
    }
    return arg;
}

struct late late_mark(void)
{
    static pthread_t thread;
    static int is_on;
    if (!is_on) {
        CHECK(pthread_create(&thread, NULL, sleep_on, NULL) == 0 && pthread_detach(thread) == 0);
        is_on = 1;
    }
    return (struct late){check_now_us(), atomic_load(&late_us)};
}

uint64_t late_until_us(const struct late *mark, uint64_t span_us)
{
    return mark->at_us + span_us + HOPS * (atomic_load(&late_us) - mark->late_us);
}
