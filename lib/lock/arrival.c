/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival - an acquire begins, and gets its hold when its turn to ask comes. An acquire that is served by a hand-off
 * needs none. */
#include "lock/arrival.h"

#include "lock/acquire.h"
#include "lock/place.h"
#include "lock/gate.h"
#include "lock/hold.h"
#include "lock/known.h"
#include "lock/shortage.h"
#include "lock/terms.h"
#include "lock/wait.h"

void hl_arrival_on_alarm(struct hl_alarm *alarm)
{
    hl_acquire_tick((struct hl_acquire *)(void *)((char *)alarm - offsetof(struct hl_acquire, alarm)));
}

/* 0: no memory. */
static int take_hold(struct hl_core *core, struct hl_acquire *acquire)
{
    acquire->hold = hl_hold_new(core, acquire->lock);
    if (!acquire->hold)
        return 0;
    acquire->hold->lock = acquire->lock;
    hl_wait_resume_at(acquire, UINT64_MAX);
    hl_wait_stop(acquire);
    return 1;
}

/* With each attempt, even if it has a hold: an acquire that was handed a hold, and gave it back as too late, has no id
 * yet. */
static int take_place(struct hl_core *core, struct hl_acquire *acquire)
{
    int is_begun = acquire->hold && acquire->hold->id;
    return acquire->place || is_begun || !hl_place_is_wanted(acquire) || hl_place_take(core, acquire) == 0;
}

/* An acquire that will probably ask soon gets its hold here, so that a lack of memory refuses the call. The others
 * wait: they may be many. */
static int asks_soon(const struct hl_acquire *acquire)
{
    return acquire->is_try || acquire->lock->terms->kind->place_each || !hl_gate_waiting(acquire->lock->name);
}

int hl_arrival_may_ask(struct hl_core *core, struct hl_acquire *acquire)
{
    int has_all = take_place(core, acquire) && (acquire->hold || take_hold(core, acquire));
    if (has_all)
        return 1;
    hl_shortage_begin(core);
    acquire->state = ACQUIRE_STARVED;
    return 0;
}

/* is_denied: it will not ask. */
static struct hl_acquire *acquire_new(struct hl_core *core, struct hilock_lock *lock, int is_try, uint64_t ends_us,
                                      int is_denied)
{
    size_t size = sizeof(struct hl_acquire) + (lock->terms->kind->place_each ? sizeof(struct hl_queue_place) : 0);
    struct hl_acquire *acquire = hl_memory_new(&core->host.memory, size);
    if (!acquire)
        return NULL;
    acquire->notice.ops = core->acquire_notice;
    acquire->notice.epoch = lock->epoch;
    acquire->lock = lock;
    acquire->is_try = is_try != 0;
    acquire->begun_us = hl_now_us(&core->host);
    acquire->ends_us = ends_us;
    acquire->report_ms = is_try ? UINT32_MAX : 0;
    if (lock->terms->kind->place_each) {
        acquire->place = (struct hl_queue_place *)(void *)(acquire + 1);
        acquire->place->acquire = acquire;
    }
    if (is_denied ||
        (asks_soon(acquire) ? take_place(core, acquire) && take_hold(core, acquire)
         : hl_wait_take_alarm(core, acquire)))
        return acquire;
    hl_place_free(core, acquire);
    hl_memory_free(&core->host.memory, acquire);
    return NULL;
}

static void undo_new(struct hl_core *core, struct hl_acquire *acquire)
{
    if (acquire->hold)
        hl_hold_free(acquire->hold);
    hl_acquire_free(core, acquire);
}

hilock_status hl_arrival_begin(struct hl_core *core, struct hilock_lock *lock, int is_try, uint64_t ends_us,
                               hilock_result_fn *on_result, void *user)
{
    int is_denied = is_try && !lock->terms->kind->place_each && hl_known_is_held(lock->name);
    struct hl_acquire *acquire = acquire_new(core, lock, is_try, ends_us, is_denied);
    struct hl_gate *gate = acquire && !is_denied ? hl_gate_of(core, lock->name) : NULL;
    if (acquire && !gate && !is_denied)
        undo_new(core, acquire);
    if (!acquire || (!gate && !is_denied))
        return HILOCK_NO_MEMORY;
    acquire->on_result = on_result;
    acquire->user = user;
    lock->acquire = acquire;
    core->waiting += hl_terms_count(lock->terms);
    hl_terms_trace(lock->terms, HL_ACQUIRE_BEGUN, &(struct hl_fact){.lock = lock, .name = lock->name->bytes});
    if (is_denied)
        hl_acquire_decide(acquire, HILOCK_TIMED_OUT);
    else
        hl_gate_join(gate, acquire);
    if (!is_denied && hl_known_is_held(lock->name))
        hl_gate_tell_waiting(core, lock->name);
    return HILOCK_OK;
}

