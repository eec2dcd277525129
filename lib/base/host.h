/* SPDX-License-Identifier: BSD-3-Clause */
/* host - the host program as the library sees it: its loop and clock, its memory, its random seed; and where each call
 * from the loop begins and ends.
 *
 * Everything the loop calls (a descriptor is ready, a timer fires, a name is resolved) runs between hl_host_enter and
 * hl_host_leave. At the outermost leave the links write what they have buffered (one system call for many commands),
 * on_leave delivers the news, and the links write what that has buffered. A call from user code outside the loop asks
 * for the same on a later turn by hl_host_wake. Invariant: when control goes back to the program while bytes or news
 * are pending, a leave is still to come, or the wake timer runs.
 *
 * A program may turn the loop where nothing of the client may happen: in a forked child, or on another thread. So
 * hl_host_begin comes before whatever the loop calls, and calls begin_turn. A timer that was refused on another thread
 * is started again, as the right thread may be back by then; in a forked child it has ended. */
#ifndef HL_BASE_HOST_H
#define HL_BASE_HOST_H

#include <hilock/loop.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "base/trace.h"

struct hl_flush { /* work that runs once a turn, at the next leave: writing bytes, checking holds */
    TAILQ_ENTRY(hl_flush) entry;
    void (*flush)(struct hl_flush *flush);
    int is_waiting;
};

struct hl_host {
    struct hilock_loop loop;
    struct hl_memory memory;
    struct hl_random random;
    const char *const *secrets; /* no text of a server may show them (hl_text_quote_server); ended by NULL; or NULL */
    unsigned depth;
    struct hl_timer *wake_timer;
    int is_woken, is_armed;    /* asked for: the wake timer runs */
    uint64_t stall_us;         /* a timer later than this shows that the loop stood still; 0: never */
    uint64_t entered_us;       /* when the loop's present call began: what it brings was there by then */
    uint64_t turned_us;        /* when the loop's last call ended */
    uint64_t gap_from_us;      /* when the loop's last call before its latest long pause ended */
    uint64_t stalled_until_us; /* end of the latest stall that was reported */
    uint64_t late_us[2];       /* the longest that a timer was late, in this period and in the one before */
    uint64_t late_since_us;    /* when this period began */
    TAILQ_HEAD(, hl_flush) flushes;
    hilock_status (*begin_turn)(void *arg); /* OK; FORKED or WRONG_THREAD: not here. NULL: always OK */
    void (*on_enter)(void *arg); /* outermost enter */
    void (*on_leave)(void *arg); /* outermost leave */
    void (*on_trace)(void *arg, enum hl_what what, const struct hl_fact *fact);
    void *arg;
};

/* Takes loop->ctx over on success only. 0, or -1: no memory. */
int hl_host_init(struct hl_host *host, const struct hilock_loop *loop, const struct hl_memory *memory, uint64_t seed);
void hl_host_done(struct hl_host *host); /* ends the loop's ctx; everything made from it is gone by then */

/* What the loop calls begins with it. OK: it has entered, so leave. Else: touch nothing, and return. */
hilock_status hl_host_begin(struct hl_host *host);
void hl_host_enter(struct hl_host *host);
void hl_host_leave(struct hl_host *host);
void hl_host_settle(struct hl_host *host); /* on_leave calls it last, unless the host is gone */
void hl_host_wake(struct hl_host *host); /* cannot fail */
void hl_host_wake_next_turn(struct hl_host *host); /* not in this turn, even if the wake timer is due in it */
void hl_host_flush_later(struct hl_host *host, struct hl_flush *flush); /* at the next leave, once */
void hl_host_flush_never(struct hl_host *host, struct hl_flush *flush);

static inline void hl_trace(struct hl_host *host, enum hl_what what, const struct hl_fact *fact)
{
    if (host->on_trace)
        host->on_trace(host->arg, what, fact);
}

static inline uint64_t hl_now_us(const struct hl_host *host) { return host->loop.now_us(host->loop.clock); }

enum { HL_HOST_RETRY_US = 100000 }; /* what was refused on another thread is tried again after it */

struct hl_timer { /* made and freed by the host */
    struct hl_host *host;
    void *handle; /* the loop's */
    hilock_fire_fn *fire;
    void *arg;
};
struct hl_timer *hl_host_timer_new(struct hl_host *host, hilock_fire_fn *fire, void *arg);
void hl_host_timer_free(struct hl_timer *timer);

/* fire runs between an enter and a leave. NULL: no memory. */
static inline void *hl_timer_new(struct hl_host *host, hilock_fire_fn *fire, void *arg)
{
    return hl_host_timer_new(host, fire, arg);
}
static inline void hl_timer_start(struct hl_host *host, void *timer, uint64_t delay_us)
{
    host->loop.timer_start(((struct hl_timer *)timer)->handle, delay_us);
}
static inline void hl_timer_stop(struct hl_host *host, void *timer)
{
    host->loop.timer_stop(((struct hl_timer *)timer)->handle);
}
static inline void hl_timer_free(struct hl_host *host, void *timer) /* NULL is allowed */
{
    (void)host;
    if (timer)
        hl_host_timer_free(timer);
}

/* Quotes what a server said, without the secrets. */
struct hl_quoted hl_host_quote(const struct hl_host *host, const char *bytes, size_t length);

/* How late the loop was lately: the longest that a timer had to wait in the last ten to twenty seconds. */
uint64_t hl_host_lateness_us(const struct hl_host *host);

/* Called by a timer that was due at due_us (0: unknown). A stall is reported once, by the first timer that it delayed:
 * all timers that were due before its end belong to it. A stall that delayed no timer is not reported. */
void hl_host_check_stall(struct hl_host *host, uint64_t due_us);

#endif
