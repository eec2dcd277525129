/* SPDX-License-Identifier: BSD-3-Clause */
/* host - see host.h. */
#include "base/host.h"

#include "base/contract.h"
#include "base/words.h"

enum { LATELY_US = 10000000 };

static void on_wake(void *arg) { ((struct hl_host *)arg)->is_armed = 0; }

/* fire may free the timer, and hl_host_leave may free the host, so both are read first. */
static void on_fire(void *arg)
{
    const struct hl_timer *timer = arg;
    struct hl_host *host = timer->host;
    hilock_status status = hl_host_begin(host);
    if (status == HILOCK_OK) {
        timer->fire(timer->arg);
        hl_host_leave(host);
    } else if (status == HILOCK_WRONG_THREAD)
        host->loop.timer_start(timer->handle, HL_HOST_RETRY_US);
}

struct hl_timer *hl_host_timer_new(struct hl_host *host, hilock_fire_fn *fire, void *arg)
{
    struct hl_timer *timer = hl_memory_new(&host->memory, sizeof *timer);
    if (!timer)
        return NULL;
    *timer = (struct hl_timer){.host = host, .fire = fire, .arg = arg};
    timer->handle = host->loop.timer_new(host->loop.ctx, on_fire, timer);
    if (timer->handle)
        return timer;
    hl_memory_free(&host->memory, timer);
    return NULL;
}

void hl_host_timer_free(struct hl_timer *timer)
{
    struct hl_host *host = timer->host;
    host->loop.timer_free(timer->handle);
    hl_memory_free(&host->memory, timer);
}

void hl_host_wake_next_turn(struct hl_host *host)
{
    host->is_armed = 1;
    hl_timer_start(host, host->wake_timer, 0);
}

int hl_host_init(struct hl_host *host, const struct hilock_loop *loop, const struct hl_memory *memory, uint64_t seed)
{
    *host = (struct hl_host){.loop = *loop, .memory = *memory, .random = {seed}};
    TAILQ_INIT(&host->flushes);
    host->wake_timer = hl_timer_new(host, on_wake, host);
    return host->wake_timer ? 0 : -1;
}

void hl_host_done(struct hl_host *host)
{
    HL_REQUIRE(TAILQ_EMPTY(&host->flushes)); /* every link is closed before its host ends */
    hl_timer_free(host, host->wake_timer);
    if (host->loop.free_ctx)
        host->loop.free_ctx(host->loop.ctx);
}

struct hl_quoted hl_host_quote(const struct hl_host *host, const char *bytes, size_t length)
{
    return hl_text_quote_server(host->secrets, bytes, length);
}

static void flush_all(struct hl_host *host)
{
    struct hl_flush *flush;
    while ((flush = TAILQ_FIRST(&host->flushes)) != NULL) {
        hl_host_flush_never(host, flush);
        flush->flush(flush);
    }
}

hilock_status hl_host_begin(struct hl_host *host)
{
    hilock_status status = host->begin_turn ? host->begin_turn(host->arg) : HILOCK_OK;
    if (status == HILOCK_OK)
        hl_host_enter(host);
    return status;
}

void hl_host_enter(struct hl_host *host)
{
    if (host->depth++ > 0)
        return;
    host->entered_us = hl_now_us(host);
    if (host->stall_us && host->entered_us - host->turned_us > host->stall_us)
        host->gap_from_us = host->turned_us;
    if (host->on_enter)
        host->on_enter(host->arg);
}

/* The depth stays 1 while on_leave runs. So calls made by on_leave do not leave again, and do not start the wake timer
 * for bytes that are written right afterwards. If the client has closed, on_leave frees the host: touch nothing after
 * it. */
void hl_host_leave(struct hl_host *host)
{
    HL_REQUIRE(host->depth > 0); /* each function that enters also leaves */
    if (host->depth > 1) {
        host->depth--;
        return;
    }
    host->is_woken = 0;
    flush_all(host);
    host->on_leave(host->arg);
}

void hl_host_settle(struct hl_host *host)
{
    flush_all(host);
    host->depth = 0;
    host->turned_us = hl_now_us(host);
    if (host->is_woken && !host->is_armed) /* without this, a steady stream of events could delay it forever */
        hl_host_wake_next_turn(host);
}

/* The timer is hurried only outside of calls from the loop. Inside, an event that asks for itself again would keep the
 * loop in one turn forever. */
void hl_host_wake(struct hl_host *host)
{
    host->is_woken = 1;
    if (host->depth > 0 || host->is_armed)
        return;
    host->is_armed = 1;
    if (host->loop.timer_hurry)
        host->loop.timer_hurry(host->wake_timer->handle);
    else
        hl_timer_start(host, host->wake_timer, 0);
}

void hl_host_flush_later(struct hl_host *host, struct hl_flush *flush)
{
    if (!flush->is_waiting)
        TAILQ_INSERT_TAIL(&host->flushes, flush, entry);
    flush->is_waiting = 1;
    if (host->depth == 0)
        hl_host_wake(host);
}

void hl_host_flush_never(struct hl_host *host, struct hl_flush *flush)
{
    if (flush->is_waiting)
        TAILQ_REMOVE(&host->flushes, flush, entry);
    flush->is_waiting = 0;
}

static void measure_lateness(struct hl_host *host, uint64_t now_us, uint64_t late_us)
{
    uint64_t age_us = now_us - host->late_since_us;
    if (age_us >= LATELY_US) {
        host->late_us[1] = age_us < 2 * LATELY_US ? host->late_us[0] : 0;
        host->late_us[0] = 0;
        host->late_since_us = now_us;
    }
    if (late_us > host->late_us[0])
        host->late_us[0] = late_us;
}

uint64_t hl_host_lateness_us(const struct hl_host *host)
{
    uint64_t age_us = hl_now_us(host) - host->late_since_us;
    uint64_t now_us = age_us < 2 * LATELY_US ? host->late_us[0] : 0;
    uint64_t before_us = age_us < LATELY_US ? host->late_us[1] : 0;
    return now_us > before_us ? now_us : before_us;
}

void hl_host_check_stall(struct hl_host *host, uint64_t due_us)
{
    uint64_t now_us = hl_now_us(host), late_us = now_us > due_us ? now_us - due_us : 0;
    /* some other call may have come first after the stall, and then turned_us is too late */
    uint64_t from_us = host->turned_us <= due_us ? host->turned_us : host->gap_from_us, longest_us;
    struct hl_text detail;
    if (due_us)
        measure_lateness(host, now_us, late_us);
    if (!host->stall_us || !due_us || due_us < host->stalled_until_us || late_us <= host->stall_us)
        return;
    host->stalled_until_us = now_us;
    longest_us = now_us - (from_us && from_us <= due_us ? from_us : due_us);
    hl_words_stalled(&detail, late_us, longest_us);
    hl_trace(host, HL_LOOP_STALLED,
             &(struct hl_fact){.waited_us = late_us, .longest_us = longest_us, .detail = detail.bytes});
}
