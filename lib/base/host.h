/* SPDX-License-Identifier: BSD-3-Clause */
/* host - the program that uses the library: its loop and clock, its memory and its random seed. Each call from the loop
 * begins and ends here.
 *
 * Everything that the loop calls (a descriptor is ready, a timer fires, a name is resolved) runs between hl_host_enter
 * and hl_host_leave. At the outermost leave the links write their buffers (one system call for many commands), on_leave
 * delivers the news, and the links write what the news have added. A call from user code outside the loop asks for the
 * same on a later turn, by hl_host_wake. Invariant: when control goes back to the program while bytes or news are
 * pending, a leave is still to come, or the wake timer runs.
 *
 * A program may turn the loop where the client must not act: in a forked child, or on another thread. Every call from
 * the loop therefore begins with hl_host_begin, which asks begin_turn. A timer that is refused on another thread is
 * started again, because the right thread may have the loop by then; in a forked child the timer stays off. */
#ifndef HL_BASE_HOST_H
#define HL_BASE_HOST_H

#include <hilock/loop.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "base/trace.h"

struct hl_flush { /* work that is done at the next leave, once: writing bytes, checking holds */
    TAILQ_ENTRY(hl_flush) entry;
    void (*flush)(struct hl_flush *flush);
    int is_waiting;
};

struct hl_host {
    struct hilock_loop loop;
    struct hl_memory memory;
    struct hl_random random;
    const char *const *secrets; /* hidden in quoted server text; the list ends with NULL. NULL: none */
    unsigned depth;
    struct hl_timer *wake_timer;
    int is_woken;              /* a leave was asked for */
    int is_armed;              /* the wake timer runs */
    uint64_t stall_us;         /* a timer that is later than this shows a stalled loop; 0: stalls are not reported */
    uint64_t entered_us;       /* when the current call from the loop began; its data had arrived by then */
    uint64_t turned_us;        /* when the last call from the loop ended */
    uint64_t gap_from_us;      /* when the last call before the latest long pause of the loop ended */
    uint64_t stalled_until_us; /* when the latest reported stall ended */
    uint64_t late_us[2];       /* the greatest delay of a timer: in this period, and in the one before */
    uint64_t late_since_us;    /* when this period began */
    TAILQ_HEAD(, hl_flush) flushes;
    hilock_status (*begin_turn)(void *arg); /* OK, or FORKED or WRONG_THREAD to refuse the turn. NULL: always OK */
    void (*on_enter)(void *arg); /* runs at the outermost enter */
    void (*on_leave)(void *arg); /* runs at the outermost leave */
    void (*on_trace)(void *arg, enum hl_what what, const struct hl_fact *fact);
    void *arg;
};

/* Returns 0 and owns loop->ctx from then on, or -1 if there is no memory. */
int hl_host_init(struct hl_host *host, const struct hilock_loop *loop, const struct hl_memory *memory, uint64_t seed);
void hl_host_done(struct hl_host *host); /* frees loop.ctx; everything that was made with it must be gone */

/* Every call from the loop starts with this. On OK it has entered, and the caller must leave at the end. On any other
 * status the caller returns without touching anything. */
hilock_status hl_host_begin(struct hl_host *host);
void hl_host_enter(struct hl_host *host);
void hl_host_leave(struct hl_host *host);
void hl_host_settle(struct hl_host *host); /* on_leave ends with this call, unless it freed the host */
void hl_host_wake(struct hl_host *host); /* asks for a leave soon; cannot fail */
/* Likewise, but never in the present turn, even if the wake timer is due in it. */
void hl_host_wake_next_turn(struct hl_host *host);
void hl_host_flush_later(struct hl_host *host, struct hl_flush *flush); /* runs it once, at the next leave */
void hl_host_flush_never(struct hl_host *host, struct hl_flush *flush);

static inline void hl_trace(struct hl_host *host, enum hl_what what, const struct hl_fact *fact)
{
    if (host->on_trace)
        host->on_trace(host->arg, what, fact);
}

static inline uint64_t hl_now_us(const struct hl_host *host) { return host->loop.now_us(host->loop.clock); }

enum { HL_HOST_RETRY_US = 100000 }; /* a call that was refused on another thread is tried again after this time */

struct hl_timer { /* hl_timer_new makes it, hl_timer_free frees it */
    struct hl_host *host;
    void *handle; /* the timer of the loop table */
    hilock_fire_fn *fire;
    void *arg;
};
struct hl_timer *hl_host_timer_new(struct hl_host *host, hilock_fire_fn *fire, void *arg);
void hl_host_timer_free(struct hl_timer *timer);

/* Makes a timer whose fire runs between an enter and a leave. Returns NULL if there is no memory. */
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

/* Quotes text from a server, with the secrets hidden. */
struct hl_quoted hl_host_quote(const struct hl_host *host, const char *bytes, size_t length);

/* Returns the greatest delay of a timer in the last ten to twenty seconds. */
uint64_t hl_host_lateness_us(const struct hl_host *host);

/* A timer that was due at due_us (0: unknown) calls this when it fires. A stall of the loop is reported once, by the
 * first timer that it delayed; every other timer that was due before the stall ended belongs to the same stall. A stall
 * that delayed no timer is not reported. */
void hl_host_check_stall(struct hl_host *host, uint64_t due_us);

#endif
