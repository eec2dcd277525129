/* SPDX-License-Identifier: BSD-3-Clause */
/* load - see load.h. */
#include "load.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "child.h"
#include "client.h"

enum { HANDLES = 2 * LOAD_NAMES, LEASE_MS = 6000 };
enum { READY, STOP, COUNTERS }; /* words of the ledger; behind them for each kind: */
enum { LOST, UNCLEAR, LONGEST, COUNTERS_OF_KIND };

struct worker {
    struct handle handle;
    struct load *load;
    unsigned lock;
    size_t grant;
    struct event *timer;
    int is_counted;
};

static _Atomic uint64_t *word(const struct load *load, unsigned index) { return ledger_word(load->ledger, index); }

static _Atomic uint64_t *word_of(const struct load *load, enum load_kind kind, unsigned index)
{
    return word(load, COUNTERS + (unsigned)kind * COUNTERS_OF_KIND + index);
}

static _Atomic uint64_t *counter(const struct worker *worker, unsigned index) { return word_of(worker->load, load_kind_of(worker->lock), index); }

enum load_kind load_kind_of(unsigned lock) { return lock % 2 ? LOAD_FAIR : LOAD_MUTEX; }

const char *load_kind_name(enum load_kind kind) { return kind == LOAD_FAIR ? "FAIR" : "MUTEX"; }

uint64_t load_locks(enum load_kind kind)
{
    uint64_t locks = 0;
    for (unsigned lock = 0; lock < LOAD_NAMES; lock++)
        locks |= load_kind_of(lock) == kind ? LEDGER_ONE(lock) : 0;
    return locks;
}

/* ---- the processes ---- */

static unsigned over; /* handles of this process that have had their last round */

static void go_on(struct worker *worker)
{
    if (atomic_load(word(worker->load, STOP)))
        over++;
    else
        handle_ask(&worker->handle, LOAD_WAIT_MS);
}

static void give(evutil_socket_t fd, short what, void *arg)
{
    struct worker *worker = arg;
    (void)fd, (void)what;
    ledger_end(worker->load->ledger, worker->grant);
    handle_release(&worker->handle);
}

static void on_acquired(struct handle *handle)
{
    struct worker *worker = handle->user;
    struct timeval hold = {0, worker->load->hold_ms * 1000};
    uint64_t longest = atomic_load(counter(worker, LONGEST));
    if (handle->acquired.status != HILOCK_OK)
        check_fail("acquire ended %s after %u ms: %s", hilock_status_name(handle->acquired.status), handle->acquired.waited_ms, handle->acquired.detail);
    while (handle->acquired.waited_ms > longest && !atomic_compare_exchange_weak(counter(worker, LONGEST), &longest, handle->acquired.waited_ms))
        ;
    worker->grant = ledger_begin(worker->load->ledger, worker->lock, handle->acquired.token);
    if (!worker->is_counted)
        atomic_fetch_add(word(worker->load, READY), 1);
    worker->is_counted = 1;
    event_add(worker->timer, &hold);
}

static void on_released(struct handle *handle)
{
    struct worker *worker = handle->user;
    if (handle->released.status != HILOCK_OK)
        atomic_fetch_add(counter(worker, UNCLEAR), 1);
    if (handle->released.status != HILOCK_OK && handle->released.status != HILOCK_LOST && handle->released.status != HILOCK_UNKNOWN)
        check_fail("release ended %s: %s", hilock_status_name(handle->released.status), handle->released.detail);
    go_on(worker);
}

static void on_lost(struct handle *handle)
{
    struct worker *worker = handle->user;
    event_del(worker->timer);
    ledger_end(worker->load->ledger, worker->grant);
    atomic_fetch_add(counter(worker, LOST), 1);
    go_on(worker);
}

static const hilock_kind kinds[LOAD_KINDS] = {HILOCK_MUTEX, HILOCK_FAIR};

static int all_are_over(void *arg) { return (void)arg, over == HANDLES; }

static void work(void *arg)
{
    static struct worker workers[HANDLES];
    struct load *load = arg;
    struct client client;
    char name[32];
    client_open(&client, load->url);
    for (unsigned i = 0; i < HANDLES; i++) {
        struct worker *worker = &workers[i];
        worker->load = load;
        worker->lock = i % LOAD_NAMES;
        snprintf(name, sizeof name, "stock:%u", worker->lock);
        worker->timer = event_new(client.base, -1, 0, give, worker);
        handle_open(&worker->handle, &client, name,
                    HILOCK_LOCK_OPTIONS(.kind = kinds[load_kind_of(worker->lock)], .lease_ms = LEASE_MS, .replicas = load->replicas));
        worker->handle.on_acquired = on_acquired;
        worker->handle.on_released = on_released;
        worker->handle.on_lost = on_lost;
        worker->handle.user = worker;
        handle_ask(&worker->handle, LOAD_WAIT_MS);
    }
    while (!atomic_load(word(load, STOP))) /* the test may take its time */
        client_for_ms(&client, 1000);
    client_until(&client, all_are_over, NULL, "the last rounds");
    for (unsigned i = 0; i < HANDLES; i++) {
        handle_free(&workers[i].handle);
        event_free(workers[i].timer);
    }
    client_close(&client);
}

static int all_are_ready(void *arg) { return atomic_load(word(arg, READY)) == LOAD_PROCESSES * HANDLES; }

void load_start(struct load *load, unsigned faults)
{
    load->hold_ms = check_count_wanted("HOLD_MS", 10);
    load->ledger = ledger_new(LOAD_NAMES, 200000 + 80000 * (size_t)faults);
    for (int i = 0; i < LOAD_PROCESSES; i++)
        load->pids[i] = child_start(work, load);
    check_until(all_are_ready, load, "every handle's first grant");
}

void load_stop(struct load *load)
{
    atomic_store(word(load, STOP), 1);
    for (int i = 0; i < LOAD_PROCESSES; i++)
        child_join(load->pids[i]);
}

/* ---- what came of it ---- */

struct load_counts load_counts(const struct load *load, enum load_kind kind)
{
    return (struct load_counts){atomic_load(word_of(load, kind, LOST)), atomic_load(word_of(load, kind, UNCLEAR)), atomic_load(word_of(load, kind, LONGEST))};
}

void load_add_span(struct load_spans *spans, const struct load *load, uint64_t locks, uint64_t at_us)
{
    uint64_t first_us = ledger_first_after(load->ledger, locks, at_us);
    CHECK(first_us && spans->count < sizeof spans->us / sizeof *spans->us);
    spans->us[spans->count++] = first_us - at_us;
}

static int ascending(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

void load_tell(struct load *load, enum load_kind kind, const char *what, const char *since, struct load_spans *spans)
{
    struct load_counts counts = load_counts(load, kind);
    struct verdict verdict = ledger_judge_some(load->ledger, load_locks(kind), 0, UINT64_MAX);
    qsort(spans->us, spans->count, sizeof *spans->us, ascending);
    print_message("%s, %s, replicas = %u, %zu grants; ", what, load_kind_name(kind), load->replicas, verdict.grants);
    if (spans->count)
        print_message("%s to next grant, %u times: p50 %.1f ms, max %.1f ms; ", since, spans->count, (double)spans->us[spans->count / 2] / 1000,
                      (double)spans->us[spans->count - 1] / 1000);
    print_message("longest wait %llu ms; %llu losses, %llu unclear releases, %zu overlaps of belief, %zu tokens that did not rise\n",
                  (unsigned long long)counts.longest_wait_ms, (unsigned long long)counts.lost, (unsigned long long)counts.unclear, verdict.overlaps,
                  verdict.backward);
    assert_int_equal(verdict.open, 0);
    /* The two handles of a client may stand side by side in a queue, and their client may keep a MUTEX for 16 turns. */
    assert_true(verdict.changes > verdict.grants / (kind == LOAD_FAIR ? 4 : 20));
}
